"""Scenarios of the seed's query, and what the simulator says of them."""

from __future__ import annotations

import json
import subprocess
import time

from calibration import BRANCHES, THREADS
from measure import Measured

#: The query's cut.
CUT = 'cut = ["E33"]'
#: Of a client whose site has no distances.
LAN = 'lan = "0s"\nlan_bandwidth = "100 Gbit/s"'


def scenario(row, reads, *, site="", lan=LAN, workload="", start=("1s",), branches=BRANCHES, cut=CUT, server="nginx"):
    """The TOML of a client, a server and a link between them; `reads` is what `calibrated` found."""
    at = ", ".join(f'"{t}"' for t in start)
    return f"""
title = "Client {row}"
duration = "1h"
check_jobs = 0
local_cache_seek = "{reads["seek"] * 1e6:.3f}us"
[[site]]
name = "server"
[[site]]
name = "client"
cores = 100
{lan}
{site}
[[link]]
from = "client"
to = "server"
rtt = "{reads["trip"] * 1e3:.6f}ms"
bandwidth = "{reads["rate"]:g} Mbit/s"
[[dataset]]
name = "chep"
files = 1
site = "server"
profile = "{reads["profile"].name}"
[[workload]]
name = "query"
site = "client"
at = [{at}]
branches = {json.dumps(branches)}
{cut}
threads = {THREADS}
server = "{server}"
decompression = "{reads["decompression"] * 8 / 1e6:.6f} Mbit/s"
cpu_per_entry = "{reads["analysis"] * 1e9:.0f}ns"
cut_per_entry = "{reads["evaluation"] * 1e9:.0f}ns"
startup = "{reads["startup"] * 1e3:.3f}ms"
per_request = "{reads["per_request"] * 1e6:.3f}us"
per_range = "{reads["per_range"] * 1e6:.3f}us"
cpu_per_request = "{reads["cpu_per_request"] * 1e6:.3f}us"
cpu_per_range = "{reads["cpu_per_range"] * 1e6:.3f}us"
{workload}
[[policy]]
kind = "pull"
place = "home"
"""


def over_links(policy):
    """Bytes of files that passed a link."""
    return policy["moved_bytes"] - policy["header_bytes"]


def from_the_proxy(policy):
    return policy["proxies"]["hit_bytes"]


def simulated(tools, reads, text, which=0, counted=over_links):
    """Runs a scenario; its result as if it had been measured. `which`: of several reads, by the order of their ends;
    `counted`: its bytes."""
    folder = reads["profile"].parent
    path = folder / "scenario.toml"
    path.write_text(text)
    words = list(map(str, [tools.sapwood, "simulate", path, "--json"]))
    start = time.perf_counter()
    out = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
    spent = time.perf_counter() - start
    policy = out["policies"][0]
    wire = {"requests": round(policy["requests"]), "bytes": counted(policy)}
    return Measured(policy["distribution"][which], spent, 0.0, 0.0, words, {}, wire)
