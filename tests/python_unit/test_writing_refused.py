"""Columns that would lose something are refused, by name; dataclasses and what was read are taken."""

import dataclasses

import awkward as ak
import numpy as np
import pytest

import sapwood


@dataclasses.dataclass
class Point:
    x: float
    y: float


@dataclasses.dataclass
class Chain:
    links: list["Chain"]


def back(path, data, types=None):
    with sapwood.recreate(path) as file:
        if types is None:
            file["t"] = data
        else:
            file.mktree("t", types).extend(data)
    return sapwood.open(path)["t"].arrays().tolist()


def repeated():
    pa = pytest.importorskip("pyarrow")
    return pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])


def frame(*args, **kwargs):
    return pytest.importorskip("pandas").DataFrame(*args, **kwargs)


def missing(kind):
    return frame({"x": pytest.importorskip("pandas").array([1, None], kind)})


def wide():
    pl = pytest.importorskip("polars")
    return pl.DataFrame({"x": pl.Series([1], dtype=pl.Int128)})


MASKED = np.ma.array([(1, 2)], mask=[(0, 1)], dtype=[("a", "i4"), ("b", "i4")])

REFUSED = {
    "a row with more": (lambda: [{"x": 1}, {"x": 2, "y": 3.0}], "row 1 has y"),
    "a row with less": (lambda: [{"x": 1, "y": 1.0}, {"x": 2}], "row 1 has no y"),
    "an Arrow table's names": (repeated, "two columns named a"),
    "a frame's names": (lambda: frame([[1, 2]], columns=["a", "a"]), "two columns named a"),
    "a frame's index": (lambda: frame({"index": [1, 2]}, index=[5, 6]), "two columns named index"),
    "no fields": (lambda: {"x": ak.Array([{}, {}])}, "branch x: records without fields"),
    "lists of no fields": (lambda: {"x": ak.Array([[{}], []])}, "branch x: records without fields"),
    "Float32": (lambda: missing("Float32"), "branch x: ROOT trees cannot hold missing"),
    "Float64": (lambda: missing("Float64"), "branch x: ROOT trees cannot hold missing"),
    "large integers": (lambda: {"x": [2**64]}, "branch x: its integers"),
    "integers of both kinds": (lambda: {"x": [2**63 + 1, -1]}, "branch x: its integers"),
    "nested integers": (lambda: {"x": [[2**63 + 1], [-1]]}, "branch x"),
    "nested dicts": (lambda: {"a": {"b": 1}}, "branch a_b"),
    "masked fields": (lambda: {"x": MASKED}, r"x.b: ROOT trees cannot hold missing"),
    "surrogates": (lambda: {"x": ["\ud800"]}, "branch x: .* Unicode"),
    "Int128": (wide, "branch x: polars' Int128"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_values(tmp_path, name):
    make, words = REFUSED[name]
    with pytest.raises(sapwood.Error, match=words):
        back(tmp_path / "a.root", make())


def test_types(tmp_path):
    with sapwood.recreate(tmp_path / "a.root") as file:
        for hint, words in ((tuple[int, int], "branch x"), (Chain, "branch links: Chain contains itself")):
            with pytest.raises(sapwood.UnsupportedError, match=words):
                file.mktree("t", {"x": hint})


def test_integers_of_64_bits_stay(tmp_path):
    assert back(tmp_path / "a.root", {"x": [2**63 + 1, 3]}) == [{"x": 2**63 + 1}, {"x": 3}]


def test_bytes_that_are_no_text_are_written_as_they_are_read(tmp_path):
    assert back(tmp_path / "a.root", {"x": [b"\xff"]}) == back(tmp_path / "b.root", {"x": ["\udcff"]})


def test_plain_floats_keep_nan(tmp_path):
    assert np.isnan(back(tmp_path / "a.root", frame({"x": [1.0, np.nan]}))[1]["x"])


def test_dataclasses_within_columns(tmp_path):
    path = tmp_path / "a.root"
    point = {"x": 1.0, "y": 2.0}
    columns = {"n": [1], "p": [Point(1, 2)]}
    for data in (columns, [{"n": 1, "p": Point(1, 2)}], [{"n": 1, "p": point}]):
        read = back(path, data, {"n": "i4", "p": Point})
        assert list(read[0].values()) == [1, 1.0, 2.0] or read == [{"n": 1, "p": point}]
    back(path, {"n": [1], "p": [[Point(1, 2), Point(3, 4)]]}, {"n": "i4", "p": list[Point]})
    assert sapwood.open(path)["t"].num_entries == 1
    with sapwood.recreate(path) as file:
        tree = file.mktree("t", {"n": "i4", "p": Point})
        tree.fill(n=1, p=Point(1, 2))
        with pytest.raises(sapwood.InvalidError, match="not a int"):
            tree.fill(7)
    assert sapwood.open(path)["t"].num_entries == 1


def test_what_was_read_is_appended_with_its_counters(tmp_path):
    path = tmp_path / "a.root"
    columns = {"x": [1], "y": ak.Array([[1.0, 2.0]]), "r": ak.Array([[{"a": 1}]])}
    back(path, columns)
    read = sapwood.open(path)["t"].arrays()
    assert "ny" in read.fields and "nr" in read.fields
    with sapwood.update(path) as file:
        file["t"].extend(read)
        with pytest.raises(sapwood.InvalidError, match=r"counter n[yr] disagrees"):
            file["t"].extend({name: read[name] for name in read.fields} | {"ny": [1], "nr": [2]})
    assert sapwood.open(path)["t"].arrays().tolist() == read.tolist() * 2


REFUSED_TREES = {
    "lengths": {"x": [1, 2], "y": [1]},
    "names": {1: [1]},
    "types": {"x": [1, "a"]},
    "empty name": {"": [1]},
}


@pytest.mark.parametrize("value", REFUSED_TREES.values(), ids=REFUSED_TREES)
@pytest.mark.parametrize("how", ["recreate", "update"])
def test_a_refused_tree_costs_no_other(tmp_path, how, value):
    path = tmp_path / "f.root"
    with sapwood.recreate(path) as file:
        file["first"] = {"x": np.arange(10)}
    with getattr(sapwood, how)(path) as file:
        file["good"] = {"x": np.arange(100)}
        for name in ("bad", "deep/bad"):
            with pytest.raises((sapwood.Error, TypeError)):
                file[name] = value
        file["after"] = {"x": np.arange(5)}
        # the name is free
        file["bad"] = {"x": np.arange(7)}
    with sapwood.open(path) as file:
        trees = {key: file[key].num_entries for key in file.keys(filter_classname="TTree", cycle=False)}
        assert trees == {"good": 100, "after": 5, "bad": 7} | ({"first": 10} if how == "update" else {})
        assert file["good"].arrays(library="np")["x"].tolist() == list(range(100))
    assert sapwood.doctor(path, deep=True).healthy
