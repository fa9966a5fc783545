#!/usr/bin/env python3
"""Whether ROOT reads a tree that entries were appended to as it should: appended_leaves.py OLD PLAIN NEW TREE COUNT.

The COUNT last entries of NEW are the first ones of OLD, and those before them all of OLD's; PLAIN holds OLD's entries in
a plain layout. Prints `READ` when ROOT got through OLD and PLAIN, `LEAF name` for each leaf whose values TTree::Draw gives
otherwise, and `ASKED n`. What it reads otherwise of OLD than of PLAIN is not asked: it does not read all layouts rightly."""

import sys

import ROOT

ROOT.gROOT.SetBatch(True)
ROOT.gErrorIgnoreLevel = ROOT.kError
MOST = 2000


def drawn(tree, name, first, count):
    """Values with the number of their entry, counted from the first; nothing where there are no numbers."""
    n = tree.Draw(f"{name}:Entry$", "", "goff", count, first)
    if n < 0:
        return None
    values, entries = tree.GetVal(0), tree.GetVal(1)
    return [(repr(values[i]), int(entries[i]) - first) for i in range(n)]


def names(leaf):
    full = str(leaf.GetBranch().GetFullName())
    return [full] if full.endswith(leaf.GetName()) else [f"{full}.{leaf.GetName()}", full]


*paths, name, count = sys.argv[1:]
count = int(count)
files = [ROOT.TFile(path) for path in paths]
old, plain, new = (file.Get(name) for file in files)
for tree in old, plain, new:
    tree.SetEstimate(10_000_000)
entries = old.GetEntries()
assert new.GetEntries() == entries + count, (new.GetEntries(), entries, count)
wanted = {}
for leaf in old.GetListOfLeaves():
    for name in names(leaf):
        parts = [drawn(old, name, 0, n) for n in (min(entries, MOST), count)]
        if parts[0] is not None:
            if parts == [drawn(plain, name, 0, n) for n in (min(entries, MOST), count)]:
                wanted[name] = parts
            break
print("READ", flush=True)
for name, (before, appended) in wanted.items():
    if [drawn(new, name, entries, count), drawn(new, name, 0, min(entries, MOST))] != [appended, before]:
        print("LEAF", name)
print("ASKED", len(wanted))
