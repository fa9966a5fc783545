"""`sapwood.uproot`: C strings, class descriptions, interpretations, file objects, added branches, nested records."""

from __future__ import annotations

import io
import subprocess
import sys
from dataclasses import dataclass

import awkward as ak
import numpy as np
import pytest

import sapwood
import sapwood.uproot as uproot
from sapwood.reading.basket import _from_values


@pytest.fixture
def path(tmp_path):
    with uproot.recreate(tmp_path / "a.root") as file:
        file.mktree("t", {"x": "f8", "i": "i4", "j": "var * float32", "s": "string", "v": "vector<vector<int>>"})
        file["t"].extend(
            {
                "x": [1.0, 2.0, 3.0],
                "i": [1, 2, 3],
                "j": [[1], [], [2, 3]],
                "s": ["a", "", "y" * 300],
                "v": [[[1]], [], []],
            }
        )
        file["h"] = np.histogram([1, 2, 3])
    return str(tmp_path / "a.root")


def test_text_is_written_as_c_strings(path):
    with uproot.open(path) as file:
        assert file["t/s"].array().tolist() == ["a", "", "y" * 300]
        assert file["t/s"].typename == "char*"
        leaf = file["t/s"].member("fLeaves")[0]
        assert (leaf.classname, leaf.member("fLen")) == ("TLeafC", 305)
    with sapwood.update(path) as file:
        file["t"].extend({"x": [4.0], "i": [4], "j": [[]], "s": ["z" * 400], "v": [[]]})
    theirs = pytest.importorskip("uproot")
    with theirs.open(path) as file:
        assert file["t/s"].array().tolist()[-2:] == ["y" * 300, "z" * 400]
        assert file["t/s"].member("fLeaves")[0].member("fLen") == 405


def test_c_strings_are_read_by_root(path):
    root = pytest.importorskip("ROOT")
    file = root.TFile.Open(path)
    assert [entry.s.as_string() for entry in file.Get("t")] == ["a", "", "y" * 300]
    file.Close()


def test_c_strings_where_they_are_asked_for(tmp_path):
    with sapwood.recreate(tmp_path / "a.root") as file:
        file.mktree("t", {"c": "char*", "s": "string"}).extend({"c": ["ä", "b"], "s": ["ä", "b"]})
    with sapwood.open(tmp_path / "a.root") as file:
        assert file["t"].typenames() == {"c": "char*", "s": "std::string"}
        assert file["t"].arrays().tolist() == [{"c": "ä", "s": "ä"}, {"c": "b", "s": "b"}]


def test_producers_tell_the_length_of_c_strings(tmp_path):
    with sapwood.recreate(tmp_path / "a.root") as file:
        new = file.mktree("t", {"c": "char*"})
        with new.merger() as merger, merger.producer() as tree:
            tree.extend({"c": ["x" * 50, "y"]})
    with sapwood.open(tmp_path / "a.root") as file:
        assert file["t/c"].member("fLeaves")[0].member("fLen") == 51


def test_descriptions_of_classes_are_shown(path):
    with sapwood.open(path) as file:
        info = file.streamer_named("TNamed")
        assert [e.name for e in info.elements] == ["TObject", "fName", "fTitle"]
        assert info.member_names == ["fName", "fTitle"] and info.base_names_versions == [("TObject", 1)]
        assert file.streamers["TNamed"][1] is info and file.streamer_named("TNothing") is None
        assert file.streamer_dependencies("TNamed")[-1] == ("TNamed", 1)
        assert file.class_named("TH1", "max").member_names[0] == "fNcells"
        out = io.StringIO()
        file.show_streamers("TNamed", stream=out)
        assert out.getvalue().endswith(
            "TNamed (v1): TObject (v1)\n    fName: TString (TStreamerString)\n    fTitle: TString (TStreamerString)\n"
        )
        with pytest.raises(KeyError, match="does not describe TNothing"):
            file.class_named("TNothing")


def test_descriptions_of_classes_are_those_of_uproot(path):
    theirs = pytest.importorskip("uproot")
    with uproot.open(path) as ours, theirs.open(path) as other:
        assert ours.streamers.keys() == other.file.streamers.keys()
        for name, versions in other.file.streamers.items():
            for version, info in versions.items():
                made, wanted = ours.streamers[name][version].tojson(), info.tojson()
                for one, two in zip(made["fElements"]["arr"], wanted["fElements"]["arr"], strict=True):
                    # uproot spells the type anew
                    one["fTypeName"] = one["fTypeName"].replace("Long64_t", "long long")
                    assert {**one, "fBits": 0} == {**two, "fBits": 0}, (name, one["fName"])
        made, wanted = ours["h"].tojson()["fXaxis"], other["h"].tojson()["fXaxis"]
        # uproot leaves out bits of memory
        assert {**made, "fBits": 0} == {**wanted, "fBits": 0}


def test_numbers_are_read_through_other_interpretations(path):
    with uproot.open(path) as file:
        tree = file["t"]
        assert tree["i"].array(uproot.AsDtype(">u4"), library="np").dtype == np.uint32
        halves = tree["x"].array(uproot.AsDtype("(2,)>u4"), library="np")
        assert halves.shape == (3, 2) and halves[0].tolist() == [0x3FF00000, 0]
        lists = tree["j"].array(uproot.AsJagged(uproot.AsDtype(">i4")))
        assert lists.tolist() == [[0x3F800000], [], [0x40000000, 0x40400000]]
        both = tree.arrays({"x": uproot.AsDtype(">i8"), "i": None})
        assert both.fields == ["x", "i"] and both["i"].tolist() == [1, 2, 3]
        with pytest.raises(sapwood.UnsupportedError, match="has 8 bytes"):
            tree["x"].array(uproot.AsDtype(">f4"))
        with pytest.raises(sapwood.UnsupportedError, match="only numbers"):
            tree["s"].array(uproot.AsDtype(">f4"))


def test_arrays_are_filled_in_place(path):
    with uproot.open(path) as file:
        target = np.zeros(5)
        made = file["t/i"].array(file["t/i"].interpretation.inplace(target), library="np")
        assert made.base is target and target.tolist() == [1, 2, 3, 0, 0]
        with pytest.raises(sapwood.InvalidError, match="has room for"):
            file["t/i"].array(file["t/i"].interpretation.inplace(np.zeros(2)))


def test_interpretations_are_spelled_as_in_uproot(path):
    theirs = pytest.importorskip("uproot")
    with uproot.open(path) as ours, theirs.open(path) as other:
        for name in other["t"].keys():
            assert repr(ours["t"][name].interpretation) == repr(other["t"][name].interpretation)


def test_files_are_written_to_file_objects(tmp_path):
    for module in (sapwood, uproot):
        memory = io.BytesIO(b"what was there before, and is longer than nothing")
        with module.recreate(memory) as file:
            file["t"] = {"x": np.arange(3)}
        with module.update(memory) as file:
            file["u"] = {"y": [1.5]}
        with module.open(memory) as file:
            assert file.keys() == ["t;1", "u;1"] and file["t/x"].array().tolist() == [0, 1, 2]
    before = memory.getvalue()
    file = sapwood.update(memory)
    file["v"] = {"z": [1]}
    file.abandon()
    assert memory.getvalue() == before
    (tmp_path / "plain").write_bytes(b"")
    with (tmp_path / "plain").open("rb") as read_only, pytest.raises(sapwood.InvalidError, match="must be writable"):
        sapwood.recreate(read_only)


@pytest.mark.parametrize("module", [sapwood, uproot])
def test_branches_are_added(path, module):
    with uproot.open(path) as file:
        before, types = file["t"].arrays(), file["t"].typenames()
    with module.update(path) as file:
        file.add_branches("t", {"new": np.arange(3), "more": ak.Array([[1.5], [], [2.5, 3.5]])})
        file["t"].extend({"x": [4.0], "i": [4], "j": [[]], "s": ["z"], "v": [[]], "new": [3], "more": [[9.5]]})
    with uproot.open(path) as file:
        tree = file["t"]
        assert {name: tree.typenames()[name] for name in types} == types
        assert tree.arrays(before.fields, entry_stop=3).tolist() == before.tolist()
        assert tree["new"].array().tolist() == [0, 1, 2, 3]
        assert tree["more"].array().tolist() == [[1.5], [], [2.5, 3.5], [9.5]]
        assert file.keys(filter_name="t") == ["t;1"]


def test_branches_that_cannot_be_added_change_nothing(path):
    with uproot.update(path) as file:
        with pytest.raises(ValueError, match="has 2 entries"):
            file["t"].add_branches({"new": [1, 2]})
        with pytest.raises(ValueError, match="has a branch x already"):
            file.add_branches("t", {"x": [1, 2, 3]})
        new = file.mktree("u", {"y": "f8"})
        with pytest.raises(sapwood.UnsupportedError, match="is being written"):
            new.add_branches({"z": []})
    with uproot.open(path) as file:
        assert file.keys(filter_name="t") == ["t;1"] and "new" not in file["t"]


def test_steps_of_several_files_are_those_of_uproot(path):
    theirs = pytest.importorskip("uproot")
    with uproot.recreate(path) as file:
        file["t"] = {"x": np.arange(50_000.0)}
    for size in ("0.1 MB", "0.1 MiB", 7_000):
        steps = [len(x) for x in uproot.iterate(f"{path}:t", step_size=size)]
        assert steps == [len(x) for x in theirs.iterate(f"{path}:t", step_size=size)]


@dataclass
class Inner:
    a: int
    b: float


@dataclass
class Outer:
    first: int
    inner: Inner


def test_records_within_records_stay_records(tmp_path):
    with sapwood.recreate(tmp_path / "a.root") as file:
        tree = file.mktree("t", {"outer": Outer})
        for i in range(3):
            tree.fill(outer=Outer(i, Inner(10 * i, i / 2)))
    for module in (sapwood, uproot):
        with module.open(tmp_path / "a.root") as made:
            branch = made["t/outer"]
            assert [b.name for b in branch.branches] == ["first", "inner"] and branch["inner"].branches
            names = [b.name for b in branch["inner"].branches]
            wanted = [{"first": i, "inner": dict(zip(names, (10 * i, i / 2), strict=True))} for i in range(3)]
            assert branch.array().tolist() == wanted
            assert made["t"].arrays(["outer"])["outer"].tolist() == wanted
            assert branch.array(library="np")["inner"][names[0]].tolist() == [0, 10, 20]


def test_values_of_classes_with_numpy(path):
    with uproot.open(path) as file:
        made = file["t/v"].array(library="np")
        assert made[0].tolist() == [[1]] and made[1].tolist() == [] and len(made[0]) == 1
        assert file["t"].arrays(["v"], library="np")["v"][0] == [[1]]
        assert isinstance(file["t/j"].array(library="np")[2], np.ndarray)


def test_baskets_in_the_header_are_made_of_their_values(path):
    with uproot.open(path) as file:
        for name in ("x", "j"):
            stored = file["t"][name].basket(0)
            count, data, offsets = _from_values(file["t"][name], 0)
            assert count == stored.num_entries and data.tolist() == stored.data.tolist()
            assert (offsets is None) == (stored.byte_offsets is None)
            assert offsets is None or offsets.tolist() == stored.byte_offsets.tolist()


def test_graphs_have_limits_and_errors(tmp_path):
    table = {"x": [0.0, 1.0, 2.0], "y": [100.0, 200.0, 150.0]}
    table |= {f"{axis}_errors_{side}": [1.0, 1.0, 1.0] for axis in "xy" for side in ("low", "high")}
    graph = uproot.as_TGraph(table, "title", lineColor=2)
    assert (graph.member("fMinimum"), graph.member("fMaximum")) == (90, 210)
    with uproot.recreate(tmp_path / "a.root") as file:
        file["g"] = graph
    with uproot.open(tmp_path / "a.root") as file:
        read = file["g"]
        assert read.classname == "TGraphAsymmErrors" and read.member("fLineColor") == 2
        assert (read.member("fMinimum"), read.member("fMaximum")) == (90, 210)
    with pytest.raises(TypeError):
        uproot.as_TGraph(table, nonsense=1)


def test_objects_of_pyroot():
    root = pytest.importorskip("ROOT")
    assert str(uproot.to_writable("hello").to_pyroot()) == "hello"
    made = uproot.to_writable((np.array([3.0, 2.0]), np.array([10.0, 15.0, 20.0]))).to_pyroot()
    assert [made.GetBinContent(i) for i in (1, 2)] == [3, 2]
    assert uproot.from_pyroot(root.TH1F("h", "title", 10, -5, 5)).values().tolist() == [0] * 10
    with pytest.raises(sapwood.InvalidError):
        uproot.from_pyroot(3)


def test_keys_closed_files_and_defaults(tmp_path):
    """The same questions to both modules: names of keys, exceptions of closed files, classes, defaults, cycles."""
    import sapwood.uproot as ours

    theirs = pytest.importorskip("uproot")
    path = tmp_path / "a.root"
    with theirs.recreate(path) as file:
        file["b/h"] = np.histogram([1, 2, 3])
        file.mktree("t", {"x": "f8"}).extend({"x": np.arange(3.0)})
        file.mktree("t", {"x": "f8"}).extend({"x": np.arange(4.0)})
        file["n"] = {"x": np.arange(5.0)}

    def answers(module):
        file = module.open(path)
        key, tree, histogram = file.key("t"), file["t"], file["b/h"]
        told = [
            file.keys(),
            key.name(),
            key.name(cycle=True),
            key.title(),
            key.classname(),
            key.data_uncompressed_bytes,
        ]
        told += [tree.is_instance(*c) for c in (("TTree",), ("TNamed",), ("TH1",), ("x", "TAttLine"), (dict,), ())]
        told += [tree["x"].is_instance(*c) for c in (("TBranch",), ("TNamed",), ("TTree",))]
        told += [histogram.is_instance(*c) for c in (("TH1",), ("TH1D",), ("TTree", "TNamed"), ("TTree",))]
        told += [file["n"].is_instance("ROOT::RNTuple"), file["n"].is_instance("TTree")]
        told += [sorted(module.open.defaults.items()), tree["x"].array(library="np").tolist()]
        closed = module.open(path)
        closed.close()
        for use in (closed.keys, lambda: closed["t"], lambda: closed["b/h"]):
            with pytest.raises(OSError, match="closed"):
                use()
        return told

    assert answers(ours) == answers(theirs)
    # where Sapwood's own classes have these names
    file = sapwood.open(path)
    assert (file.key("t").name, file["t"].is_instance("TNamed")) == ("t", True)


def test_a_second_tree_of_a_name_is_the_next_cycle(tmp_path):
    import sapwood.uproot as ours

    theirs = pytest.importorskip("uproot")

    def written(module):
        path = tmp_path / f"{module.__name__}.root"
        with module.recreate(path) as file:
            for n in (3, 4):
                file.mktree("t", {"x": "f8"}).extend({"x": np.arange(float(n))})
            listed = file.keys()
        again = theirs.open(path)
        return listed, sorted(again.keys()), [again[f"t;{c}"]["x"].array().tolist() for c in (1, 2)]

    assert written(ours) == written(theirs)


#: Packed numbers of a class and of leaves, with ranges and without.
PACKED = """
import sys
from array import array
import ROOT
ROOT.gInterpreter.Declare('''
struct Packed {
    Double32_t plain = 1;
    Double32_t range = 1;      //[0,10,12]
    Double32_t bits = 1;       //[0,0,10]
    Double32_t fixed[3] = {};  //[-1,1]
    Double32_t other[2] = {};  // no range [here]
    Float16_t half = 1;
    Float16_t ranged = 1;      //[0,10]
};
''')
file = ROOT.TFile(sys.argv[1], "recreate")
tree = ROOT.TTree("t", "")
d, f = array("d", [0.5] * 4), array("f", [0.5])
for leaf in ("a/d", "b/d[0,1,16]", "c[4]/d", "e[4]/d[0,1,16]"):
    tree.Branch(leaf.partition("/")[0].partition("[")[0], d, leaf)
tree.Branch("g", f, "g/f")
packed = ROOT.Packed()
tree.Branch("p.", packed)
tree.Fill()
tree.Write()
file.Close()
"""


def test_types_of_packed_numbers(tmp_path, root_here):
    """uproot names what is stored: a `Double32_t` without a range is a float."""
    theirs = pytest.importorskip("uproot")
    packed = str(tmp_path / "packed.root")
    done = subprocess.run([sys.executable, "-c", PACKED, packed], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    with theirs.open(packed) as file, uproot.open(packed) as own:
        expected = file["t"].typenames()
        assert {"float", "float[4]", "Double32_t", "Double32_t[3]", "Float16_t"} <= set(expected.values())
        assert own["t"].typenames() == expected
