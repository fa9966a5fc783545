"""Trees of several cycles: each is extended, replaced and deleted for itself, and names keep to one kind."""

import json
import subprocess
import sys

import numpy as np
import pytest
import uproot

import sapwood


@pytest.fixture
def three(tmp_path):
    """A file with t;1, t;2 and t;3 of one, two and three entries."""
    path = tmp_path / "cycles.root"
    with sapwood.recreate(path) as file:
        for n in (1, 2, 3):
            file["t"] = {"x": np.arange(n)}
    return path


def values(path):
    """By key, in the file's order, as uproot reads them."""
    # uproot's caches go by a tree's own name, which may be another than its key's
    with uproot.open(path, object_cache=None, array_cache=None) as file:
        return {key: file[key]["x"].array().tolist() for key in file.keys()}


def test_each_cycle_of_a_tree_is_extended_for_itself(three, run):
    with sapwood.update(three) as file:
        file["t;1"].extend({"x": [71]})
        file["t"].extend({"x": [73]})
        file["t;2"].extend({"x": [72]})
        file["t;3"].extend({"x": [74]})
        assert file["t"] is file["t;3"] and file["t;1"] is not file["t"]
    assert values(three) == {"t;3": [0, 1, 2, 73, 74], "t;2": [0, 1, 72], "t;1": [0, 71]}
    assert sapwood.open(three)["t"]["x"].array(library="np").tolist() == [0, 1, 2, 73, 74]
    assert json.loads(run("doctor", "--deep", "--json", three).stdout)["damage"]["findings"] == []


def test_the_bare_name_of_a_tree_that_is_extended_by_its_cycle_is_the_highest(three):
    with sapwood.update(three) as file:
        file["t;1"].extend({"x": [7]})
        file["t"].extend({"x": [8]})
    assert values(three) == {"t;3": [0, 1, 2, 8], "t;2": [0, 1], "t;1": [0, 7]}


def test_a_new_tree_beside_extended_cycles_of_its_name(three):
    with sapwood.update(three) as file:
        file["t;1"].extend({"x": [7]})
        file["t"] = {"x": [5, 6]}
        file["t"].extend({"x": [8]})
    assert values(three) == {"t;4": [5, 6, 8], "t;3": [0, 1, 2], "t;2": [0, 1], "t;1": [0, 7]}


def test_deleting_one_cycle_leaves_another_open(three):
    with sapwood.update(three) as file:
        tree = file["t;2"]
        tree.extend({"x": [7]})
        del file["t;1"]
        tree.extend({"x": [8]})
        del file["t;3"]
    assert values(three) == {"t;2": [0, 1, 7, 8]}


def test_a_cycle_that_is_not_there(three):
    with sapwood.update(three) as file:
        assert "t;2" in file and "t;9" not in file
        for name in ("t;9", "t;x", "t;-1"):
            with pytest.raises(sapwood.KeyInFileError):
                file[name]


@pytest.mark.parametrize("name", ["t;1", "d/t;9", "t;x"])
def test_a_name_with_a_cycle_is_not_written_without_it(tmp_path, name):
    with sapwood.recreate(tmp_path / "new.root") as file:
        for value in ({"x": [1]}, np.histogram([1.0]), "text"):
            with pytest.raises(sapwood.InvalidError, match="cycle numbers are assigned by the file"):
                file[name] = value
    assert sapwood.open(tmp_path / "new.root").keys() == []


def test_trees_that_were_saved_under_other_names_are_extended_side_by_side(tmp_path, root_of_one_name):
    with sapwood.update(root_of_one_name) as file:
        for i, name in enumerate(["other", "t", "third"]):
            file[name].extend({"x": [70 + i]})
        file["other"].extend({"x": [80]})
    found = {key.partition(";")[0]: v for key, v in values(root_of_one_name).items()}
    assert found == {"other": [0, 1, 70, 80], "t": [0, 1, 71], "third": [0, 1, 72]}


@pytest.fixture
def root_of_one_name(root_here, tmp_path):
    path = tmp_path / "names.root"
    code = (
        "import array, ROOT, sys\n"
        "file = ROOT.TFile(sys.argv[1], 'RECREATE'); tree = ROOT.TTree('t', 't'); x = array.array('i', [0])\n"
        "tree.Branch('x', x, 'x/I')\n"
        "for i in range(2): x[0] = i; tree.Fill()\n"
        "for name in ('other', 't', 'third'): tree.Write(name)\n"
        "file.Close()"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code, path], check=True, timeout=120)
    return path


def test_a_name_that_is_a_directory_in_one_input_and_a_tree_in_another(tmp_path, run):
    for name, key in (("tree", "t"), ("folder", "t/x"), ("deep", "t/x/y")):
        with sapwood.recreate(tmp_path / f"{name}.root") as file:
            file[key] = {"x": np.arange(3)}
    with sapwood.recreate(tmp_path / "hist.root") as file:
        file["t"] = np.histogram([1.0])
    with sapwood.recreate(tmp_path / "text.root") as file:
        file["t"] = "text"
    out = tmp_path / "out.root"
    pairs = [("tree", "folder"), ("folder", "tree"), ("folder", "hist"), ("hist", "folder"), ("text", "folder")]
    for one, two in [*pairs, ("folder", "text"), ("folder", "deep"), ("deep", "folder")]:
        done = run("merge", out, tmp_path / f"{one}.root", tmp_path / f"{two}.root")
        assert done.returncode == 1 and "directory" in done.stderr and "rename one of them" in done.stderr, (one, two)
        assert not out.exists()
    assert run("merge", out, tmp_path / "folder.root", tmp_path / "folder.root").returncode == 0


def test_names_that_are_not_there_are_looked_up_without_harm(three):
    with sapwood.update(three) as file:
        for name in ("nowhere", "nowhere/x", "nowhere/x/y", "h/x"):
            assert name not in file
            with pytest.raises(KeyError):
                file[name]
        file["new"] = {"x": [1.0]}
    with sapwood.open(three) as file:
        assert file["new"]["x"].array().tolist() == [1.0]
