#!/usr/bin/env python3
"""How long it takes to open each file below a folder, list its trees, and read their headers.

    opening.py DIR... [--largest 1000000] [--repeat 5] [--most 10] [-o bench/out/opening.json]

In one process, the least of some repetitions for each file, which is what the file takes and not what else the machine
does; the slowest are named."""

import argparse
import json
import statistics
import time
import warnings
from pathlib import Path

from trees import TREES

import sapwood

HERE = Path(__file__).resolve().parent


def once(path):
    """(seconds to list the trees, seconds more to read their headers, number of trees)."""
    start = time.perf_counter()
    with sapwood.open(path) as file:
        trees = [key for key, name in file.classnames(recursive=True).items() if name in TREES]
        listed = time.perf_counter() - start
        for key in trees:
            try:
                file[key].keys()
            except sapwood.Error:
                continue
    return listed, time.perf_counter() - start - listed, len(trees)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dirs", nargs="+", type=Path)
    parser.add_argument("--largest", type=int, default=1_000_000, help="bytes of the files taken")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--most", type=int, default=10, help="how many of the slowest are named")
    parser.add_argument("-o", "--out", type=Path, default=HERE / "out" / "opening.json")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for folder in options.dirs:
        for path in sorted(folder.rglob("*.root")):
            if path.stat().st_size >= options.largest:
                continue
            try:
                runs = [once(path) for _ in range(options.repeat)]
            except sapwood.Error:
                continue
            listed, headers = (min(run[i] for run in runs) * 1e3 for i in (0, 1))
            rows.append(
                {"file": str(path.relative_to(folder)), "listed_ms": listed, "headers_ms": headers, "trees": runs[0][2]}
            )
    for what in ("listed_ms", "headers_ms"):
        rows.sort(key=lambda row: -row[what])
        median = statistics.median(row[what] for row in rows)
        above = sum(row[what] > 5 for row in rows)
        print(f"{what}: {len(rows)} files, median {median:.2f}, slowest {rows[0][what]:.2f}, above 5 ms {above}")
        for row in rows[: options.most]:
            print(f"  {row[what]:7.2f}  {row['trees']:3} trees  {row['file']}")
    options.out.parent.mkdir(exist_ok=True)
    options.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
