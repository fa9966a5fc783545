#!/usr/bin/env python3
"""Compares the automatic axes of every branch of real files with those of ROOT's TTree::Draw.

    python tests/oracle/automatic_axes.py ../shared/corpus [PART OF A FILE'S NAME ...]

Prints the branches whose histograms differ, and how many do for which reason.
"""

from __future__ import annotations

import collections
import math
import pathlib
import sys
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

import ROOT
from draw_with_root import drawn

import sapwood

#: Larger files and trees are left out: the shape of an axis does not depend on how many values there are.
MOST_BYTES, MOST_ENTRIES, MOST_BRANCHES = 3_000_000, 30_000, 60
NUMBERS = ("int", "float", "double", "bool", "char", "Float16", "Double32")


def difference(tree, name: str, roots) -> str | None:
    """How sapwood's histogram of a branch differs."""
    try:
        hist = tree.draw(name)
    except sapwood.SapwoodError as e:
        return f"refused: {e}"
    axis, values = hist.axes[0], hist.values(flow=True)
    if isinstance(axis.bin(0), str) or roots["labels"] is not None:
        return None if roots["labels"] == [axis.bin(i) for i in range(len(axis))] else "labels"
    if sum(roots["values"]) != sum(values):
        return "number of values"
    limits = zip((roots["low"], roots["high"]), (axis.edges[0], axis.edges[-1]), strict=True)
    if roots["bins"] != len(axis) or not all(math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-300) for a, b in limits):
        return f"axis: {len(axis)} from {axis.edges[0]} to {axis.edges[-1]}"
    return None if all(map(math.isclose, roots["values"], values)) else "counts"


def trees(path):
    """(tree of sapwood, tree of ROOT) in a file."""
    try:
        file = sapwood.open(path)
        names = sorted(
            {key.split(";")[0] for key, c in file.classnames().items() if c.startswith(("TTree", "TNtuple"))}
        )
    except sapwood.SapwoodError:
        return
    opened = ROOT.TFile.Open(str(path)) if names else None
    for name in names[:4] if opened else []:
        theirs = opened.Get(name)
        try:
            ours = file[name]
        except sapwood.SapwoodError:
            continue
        if isinstance(theirs, ROOT.TTree) and ours.num_entries <= MOST_ENTRIES:
            yield ours, theirs


def main() -> None:
    warnings.simplefilter("ignore")
    ROOT.gErrorIgnoreLevel = ROOT.kFatal
    ROOT.gROOT.SetBatch(True)
    folder, *parts = sys.argv[1:]
    reasons = collections.Counter()
    for path in sorted(pathlib.Path(folder).rglob("*.root")):
        if path.stat().st_size > MOST_BYTES or not all(part in str(path) for part in parts):
            continue
        for ours, theirs in trees(path):
            types = ours.typenames()
            numeric = [b for b, t in types.items() if any(n in t for n in NUMBERS) and "map" not in t]
            for branch in numeric[:MOST_BRANCHES]:
                name = branch.split("/")[-1].split("[")[0]
                roots = drawn(theirs, name, "") if name.replace("_", "").replace(".", "").isalnum() else None
                if roots is None or not sum(roots["values"]):
                    continue
                found = difference(ours, name, roots)
                reasons[(found or "same").split(":")[0]] += 1
                if found:
                    limits = {k: roots[k] for k in ("bins", "low", "high")}
                    print(f"{path.name}:{ours.name} {name} ({types[branch]}): {found}; ROOT has {limits}", flush=True)
    print(dict(reasons))


if __name__ == "__main__":
    main()
