#!/usr/bin/env python3
"""What Sapwood reads of the trees below some folders, and what it refuses, as a page: docs/coverage.md.

    coverage.py DIR... [-o docs/coverage.md]

Every branch without sub-branches of the newest cycle of every tree is read in full. A folder is a row of the first
table; reasons are grouped, with numbers and names of classes taken out, and each has one example."""

import argparse
import re
import sys
import warnings
from collections import Counter, defaultdict
from pathlib import Path

from regions import kept
from trees import newest

import sapwood

ROOT = Path(__file__).resolve().parent.parent
#: Kinds of columns, by words in their type: the first match counts.
KINDS = (
    ("numbers", r"(u?int|float)\d+|bool"),
    ("strings", r"string"),
    ("fixed arrays of numbers", r"(\d+ \* )+\w+\d+|(\d+ \* )+bool"),
    ("lists of numbers (counted arrays, vectors)", r"var \* (\d+ \* )*(\w+\d+|bool)"),
    ("lists of lists of numbers, of any depth", r"(var \* |\d+ \* )*(\w+\d+|bool)"),
    ("lists of strings", r"(var \* |\d+ \* )*string"),
    ("objects", r"\{.*"),
    ("lists of objects, maps, pointers", r"(var \* |\d+ \* )*\{.*"),
)


def kind(words):
    """The name of this type of column in the table."""
    return next((name for name, pattern in KINDS if re.fullmatch(pattern, words)), "others")


def bare(error, file, branch):
    """The reason only: without file, branch, bytes and numbers."""
    reason = str(error).splitlines()[0].replace(str(file), "").replace(branch, "")
    reason = re.sub(r"^[: ]*(branch *: )?(basket \d+: )?(entry \d+ of the basket: )?", "", reason)
    reason = re.sub(r" \(bytes [\d-]+\)", "", reason)
    reason = re.sub(r"member \S+( of \S+)?: ", "", reason)
    # numbers, except in names
    reason = re.sub(r"(?<![\w.])\d+\b", "N", reason)
    return reason if len(reason) < 160 else reason[:157] + "..."


class Folder:
    """The counts of one folder."""

    def __init__(self, path):
        self.path, self.files, self.trees = path, 0, 0
        self.read, self.refused, self.unopened = Counter(), defaultdict(list), []

    def add(self, file):
        """Reads everything in a file."""
        self.files += 1
        name = str(file.relative_to(self.path))
        try:
            opened = sapwood.open(file)
            trees = newest(opened.classnames(recursive=True))
        except Exception as error:
            self.unopened.append((name, bare(error, file, "")))
            return
        with opened:
            for key in trees:
                self.trees += 1
                try:
                    tree = opened[key]
                except Exception as error:
                    self.refused[bare(error, file, key)].append((name, key))
                    continue
                for branch in map(tree.__getitem__, tree.keys()):
                    if not branch.branches:
                        self.branch(file, name, branch)

    def branch(self, file, name, branch):
        """Reads one branch."""
        try:
            branch.array(library="np") if branch.num_entries < 10 else branch.array(library="ak")
            self.read[kind(branch.column_type)] += 1
        except Exception as error:
            self.refused[bare(error, file, branch.path)].append((name, branch.path))


def page(folders):
    """The page's text."""
    lines = [
        "# What is read",
        "",
        "Written by `bench/coverage.py`: every branch without sub-branches of every tree below these directories was",
        "read in full. `tests/test_corpus.py` compares the values with uproot's and ROOT's.",
        "",
        "| directory | files | trees | branches read | refused | files not opened |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for f in folders:
        refused = sum(map(len, f.refused.values()))
        lines.append(
            f"| {f.path.name} | {f.files} | {f.trees} | {sum(f.read.values())} | {refused} | {len(f.unopened)} |"
        )
    lines += ["", "## Read, by what they become", "", "| column | branches |", "| --- | ---: |"]
    read = sum((f.read for f in folders), Counter())
    lines += [f"| {name} | {read[name]} |" for name in [*(k for k, _ in KINDS), "others"] if read[name]]
    lines += ["", "## Refused, by reason", "", "| branches | reason | example |", "| ---: | --- | --- |"]
    reasons = defaultdict(list)
    for f in folders:
        for reason, where in f.refused.items():
            reasons[reason] += where
    for reason, where in sorted(reasons.items(), key=lambda r: (-len(r[1]), r[0])):
        file, path = where[0]
        lines.append(f"| {len(where)} | {reason.replace('|', chr(92) + '|')} | {file}: {path.replace('|', '')} |")
    unopened = [entry for f in folders for entry in f.unopened]
    if unopened:
        lines += ["", "## Files not opened", "", "| file | reason |", "| --- | --- |"]
        lines += [f"| {name} | {reason} |" for name, reason in unopened]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dirs", nargs="+", type=Path)
    parser.add_argument("-o", "--out", type=Path, default=ROOT / "docs" / "coverage.md")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    folders = []
    for path in options.dirs:
        folder = Folder(path)
        for file in sorted(path.rglob("*.root")):
            folder.add(file)
        folders.append(folder)
        print(f"{path.name}: {sum(folder.read.values())} branches read", file=sys.stderr)
    options.out.write_text(page(folders) + kept(options.out))


if __name__ == "__main__":
    main()
