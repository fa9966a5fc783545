"""sapwood merge: against ROOT's own hadd, by ROOT, uproot and sapwood; refusals, signals, limits."""

import json
import signal
import subprocess
import sys
import textwrap
import time

import awkward as ak
import numpy as np
import pytest
import uproot

import sapwood

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


def python(code, *arguments):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done


@pytest.fixture(scope="module")
def pair(tmp_path_factory, root_here):
    """Two files that ROOT wrote, and what its own merger makes of them."""
    folder = tmp_path_factory.mktemp("merge")
    python(ORACLE, folder)
    return folder


@pytest.mark.parametrize("compression", [None, "zstd:3"])
def test_as_hadd(run, pair, compression):
    """Trees with every kind of branch, histograms, profiles, parameters: ROOT reads the same, without a word."""
    out = pair / f"ours-{compression}.root".replace(":", "")
    words = ["--compress", compression] if compression else []
    done = run("merge", *words, out, pair / "h0.root", pair / "h1.root")
    assert done.returncode == 0, done.stderr
    checked = python(CHECK, pair / "expected.json", out, pair / "h0.root", pair / "h1.root")
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


@pytest.mark.parametrize(
    "name", ["leaves-zlib", "leaves-old", "leaves-lz4", "leaves-plain", "clusters", "embedded", "embedded-plain"]
)
def test_every_leaf(run, root_files, tmp_path, name):
    """Every leaf type, baskets in the header, three inputs of which two are the same: as uproot and we read them."""
    inputs = [root_files / f"{name}.root", root_files / "leaves-zstd.root", root_files / f"{name}.root"]
    out = tmp_path / "out.root"
    done = run("merge", out, *inputs)
    assert done.returncode == 0, done.stderr
    with sapwood.open(out) as f:
        ours = f["Events"].arrays(library="ak")
    parts = []
    for path in inputs:
        with sapwood.open(path) as f:
            parts.append(f["Events"].arrays(library="ak"))
    whole = ak.concatenate(parts)
    assert ours.fields == whole.fields
    for field in whole.fields:
        assert ak.array_equal(ours[field], whole[field], equal_nan=True), field
    merged = uproot.open(out)["Events"]
    for key in merged.keys():
        if "old" in name:
            break  # uproot does not read ROOT's first deflate
        if key == "text":
            continue  # uproot takes a text's length for an offset
        theirs = merged[key].array(library="ak").tolist()
        apart = [value for p in inputs for value in uproot.open(p)["Events"][key].array(library="ak").tolist()]
        assert repr(theirs) == repr(apart), key


GRAPHS = textwrap.dedent(
    r"""
    import array, sys
    import ROOT

    ROOT.gROOT.SetBatch(True)
    if sys.argv[1] == "write":
        for i in range(2):
            f = ROOT.TFile(f"{sys.argv[2]}/g{i}.root", "RECREATE")
            for kind, more in ((ROOT.TGraph, 0), (ROOT.TGraphErrors, 2)):
                n = 3 + i
                columns = [array.array("d", [10 * i + j + 100 * c for j in range(n)]) for c in range(2 + more)]
                graph = kind(n, *columns)
                graph.SetName(kind.__name__)
                graph.GetHistogram()
                graph.Write()
            empty = ROOT.TGraph(2) if i else ROOT.TGraph()
            empty.SetName("empty")
            empty.Write()
            f.Close()
    else:
        for name in ("TGraph", "empty"):
            merged, first, second = (ROOT.TFile.Open(path).Get(name) for path in sys.argv[2:])
            several = ROOT.TList()
            several.Add(second)
            first.Merge(several)
            assert merged.GetN() == first.GetN() and merged.ClassName() == first.ClassName()
            for j in range(first.GetN()):
                assert (merged.GetPointX(j), merged.GetPointY(j)) == (first.GetPointX(j), first.GetPointY(j)), (name, j)
    """
)


def test_graphs_are_appended_as_root_does(run, root_here, tmp_path):
    python(GRAPHS, "write", tmp_path)
    files = [tmp_path / name for name in ("out.root", "g0.root", "g1.root")]
    done = run("merge", *files)
    assert done.returncode == 0, done.stderr
    checked = python(GRAPHS, "check", *files)
    assert checked.stderr == ""
    with uproot.open(files[0]) as f:
        # what is not appended is kept whole
        assert sorted(f.keys()) == ["TGraph;1", "TGraphErrors;1", "TGraphErrors;2", "empty;1"]


def test_from_python_and_progress(flat, tmp_path):
    seen = []
    out = tmp_path / "out.root"
    report = sapwood.merge(out, [flat, flat], progress=lambda *counts: seen.append(counts))
    assert report["inputs"] == 2
    assert seen[-1] == (2, 2, out.stat().st_size) or seen[-1][:2] == (2, 2)
    with sapwood.open(flat) as one, sapwood.open(out) as two:
        assert two["t"].num_entries == 2 * one["t"].num_entries
    with pytest.raises(sapwood.InvalidError, match="exists already"):
        sapwood.merge(out, [flat])
    sapwood.merge(out, flat, force=True, compression="lz4")
    with sapwood.open(out) as f:
        assert f["t"].num_entries == report["trees"][0]["entries"] // 2


def write(path, **branches):
    with uproot.recreate(path) as f:
        tree = f.mktree("t", {name: (values.dtype, values.shape[1:]) for name, values in branches.items()})
        tree.extend(branches)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"x": np.arange(5.0), "y": np.arange(5), "z": np.arange(5)}, ["branch z", "in addition"]),
        ({"x": np.arange(5.0)}, ["branch y", "is missing"]),
        ({"x": np.arange(5, dtype="f4"), "y": np.arange(5)}, ["branch x", "TLeafF", "TLeafD"]),
        ({"x": np.zeros((5, 3)), "y": np.arange(5)}, ["branch x", "3 items"]),
    ],
)
def test_trees_that_differ_are_refused_by_name(run, tmp_path, other, words):
    write(tmp_path / "a.root", x=np.arange(5.0), y=np.arange(5))
    write(tmp_path / "b.root", **other)
    done = run("merge", tmp_path / "out.root", tmp_path / "a.root", tmp_path / "b.root")
    assert done.returncode == 1
    for word in [*words, "b.root", "a.root"]:
        assert word in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.root", "b.root"]


def test_branches_in_another_order_are_the_same(run, tmp_path):
    write(tmp_path / "a.root", x=np.arange(5.0), y=np.arange(5))
    write(tmp_path / "b.root", y=np.arange(5) + 7, x=np.arange(5.0) * 2)
    done = run("merge", tmp_path / "out.root", tmp_path / "a.root", tmp_path / "b.root")
    assert done.returncode == 0, done.stderr
    with uproot.open(tmp_path / "out.root") as f:
        assert f["t"]["y"].array(library="np").tolist() == [0, 1, 2, 3, 4, 7, 8, 9, 10, 11]
        assert f["t"]["x"].array(library="np").tolist() == [0, 1, 2, 3, 4, 0, 2, 4, 6, 8]


def test_histograms_with_other_axes_are_refused_by_name(run, tmp_path):
    for i, edges in enumerate([(0, 1), (0, 2)]):
        with uproot.recreate(tmp_path / f"{i}.root") as f:
            f["h"] = np.histogram([0.5], bins=4, range=edges)
    done = run("merge", tmp_path / "out.root", tmp_path / "0.root", tmp_path / "1.root")
    assert done.returncode == 1
    for word in ["h has 4 bins from 0 to 2", "not 4 bins from 0 to 1", "1.root"]:
        assert word in done.stderr
    assert not (tmp_path / "out.root").exists()


def test_the_old_output_stays_when_something_fails(run, flat, tmp_path):
    out = tmp_path / "out.root"
    out.write_bytes(b"precious")
    assert run("merge", out, flat).returncode == 1
    assert out.read_bytes() == b"precious"
    cut = tmp_path / "cut.root"
    with open(flat, "rb") as f:
        cut.write_bytes(f.read()[:20000])
    done = run("merge", "-f", out, flat, cut)
    assert done.returncode == 1
    assert "cut.root" in done.stderr
    assert out.read_bytes() == b"precious"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["cut.root", "out.root"]
    assert run("merge", "-f", out, flat, flat).returncode == 0
    assert out.read_bytes()[:4] == b"root"
    done = run("merge", "-f", out, out)
    assert done.returncode == 1
    assert "both an input and the output" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_leave_nothing_behind(command, flat, tmp_path, number):
    inputs = [flat] * 20000
    (tmp_path / "list.txt").write_text("\n".join(inputs))
    started = subprocess.Popen(
        [command, "merge", tmp_path / "out.root", f"@{tmp_path / 'list.txt'}"],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 30
    while not any(p.name.endswith(".part") for p in tmp_path.iterdir()):
        assert started.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    started.send_signal(number)
    started.communicate(timeout=30)
    assert started.returncode == 130
    assert [p.name for p in tmp_path.iterdir()] == ["list.txt"]


def test_many_inputs_with_few_descriptors_and_little_memory(command, flat, tmp_path):
    """Six hundred inputs where a process may open 40 files: memory does not grow with their number."""
    (tmp_path / "list.txt").write_text("\n".join([str(flat)] * 600))
    code = textwrap.dedent(
        """
        import resource, subprocess, sys
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
        done = subprocess.run(sys.argv[1:])
        print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
        sys.exit(done.returncode)
        """
    )
    done = python(code, command, "-q", "merge", tmp_path / "out.root", f"@{tmp_path / 'list.txt'}")
    assert int(done.stdout) < 100_000
    with sapwood.open(flat) as one, sapwood.open(tmp_path / "out.root") as all_of_them:
        assert all_of_them["t"].num_entries == 600 * one["t"].num_entries


def test_far_inputs(run, server, flat, tmp_path):
    """Two inputs over HTTP, from every kind of server."""
    url = server.url(flat)
    done = run("merge", "--json", tmp_path / "out.root", url, flat)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["inputs"] == 2
    with sapwood.open(flat) as one, sapwood.open(tmp_path / "out.root") as two:
        a, b = one["t"].arrays(library="ak"), two["t"].arrays(library="ak")
    assert ak.array_equal(ak.concatenate([a, a]), b, equal_nan=True)


def test_the_files_are_joined_byte_for_byte(run, flat, tmp_path):
    """Baskets are not packed anew: their compressed bytes are those of the input."""
    out = tmp_path / "out.root"
    assert run("merge", out, flat).returncode == 0
    before, after = uproot.open(flat)["t"], uproot.open(out)["t"]
    for key in before.keys():
        for i in range(before[key].num_baskets):
            one, two = before[key].basket(i), after[key].basket(i)
            assert one.compressed_bytes == two.compressed_bytes
            assert bytes(one.raw_data) == bytes(two.raw_data)
