"""What ROOT's TTree::Draw makes of several variables, and what it reads of histograms, in a process of its own.

The process reads one request as JSON: {"make": path, "file": path, "sessions": [[[expression, cut, option], ...], ...],
"read": [[path, name], ...]}, any of them left out. It prints the histograms as JSON.
"""

from __future__ import annotations

import json
import sys
import warnings

from root_answers import ask, tell

#: ROOT remembers the last numbers of bins: these are set again before each session.
BINS = {"1D.x": 100, "2D.x": 40, "2D.y": 40, "2D.Prof": 100, "3D.x": 20, "3D.y": 20, "3D.z": 20}
BINS |= {"3D.Profx": 100, "3D.Profy": 100}


def make(path):
    """A tree `many` of 4000 entries, and `few` of 900: ROOT doubles automatic axes beyond 1000 rows."""
    import array
    import random

    import ROOT

    numbers = random.Random(3)
    file = ROOT.TFile(path, "recreate")
    for name, entries in (("many", 4000), ("few", 900)):
        tree = ROOT.TTree(name, "")
        x, y, z = array.array("d", [0]), array.array("f", [0]), array.array("d", [0])
        n, v = array.array("i", [0]), ROOT.std.vector("float")()
        s = ROOT.std.string()
        for branch, value, kind in (("x", x, "x/D"), ("y", y, "y/F"), ("z", z, "z/D"), ("n", n, "n/I")):
            tree.Branch(branch, value, kind)
        tree.Branch("v", v)
        tree.Branch("s", s)
        for i in range(entries):
            x[0], y[0], z[0] = numbers.gauss(0, 1), abs(numbers.gauss(3, 2)), 10 * numbers.random()
            n[0] = i * i % 7
            v.clear()
            for _ in range(i % 4):
                v.push_back(numbers.expovariate(0.5))
            s.assign(["dd", "a", "ccc", "bb"][(i * i + i // 3) % 4])
            tree.Fill()
        tree.Write()
    file.Close()


def described(hist):
    """All that a histogram says."""
    import array

    axes = []
    for name in "XYZ"[: hist.GetDimension()]:
        axis = getattr(hist, f"Get{name}axis")()
        edges = [axis.GetBinLowEdge(i + 1) for i in range(axis.GetNbins() + 1)]
        labels = axis.GetLabels()
        axes.append({"edges": edges, "labels": [str(t.GetString()) for t in labels] if labels else None})
    sums = array.array("d", [0] * 13)
    hist.GetStats(sums)
    cells = range(hist.GetNcells())
    return {
        "class": hist.ClassName(),
        "title": hist.GetTitle(),
        "entries": hist.GetEntries(),
        "axes": axes,
        "contents": [hist.GetBinContent(i) for i in cells],
        "errors": [hist.GetBinError(i) for i in cells],
        "sums": list(sums),
        "mean": hist.GetMean(),
        "deviation": hist.GetStdDev(),
    }


def main() -> None:
    warnings.simplefilter("ignore")
    import ROOT

    ROOT.gErrorIgnoreLevel = ROOT.kFatal
    ROOT.gROOT.SetBatch(True)
    request = json.load(sys.stdin)
    answer = []
    if "make" in request:
        make(request["make"])
    for tree, session in request.get("sessions", []):
        for name, bins in BINS.items():
            ROOT.gEnv.SetValue(f"Hist.Binning.{name}", bins)
        file = ROOT.TFile(request["file"])
        tree = file.Get(tree)
        for expression, cut, option in session:
            tree.Draw(expression, cut, f"{option} goff")
        name = session[-1][0].rpartition(">>")[2].partition("(")[0].strip("+")
        hist = ROOT.gDirectory.Get(name)
        answer.append(described(hist) if hist else None)
        file.Close()
    for path, name in request.get("read", []):
        file = ROOT.TFile(path)
        hist = file.Get(name)
        answer.append(described(hist) if hist else None)
        file.Close()
    tell(answer)


def asked(**request):
    """ROOT's answer."""
    return ask(__file__, request)


if __name__ == "__main__":
    main()
