"""How far the simulator's model of flows is from its simulation basket by basket, in scenarios by chance.

    python bench/model.py [--count 300] [--seed 1] [--sapwood COMMAND] [--json FILE]

Each scenario has jobs that read a file each over one link. Prints the scenarios that differ most, and how many
differ by more than 10 %.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

#: What a scenario has: one of these each.
CHOICES = {
    "jobs": [1, 3, 5, 10, 20],
    "rtt": ["1ms", "10ms", "30ms", "100ms", "300ms"],
    "bandwidth": ["20 Mbit/s", "100 Mbit/s", "1 Gbit/s", "10 Gbit/s"],
    "loss": [0, 0, 0, 1e-6, 1e-4],
    "megabytes": [20, 100, 400],
    "clusters": [1, 5, 20, 60],
    "branches": [1, 5, 50],
    "threads": [1, 2, 4],
    "cores": [4, 64],
    "cpu_per_entry": ["0s", "20us", "500us"],
    "protocol": ["xrootd", "http"],
    "cache": ["auto", "10MB", "0", "100MB"],
    "startup": ["0s", "0s", "5s", "60s"],
    "per_request": ["100us", "1ms", "20ms"],
}


def scenario(chosen):
    """A scenario as text."""
    return """
duration = "1d"
policy = [{{ kind = "pull", place = "home" }}]
[[site]]
name = "here"
cores = {cores}
[[site]]
name = "there"
[[link]]
from = "here"
to = "there"
rtt = "{rtt}"
bandwidth = "{bandwidth}"
loss = {loss}
[[dataset]]
name = "d"
files = {jobs}
site = "there"
file_size = "2 GB"
entries = 100_000
clusters = {clusters}
[[dataset.branch]]
name = "b"
count = {branches}
size = "{each:.3f} MB"
[[workload]]
name = "w"
site = "here"
at = "1s"
files = {jobs}
branches = "b*"
threads = {threads}
protocol = "{protocol}"
cache = "{cache}"
startup = "{startup}"
cpu_per_entry = "{cpu_per_entry}"
per_request = "{per_request}"
""".format(each=chosen["megabytes"] / chosen["branches"], **chosen)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300, help="scenarios")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sapwood", type=Path, default=Path(sys.executable).parent / "sapwood", help="the command")
    parser.add_argument("--json", type=Path, help="where the figures go")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scenario.toml"
        for _ in range(options.count):
            chosen = {key: chance.choice(values) for key, values in CHOICES.items()}
            path.write_text(scenario(chosen))
            out = subprocess.run([options.sapwood, "simulate", path, "--json"], check=True, stdout=subprocess.PIPE)
            check = json.loads(out.stdout)["policies"][0]["check"]
            if check:
                found.append({"difference": check["difference"], "jobs": check["jobs"], "scenario": chosen})
    found.sort(key=lambda f: -abs(f["difference"]))
    for f in found[:10]:
        print(f"{f['difference']:+7.1%}  " + ", ".join(f"{key} {value}" for key, value in f["scenario"].items()))
    differences = [abs(f["difference"]) for f in found]
    many = sum(d > 0.1 for d in differences)
    median = statistics.median(differences)
    print(f"{len(found)} scenarios: median {median:.2%}, {many} by more than 10 %")
    if options.json:
        options.json.write_text(json.dumps({"median": median, "over 10 %": many, "scenarios": found}, indent=1))


if __name__ == "__main__":
    main()
