"""`import sapwood.uproot as uproot`: what uproot does where it differs from Sapwood's own interface."""

from __future__ import annotations

import pickle
import subprocess
import sys

import awkward as ak
import numpy as np
import pytest

import sapwood
import sapwood.uproot as uproot

DATA = {"x": np.arange(4), "v": ak.Array([[1.5], [], [2.5, 3.5], []])}


@pytest.fixture
def path(tmp_path):
    with uproot.recreate(tmp_path / "a.root", compression=uproot.ZLIB(4)) as file:
        file.mktree("dir/t", DATA, "title").extend(DATA)
        file["h"] = np.histogram([1, 2, 3])
    return str(tmp_path / "a.root")


def test_data_for_mktree_are_the_first_entries(path):
    with uproot.open(path) as file:
        assert file["dir/t/x"].array().tolist() == [0, 1, 2, 3] * 2
        assert file["dir/t/v"].array().tolist() == DATA["v"].tolist() * 2


def test_attributes_are_as_in_uproot(path):
    theirs = pytest.importorskip("uproot")
    with uproot.open(path) as ours, theirs.open(path) as other:
        assert ours.keys() == other.keys() and ours.path == other.path == ()
        assert ours["dir"].path == other["dir"].path == ("dir",)
        for key in ("dir/t", "dir/t/x", "dir/t/v"):
            a, b = ours[key], other[key]
            assert (a.object_path, a.cache_key, a.name) == (b.object_path, b.cache_key, b.name)
        a, b = ours["dir/t"], other["dir/t"]
        assert a.typenames() == b.typenames()
        assert repr(a["x"].compression) == repr(b["x"].compression) == "ZLIB(4)"
        assert a["x"].interpretation.numpy_dtype == b["x"].interpretation.numpy_dtype
        assert repr(a["v"].interpretation).startswith("AsJagged(AsDtype('>f8')")
        assert a["v"].interpretation.awkward_form(None).type == b["v"].interpretation.awkward_form(b.file).type
        assert a.num_entries_for("1 kB") == b.num_entries_for("1 kB")
        steps = [len(x) for x in a.iterate(step_size="0.1 kB")]
        assert steps == [len(x) for x in b.iterate(step_size="0.1 kB")]


def test_files_trees_and_branches_are_pickled(path):
    with uproot.open(path) as file:
        again = pickle.loads(pickle.dumps(file))
        tree = pickle.loads(pickle.dumps(file["dir/t"]))
    assert isinstance(again, uproot.ReadOnlyFile)
    assert isinstance(tree, uproot.TTree) and tree["x"].array().tolist() == [0, 1, 2, 3] * 2


def test_compression_is_chosen_before_entries_are_appended(tmp_path):
    x = np.zeros(1000)
    with uproot.recreate(tmp_path / "a.root") as file:
        tree = file.mktree("t", {"a": "f8", "b": "f8"})
        file["t"]["a"].compression = uproot.ZSTD(3)
        file["t"]["b"].compression = None
        assert file["t"] is tree
        tree.extend({"a": x, "b": x})
        with pytest.raises(ValueError, match="before entries"):
            tree.compression = None
        file.compression = None
        file.mktree("u", {"a": x})
    with uproot.open(tmp_path / "a.root") as file:
        assert file["t/a"].compression == uproot.ZSTD(3)
        assert file["t/b"].compression is None and file["u/a"].compression is None


def test_compression_objects():
    assert uproot.LZ4(4).code == 404 and uproot.LZMA(1) != uproot.ZLIB(1)
    assert len({uproot.ZSTD(1), uproot.ZSTD(1)}) == 1
    with pytest.raises(ValueError, match="level"):
        uproot.ZLIB(10)


def test_a_file_is_kept_when_its_block_fails(tmp_path):
    with pytest.raises(RuntimeError), uproot.recreate(tmp_path / "a.root") as file:  # noqa: PT012
        file["t"] = {"x": [1, 2]}
        raise RuntimeError
    assert uproot.open(tmp_path / "a.root")["t"].num_entries == 2


def test_counters_are_given_in_any_order(tmp_path):
    with uproot.recreate(tmp_path / "a.root") as file:
        file.mktree("t", {"v": "var * float64", "nv": "int64"})
        with pytest.raises(ValueError, match="nv"):
            file["t"].extend({"v": [[1.5], []], "nv": [2, 0]})
        file["t"].extend({"v": [[1.5], []], "nv": [1, 0]})
        with pytest.raises(ValueError, match="nv"):
            file.mktree("u", {"nv": [2, 0], "v": [[1.5], []]})
        assert file.keys() == ["t;1"]
    assert uproot.open(tmp_path / "a.root")["t/nv"].array().tolist() == [1, 0]


def test_functions_of_several_files(path):
    assert list(uproot.num_entries(f"{path}:dir/t")) == [(path, "dir/t", 8)]
    assert len(uproot.concatenate([f"{path}:dir/t"] * 2, ["x"], num_workers=1)) == 16
    assert [len(a) for a in uproot.iterate({path: "dir/t"}, step_size=5)] == [5, 3]


def test_a_graph_from_a_table(tmp_path):
    with uproot.recreate(tmp_path / "a.root") as file:
        file["g"] = uproot.as_TGraph({"x": [1, 2], "y": [3, 4], "y_errors": [0.5, 0.5]}, title="t", xAxisLabel="x")
    with uproot.open(tmp_path / "a.root") as file:
        assert file["g"].classname == "TGraphErrors" and file["g"].values("y").tolist() == [3, 4]
        assert file["g"].title == "t;x;"


def test_exceptions_are_those_of_sapwood(path):
    assert issubclass(uproot.KeyInFileError, KeyError) and uproot.exceptions.KeyInFileError is sapwood.KeyInFileError
    with uproot.open(path) as file, pytest.raises(uproot.KeyInFileError):
        file["nothing"]
    with pytest.raises(AttributeError, match="inner modules"):
        _ = uproot.behaviors


def test_the_import_brings_no_library():
    code = (
        "import sys, sapwood.uproot; print([m for m in ('uproot', 'awkward', 'numpy', 'pandas') if m in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
