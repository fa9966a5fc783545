"""ROOT reads files that sapwood wrote, and writes beside it. Asked by lines of JSON on its input, it answers each with a
line of JSON behind ANSWER; no other line must appear.

values FILE TREE EXPRESSION...   {expression: all its values}, as TTree::Draw has them
objects FILE                     {path: [class, ...]}: entries of trees, sums and means of histograms
header FILE TREE                 the numbers of a tree's header, and of its branches
fill FILE ENTRIES AUTO_FLUSH     a tree of numbers, arrays, vectors and strings, without compression
update FILE TREE                 one more entry, a copy of the first, and an object
"""

import array
import ctypes
import json
import sys

import numpy as np
import ROOT

NUMBERS = ("Entries", "TotBytes", "ZipBytes", "AutoFlush", "AutoSave")
BRANCH_NUMBERS = ("BasketSize", "EntryOffsetLen", "WriteBasket", "TotBytes", "ZipBytes")


def values(path, name, *expressions):
    file = ROOT.TFile.Open(path)
    tree = file.Get(name)
    tree.SetEstimate(1_000_000)
    out = {}
    for expression in expressions:
        n = tree.Draw(expression, "", "goff")
        drawn = tree.GetV1()
        out[expression] = [drawn[i] for i in range(n)]
    return out


def objects(path):
    file = ROOT.TFile.Open(path)
    assert not file.IsZombie() and not file.TestBit(ROOT.TFile.kRecovered)
    out = {}

    def walk(directory, front):
        for key in directory.GetListOfKeys():
            item = key.ReadObj()
            where = f"{front}{key.GetName()};{key.GetCycle()}"
            facts = [item.ClassName()]
            if item.InheritsFrom("TTree"):
                facts += [item.GetEntries(), sum(item.GetEntry(i) > 0 for i in range(item.GetEntries()))]
            elif item.InheritsFrom("TH1"):
                facts += [item.GetEntries(), item.Integral(), item.GetMean(), item.GetBinError(1)]
            elif item.InheritsFrom("TGraph"):
                facts += [item.GetN(), item.GetPointY(item.GetN() - 1)]
            out[where] = facts
            if item.InheritsFrom("TDirectory"):
                walk(item, f"{front}{key.GetName()}/")

    walk(file, "")
    return out


def header(path, name):
    file = ROOT.TFile.Open(path)
    tree = file.Get(name)
    out = {number: int(getattr(tree, f"Get{number}")()) for number in NUMBERS}
    clusters = tree.GetClusterIterator(0)
    starts = []
    while (start := clusters.Next()) < tree.GetEntries():
        starts.append(int(start))
    out["clusters"] = starts
    for branch in tree.GetListOfBranches():
        numbers = {number: int(getattr(branch, f"Get{number}")()) for number in BRANCH_NUMBERS}
        numbers["entries"] = [int(branch.GetBasketEntry()[i]) for i in range(numbers["WriteBasket"] + 1)]
        out[branch.GetName()] = numbers
    return out


def fill(path, entries, auto_flush):
    """The same values as in test_writing_against_root.py."""
    file = ROOT.TFile(path, "RECREATE", "", 0)
    tree = ROOT.TTree("t", "t")
    tree.SetAutoFlush(int(auto_flush))
    i, d, w = array.array("i", [0]), array.array("d", [0]), array.array("f", [0] * 3)
    n, x, flag = array.array("i", [0]), array.array("f", [0] * 100), np.zeros(1, "?")
    vector, text = ROOT.std.vector("float")(), ROOT.std.string()
    tree.Branch("i", i, "i/I")
    tree.Branch("d", d, "d/D")
    tree.Branch("w", w, "w[3]/F")
    tree.Branch("b", flag, "b/O")
    tree.Branch("nx", n, "nx/I")
    tree.Branch("x", x, "x[nx]/F")
    tree.Branch("v", vector)
    tree.Branch("s", text)
    for k in range(int(entries)):
        i[0], d[0], flag[0], n[0] = k, k / 4, k % 2, k * k % 7
        vector.clear()
        for j in range(3):
            w[j] = k + j
        for j in range(n[0]):
            x[j] = k - j
            vector.push_back(k - j)
        text.assign(f"s{k}")
        tree.Fill()
    tree.Write()
    file.Close()
    return header(path, "t")


def update(path, name):
    file = ROOT.TFile.Open(path, "UPDATE")
    tree = file.Get(name)
    tree.GetEntry(0)
    tree.Fill()
    tree.Write("", ROOT.TObject.kOverwrite)
    ROOT.TNamed("by_root", "words").Write()
    file.Close()
    return {}


CALLS = {f.__name__: f for f in (values, objects, header, fill, update)}
for line in sys.stdin:
    name, *words = json.loads(line)
    answer = json.dumps(CALLS[name](*words))
    # what ROOT said on the way stands in front
    ctypes.CDLL(None).fflush(None)
    print("ANSWER", answer, flush=True)
