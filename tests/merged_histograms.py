"""Histograms that ROOT writes for the tests of `sapwood merge`, what ROOT's merger makes of them, and their numbers.

python merged_histograms.py write FOLDER       k0.root, k1.root, hadd.root made of both; set0.root, set1.root;
                                               a pair for each of REFUSED
python merged_histograms.py values FILE        as JSON: for each KEY;CYCLE what is in it
"""

import array
import ctypes
import json
import sys

import numpy
import ROOT

ROOT.gROOT.SetBatch(True)
ROOT.TH1.AddDirectory(False)


def filled(kind, axes, fills, buffer=0, extends=False, flushed=False, weights=False):
    """A histogram of these axes (bins, low, high for each) with these fills."""

    def make(name):
        made = kind(name, "", *axes)
        if buffer:
            made.SetBuffer(buffer)
        if extends:
            made.SetCanExtend(ROOT.TH1.kAllAxes)
        if weights:
            made.Sumw2()
        for fill in fills:
            made.Fill(*fill) if isinstance(fill, tuple) else made.Fill(fill)
        if flushed:
            made.BufferEmpty(1)
        return made

    return make


def named(bins, contents, kind=ROOT.TH1D, limits=None):
    """A histogram whose bins have names and contents that were set, not filled."""

    def make(name):
        made = kind(name, "", bins, 0, bins if limits is None else limits)
        for bin, (label, content) in enumerate(contents, 1):
            if label:
                made.GetXaxis().SetBinLabel(bin, label)
            made.SetBinContent(bin, content)
        return made

    return make


H, F, WHOLE, H2, H3, P, P2 = (
    getattr(ROOT, "T" + k) for k in ("H1D", "H1F", "H1I", "H2D", "H3D", "Profile", "Profile2D")
)
AB = [("a", 1), ("b", 2)]
FIVE, NINE, THIRTY = ([k + 0.5 for k in range(n)] for n in (5, 9, 30))
TEN, NO_LIMITS = (10, 0, 10), (10, 0, 0)
EDGES = [k * 0.1 + (k % 3 - 1) * 1e-17 for k in range(-2, 13)]


def set_by_hand(kind, axes, contents, extends=True, outside=False, names=""):
    """Contents that were set, cell by cell: no statistics are kept."""

    def make(name):
        made = kind(name, "", *axes)
        for bin, text in enumerate(names):
            made.GetXaxis().SetBinLabel(bin + 1, text)
        if not extends:
            made.SetCanExtend(ROOT.TH1.kNoAxis)
        for cell, content in enumerate(contents):
            made.SetBinContent(cell, content)
            if made.InheritsFrom("TProfile") or made.InheritsFrom("TProfile2D"):
                made.SetBinEntries(cell, cell % 3 + 1)
        if outside:
            made.SetStatOverflows(ROOT.TH1.kConsider)
        return made

    return make


def many_dimensions(fills, errors=False):
    """A histogram of two dimensions of which ROOT's classes allow any number."""

    def make(name):
        made = ROOT.THnD(name, "", 2, numpy.array([3, 4], "i4"), numpy.zeros(2), numpy.array([3.0, 4.0]))
        if errors:
            made.Sumw2()
        for x, y, weight in fills:
            made.Fill(numpy.array([x, y]), weight)
        return made

    return make


def words(letter, n):
    return [(f"{letter}{k}", k + 1) for k in range(n)]


def uneven(fills):
    return filled(H, (3, array.array("d", [0, 1, 3, 7])), fills, 100)


def more_fills(n):
    """Together more than the first one's buffer holds, of many sizes and signs."""
    scale = (1, 0.37, 1e-5, 12345.6, -3, 1e12, 1, 0)[n]
    fills = [[scale * (k * 0.37 + 1e6 * (n == 6) + 10 * part) for k in range(90 - 60 * part)] for part in (0, 1)]
    return tuple(filled(H, ((10, 10, 1, 100, 4, 50, 10, 6)[n], 0, 0), f, 100) for f in fills)


ONE, TWO = [0, 3, 1, 4, 1, 5], [2, 6, 5, 3, 5, 8]
GRID = [k * 0.3 for k in range(30)]
FILLS = [(0.5, 1.5, 2.0), (1.5, 1.5, 3.0), (2.5, 0.5, 1.0)]

ADDED = {
    # statistics that are worked out from contents set by hand
    "set, names": tuple(set_by_hand(H, (4, 0, 4), c, names="abcd") for c in (ONE, TWO)),
    "set, names of an axis that cannot grow": tuple(
        set_by_hand(H, (4, 0, 4), c, extends=False, names="abcd") for c in (ONE, TWO)
    ),
    "set, outside counts": tuple(set_by_hand(H, (4, 0, 4), c, outside=True) for c in (ONE, TWO)),
    "set, outside does not count": tuple(set_by_hand(H, (4, 0, 4), c) for c in (ONE, TWO)),
    "set, two dimensions": tuple(set_by_hand(ROOT.TH2D, (3, 0, 3, 4, 0, 4), GRID, outside=o) for o in (True, False)),
    "set, profile": tuple(set_by_hand(P, (4, 0, 4), c, outside=True) for c in (ONE, TWO)),
    "set, profile of two dimensions": tuple(
        set_by_hand(ROOT.TProfile2D, (3, 0, 3, 4, 0, 4), GRID, outside=o) for o in (True, False)
    ),
    # squares of weights that are not kept
    "no squares": (many_dimensions(FILLS), many_dimensions(FILLS)),
    "squares": (many_dimensions(FILLS, True), many_dimensions(FILLS[1:], True)),
    # names
    "other order": (filled(H, (4, 0, 4), AB), filled(H, (4, 0, 4), [("b", 3), ("a", 4), ("c", 5)])),
    "more names": (
        filled(H, (2, 0, 2), [("a", 1)]),
        filled(H, (2, 0, 2), [("a", 1), ("b", 3), ("c", 5)], weights=True),
    ),
    "fewer names": (filled(H, (2, 0, 2), words("l", 5)), filled(H, (2, 0, 2), [("l4", 7)])),
    "all other names": (filled(H, (2, 0, 2), AB), filled(H, (2, 0, 2), [("c", 1), ("d", 3), ("e", 5)])),
    "many more": (filled(F, (3, 0, 3), words("l", 3)), filled(F, (20, 0, 20), words("m", 20))),
    "whole numbers": (filled(WHOLE, (2, 0, 2), AB), filled(WHOLE, (3, 0, 3), [("c", 1), ("a", 2), ("d", 3)])),
    "names that were set": (named(2, AB), named(3, [("b", 3), ("c", 4), ("a", 5)])),
    "set and filled": (named(2, AB), filled(H, (3, 0, 3), [("c", 4), ("a", 5)])),
    "filled and set": (filled(H, (3, 0, 3), [("c", 4), ("a", 5)]), named(2, AB)),
    "names of empty bins": (filled(H, (4, 0, 4), AB), filled(H, (4, 0, 4), [("z", 0), ("b", 1), ("y", 0), ("c", 2)])),
    "other limits of names": (filled(H, (2, 0, 2), AB), filled(H, (2, 4, 6), [("c", 1), ("a", 2)])),
    "wider bins of names": (filled(H, (2, 0, 2), AB), filled(H, (2, 0, 8), words("c", 3))),
    "with and without names": (filled(H, (4, 0, 4), AB), filled(H, (4, 0, 4), FIVE[:3])),
    "without and with names": (filled(H, (4, 0, 4), FIVE[:3]), filled(H, (4, 0, 4), AB)),
    "empty without names": (filled(H, (4, 0, 4), []), filled(H, (4, 0, 4), AB)),
    "names and empty": (filled(H, (4, 0, 4), AB), filled(H, (4, 0, 4), [])),
    "names and empty, longer": (filled(H, (4, 0, 4), AB), filled(H, (8, 0, 8), [])),
    "some names": (named(4, AB), named(4, [("a", 3)])),
    "plane": (
        filled(H2, (3, 0, 3, 3, 0, 3), [("a", "x", 1.0), ("b", "y", 2.0)]),
        filled(H2, (3, 0, 3, 3, 0, 3), [("b", "y", 3.0), ("a", "z", 4.0), ("c", "x", 5.0), ("d", "x", 6.0)]),
    ),
    "names along x": (
        filled(H2, (3, 0, 3, 3, 0, 3), [("a", 0.5, 1.0), ("b", 1.5, 2.0)]),
        filled(H2, (3, 0, 3, 3, 0, 3), [("b", 0.5, 3.0), ("c", 2.5, 4.0), ("a", 1.5, 1.0)]),
    ),
    "names along y": (
        filled(H2, (2, 0, 2, 2, 0, 2), [(0.5, "a", 1.0), (1.5, "b", 2.0)]),
        filled(H2, (2, 0, 2, 2, 0, 2), [(0.5, "b", 1.0), (1.5, "c", 2.0)]),
    ),
    "profile": (
        filled(P, (3, 0, 3), [("a", 1.0, 1.0), ("b", 2.0, 1.0)]),
        filled(P, (3, 0, 3), [("b", 3.0, 1.0), ("a", 4.0, 1.0), ("c", 5.0, 2.0), ("d", 6.0, 1.0)]),
    ),
    "profile of a plane": (
        filled(P2, (2, 0, 2, 2, 0, 2), [("a", "x", 1.0, 1.0), ("b", "y", 2.0, 1.0)]),
        filled(P2, (2, 0, 2, 2, 0, 2), [("b", "y", 3.0, 1.0), ("c", "x", 4.0, 1.0)]),
    ),
    # buffers
    "buffers": (filled(H, TEN, FIVE, 100), filled(H, TEN, NINE, 100)),
    "buffer and bins": (filled(H, TEN, FIVE, 100), filled(H, TEN, NINE)),
    "bins and buffer": (filled(F, TEN, FIVE), filled(F, TEN, NINE, 100)),
    "weights in buffers": (
        filled(H, TEN, [(1.5, 2.1), (2.5, 3.3), (-4.0, 1.0), (30.0, 7.7)], 100),
        filled(H, TEN, [(1.5, 0.1), (2.5, 0.7)], 100),
    ),
    "edges in buffers": (filled(H, (10, 0.0, 1.0), EDGES, 100), filled(H, (10, 0.0, 1.0), EDGES[3:])),
    "whole numbers in buffers": (filled(WHOLE, TEN, [(1.5, 2.7), (1.5, 1.9)], 100), filled(WHOLE, TEN, NINE, 100)),
    "uneven bins": (uneven([0.5, 1.0, 2.9, 3.0, 7.0]), uneven([-1.0, 6.9])),
    "buffers of a plane": (
        filled(H2, (2, 0, 2, 2, 0, 2), [(0.5, 0.5, 1.0), (1.5, 0.5, 2.0)], 100),
        filled(H2, (2, 0, 2, 2, 0, 2), [(0.5, 0.5, 1.1), (5, 0.5, 2.0)], 100),
    ),
    "buffers of a space": (
        filled(H3, (2, 0, 2, 2, 0, 2, 2, 0, 2), [(0.5, 0.5, 1.5, 1.0), (1.5, 0.5, 0.1, 2.0)], 100),
        filled(H3, (2, 0, 2, 2, 0, 2, 2, 0, 2), [(0.5, 0.5, 1.1, 1.0), (0.5, -0.5, 1.1, 2.0)], 100),
    ),
    "buffers of profiles": (
        filled(P, (4, 0, 4), [(0.5, 1.0), (1.5, 2.0, 3.0)], 100),
        filled(P, (4, 0, 4), [(0.5, 3.0), (1.5, 4.0, 0.5), (9.0, 1.0)], 100),
    ),
    "limits to come": (filled(H, NO_LIMITS, FIVE, 100), filled(H, NO_LIMITS, NINE, 100)),
    "limits to come, empty": (filled(H, NO_LIMITS, [], 100), filled(H, NO_LIMITS, NINE, 100)),
    **{f"limits for more fills, {n}": more_fills(n) for n in range(8)},
    "more fills in a plane": (
        filled(H2, (5, 0, 0, 3, 0, 0), [(k * 0.37, k % 7 - 2.5, 1.0) for k in range(90)], 100),
        filled(H2, (5, 0, 0, 3, 0, 0), [(k * 0.7 - 3, k % 9, 1.5) for k in range(20)], 100),
    ),
    "limits to come in a plane": (
        filled(H2, (2, 0, 0, 2, 0, 0), [(0.5, 0.5, 1.0), (1.5, 0.5, 2.0)], 100),
        filled(H2, (2, 0, 0, 2, 0, 0), [(0.5, 0.5, 1.0), (5, 0.5, 2.0)], 100),
    ),
    "limits and none": (filled(H, TEN, FIVE), filled(H, NO_LIMITS, [(x, 0.1) for x in THIRTY], 100)),
    "none and limits": (filled(H, NO_LIMITS, [(x, 0.1) for x in NINE], 100), filled(H, TEN, FIVE)),
    "grows by fills without limits": (
        filled(H, TEN, FIVE, extends=True),
        filled(H, NO_LIMITS, [-3.0, 40.0, -90.0, 300.0], 100),
    ),
    "none and limits that grow": (
        filled(H, NO_LIMITS, NINE, 100),
        filled(H, TEN, [-3.0, 17.0], 100, True),
    ),
    "limits by fills": (filled(H, NO_LIMITS, FIVE, 100, flushed=True), filled(H, NO_LIMITS, NINE, 100)),
    # axes that grow
    "grown": (filled(H, TEN, FIVE, extends=True), filled(H, TEN, THIRTY, extends=True)),
    "grown before": (filled(H, TEN, THIRTY, extends=True), filled(H, TEN, FIVE, extends=True)),
    "grown below": (filled(H, TEN, [-1.0, 2.0], extends=True), filled(H, TEN, [15.0, 2.0], extends=True)),
    "wider bins": (filled(H, TEN, FIVE), filled(H, TEN, [15.0, 2.0], extends=True)),
    "grows in its buffer": (filled(H, TEN, FIVE, 100, True), filled(H, TEN, [-3.5, 17.0, 90.0], 100, True)),
    "grown plane": (
        filled(H2, (4, 0, 4, 4, 0, 4), [(0.5, 0.5, 1.0)], extends=True),
        filled(H2, (4, 0, 4, 4, 0, 4), [(9.5, 0.5, 1.0), (0.5, -3.0, 2.0)], extends=True),
    ),
    "grown profile": (
        filled(P, (4, 0, 4), [(0.5, 1.0), (1.5, 2.0)], extends=True),
        filled(P, (4, 0, 4), [(0.5, 3.0), (13.5, 4.0, 2.0)], extends=True),
    ),
}
# what ROOT refuses or makes nonsense of, and a word of what we say
REFUSED = {
    "other names": (named(4, AB), named(4, [("b", 3), ("a", 4)]), "labels on its Xaxis: b, a, not a, b"),
    "names that cannot grow": (filled(H, (3, 0, 3), [("c", 4), ("a", 5)]), named(4, AB), "different labels"),
    "a bin without a name": (filled(H, (4, 0, 4), [*AB, 2.5]), filled(H, (4, 0, 4), [("c", 1)]), "without labels"),
    "outside": (filled(H, TEN, [1.0, 22.0]), filled(H, TEN, [15.0, 2.0], extends=True), "below or above"),
    "odd bins": (filled(H, (10, 0, 10), FIVE), filled(H, (7, 0, 10), FIVE), "rebin"),
    "profiles without limits": (
        filled(P, (4, 0, 0), [(0.5, 1.0)], 100),
        filled(P, (4, 0, 0), [(0.5, 3.0)], 100),
        "profile",
    ),
}


# contents without fills and without limits: pairs that have nothing in common but their names
SET = {
    "none and limits": (named(10, [("", 3), ("", 4)], limits=0), filled(H, TEN, FIVE)),
    "limits and none": (filled(H, TEN, FIVE), named(10, [("", 3), ("", 4)], limits=0)),
    "none and fills": (named(10, [("", 3)], limits=0), filled(H, NO_LIMITS, FIVE, 100)),
}


def write(path, histograms):
    f = ROOT.TFile(path, "RECREATE")
    for name, make in histograms.items():
        f.WriteTObject(make(name), name)
    f.Close()


def kept_statistics(o):
    """The sums as they are kept, where GetStats would work them out."""
    where = {n: o.IsA().GetDataMemberOffset(f"fTsum{n}") for n in ("w", "w2", "wx", "wx2", "wy", "wy2", "wz", "wz2")}
    if o.InheritsFrom("THnBase"):
        where = {n: where[n] for n in ("w", "w2")}
    start = ROOT.addressof(o)
    return {n: ctypes.c_double.from_address(start + at).value for n, at in where.items() if at > 0}


def values(o):
    """All numbers of a histogram; its buffer first, as the rest empties it."""
    kept = kept_statistics(o)
    if o.InheritsFrom("THnBase"):
        return [str(o.ClassName()), o.GetEntries(), kept]
    waiting = [o.GetBuffer()[k] for k in range(o.GetBufferSize())] if o.GetBuffer() else [0.0]
    waiting = waiting[1 : 1 + int(max(waiting[0], 0)) * (1 + o.GetDimension())]
    entries, stats = o.GetEntries(), array.array("d", [0.0] * 20)
    axes = [o.GetXaxis(), o.GetYaxis(), o.GetZaxis()][: o.GetDimension()]
    shape = [
        [a.GetNbins(), a.GetXmin(), a.GetXmax(), a.CanExtend(), a.IsAlphanumeric()]
        + [str(a.GetBinLabel(b)) for b in range(1, a.GetNbins() + 1)]
        for a in axes
    ]
    o.GetStats(stats)
    cells = range(o.GetNcells())
    numbers = [[o.GetBinContent(c), o.GetBinError(c)] for c in cells]
    squares = [o.GetSumw2()[k] for k in range(o.GetSumw2N())]
    averaged = [o.GetBinEntries(c) for c in cells] if o.InheritsFrom("TProfile") else []
    return [str(o.ClassName()), entries, list(stats), shape, numbers, squares, averaged, waiting, kept]


def main(what, where):
    if what == "values":
        f = ROOT.TFile(where)
        found = {f"{k.GetName()};{k.GetCycle()}": values(k.ReadObj()) for k in f.GetListOfKeys()}
        print("RESULT" + json.dumps(found))
        return
    for number in range(2):
        write(f"{where}/k{number}.root", {name: pair[number] for name, pair in ADDED.items()})
        write(f"{where}/set{number}.root", {name: pair[number] for name, pair in SET.items()})
        for name, case in REFUSED.items():
            write(f"{where}/{name}{number}.root", {"h": case[number]})
    merger = ROOT.TFileMerger(False, False)
    merger.OutputFile(f"{where}/hadd.root", "RECREATE", 101)
    for number in range(2):
        merger.AddFile(f"{where}/k{number}.root")
    assert merger.Merge()
    print("RESULT" + json.dumps({name: case[2] for name, case in REFUSED.items()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
