"""Objects that ROOT writes for the tests of `sapwood merge`, ROOT's own hadd, and all values of a file.

python merged_objects.py write FOLDER       k0.root, k1.root, and hadd.root made of both by hadd's TFileMerger
python merged_objects.py values FILE        as JSON: for each KEY;CYCLE what is in it
"""

import array
import json
import sys

import ROOT

ROOT.gROOT.SetBatch(True)
ROOT.TH1.AddDirectory(False)


def doubles(*values):
    return array.array("d", values)


class Writer:
    """Writes the objects of one file."""

    def __init__(self, folder, number):
        self.number = number
        self.random = ROOT.TRandom3(number + 1)
        self.folder = folder
        self.alive = []

    def histogram(self, name):
        made = ROOT.TH1D(name, name, 5, 0.0, 1.0)
        for _ in range(20 + self.number):
            made.Fill(self.random.Uniform(-0.1, 1.1))
        self.alive.append(made)
        return made

    def collection(self, kind, *items):
        made = kind()
        for item in items:
            ROOT.SetOwnership(item, False)
            self.alive.append(item)
            made.Add(item)
        return made

    def efficiencies(self):
        yield (plain := ROOT.TEfficiency("efficiency", "plain", 5, 0.0, 1.0))
        weighted = ROOT.TEfficiency("weighted", "weighted", 3, 0.0, 1.0, 2, 0.0, 1.0)
        weighted.SetUseWeightedEvents()
        weighted.SetWeight(2.0 + self.number)
        for _ in range(30 + self.number):
            passed = self.random.Uniform() < 0.4
            plain.Fill(passed, self.random.Uniform())
            weighted.FillWeighted(passed, 1.5 + self.number, self.random.Uniform(), self.random.Uniform())
        yield weighted

    def collections(self):
        h, i = self.histogram, self.number
        inner = self.collection(ROOT.TList, h("within"))
        text, word = ROOT.TNamed("named", f"of {i}"), ROOT.TObjString(f"text {i}")
        yield "list", self.collection(ROOT.TList, inner, h("a"), h("b"), text, word)
        # an array whose last item is an array: what is put in behind belongs to the outer one alone
        last = self.collection(ROOT.TObjArray, h("in array"))
        yield "array", self.collection(ROOT.TObjArray, h("c"), ROOT.TNamed("other", f"of {i}"), last)
        yield "hash list", self.collection(ROOT.THashList, h("d"), h("e"))
        yield "uneven", self.collection(ROOT.TList, *[h(f"q{j}") for j in range(2 + i)])

    def graphs(self):
        n = 3 + self.number
        x, y, *errors = [doubles(*[10 * k + j + 100 * self.number for j in range(n)]) for k in range(10)]
        yield ROOT.TGraph(n, x, y), "graph"
        yield ROOT.TGraphErrors(n, x, y, *errors[:2]), "graph with errors"
        yield ROOT.TGraphAsymmErrors(n, x, y, *errors[:4]), "graph with two errors"
        yield ROOT.TGraphBentErrors(n, x, y, *errors), "graph with bent errors"
        yield ROOT.TCutG("", n, x, y), "graphical cut"
        yield ROOT.TGraph2D(n, x, y, errors[0]), "graph in two dimensions"
        yield (ROOT.TGraph(2) if self.number else ROOT.TGraph()), "empty"
        several = ROOT.TMultiGraph()
        for part in (ROOT.TGraph(n, x, y), ROOT.TGraphErrors(n, x, y, *errors[:2])):
            ROOT.SetOwnership(part, False)
            several.Add(part)
        yield several, "several graphs"

    def many_dimensions(self):
        u = self.random.Uniform
        bins, low, high = array.array("i", [4, 5, 60]), doubles(0, 0, 0), doubles(1, 1, 1)
        yield (sparse := ROOT.THnSparseD("sparse", "", 3, bins, low, high))
        # chunks of 8 bins: sums fill several
        yield (chunks := ROOT.THnSparseF("chunks", "", 2, bins, low, high, 8))
        yield (half := ROOT.THnSparseI("half weighted", "", 2, bins, low, high, 8))
        yield (dense := ROOT.THnD("dense", "", 2, bins, low, high))
        yield (weights := ROOT.THnF("dense with weights", "", 2, bins, low, high))
        chunks.Sumw2()
        if self.number:
            half.Sumw2()
            weights.Sumw2()
        for _ in range(50):
            at = doubles(u(), u(), u())
            for made in (sparse, chunks, half, dense, weights):
                made.Fill(at, 2.0)

    def polygons(self):
        """The second file's first histogram keeps squares of weights, the first file's does not."""

        def box(left, low, right, high):
            return ROOT.TGraph(5, doubles(left, right, right, left, left), doubles(low, low, high, high, low))

        for name in ("polygons", "weighted polygons"):
            made = ROOT.TH2Poly(name, "", 0, 10, 0, 10)
            for edges in ((0, 0, 3, 3), (3, 0, 6, 3), (6, 4, 9, 9)):
                made.AddBin(box(*edges))
            if name != "polygons":
                made.Sumw2()
            for _ in range(200):
                made.Fill(self.random.Uniform(-1, 11), self.random.Uniform(-1, 11), 1.0 + self.number)
            yield made

    def events(self):
        made = ROOT.TEventList("events", "")
        for entry in range(self.number, 50, 3 - self.number):
            made.Enter(entry)
        yield made

    def axes(self):
        i = self.number
        labels = ROOT.TH1D("labels in another order", "", 3, 0, 3)
        for b, text in enumerate(["all", "end", "cut"] if i else ["all", "cut", "end"], 1):
            labels.GetXaxis().SetBinLabel(b, text)
            labels.SetBinContent(b, b + 10 * i)
        yield labels
        shifted = ROOT.TH1D("other limits", "", 4, i, 4 + i)
        shifted.Fill(1.5 + i)
        yield shifted
        plane = ROOT.TH2F("other limits of y", "", 2, 0, 2, 4, 3 * i, 4 + 3 * i)
        plane.Sumw2()
        for k in range(4):
            plane.Fill(k % 2, 3 * i + k, 1.5)
        yield plane
        yield (profile := ROOT.TProfile("profile of other limits", "", 4, -i, 4 - i))
        for k in range(8):
            profile.Fill(k % 4 - i, k, 2.0)

    def trees(self):
        i = self.number
        run, event = array.array("i", [i + 1]), array.array("i", [0])
        for name in ("indexed", "half indexed"):
            tree = ROOT.TTree(name, "")
            tree.Branch("run", run, "run/I")
            tree.Branch("event", event, "event/I")
            for k in range(20):
                event[0] = k * (7 if i else 3) % 20
                tree.Fill()
            if name == "indexed" or i == 0:
                tree.BuildIndex("run", "event")
            tree.SetAlias("sum", "run + event")
            if name == "indexed":
                tree.AddFriend("friend", f"{self.folder}/friends.root")
            note = ROOT.TNamed("note", f"of {i}")
            ROOT.SetOwnership(note, False)
            tree.GetUserInfo().Add(note)
            tree.Write()

    def write(self):
        f = ROOT.TFile(f"{self.folder}/k{self.number}.root", "RECREATE")
        for made in [*self.efficiencies(), *self.many_dimensions(), *self.polygons(), *self.events(), *self.axes()]:
            f.WriteTObject(made)
        for name, made in self.collections():
            f.WriteTObject(made, name, "SingleKey")
        for made, name in self.graphs():
            made.SetName(name)
            f.WriteTObject(made, name)
        stack = ROOT.THStack("stack", "")
        for name in ("s1", "s2"):
            stack.Add(self.histogram(name))
        f.WriteTObject(stack)
        f.WriteTObject(ROOT.TObjString(f"text {self.number}"), "string")
        f.WriteTObject(ROOT.TNamed("named", f"of {self.number}"))
        vector = ROOT.TVectorD(3)
        vector[0] = self.number
        f.WriteTObject(vector, "vector")
        twice = self.histogram("twice")
        f.WriteTObject(twice)
        twice.Fill(0.5)
        f.WriteTObject(twice)
        buffered = ROOT.TH1D("buffered", "", 10, 0, 0)
        for _ in range(30):
            buffered.Fill(self.random.Gaus())
        f.WriteTObject(buffered)
        deep = f.mkdir("one").mkdir("two")
        deep.WriteTObject(self.histogram("deep"))
        f.cd()
        self.trees()
        f.Close()


def numbers(pointer, n):
    return [pointer[k] for k in range(n)] if pointer else None


def values(o):
    """All that the merge of an object depends on, as lists and numbers."""
    kind = [str(o.ClassName()), str(o.GetName())]
    if o.InheritsFrom("TEfficiency"):
        return [kind, o.GetWeight(), values(o.GetPassedHistogram()), values(o.GetTotalHistogram())]
    if o.InheritsFrom("TCollection"):
        return [kind, [values(item) for item in o if item]]
    if o.InheritsFrom("THStack"):
        return [kind, values(o.GetHists())]
    if o.InheritsFrom("TMultiGraph"):
        return [kind, values(o.GetListOfGraphs())]
    if o.InheritsFrom("TGraph2D"):
        return [kind, *[numbers(getattr(o, "Get" + c)(), o.GetN()) for c in "XYZ"]]
    if o.InheritsFrom("TGraph"):
        bend = ["EXlowd", "EXhighd", "EYlowd", "EYhighd"] if "Bent" in kind[0] else []
        columns = ["X", "Y", "EX", "EY", "EXlow", "EXhigh", "EYlow", "EYhigh", *bend]
        return [kind, *[numbers(getattr(o, "Get" + c)(), o.GetN()) for c in columns]]
    if o.InheritsFrom("THnBase"):
        bins, at, cells = o.CreateIter(False), array.array("i", [0] * o.GetNdimensions()), []
        while (bin := bins.Next(at)) >= 0:
            cells.append([list(at), o.GetBinContent(bin, at), o.GetBinError2(bin)])
        return [kind, o.GetEntries(), o.GetCalculateErrors(), sorted(c for c in cells if c[1])]
    if o.InheritsFrom("TEventList"):
        return [kind, [o.GetEntry(k) for k in range(o.GetN())]]
    if o.InheritsFrom("TH2Poly"):
        bins = [b for b in range(-9, o.GetNumberOfBins() + 1) if b]
        contents = [[o.GetBinContent(b), o.GetBinError(b)] for b in bins]
        return [kind, o.GetEntries(), o.GetMean(1), o.GetStdDev(2), o.GetSumw2N(), contents]
    if o.InheritsFrom("TH1"):
        stats = doubles(*[0.0] * 20)
        o.GetStats(stats)
        cells = range(o.GetNcells())
        axes = [o.GetXaxis(), o.GetYaxis(), o.GetZaxis()][: o.GetDimension()]
        shape = [[a.GetNbins(), a.GetXmin(), a.GetXmax(), str(a.GetBinLabel(1))] for a in axes]
        contents = [[o.GetBinContent(c), o.GetBinError(c)] for c in cells]
        return [kind, o.GetEntries(), list(stats), shape, contents]
    if o.InheritsFrom("TTree"):
        index = o.GetTreeIndex()
        rows = [[int(e.run), int(e.event)] for e in o]
        found = [o.GetEntryNumberWithIndex(run, event) for run in (1, 2, 3) for event in range(21)] if index else None
        friends = [[str(f.GetName()), str(f.GetTitle())] for f in o.GetListOfFriends() or []]
        return [kind, rows, found, friends, str(o.GetAlias("sum")), values(o.GetUserInfo())]
    if kind[0].startswith("TVector"):
        return [kind, [o[k] for k in range(o.GetNrows())]]
    return [kind, str(o.GetTitle()), str(o)]


def keys(folder, path=""):
    for key in folder.GetListOfKeys():
        made = key.ReadObj()
        if made.InheritsFrom("TDirectory"):
            yield from keys(made, f"{path}{key.GetName()}/")
        else:
            yield f"{path}{key.GetName()};{key.GetCycle()}", values(made)


def main(what, where):
    if what == "values":
        f = ROOT.TFile(where)
        print("RESULT" + json.dumps(dict(keys(f))))
        return
    friends = ROOT.TFile(f"{where}/friends.root", "RECREATE")
    ROOT.TTree("friend", "").Write()
    friends.Close()
    for number in range(2):
        Writer(where, number).write()
    merger = ROOT.TFileMerger(False, False)
    merger.SetFastMethod(True)
    merger.OutputFile(f"{where}/hadd.root", "RECREATE", 101)
    for number in range(2):
        merger.AddFile(f"{where}/k{number}.root")
    assert merger.Merge()


if __name__ == "__main__":
    main(*sys.argv[1:])
