#!/usr/bin/env python3
"""What the caches are for, in a minute: a tree 50 ms away, drawn basket by basket, through the tree cache, and once
more from a local cache that holds what the query needs.

Writes a sample tree, serves it with `sapwood serve --delay --bandwidth`, runs the same `sapwood draw` each way, prints
a table and leaves a picture of it in demo-out/."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from picture import write_pictures

HERE = Path(__file__).parent
QUERY = ("Muon_pt", "Muon_pt>20")
WAYS = {"basket by basket": "0", "with the tree cache": "auto"}
AGAIN = "from the local cache"
ROWS = {
    "time": lambda run: f"{run['seconds']:.2f} s",
    "requests": lambda run: f"{run['requests']}",
    "round trips waited for": lambda run: f"{run['round_trips']}",
    "fetched": lambda run: f"{run['bytes_fetched'] / 1e6:.2f} MB",
    "wanted": lambda run: f"{run['bytes_wanted'] / 1e6:.2f} MB",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=300_000)
    parser.add_argument("--delay", default="50ms")
    parser.add_argument("--bandwidth", default="100Mbit")
    parser.add_argument("--out", type=Path, default=HERE.parent / "demo-out")
    parser.add_argument("--sapwood", type=Path, default=Path(sys.executable).parent / "sapwood", help="the command")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    tree = options.out / "sample.root"
    print(f"writing {options.entries} entries to {tree}")
    words = [options.sapwood, "sample", tree, "--entries", str(options.entries), "--scattered"]
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
    runs = {}
    with served(options) as address:
        where = f"a server {options.delay} away, {options.bandwidth}/s"
        print(f"{where}: {address}")
        print(f"sapwood draw {address}{tree.name}:Events {QUERY[0]!r} {QUERY[1]!r}\n")
        for title, cache in WAYS.items():
            runs[title] = draw(options.sapwood, f"{address}{tree.name}:Events", cache)
        with tempfile.TemporaryDirectory(prefix="sapwood-demo-") as folder:
            for _ in ("filled", "used"):
                runs[AGAIN] = draw(options.sapwood, f"{address}{tree.name}:Events", "auto", folder)
    if len({json.dumps(run["counts"]) for run in runs.values()}) != 1:
        sys.exit("the histograms differ: this is a bug")
    print_table(runs)
    slow, fast, again = (run["seconds"] for run in runs.values())
    print(f"\nthe same histogram, {slow / fast:.0f} times as fast; in a second session {slow / again:.0f} times")
    for picture in write_pictures(options.out, runs, f"sapwood draw, {where}"):
        print(f"picture: {picture}")


@contextlib.contextmanager
def served(options):
    """The address of a server for the demo's folder; stopped at the end of the block in any case."""
    words = [options.sapwood, "serve", options.out, "--port", "0"]
    words += ["--delay", options.delay, "--bandwidth", options.bandwidth]
    process = subprocess.Popen(
        list(map(str, words)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        line = process.stdout.readline()
        if "http://" not in line:
            sys.exit(f"the server did not start: {line}")
        yield line.split()[-1]
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        process.stdout.close()


def draw(sapwood, target, cache, folder="off"):
    """One run of the query as a whole process: its I/O report, its time and its histogram."""
    start = time.perf_counter()
    words = [sapwood, "draw", target, *QUERY, "--cache-size", cache, "--local-cache", folder, "--json"]
    done = subprocess.run(words, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    spent = time.perf_counter() - start
    report = json.loads(done.stdout)
    return report["io"] | {"seconds": spent, "counts": report["histogram"]["counts"]}


def print_table(runs):
    width = max(map(len, ROWS)) + 2
    print(" " * width + "".join(f"{title:>22}" for title in runs))
    for title, text in ROWS.items():
        print(f"{title:{width}}" + "".join(f"{text(run):>22}" for run in runs.values()))


if __name__ == "__main__":
    main()
