"""uproot's interface for writing: directories that are written are mappings, and a refused object costs itself only."""

from __future__ import annotations

import awkward as ak
import numpy as np
import pytest

import sapwood


def test_keys_while_writing(tmp_path):
    with sapwood.recreate(tmp_path / "a.root") as file:
        file["dir/h"] = np.histogram([1, 2, 3])
        file["text"] = "words"
        tree = file.mktree("t", {"x": "f8"})
        keys = ["dir;1", "dir/h;1", "text;1", "t;1"]
        assert file.keys() == list(file) == keys and len(file) == 4
        assert file.keys(recursive=False, cycle=False) == ["dir", "text", "t"]
        assert file.keys(filter_classname="TH1*") == ["dir/h;1"]
        assert file.classnames()["t;1"] == "TTree"
        assert dict(file.items())["t;1"] is tree
        assert file["dir"].keys() == ["h;1"]
        tree.extend({"x": [1.0]})
    with sapwood.open(tmp_path / "a.root") as file:
        assert sorted(file.keys()) == sorted(keys)


def test_what_was_written_is_read_back(tmp_path):
    path = tmp_path / "a.root"
    with sapwood.recreate(path) as file:
        file["dir/h"] = np.histogram([1, 2, 3])
        file["text"] = "words"
        assert file["text"] == "words"
        assert file["dir/h"].name == "h" and file["dir/h"].values().sum() == 3
        assert file.get("nothing") is None
        with pytest.raises(KeyError):
            file["nothing"]
    with sapwood.update(path) as file:
        assert file["dir/h"].values().sum() == 3
        file["dir/h"] = np.histogram([1, 2, 3, 4])
        assert file["dir/h"].values().sum() == 4
        file.update({"more": "of it"})
        assert [str(v) for v in file.values(filter_name="more")] == ["of it"]


def test_a_tree_of_another_file_is_a_value(tmp_path):
    lists = ak.Array([[1], [], [2, 3]])
    with sapwood.recreate(tmp_path / "a.root") as file:
        file["t"] = {"x": np.arange(3), "v": lists, "s": ["a", "b", "c"]}
        file.mktree("none", {"x": "f4"})
    with sapwood.open(tmp_path / "a.root") as source, sapwood.recreate(tmp_path / "b.root") as file:
        file["copy"] = source["t"]
        file["none"] = source["none"]
    with sapwood.open(tmp_path / "b.root") as file:
        assert file["copy/v"].array().tolist() == lists.tolist()
        assert file["copy/s"].array().tolist() == ["a", "b", "c"]
        assert file["none"].num_entries == 0 and file["none/x"].typename == "float"


def test_objects_are_copied_from_another_file(tmp_path):
    with sapwood.recreate(tmp_path / "a.root") as file:
        file["dir/h"] = np.histogram([1, 2, 3])
        file["text"] = "words"
    with sapwood.open(tmp_path / "a.root") as source, sapwood.recreate(tmp_path / "b.root") as file:
        file.copy_from(source, filter_name="*h", rename=lambda path: f"new/{path}")
        with pytest.raises(KeyError, match="nothing passes"):
            file.copy_from(source, filter_name="no such name")
    with sapwood.open(tmp_path / "b.root") as file:
        assert file.keys(cycle=False) == ["new", "new/dir", "new/dir/h"]
        assert file["new/dir/h"].values().sum() == 3


def test_a_refused_object_does_not_cost_the_file(tmp_path):
    path = tmp_path / "a.root"
    with pytest.raises(sapwood.UnsupportedError), sapwood.recreate(path) as file:  # noqa: PT012
        file["finished"] = {"x": np.arange(3)}
        file["refused"] = {"x": np.array([1j, 2j])}
    with sapwood.open(path) as file:
        assert file.keys(cycle=False) == ["finished"] and file["finished"].num_entries == 3


def test_other_exceptions_still_discard_the_file(tmp_path):
    path = tmp_path / "a.root"
    with pytest.raises(RuntimeError), sapwood.recreate(path) as file:  # noqa: PT012
        file["finished"] = {"x": np.arange(3)}
        raise RuntimeError
    # a refusal of another file is not one of this file's
    with (
        pytest.raises(sapwood.UnsupportedError),
        sapwood.recreate(path),
        sapwood.recreate(tmp_path / "b.root") as other,
    ):
        other["refused"] = {"x": np.array([1j, 2j])}
    assert not path.exists()


def test_the_type_of_an_awkward_array_is_that_of_its_entries(tmp_path):
    with sapwood.recreate(tmp_path / "a.root") as file:
        file.mktree("t", {"x": ak.Array([1.1, 2.2, 3.3]).type})
    with sapwood.open(tmp_path / "a.root") as file:
        assert file["t/x"].typename == "double"


def test_records_are_given_as_columns_by_name(tmp_path):
    pandas = pytest.importorskip("pandas")
    data = {"x": np.array([1.5, 2.5]), "y": np.array([1, 2])}
    with sapwood.recreate(tmp_path / "a.root") as file:
        file["t"] = {"a": data, "b": pandas.DataFrame(data), "c": np.arange(2)}
        with pytest.raises(sapwood.InvalidError, match="different lengths"):
            file["u"] = {"a": {"x": [1, 2], "y": [1]}}
    with sapwood.open(tmp_path / "a.root") as file:
        assert file["t"].keys() == ["a_x", "a_y", "b_x", "b_y", "c"]
        assert file["t/b_y"].array().tolist() == [1, 2]


def test_a_tree_that_is_written_shows_its_branches(tmp_path, capsys):
    with sapwood.recreate(tmp_path / "a.root") as file:
        file.mktree("t", {"x": "f8", "v": "var * int32", "s": "string"}).show()
    out = capsys.readouterr().out
    assert "float64" in out and "var * int32" in out and "string" in out


def test_objects_of_pyroot_are_written(tmp_path):
    ROOT = pytest.importorskip("ROOT")
    h = ROOT.TH1F("name", "title", 4, 0, 4)
    h.Fill(1.5)
    with sapwood.recreate(tmp_path / "a.root") as file:
        file["h"], file["s"] = h, ROOT.TObjString("words")
    with sapwood.open(tmp_path / "a.root") as file:
        assert file["h"].values().tolist() == [0, 1, 0, 0] and file["s"] == "words"
