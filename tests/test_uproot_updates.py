"""Trees of existing files that get branches and entries, as with uproot; numbers of rows of several files."""

from __future__ import annotations

import subprocess
import sys

import awkward as ak
import numpy as np
import pytest

import sapwood
import sapwood.uproot


@pytest.fixture
def path(tmp_path):
    where = tmp_path / "a.root"
    with sapwood.recreate(where) as file:
        file.mktree("t", {"x": "f4"}).extend({"x": np.arange(1000, dtype="f4")})
    return where


def read(where):
    with sapwood.open(where) as file:
        return file["t"].arrays(library="np")


def test_branches_are_added_in_later_updates_too(path):
    """The second update wrote into the space of the first one's old tree: the file that was read seemed changed."""
    for number in range(3):
        with sapwood.update(path) as file:
            file.add_branches("t", {f"new{number}": np.full(1000, number)})
    found = read(path)
    assert list(found) == ["x", "new0", "new1", "new2"]
    assert found["new2"].tolist() == [2] * 1000 and found["x"].tolist() == list(range(1000))


def test_branches_are_added_several_times_in_one_update(path):
    with sapwood.uproot.update(path) as file:
        tree = file["t"]
        tree.add_branches({"a": np.ones(1000)})
        tree.add_branches({"b": np.arange(1000)})
        with pytest.raises(ValueError, match="has a branch a already"):
            tree.add_branches({"a": np.ones(1000)})
        tree.extend({"x": [7.0], "a": [8.0], "b": [9]})
        with pytest.raises(NotImplementedError, match="close the file"):
            tree.add_branches({"c": np.ones(1001)})
    found = read(path)
    assert [list(found), len(found["x"])] == [["x", "a", "b"], 1001]
    assert [found[n][-1] for n in found] == [7, 8, 9]
    assert found["b"][:1000].tolist() == list(range(1000))
    with sapwood.open(path) as file:
        assert len(file.keys()) == 1


def test_added_branches_after_a_commit(path):
    """After a commit the space of the tree that was copied may be used again: it is not read any more."""
    with sapwood.uproot.update(path) as file:
        file["t"].add_branches({"a": np.ones(1000)})
        file.commit()
        file["noise"] = {"z": np.random.default_rng(1).random(4000)}
        file["t"].add_branches({"b": np.arange(1000)})
    found = read(path)
    assert list(found) == ["x", "a", "b"]
    assert found["x"].tolist() == list(range(1000)) and found["b"].tolist() == list(range(1000))


def test_new_columns_become_branches_where_asked_for(path):
    with sapwood.uproot.update(path) as file:
        with pytest.raises(ValueError, match="no branch y; it has x"):
            file["t"].extend({"x": [1.0], "y": [2]})
        with pytest.raises(ValueError, match="missing from the batch: x"):
            file["t"].extend({"y": [2]})
        with pytest.raises(NotImplementedError, match="branch j is jagged"):
            file["t"].extend({"x": [1.0], "j": ak.Array([[1, 2]])}, accept_new_fields=True)
        batch = {"x": [1.0], "y": ak.Array([2]), "m": np.full((1, 3), 4, "i2")}
        file["t"].extend(batch, accept_new_fields=True)
    found = read(path)
    assert found["y"].tolist() == [0] * 1000 + [2]
    assert found["m"].shape == (1001, 3) and found["m"][-1].tolist() == [4, 4, 4] and not found["m"][:-1].any()


def test_records_with_the_name_of_a_counter_are_refused(tmp_path):
    lists = ak.Array([[1.5], [], [2.5]])
    with sapwood.uproot.recreate(tmp_path / "a.root") as file:
        with pytest.raises(ValueError, match="record nx collides with the counter of branch x"):
            file.mktree("t", {"x": lists.type, "nx": {"a": np.int32}})
        tree = file.mktree("t", {"x": lists.type, "nx": np.int32})
        with pytest.raises(ValueError, match="its counter nx disagrees"):
            tree.extend({"x": lists, "nx": [1, 1, 1]})


def test_declared_counters_may_be_omitted(tmp_path):
    lists = ak.Array([[1.5], [], [2.5, 3.5]])
    with sapwood.recreate(tmp_path / "a.root") as file:
        tree = file.mktree("t", {"nx": "i4", "x": "var * f4", "z": "f4"})
        tree.extend({"x": lists, "z": [1, 2, 3]})
        with pytest.raises(ValueError, match="branch z is missing"):
            tree.extend({"x": lists})
        with pytest.raises(ValueError, match="is missing from the batch"):
            tree.extend({"z": [1, 2, 3]})
    found = sapwood.open(tmp_path / "a.root")["t"].arrays()
    assert found.nx.tolist() == [1, 0, 2] and found.x.tolist() == lists.tolist()


@pytest.mark.parametrize("module", [sapwood, sapwood.uproot])
def test_rows_that_pass_a_cut_keep_their_numbers(module, tmp_path):
    """Those of `concatenate` were counted anew, those of `iterate` and of a single tree were not."""
    files = {}
    for number in range(3):
        with sapwood.recreate(tmp_path / f"{number}.root") as file:
            file["t"] = {"x": np.arange(5 * number, 5 * number + 5)}
        files[str(tmp_path / f"{number}.root")] = "t"
    made = module.concatenate(files, ["x"], cut="x % 3 != 0", library="pd")
    assert made.index.tolist() == made.x.tolist() == [i for i in range(15) if i % 3]
    made = module.concatenate(files, ["x"], cut="x % 3 != 0", library="pd", entry_start=4, entry_stop=13)
    assert made.index.tolist() == made.x.tolist() == [i for i in range(4, 13) if i % 3]
    made = module.concatenate(files, ["x"], library="pd", entry_start=4, entry_stop=13)
    assert made.index.tolist() == made.x.tolist() == list(range(4, 13))


def test_common_entry_offsets_of_a_branch(tmp_path):
    with sapwood.recreate(tmp_path / "a.root") as file:
        tree = file.mktree("t", {"x": "f8"}, auto_flush=10)
        tree.extend({"x": np.arange(30)})
        file.mktree("empty", {"x": "f8"})
    with sapwood.open(tmp_path / "a.root") as file:
        branch = file["t/x"]
        assert branch.common_entry_offsets() == branch.entry_offsets == [0, 10, 20, 30]
        assert file["t"].common_entry_offsets(filter_name="nothing*") == [0]
        assert file["empty"].common_entry_offsets() == [0]


ROOT_TREE = """
import sys, ROOT
from array import array
file = ROOT.TFile(sys.argv[1], "recreate")
tree = ROOT.TTree("t", "")
n, x, pair = array("I", [0]), array("f", [1, 2, 3]), array("f", [1, 2])
tree.Branch("n", n, "n/i")
tree.Branch("x", x, "x[n]/F")
if sys.argv[2] == "leaves":
    tree.Branch("pair", pair, "a/F:b/F")
for i in range(4):
    n[0] = i
    tree.Fill()
if sys.argv[2] == "aliases":
    tree.SetAlias("y", "x * 2")
if sys.argv[2] == "information":
    information = ROOT.TNamed("who", "me")
    ROOT.SetOwnership(information, False)
    tree.GetUserInfo().Add(information)
if sys.argv[2] == "index":
    tree.BuildIndex("n")
if sys.argv[2] == "weight":
    tree.SetWeight(2)
tree.Write()
file.Close()
"""


def by_root(path, kind):
    words = [sys.executable, "-W", "ignore", "-c", ROOT_TREE, path, kind]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", ["aliases", "information", "index", "weight", "leaves"])
def test_nothing_of_a_tree_is_lost_with_new_branches(tmp_path, root_here, kind):
    path = tmp_path / "a.root"
    by_root(path, kind)
    before = path.read_bytes()
    message = "pair has several leaves" if kind == "leaves" else f"has (an |a |user )?{kind}, which would be lost"
    with sapwood.update(path) as file, pytest.raises(sapwood.UnsupportedError, match=message):
        file.add_branches("t", {"new": np.arange(4)})
    assert path.read_bytes() == before


def test_counters_keep_their_types(tmp_path, root_here):
    path = tmp_path / "a.root"
    by_root(path, "plain")
    with sapwood.update(path) as file:
        file.add_branches("t", {"new": np.arange(4)})
    with sapwood.open(path) as file:
        found = file["t"]
        assert found["n"].column_type == "uint32" and found["x"].count_branch.name == "n"
        assert found["x"].array().tolist() == [[], [1], [1, 2], [1, 2, 3]] and found["n"].array().tolist() == [
            0,
            1,
            2,
            3,
        ]


def test_no_branches_are_added_to_an_ntuple(tmp_path):
    path = tmp_path / "a.root"
    with sapwood.recreate(path) as file:
        file.mkntuple("n", {"x": "i4"}).extend({"x": [1]})
    with sapwood.update(path) as file, pytest.raises(sapwood.UnsupportedError, match="n;1 is an ntuple"):
        file.add_branches("n", {"new": [1]})


def test_a_tree_that_gets_branches_keeps_its_cycle(path):
    """Other programs ask for it by number; older cycles stay what they are."""
    with sapwood.update(path) as file:
        file.mktree("t", {"y": "i4"}).extend({"y": np.arange(5)})
        file["other"] = "text"
    for name in ("a", "b"):
        with sapwood.uproot.update(path) as file:
            file["t"].add_branches({name: np.arange(5) * 2.0})
            assert sorted(file.keys()) == ["other;1", "t;1", "t;2"]
    with sapwood.uproot.update(path) as file:
        file["t"].add_branches({"c": np.zeros(5)})
        file["t"].add_branches({"d": np.ones(5)})
        file["t"].extend({"y": [7], "a": [8.0], "b": [9.0], "c": [1.0], "d": [2.0]})
    with sapwood.open(path) as file:
        assert sorted(file.keys()) == ["other;1", "t;1", "t;2"]
        assert file["t;2"].keys() == ["y", "a", "b", "c", "d"] and file["t"].num_entries == 6
        assert file["t;2"].arrays().b.tolist() == [0, 2, 4, 6, 8, 9]
        assert file["t;1"].keys() == ["x"] and file["t;1/x"].array()[999] == 999
        assert str(file["other"]) == "text"
    uproot = pytest.importorskip("uproot")
    with uproot.open(path) as file:
        assert file["t;2"].arrays().d.tolist() == [1, 1, 1, 1, 1, 2] and file["t;1"].num_entries == 1000
