"""The simulator beside what was measured: the seed's query from each client of the WAN table, with a local cache,
through a proxy, and by 20 clients at once.

Simulated is a scenario of `sapwood simulate` with the file's own baskets. It is given what the path itself does (round
trip and time of a request, measured with a bare client in the same lab), how long the query on the local file takes,
and how much of the client's cores the lab itself takes; everything else is the model. Compared are time, requests, and
bytes of the file."""

from __future__ import annotations

import functools
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import costs
import lab
import proxied
import wan
from case import Bound, Case
from cases import QUERY, drawn, wanted
from measure import Measured

FILE, TREE, BRANCHES = "chep_old.root", "h42", ["rawtr", "E33"]
#: Of these, those of the query's cut.
CUT = ["E33"]
#: The query if nothing passes its cut.
NOTHING = [QUERY[0], "E33>1e30"]
#: Threads of the client, one for each core of the machine.
THREADS = 2
#: Parts of the measured time by which the simulated one may differ; with many clients.
CLOSE, CLOSE_TOGETHER = 0.15, 0.20
#: Bytes of the file's beginning come along with some requests, by which versions are compared: this part of all.
BESIDE = 1e-3
#: Clients behind one link: the seed's client D, of which each reads the query's branches.
CROWD = 20
CROWD_ROW = "D"
#: ms, Mbit/s
LAN = proxied.LAN
#: The machine's speed changes: a measurement of it is used again for so many seconds.
VALID = 90
#: When each was made, and its result.
MEASUREMENTS = {}
#: When the second session through a proxy begins, after one at 1 s: before the proxy asks the origin again.
SOON = "4s"


def scenario(row, reads, *, site="", workload="", dataset="", start=("1s",), policy='kind = "pull"\nplace = "home"'):
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
lan = "0s"
lan_bandwidth = "100 Gbit/s"
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
{dataset}
[[workload]]
name = "query"
site = "client"
at = [{at}]
branches = {json.dumps(BRANCHES)}
cut = {json.dumps(CUT)}
threads = {THREADS}
server = "nginx"
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
{policy}
"""


def calibrated(place, scratch, fetched=True):
    """What the simulator is given: the path, what requests cost, a core, the file. `fetched`: the bytes come over the
    path."""
    tools, network = place.tools, place.network
    file = of_the_file(tools.sapwood, tools.peers, place.data, scratch)
    found = costs.of_requests(tools.sapwood, place.data, FILE, place.protocol, scratch)
    core = lately(of_a_core, tools.sapwood, place.data, file)
    # loopback: no distance, and more than a core can use
    reads = {**file, **found, **core, "rate": 10_000, "trip": 1e-6}
    if network.rtt:
        path = (network.rtt, network.rate, place.protocol)
        bare = lately(costs.bare, network, place.server, FILE, place.protocol, path=path)
        reads["rate"], reads["trip"] = network.rate, bare["trip"]
        if fetched:
            bridge = lately(costs.of_the_bridge, place, FILE, file["entries"], path=path)
            reads["decompression"] = 1 / (1 / reads["decompression"] + bridge)
    return reads


def lately(function, *arguments, path=()):
    """The result of a measurement; the last one of the same path, if it is not older than `VALID` seconds."""
    now = time.monotonic()
    made, result = MEASUREMENTS.get((function, path), (-math.inf, None))
    if now - made > VALID:
        result = function(*arguments)
        MEASUREMENTS[function, path] = now, result
    return result


@functools.cache
def of_the_file(sapwood, peers, data, scratch):
    """The file's profile, the entries and bytes of the query, and reading a few kB of the file."""
    folder = Path(scratch) / "simulate"
    folder.mkdir(parents=True, exist_ok=True)
    profile = folder / "chep.json"
    words = [sapwood, "simulate", "--profile", f"{data / FILE}:{TREE}", "-o", profile]
    subprocess.run(list(map(str, words)), check=True, stdout=subprocess.DEVNULL)
    chosen = wanted(peers, data / FILE, TREE, ",".join(BRANCHES))
    found = {key: chosen[key] for key in ("entries", "bytes")}
    return {"profile": profile, **found, "seek": of_a_read(data / FILE)}


def of_a_core(sapwood, data, file):
    """The query on the local file, and of its first entry: what the client does before and after it reads. With one
    thread it is seen what is neither read nor decompressed: the analysis of an entry, and of that the evaluation of the
    cut. Its threads do not divide the work evenly: what each decompresses makes the model as fast on the local file as
    the client is."""

    def draw(query, *options):
        return drawn([sapwood, "draw", f"{data / FILE}:{TREE}", *query, "--json", *options])

    startup = min(draw(QUERY, "--entries", ":1").whole for _ in range(5))

    def analysis(query):
        runs = [draw(query, "--threads", "1") for _ in range(9)]
        io = [run.result["io"] for run in runs]
        rest = [run.whole - each["unzip_seconds"] - each["decode_seconds"] for run, each in zip(runs, io, strict=True)]
        return max(min(rest) - startup - io[0]["requests"] * file["seek"], 0) / file["entries"]

    evaluation, both = analysis(NOTHING), analysis(QUERY)
    work = statistics.median(draw(QUERY).whole for _ in range(9)) - startup
    found = {"startup": startup, "evaluation": evaluation, "analysis": max(both - evaluation, 0)}
    return found | {"decompression": decompression(file | found, work)}


def decompression(reads, work):
    """Bytes per second that a thread decompresses, if the threads work for so long and share all work evenly."""
    analysis = (reads["evaluation"] + reads["analysis"]) * reads["entries"]
    return reads["bytes"] / max(work * THREADS - analysis, 1e-3)


def of_a_read(path):
    """The time of reading a basket from anywhere in a file, in seconds: of one that was just written."""
    size, basket, places, times = path.stat().st_size, 3600, 1000, []
    with path.open("rb") as file:
        for i in range(2 * places):
            start = time.perf_counter()
            os.pread(file.fileno(), basket, i % places * 7919 * 4096 % (size - basket))
            times.append(time.perf_counter() - start)
    # the first time only the disk may have had it
    return statistics.median(times[places:])


def beside_a_server(site, reads, workload, scratch):
    """What requests cost where `sapwood serve` answers, as the proxy does, and what a core does of the query beside it:
    the model takes as long as the client. Client, server and network share the machine's cores, so that less of them is
    left for the query than on a local file."""
    place, (trip, rate) = site.place, LAN
    tools = place.tools
    found = costs.of_requests(tools.sapwood, place.data, FILE, place.protocol, scratch, ours=True)
    with costs.Sapwood(tools.sapwood, place.protocol, place.data, place.network.edge) as server:
        words = [*place.network.client, *tools.draw(server.url(FILE), "--local-cache", "off")]
        near = min(drawn(words).whole for _ in range(7))
    work = near - reads["startup"]
    for _ in range(3):
        found = found | {"decompression": decompression(reads, work)}
        path = reads | found | {"trip": trip * 1e-3, "rate": rate}
        work += near - simulated(tools, path, scenario("beside a server", path, workload=workload)).seconds
    return found | {"decompression": decompression(reads, work)}


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


def file_bytes(server, run, size):
    """Bytes of the file among those that the server sent to a run, without headers."""
    if isinstance(server, lab.Nginx):
        return sum(asked(request, number, size) for number, request in enumerate(server.requests()))
    io = run.result.get("io", {})
    fetched, ranges = io.get("bytes_fetched", 0), io.get("ranges", 0)
    if ranges > 1.5 * io.get("requests", 1):
        # a vector read has 16 bytes before each element
        return fetched - 16 * ranges
    # a read of one range has a checksum of 4 bytes for each 4 KiB begun
    return fetched - 4 * ranges * math.ceil(fetched / max(ranges, 1) / 4096)


def asked(request, number, size):
    """Bytes that a request asked for, but for the file's beginning, which comes along to be compared."""
    found = re.findall(r"(\d*)-(\d*)", request.range)
    if number and len(found) > 1 and found[0] == ("0", "511"):
        found = found[1:]
    ranges = [proxied.bounds(first, last, size) for first, last in found]
    return sum(stop - start for start, stop in ranges)


def off(outcome, key=None):
    """The part by which the simulated value differs from the measured one: of requests and bytes from the nearest of
    the runs, where these differ."""
    of = (lambda run: run.seconds) if key is None else (lambda run: run.wire[key])
    runs = [of(run) for run in outcome.runs["measured"]]
    model = outcome.median("simulated", of)
    if not runs or model is None:
        return None
    if key is None:
        return abs(model / statistics.median(runs) - 1)
    low, high = min(runs), max(runs)
    return max(low - model, model - high, 0) / max(low, 1)


def bounds(close):
    return [
        Bound("difference of the simulated time", close, off),
        Bound("difference of the requests", 0.0, lambda outcome: off(outcome, "requests")),
        Bound("difference of the bytes of the file", BESIDE, lambda outcome: off(outcome, "bytes")),
    ]


COLUMNS = {"requests": lambda run: run.wire["requests"], "MB of the file": lambda run: run.wire["bytes"] / 1e6}
NOTE = (
    "Simulated: the scenario is given the round trip and the time of a request as a bare client measures them, the "
    "time of the query on the local file, for proxies on a server beside the client, and the cores that the lab takes."
)


def case(name, title, contenders, close=CLOSE, place=None):
    return Case(
        name=name,
        title=title,
        contenders=contenders,
        bounds=bounds(close),
        columns=COLUMNS,
        note=NOTE,
        compared=False,
        place=place or {},
    )


def measured(place, *options, call=None):
    """A run of the query at the client, and what the server saw of it."""
    url, size = place.url(FILE), (place.data / FILE).stat().st_size
    run = place.logged(drawn, place.tools.draw(url, *options)) if call is None else call()
    run.wire["bytes"] = file_bytes(place.server, run, size)
    return run


def row(place, stack, scratch, letter, cache):
    """One cell of the WAN table. Where a whole run would take minutes, both read the same part of the entries."""
    tools, size = place.tools, wan.CACHES[cache]
    chosen = wanted(tools.peers, place.data / FILE, TREE, ",".join(BRANCHES))
    requests = 0 if size < 0 else chosen["baskets"] if size == 0 else chosen["bytes"] / size
    expected = place.seconds(chosen["bytes"], requests)
    whole = expected <= wan.PATIENCE
    last = chosen["entries"] if whole else int(chosen["entries"] * wan.SHORTER / expected)
    options = ["--cache-size", cache, "--local-cache", "off", *([] if whole else ["--entries", f":{last}"])]
    workload = f'cache = "{cache}"\nprotocol = "{place.protocol}"\nentries = {last / chosen["entries"]!r}'

    def model():
        reads = calibrated(place, scratch)
        return simulated(tools, reads, scenario(letter, reads, workload=workload))

    return case(
        f"simulate-{letter}-{place.protocol}-{cache}",
        f"Simulated and measured: client {letter} ({place.link}) over {wan.SPOKEN[place.protocol]}, cache {cache}",
        {"measured": lambda: measured(place, *options), "simulated": model},
        place={"table": "simulated", "row": letter, "protocol": place.protocol, "cache": cache},
    )


def cached(place, stack, scratch):
    """The second session with a local cache: the file is compared with its server, and read from the disk."""
    tools = place.tools
    reads = calibrated(place, scratch, fetched=False)
    kept = place.data.parent / "local-cache-simulated"
    shutil.rmtree(kept, ignore_errors=True)
    options = ["--local-cache", str(kept)]
    drawn([*place.network.client, *tools.draw(place.url(FILE), *options)])
    workload = f'protocol = "{place.protocol}"'
    first = scenario("G", reads, workload=workload, site='local_cache = "10 GB"')
    both = scenario("G", reads, workload=workload, site='local_cache = "10 GB"', start=("1s", "20min"))

    def second():
        # the shorter of two sessions is the second one; the first one's requests and bytes are known from it alone
        alone, run = simulated(tools, reads, first), simulated(tools, reads, both)
        run.wire = {key: run.wire[key] - alone.wire[key] for key in run.wire}
        return run

    found = case(
        f"simulate-cached-{place.protocol}",
        f"Simulated and measured: a second session with a local cache over {wan.SPOKEN[place.protocol]}, {place.link}",
        {"measured": lambda: measured(place, *options), "simulated": second},
    )
    # no bytes but those by which versions are compared
    found.bounds = found.bounds[:2]
    return found


def through_proxy(site, stack, scratch, cold=False):
    """The query through a proxy at the site: one that has the file's parts already, or one that has nothing."""
    place = site.place
    tools, proxy = place.tools, site.proxies[proxied.OURS]
    reads = calibrated(place, scratch, fetched=False)
    url = proxy.url(FILE, place.protocol)
    drawn([*place.network.client, *tools.draw(url, "--local-cache", "off")])
    workload = f'protocol = "{place.protocol}"'
    reads |= beside_a_server(site, reads, workload, scratch)
    near = f'proxy = "10 GB"\nlan = "{LAN[0]}ms"\nlan_bandwidth = "{LAN[1] / 1e3:g} Gbit/s"'
    # soon after the first one: the proxy does not ask the origin again
    text = scenario("at a site", reads, workload=workload, start=("1s", SOON))
    text = text.replace('lan = "0s"\nlan_bandwidth = "100 Gbit/s"\n', near + "\n").replace('"nginx"', '"any"')
    once = text.replace(f', "{SOON}"', "")

    def run():
        done = place.logged(drawn, tools.draw(url, "--local-cache", "off"))
        io = done.result["io"]
        done.wire = {"requests": io["requests"], "bytes": io["bytes_wanted"]}
        return done

    def soon():
        # the proxy may have asked the origin long ago
        run()
        return run()

    def second():
        both, alone = (simulated(tools, reads, each, counted=from_the_proxy) for each in (text, once))
        both.wire = {key: both.wire[key] - alone.wire[key] for key in both.wire}
        return both

    how, state = ("cold-", "with nothing in it") if cold else ("", "with the data")
    first = {"measured": proxied.from_empty(proxy, run), "simulated": lambda: simulated(tools, reads, once)}
    found = case(
        f"simulate-proxy-{how}{place.protocol}",
        f"Simulated and measured: through a proxy {state}, {wan.SPOKEN[place.protocol]}, origin {place.link}",
        first if cold else {"measured": soon, "simulated": second},
    )
    if cold:
        # the proxy fetches ahead of the client: what it asks of the origin is not what the client asks
        found.bounds = found.bounds[:1]
    return found


def crowd(place, stack, scratch):
    """Many clients at once behind one link: the time until the last one is done."""
    tools = place.tools
    reads = calibrated(place, scratch)
    url, size = place.url(FILE), (place.data / FILE).stat().st_size
    words = list(map(str, [*place.network.client, *tools.draw(url, "--local-cache", "off")]))

    def together():
        place.server.forget()
        start = time.perf_counter()
        quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "check": True}
        with ThreadPoolExecutor(CROWD) as pool:
            done = list(pool.map(lambda _: json.loads(subprocess.run(words, **quiet).stdout), range(CROWD)))
        seconds = time.perf_counter() - start
        run = Measured(seconds, seconds, 0.0, 0.0, words, {}, place.server.wire())
        run.wire["bytes"] = CROWD * file_bytes(None, Measured(0, 0, 0, 0, [], done[0]), size)
        return run

    workload = f'protocol = "{place.protocol}"'
    text = scenario(CROWD_ROW, reads, workload=workload, start=("1s",) * CROWD)
    found = case(
        f"simulate-crowd-{place.protocol}",
        f"Simulated and measured: {CROWD} clients at once behind one link ({place.link}), {wan.SPOKEN[place.protocol]}",
        {"measured": together, "simulated": lambda: simulated(tools, reads, text, which=-1)},
        close=CLOSE_TOGETHER,
    )
    # each client decides by what it sees of the path: their requests differ from run to run
    found.bounds = found.bounds[:1]
    return found
