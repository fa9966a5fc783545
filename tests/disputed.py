#!/usr/bin/env python3
"""ROOT decides where Sapwood and uproot read other values: every branch that a comparison calls different.

    compare_corpus.py DIR --json LOG            writes the comparison
    disputed.py DIR LOG [--page docs/coverage.md] [--entries N]

Each of these branches is read by ROOT (as compare_root.py does, in a process of its own) and held against Sapwood's
values, all entries of it. A line a branch with ROOT's verdict; `--page`: as a table, too, between two comments of that
page. Exit status 0 where ROOT's values are Sapwood's in every branch."""

import argparse
import json
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "bench"))
#: What compare_root.py calls the outcomes.
SAID = {"equal": "ROOT has Sapwood's values", "different": "ROOT has other values than Sapwood"}


def disputed(log):
    """(file, tree, branch) of all that differs."""
    return [tuple(line[1:4]) for line in json.loads(log.read_text())["log"] if line[0] == "DIFFERENT"]


def verdict(folder, file, key, path, root, options):
    """ROOT's verdict on a branch, in words, and whether it is for Sapwood."""
    import compare_root

    import sapwood

    with sapwood.open(folder / file) as opened:
        branch = opened[key][path]
        outcome, why = compare_root.compare_branch(branch, 0, str(folder / file), key, root, options)
    return f"{SAID.get(outcome, outcome)}{f': {why}' if why else ''}", outcome == "equal"


def table(rows):
    """The verdicts as a part of a page."""
    agreed = sum(good for *_, good in rows)
    return "\n".join(
        [
            "## Where uproot reads other values",
            "",
            f"Written by `tests/disputed.py`: {len(rows)} branches, in {agreed} ROOT has Sapwood's values, entry",
            "by entry. To ask ROOT again: `tests/compare_corpus.py DIR --json LOG; tests/disputed.py DIR LOG`.",
            "",
            "| file | branch | ROOT's verdict |",
            "| --- | --- | --- |",
            *(f"| {file} | {path} | {words.replace('|', chr(92) + '|')} |" for file, path, words, _ in rows),
        ]
    )


def main():
    import compare_root
    from regions import with_region

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dir", type=Path)
    parser.add_argument("log", type=Path)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--entries", type=int, default=3000, help="entries compared of each branch")
    parser.add_argument("--timeout", type=float, default=60, help="seconds a branch")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    root, rows = compare_root.Root(options.timeout), []
    for file, key, path in disputed(options.log):
        words, good = verdict(options.dir, file, key, path, root, options)
        rows.append((file, path, words, good))
        print(f"{file} {path}: {words}", flush=True)
    root.close()
    print(f"{len(rows)} branches, {sum(good for *_, good in rows)} as ROOT has them")
    if options.page:
        options.page.write_text(with_region(options.page.read_text(), "disputed", table(rows)))
    sys.exit(0 if all(good for *_, good in rows) else 1)


if __name__ == "__main__":
    main()
