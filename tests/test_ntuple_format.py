"""``file[name] = data`` writes ntuples where the file was opened with ``format="ntuple"``."""

from __future__ import annotations

import dataclasses

import awkward as ak
import numpy as np
import pytest
import uproot
from test_write_ntuple import by_root

import sapwood


@dataclasses.dataclass
class Row:
    x: float
    v: list[int]


ROWS = [{"x": 1.5, "v": [1, 2]}, {"x": 2.5, "v": []}, {"x": -1.0, "v": [7]}]


def given(kind):
    """The rows, or their part without lists, in the form of a library."""
    flat = [{"x": row["x"]} for row in ROWS]
    if kind == "numpy":
        return {"x": np.array([row["x"] for row in ROWS])}, flat
    if kind == "record array":
        return np.array([(row["x"],) for row in ROWS], [("x", "f8")]), flat
    if kind == "awkward":
        return ak.Array(ROWS), ROWS
    if kind == "dict":
        return {name: [row[name] for row in ROWS] for name in ROWS[0]}, ROWS
    if kind == "dicts":
        return ROWS, ROWS
    if kind == "dataclasses":
        return [Row(**row) for row in ROWS], ROWS
    if kind == "pandas":
        return pytest.importorskip("pandas").DataFrame(flat), flat
    if kind == "polars":
        return pytest.importorskip("polars").DataFrame(ROWS), ROWS
    arrow = pytest.importorskip("pyarrow")
    table = arrow.Table.from_pylist(ROWS)
    return (table if kind == "arrow" else table.to_reader(max_chunksize=2)), ROWS


KINDS = ["numpy", "record array", "awkward", "dict", "dicts", "dataclasses", "pandas", "polars", "arrow", "reader"]


@pytest.mark.parametrize("kind", KINDS)
def test_an_ntuple_of_data_of_every_library(tmp_path, kind):
    path = tmp_path / "a.root"
    data, rows = given(kind)
    with sapwood.recreate(path, format="ntuple") as file:
        file["d/n"] = data
        assert file["d/n"].num_entries == len(rows)
    with uproot.open(path) as theirs, sapwood.open(path) as ours:
        assert theirs["d"].classname_of("n") == "ROOT::RNTuple"
        assert theirs["d/n"].arrays().tolist() == ak.to_list(ours["d/n"].arrays()) == rows


def test_root_reads_it(tmp_path, root_here):
    path = tmp_path / "a.root"
    with sapwood.recreate(path, format="ntuple") as file:
        file["n"] = ROWS
    assert by_root(path, "n", ["x", "v"])["values"] == {
        "x": [row["x"].hex() for row in ROWS],
        "v": [row["v"] for row in ROWS],
    }


def test_trees_become_ntuples_and_objects_stay_what_they_are(tmp_path):
    with sapwood.recreate(tmp_path / "tree.root") as file:
        file["t"] = {"x": [1.0, 2.0], "v": [[1], [2, 3]]}
    with sapwood.create(tmp_path / "a.root", format="ntuple") as file:
        file["n"] = sapwood.open(tmp_path / "tree.root")["t"]
        file["text"] = "a text"
        file["h"] = np.histogram([1, 2, 2], bins=3)
        file.mktree("tree", {"x": "f8"}).extend({"x": [1.0]})
    with sapwood.open(tmp_path / "a.root") as file:
        kinds = file.classnames(cycle=False)
        assert (kinds["n"], kinds["tree"], kinds["text"]) == ("ROOT::RNTuple", "TTree", "TObjString")
        assert kinds["h"].startswith("TH1")
        assert ak.to_list(file["n"].arrays(["x", "v"])) == [{"x": 1.0, "v": [1]}, {"x": 2.0, "v": [2, 3]}]


def test_update_adds_ntuples(tmp_path):
    path = tmp_path / "a.root"
    with sapwood.recreate(path) as file:
        file["t"] = {"x": [1.0]}
    with sapwood.update(path, format="ntuple") as file:
        file["n"] = {"x": [2.0]}
        # an existing tree stays one
        file["t"].extend({"x": [3.0]})
    with sapwood.open(path) as file:
        assert file.classnames(cycle=False) == {"t": "TTree", "n": "ROOT::RNTuple"}
        assert file["t"]["x"].array(library="np").tolist() == [1.0, 3.0]


def test_refused_data_leave_nothing(tmp_path):
    with sapwood.recreate(tmp_path / "a.root", format="ntuple") as file:
        file["good"] = {"x": [1]}
        with pytest.raises(sapwood.InvalidError):
            file["bad"] = {"x": [1, 2], "y": [1]}
        with pytest.raises(sapwood.UnsupportedError):
            file["bad"] = object()
    with sapwood.open(tmp_path / "a.root") as file:
        assert file.keys(cycle=False) == ["good"]


@pytest.mark.parametrize("wrong", ["rntuple", "TTree", None, 1, True, b"tree"])
@pytest.mark.parametrize("opened", [sapwood.recreate, sapwood.create, sapwood.update])
def test_other_formats_are_refused_before_anything_happens(tmp_path, wrong, opened):
    path = tmp_path / "a.root"
    with pytest.raises(sapwood.InvalidError, match='format must be "tree" or "ntuple"'):
        opened(path, format=wrong)
    assert list(tmp_path.iterdir()) == []
