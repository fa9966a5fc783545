"""Trees as ntuples, and ntuples as trees: every value, against uproot and ROOT."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import warnings

import numpy as np
import pytest
import uproot

import sapwood

ak = pytest.importorskip("awkward")


@dataclasses.dataclass
class Hit:
    x: float
    channel: int


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A tree with the kinds of branches that analyses have."""
    path = tmp_path_factory.mktemp("convert") / "tree.root"
    n = 1000
    counts = np.arange(n) % 4
    lists = ak.unflatten(np.arange(counts.sum(), dtype="f4"), counts)
    with sapwood.recreate(path) as file:
        events = file.mktree(
            "dir/Events",
            {
                "run": "u4",
                "x.y": "f8",
                "nMuon": "i4",
                "Muon_pt": "var * float32",
                "Muon_charge": "var * int32",
                "flags": ("?", (3,)),
                "matrix": ("f4", (2, 3)),
                "name": str,
                "words": "vector<string>",
                "nested": "vector<vector<int>>",
                "map": "map<string,float>",
                "hits": list[Hit],
            },
            title="events",
            counter_name=lambda counted: "n" + counted.split("_")[0],
        )
        events.extend(
            {
                "run": np.arange(n, dtype="u4"),
                "x.y": np.arange(n) / 7,
                "nMuon": counts.astype("i4"),
                "Muon_pt": lists,
                "Muon_charge": ak.values_astype(lists * 2, "i4"),
                "flags": (np.arange(3 * n) % 2 == 0).reshape(n, 3),
                "matrix": np.arange(6 * n, dtype="f4").reshape(n, 2, 3),
                "name": [f"event {i}" for i in range(n)],
                "words": [["a" * k for k in range(i % 3)] for i in range(n)],
                "nested": [[[i] * k for k in range(i % 3)] for i in range(n)],
                "map": [{str(k): float(i + k) for k in range(i % 3)} for i in range(n)],
                "hits": [[{"x": float(k), "channel": i} for k in range(i % 3)] for i in range(n)],
            }
        )
        file["h"] = np.histogram([1.0, 2.0], bins=4)
    return path


def values(path, name):
    with sapwood.open(path) as file:
        arrays = file[name].arrays(library="ak")
        return {field: ak.to_list(arrays[field]) for field in arrays.fields}


def test_a_tree_becomes_an_ntuple_of_the_same_values(tree, tmp_path):
    out = tmp_path / "ntuple.root"
    report = sapwood.convert(tree, out)
    assert (report["to"], report["verified"], report["skipped"]) == ("ntuple", True, [])
    assert report["trees"][0]["path"] == "dir/Events"
    assert ("x.y", "x_y") in report["trees"][0]["renamed"]
    assert any("1 other object" in remark for remark in report["remarks"])
    with sapwood.open(out) as file, sapwood.open(tree) as source:
        ntuple = file["dir/Events"]
        assert ntuple.title == "events"
        assert ntuple["Muon_pt"].typename == "std::vector<float>"
        assert ntuple["nMuon"].typename == "std::int32_t"
        assert ntuple["matrix"].typename == "std::array<std::array<float,3>,2>"
        assert ntuple["map"].typename == "std::map<std::string,float>"
        for ours, theirs in [("run", "run"), ("x_y", "x.y"), ("nMuon", "nMuon"), ("Muon_pt", "Muon_pt")]:
            assert ak.array_equal(ntuple[ours].array(), source["dir/Events"][theirs].array())
        for name in ("Muon_charge", "flags", "matrix", "name", "words", "nested"):
            assert ak.to_list(ntuple[name].array()) == ak.to_list(source["dir/Events"][name].array()), name
        hits = [[{"x": float(k), "channel": i} for k in range(i % 3)] for i in range(1000)]
        assert ak.to_list(ntuple["hits"].array()) == hits
        assert ak.to_list(ntuple["hits.channel"].array()) == [[hit["channel"] for hit in some] for some in hits]


def test_uproot_reads_what_was_converted(tree, tmp_path):
    out = tmp_path / "ntuple.root"
    sapwood.convert(tree, out)
    theirs = uproot.open(out)["dir/Events"].arrays(["run", "Muon_pt", "name", "words", "nested", "matrix", "hits"])
    ours = sapwood.open(out)["dir/Events"].arrays(["run", "Muon_pt", "name", "words", "nested", "matrix", "hits"])
    assert theirs.to_list() == ours.to_list()


def test_root_reads_both_directions(tree, tmp_path, root_here):
    ntuple, back = tmp_path / "ntuple.root", tmp_path / "back.root"
    sapwood.convert(tree, ntuple)
    sapwood.convert(ntuple, back, to="tree")
    script = (
        "import json, sys, ROOT\n"
        "out = []\n"
        "for path in sys.argv[1:]:\n"
        "    d = ROOT.RDataFrame('dir/Events', path)\n"
        "    d = d.Define('pt', 'double s = 0; for (auto x : Muon_pt) s += x; return s;')\n"
        "    d = d.Define('letters', 'double s = 0; for (auto &w : words) s += w.size(); return s;')\n"
        "    d = d.Define('channels', 'double s = 0; for (auto x : %s) s += x; return s;' % sys.argv[-1])\n"
        "    out.append([d.Sum(n).GetValue() for n in ('run', 'nMuon', 'pt', 'x_y', 'letters', 'channels')])\n"
    )
    script = script.replace("sys.argv[1:]:", "sys.argv[1:-1]:") + "print(json.dumps(out))"

    def sums(path, channel):
        words = [sys.executable, "-W", "ignore", "-c", script, path, channel]
        done = subprocess.run(words, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0 and "Warning" not in done.stderr, done.stderr
        return json.loads(done.stdout.splitlines()[-1])[0]

    source = sapwood.open(tree)["dir/Events"].arrays(["run", "nMuon", "Muon_pt", "x.y", "words"])
    hits = [i for i in range(1000) for _ in range(i % 3)]
    expected = [
        int(ak.sum(source.run)),
        int(ak.sum(source.nMuon)),
        float(ak.sum(source.Muon_pt)),
        float(ak.sum(source["x.y"])),
        float(ak.sum(ak.num(source.words, axis=2))),
        float(sum(hits)),
    ]
    assert sums(ntuple, "hits.channel") == pytest.approx(expected)
    assert sums(back, "hits_channel") == pytest.approx(expected)


def test_an_ntuple_becomes_a_tree_without_classes(tree, tmp_path):
    ntuple, back = tmp_path / "ntuple.root", tmp_path / "back.root"
    sapwood.convert(tree, ntuple)
    report = sapwood.convert(str(ntuple) + ":dir/Events", back)
    assert report["to"] == "tree" and report["verified"]
    was, now = sapwood.open(tree)["dir/Events"], sapwood.open(back)["dir/Events"]
    assert now["Muon_pt"].title == "Muon_pt[nMuon]/F"
    assert now["hits_x"].title == "hits_x[nhits]/D"
    assert now["matrix"].typename == "float[2][3]"
    for name in ("run", "nMuon", "Muon_pt", "Muon_charge", "flags", "matrix", "name", "words", "nested"):
        assert ak.to_list(now[name].array()) == ak.to_list(was[name].array()), name
    assert ak.to_list(now["map"].array()) == [[(str(k), float(i + k)) for k in range(i % 3)] for i in range(1000)]
    theirs = uproot.open(back)["dir/Events"]
    assert theirs["Muon_pt"].array().to_list() == was["Muon_pt"].array().to_list()


def test_lists_that_a_field_only_seems_to_count_are_vectors(tmp_path):
    path, out = tmp_path / "n.root", tmp_path / "t.root"
    with sapwood.recreate(path) as file:
        ntuple = file.mkntuple("n", {"nA": "i4", "A_x": "var * float32", "A_y": "var * float32"})
        ntuple.extend({"nA": [2, 1], "A_x": [[1.0, 2.0], [3.0]], "A_y": [[1.0], [2.0]]})
    sapwood.convert(path, out)
    tree = sapwood.open(out)["n"]
    assert (tree["A_x"].title, tree["A_y"].typename) == ("A_x[nA]/F", "std::vector<float>")
    assert ak.to_list(tree["A_y"].array()) == [[1.0], [2.0]]


def test_chosen_branches_and_entries(tree, tmp_path):
    out = tmp_path / "some.root"
    report = sapwood.convert(tree, out, branches=["Muon_*", "hits.x"], entry_start=10, entry_stop=20)
    assert report["trees"][0]["entries"] == 10
    ntuple = sapwood.open(out)["dir/Events"]
    assert ntuple.keys() == ["Muon_pt", "Muon_charge", "hits", "hits.x"]
    whole = sapwood.open(tree)["dir/Events"]["Muon_pt"].array(entry_start=10, entry_stop=20)
    assert ak.to_list(ntuple["Muon_pt"].array()) == ak.to_list(whole)
    with pytest.raises(sapwood.KeyInFileError, match="no branch matches Moun_pt"):
        sapwood.convert(tree, tmp_path / "none.root", branches="Moun_pt")
    assert not (tmp_path / "none.root").exists()


def test_what_cannot_be_converted_is_refused_with_its_name(tmp_path):
    path, out = tmp_path / "n.root", tmp_path / "t.root"
    with sapwood.recreate(path) as file:
        file.mkntuple("n", {"x": "i4", "w": "std::variant<int,std::string>"}).extend({"x": [1, 2], "w": [1, "a"]})
    with pytest.raises(sapwood.UnsupportedError, match=r"n:w \(variants\).*skip_unsupported=True"):
        sapwood.convert(path, out)
    assert list(tmp_path.iterdir()) == [path]
    with pytest.warns(sapwood.SkippedBranchWarning, match="n:w: variants"):
        report = sapwood.convert(path, out, skip_unsupported=True)
    assert report["skipped"] == [{"tree": "n", "branch": "w", "reason": "variants"}]
    assert sapwood.open(out)["n"].keys() == ["x"]


@pytest.mark.parametrize("kind", ["tree", "ntuple"])
def test_a_damaged_branch_is_refused_or_skipped(tmp_path, command, kind):
    path, out = tmp_path / "damaged.root", tmp_path / "out.root"
    random = np.random.default_rng(1).normal(size=(3, 5000)).round(1)
    with sapwood.recreate(path, compression="lz4:4") as file:
        made = (file.mktree if kind == "tree" else file.mkntuple)("t", dict.fromkeys("abc", "f8"))
        made.extend(dict(zip("abc", random, strict=True)))
    data = bytearray(path.read_bytes())
    told = subprocess.run([command, "map", "--json", path], capture_output=True, text=True, check=True).stdout
    branch = next(branch for branch in json.loads(told)["trees"][0]["branches"] if branch["name"] == "b")
    _, start, length = branch["baskets"][0]
    data[start + length // 2] ^= 0x55
    path.write_bytes(data)
    with pytest.raises(sapwood.Error, match=r"branch b: .*convert without them with skip_unsupported=True"):
        sapwood.convert(path, out)
    assert list(tmp_path.iterdir()) == [path]
    with pytest.warns(sapwood.SkippedBranchWarning, match="t:b: "):
        report = sapwood.convert(path, out, skip_unsupported=True)
    assert [skipped["branch"] for skipped in report["skipped"]] == ["b"]
    back = sapwood.open(out)["t"]
    assert back.keys() == ["a", "c"]
    assert back["c"].array(library="np").tolist() == random[2].tolist()


def test_files_and_kinds_that_cannot_be(tree, tmp_path):
    out = tmp_path / "out.root"
    sapwood.convert(tree, out)
    with pytest.raises(sapwood.FileThereError, match="force=True"):
        sapwood.convert(tree, out)
    sapwood.convert(tree, out, force=True)
    with pytest.raises(sapwood.InvalidError, match="is both an input and the output"):
        sapwood.convert(out, out, force=True)
    with pytest.raises(sapwood.InvalidError, match="is already a tree"):
        sapwood.convert(f"{tree}:dir/Events", tmp_path / "x.root", to="tree")
    with pytest.raises(sapwood.KeyInFileError, match="has no ntuple"):
        sapwood.convert(tree, tmp_path / "x.root", to="tree")
    both = tmp_path / "both.root"
    with sapwood.recreate(both) as file:
        file.mktree("t", {"x": "i4"}).extend({"x": [1]})
        file.mkntuple("n", {"x": "i4"}).extend({"x": [1]})
    with pytest.raises(sapwood.InvalidError, match='to="ntuple"'):
        sapwood.convert(both, tmp_path / "x.root")
    report = sapwood.convert(both, tmp_path / "x.root", to="ntuple")
    assert [t["path"] for t in report["trees"]] == ["t"] and "already ntuples: n" in report["remarks"][0]


def test_the_command(tree, tmp_path, command):
    out = tmp_path / "out.root"
    words = [command, "convert", "--json", "--compress", "zlib:1", "-b", "run", "--entries", ":7", tree, out]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["to"] == "ntuple" and told["trees"][0] | {"renamed": []} == {
        "path": "dir/Events", "entries": 7, "branches": 1, "renamed": []
    }  # fmt: skip
    assert sapwood.open(out)["dir/Events"]["run"].array(library="np").tolist() == list(range(7))
    done = subprocess.run([command, "convert", "-f", tree, out], capture_output=True, text=True)
    assert "every value compared" in done.stdout and "dir/Events: ntuple, 1 000 entries in 12 fields" in done.stdout
    done = subprocess.run([command, "convert", tree, out], capture_output=True, text=True)
    assert done.returncode == 1 and "-f" in done.stderr


def test_progress_counts_entries_written_and_compared(tree, tmp_path):
    seen = []
    sapwood.convert(tree, tmp_path / "out.root", progress=lambda *numbers: seen.append(numbers))
    assert seen[-1][:2] == (2000, 2000)


def test_a_tree_without_entries(tmp_path):
    path, out = tmp_path / "empty.root", tmp_path / "out.root"
    with sapwood.recreate(path) as file:
        file.mktree("t", {"x": "i4", "y": "var * float32"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sapwood.convert(path, out)
    assert sapwood.open(out)["t"].num_entries == 0
    assert uproot.open(out)["t"].num_entries == 0


def test_lists_of_a_record_have_their_own_lengths(tmp_path):
    source, out = tmp_path / "record.root", tmp_path / "tree.root"
    records = [{"a": [1.0], "b": [1, 2]}, {"a": [], "b": [3]}]
    with sapwood.recreate(source) as file:
        file.mkntuple("n", {"r": "{a: var * float32, b: var * int32}"}).extend({"r": records})
    sapwood.convert(source, out)
    back = sapwood.open(out)["n"]
    assert ak.to_list(back["r_a"].array()) == [[1.0], []] and ak.to_list(back["r_b"].array()) == [[1, 2], [3]]


def test_collections_whose_names_become_the_same_have_their_own_counters(tmp_path):
    source, out = tmp_path / "names.root", tmp_path / "tree.root"
    with sapwood.recreate(source) as file:
        items = "var * {x: int32}"
        file.mkntuple("n", {"a:": items, "a;": items}).extend({"a:": [[{"x": 1}]], "a;": [[{"x": 2}, {"x": 3}]]})
    sapwood.convert(source, out)
    back = sapwood.open(out)["n"]
    lists = [ak.to_list(back[name].array()) for name in back.keys() if name.endswith(("_x", "_2"))]
    assert lists == [[[1]], [[2, 3]]]


def test_a_tree_and_an_ntuple_of_one_name(tmp_path):
    source = tmp_path / "both.root"
    with sapwood.recreate(source) as file:
        file.mktree("n", {"x": "i4"}).extend({"x": [1, 2]})
    with sapwood.update(source) as file:
        file.mkntuple("n", {"y": "i4"}).extend({"y": [3]})
    for to, expected in (("ntuple", {"x": [1, 2]}), ("tree", {"y": [3]})):
        out = tmp_path / f"{to}.root"
        report = sapwood.convert(source, out, to=to)
        assert [(t["path"], t["entries"]) for t in report["trees"]] == [("n", len(*expected.values()))]
        assert {name: ak.to_list(b) for name, b in sapwood.open(out)["n"].arrays(library="np").items()} == expected


def test_names_that_root_refuses_for_ntuples(tmp_path, root_here):
    source, out = tmp_path / "trees.root", tmp_path / "ntuples.root"
    names = ["d/my.tree", "d/my_tree", "a tree", "good"]
    with sapwood.recreate(source) as file:
        for i, name in enumerate(names):
            file.mktree(name, {"x": "i4"}).extend({"x": [i]})
    report = sapwood.convert(source, out)
    found = {t["path"]: sapwood.open(out)[t["path"]]["x"].array().tolist() for t in report["trees"]}
    assert found == {"d/my_tree_2": [0], "d/my_tree": [1], "a_tree": [2], "good": [3]}
    assert sum("because ROOT refuses its name for ntuples" in remark for remark in report["remarks"]) == 2
    script = (
        "import sys, ROOT\nfor n in sys.argv[2:]: assert ROOT.RNTupleReader.Open(n, sys.argv[1]).GetNEntries() == 1"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script, out, *found], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with sapwood.recreate(tmp_path / "new.root") as file, pytest.raises(ValueError, match=r"ROOT refuses '\.' in it"):
        file.mkntuple("my.ntuple", {"x": "i4"})


def test_older_cycles_are_told(tmp_path):
    path, out = tmp_path / "cycles.root", tmp_path / "out.root"
    with sapwood.recreate(path) as file:
        for last in (1, 2):
            file.mktree("t", {"x": "i4"}).extend({"x": [last]})
    report = sapwood.convert(path, out)
    assert report["remarks"] == ["older cycles, of which only the last is converted: t"]
    assert sapwood.open(out)["t"]["x"].array(library="np").tolist() == [2]


def test_small_clusters_of_a_tree_become_one_of_an_ntuple(tmp_path, command):
    path, out = tmp_path / "tree.root", tmp_path / "out.root"
    with sapwood.recreate(path) as file:
        tree = file.mktree("t", {"x": "i4", "y": "var * float32"})
        for first in (0, 10, 20):
            tree.extend({"x": np.arange(first, first + 10), "y": [[float(k)] * (k % 3) for k in range(10)]})
            tree.flush()
    sapwood.convert(path, out)
    told = subprocess.run([command, "show", "--json", f"{out}:t"], capture_output=True, text=True, check=True).stdout
    assert json.loads(told)["clusters"] == [0, 30]
    assert values(out, "t") == values(path, "t")
