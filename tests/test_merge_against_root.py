"""sapwood merge against ROOT's own hadd: trees with every kind of branch, histograms, profiles, numbers."""

import json
import textwrap

import numpy as np
import pytest
import uproot
from scripts import run_script

ORACLE = textwrap.dedent(
    r"""
    import array, json, sys
    import ROOT

    ROOT.gROOT.SetBatch(True)
    ROOT.TH1.AddDirectory(False)
    folder = sys.argv[1]

    def histograms(i):
        rng = ROOT.TRandom3(i + 1)
        out = []
        for kind in "CSIFDL":
            out.append(getattr(ROOT, "TH1" + kind)("h1" + kind.lower(), "one", 10, 0.0, 1.0))
        out.append(ROOT.TH1D("variable", "edges", 3, array.array("d", [0.0, 0.1, 0.5, 1.0])))
        for h in out:
            for _ in range(60):
                h.Fill(rng.Uniform(-0.1, 1.1))
        weighted = ROOT.TH1F("weighted", "weights in one file only", 10, 0.0, 1.0)
        if i:
            weighted.Sumw2()
        for _ in range(20):
            weighted.Fill(rng.Uniform(), 2.5 if i else 1.0)
        by_hand = ROOT.TH1D("by_hand", "contents set", 4, 0.0, 4.0)
        for b in range(1, 5):
            by_hand.SetBinContent(b, 1.5 * b + i)
        labels = ROOT.TH1D("labels", "named bins", 3, 0, 3)
        for b, text in enumerate(["all", "cut", "end"], 1):
            labels.GetXaxis().SetBinLabel(b, text)
            labels.SetBinContent(b, b + i)
        h2 = ROOT.TH2F("h2", "two", 4, 0.0, 1.0, 5, 0.0, 1.0)
        h3 = ROOT.TH3D("h3", "three", 2, 0.0, 1.0, 3, 0.0, 1.0, 4, 0.0, 1.0)
        profile = ROOT.TProfile("profile", "mean", 5, 0.0, 1.0)
        profile2 = ROOT.TProfile2D("profile2", "mean", 3, 0.0, 1.0, 3, 0.0, 1.0)
        for _ in range(50):
            x, y, z = rng.Uniform(), rng.Uniform(), rng.Uniform()
            h2.Fill(x, y, 2.0)
            h3.Fill(x, y, z)
            profile.Fill(x, y, 1.5 + i)
            profile2.Fill(x, y, z)
        return [*out, weighted, by_hand, labels, h2, h3, profile, profile2]

    def numbers(h):
        stats = array.array("d", [0.0] * 20)
        h.GetStats(stats)
        cells = range(h.GetNcells())
        return [h.GetEntries(), list(stats), [h.GetBinContent(c) for c in cells], [h.GetBinError(c) for c in cells]]

    names = []
    for i in range(2):
        f = ROOT.TFile(f"{folder}/h{i}.root", "RECREATE")
        folder_inside = f.mkdir("sub", "a folder")
        for n, h in enumerate(histograms(i)):
            where = folder_inside if n % 2 else f
            where.WriteTObject(h)
            path = ("sub/" if n % 2 else "") + h.GetName()
            names += [path] if i == 0 else []
        f.WriteTObject(ROOT.TParameter["double"]("par", 1.5 + i))
        f.WriteTObject(ROOT.TParameter["int"]("most", 3 + i, "M"))
        f.WriteTObject(ROOT.TNamed("same", "the same in all"))
        f.WriteTObject(ROOT.TNamed("other", f"of file {i}"))
        f.cd()
        values = array.array("i", [0])
        size = array.array("i", [0])
        many = array.array("f", [0.0] * 20)
        text = bytearray(40)
        tree = ROOT.TTree("t", "a tree")
        tree.SetAutoFlush(40 if i else 30)
        tree.Branch("values", values, "values/I")
        tree.Branch("size", size, "size/I")
        tree.Branch("many", many, "many[size]/F")
        tree.Branch("text", text, "text/C")
        named = ROOT.TNamed("a", "b")
        tree.Branch("named", named, 32000, 99)
        clones = ROOT.TClonesArray("TNamed", 5)
        tree.Branch("clones", clones, 32000, 99)
        whole = ROOT.TObjArray()
        tree.Branch("whole", "TObjArray", whole, 32000, 0)
        for note in [ROOT.TNamed("note", "kept"), ROOT.TNamed("second", "of the same class")]:
            ROOT.SetOwnership(note, False)
            tree.GetUserInfo().Add(note)
        tree.SetAlias("double_size", "2*size")
        for e in range(100 + 7 * i):
            values[0] = 1000 * i + e
            size[0] = (e * (i + 1)) % (4 + 9 * i)
            for k in range(size[0]):
                many[k] = e + 0.25 * k
            word = ("w" * (e % 5 + 10 * i)).encode()
            text[: len(word) + 1] = word + b"\0"
            named.SetName(f"n{e}")
            clones.Clear("C")
            for k in range(e % 3):
                clones.ConstructedAt(k).SetName(f"c{e}-{k}")
            whole.Clear()
            for k in range(e % 4):
                item = ROOT.TNamed(f"o{k}", f"in {e}") if k % 2 else ROOT.TObjString(f"s{e}")
                ROOT.SetOwnership(item, False)
                whole.Add(item)
            tree.Fill()
        tree.Write()
        f.Close()
    expected = {}
    merger = ROOT.TFileMerger(False, False)
    merger.SetFastMethod(True)
    merger.OutputFile(f"{folder}/hadd.root", "RECREATE", 101)
    for i in range(2):
        merger.AddFile(f"{folder}/h{i}.root")
    assert merger.Merge()
    f = ROOT.TFile(f"{folder}/hadd.root")
    expected["histograms"] = {n: numbers(f.Get(n)) for n in names}
    expected["par"] = f.Get("par").GetVal()
    expected["most"] = f.Get("most").GetVal()
    json.dump(expected, open(f"{folder}/expected.json", "w"))
    """
)

CHECK = textwrap.dedent(
    r"""
    import array, json, sys
    import ROOT

    ROOT.gROOT.SetBatch(True)

    def numbers(h):
        stats = array.array("d", [0.0] * 20)
        h.GetStats(stats)
        cells = range(h.GetNcells())
        return [h.GetEntries(), list(stats), [h.GetBinContent(c) for c in cells], [h.GetBinError(c) for c in cells]]

    def rows(path, name):
        f = ROOT.TFile(path)
        t = f.Get(name)
        out = []
        for e in range(t.GetEntries()):
            t.GetEntry(e)
            out.append([t.values, t.size, list(t.many), str(t.named.GetName()),
                        [str(x.GetName()) for x in t.clones],
                        [[str(x.ClassName()), str(x.GetName())] for x in t.whole]])
        clusters, it = [], t.GetClusterIterator(0)
        while (at := it.Next()) < t.GetEntries():
            clusters.append(at)
        return {
            "rows": out,
            "notes": [[str(x.GetName()), str(x.GetTitle())] for x in t.GetUserInfo()],
            "alias": str(t.GetAlias("double_size")),
            "clusters": clusters,
            "zip": t.GetZipBytes(),
            "total": t.GetTotBytes(),
            "greatest": [int(t.GetLeaf("size").GetMaximum()), t.GetLeaf("text").GetLenStatic()],
        }

    out = {"trees": [rows(p, "t") for p in sys.argv[2:]]}
    f = ROOT.TFile(sys.argv[2])
    expected = json.load(open(sys.argv[1]))
    out["histograms"] = {n: numbers(f.Get(n)) for n in expected["histograms"]}
    out["par"] = f.Get("par").GetVal()
    out["most"] = f.Get("most").GetVal()
    out["cycles"] = [[str(k.GetName()), k.GetCycle(), str(k.ReadObj().GetTitle())] for k in f.GetListOfKeys()
                     if k.GetClassName() == "TNamed"]
    print("RESULT" + json.dumps(out))
    """
)


@pytest.fixture(scope="module")
def pair(tmp_path_factory, root_here):
    """Two files that ROOT wrote, and what its own merger makes of them."""
    folder = tmp_path_factory.mktemp("merge")
    run_script(ORACLE, folder)
    return folder


@pytest.mark.parametrize("compression", [None, "zstd:3"])
def test_as_hadd(run, pair, compression):
    """Trees with every kind of branch, histograms, profiles, parameters: ROOT reads the same, without a word."""
    out = pair / f"ours-{compression}.root".replace(":", "")
    words = ["--compress", compression] if compression else []
    done = run("merge", *words, out, pair / "h0.root", pair / "h1.root")
    assert done.returncode == 0, done.stderr
    checked = run_script(CHECK, pair / "expected.json", out, pair / "h0.root", pair / "h1.root")
    messages = [line for line in checked.stderr.splitlines() if "Warning" in line or "Error" in line]
    assert messages == []
    result = json.loads(checked.stdout.split("RESULT")[1])
    merged, first, second = result["trees"]
    assert merged["rows"] == first["rows"] + second["rows"]
    assert merged["notes"] == [["note", "kept"], ["second", "of the same class"]]
    assert merged["alias"] == "2*size"
    assert merged["clusters"] == first["clusters"] + [100 + c for c in second["clusters"]]
    assert merged["total"] == first["total"] + second["total"]
    assert (merged["zip"] == first["zip"] + second["zip"]) == (compression is None)
    assert merged["greatest"] == [max(a, b) for a, b in zip(first["greatest"], second["greatest"], strict=True)]
    expected = json.loads((pair / "expected.json").read_text())
    for name, numbers in expected["histograms"].items():
        for ours, roots in zip(result["histograms"][name], numbers, strict=True):
            np.testing.assert_allclose(ours, roots, rtol=1e-12, err_msg=name)
    assert (result["par"], result["most"]) == (expected["par"], expected["most"])
    assert sorted(result["cycles"]) == [
        ["other", 1, "of file 0"],
        ["other", 2, "of file 1"],
        ["same", 1, "the same in all"],
    ]
    with uproot.open(out) as f:
        assert f["t"].num_entries == 207
        assert f["t"]["values"].array(library="np").tolist() == [*range(100), *range(1000, 1107)]
