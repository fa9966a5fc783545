"""What was read of a tree, branches that are divided among it, is appended to it."""

import dataclasses

import awkward as ak
import numpy as np
import pytest

import sapwood


@dataclasses.dataclass
class Inner:
    x: np.int16
    names: list[str]


@dataclasses.dataclass
class Outer:
    inner: Inner
    table: dict[str, list[np.float32]]
    many: list[Inner]


def test_what_was_read_of_a_tree_is_appended_to_it(tmp_path):
    """The columns of branches that are divided come under the names of those below them."""
    one = Outer(Inner(1, ["a"]), {"k": [1.5], "l": []}, [Inner(2, []), Inner(3, ["b", "c"])])
    two = Outer(Inner(4, []), {}, [])
    types = {"m": dict[int, float], "o": Outer, "p.": Outer, "w": list[Outer], "z": dict[str, Inner], "v": list[float]}
    rows = {"m": [{1: 2.5}, {}], "o": [one, two], "p.": [two, one], "w": [[one, two], []], "z": [{"y": one.inner}, {}]}
    path = tmp_path / "a.root"
    with sapwood.recreate(path) as file:
        tree = file.mktree("t", types, split={"w": 0, "z": 0})
        tree.extend(rows | {"v": [[1.0], []]})
    before = sapwood.open(path)["t"].arrays(library="ak")
    assert {"m.first", "m.second", "inner.x", "p.inner.x", "table.second", "many.names", "nv"} < set(before.fields)
    with sapwood.update(path) as file:
        file["t"].extend(before)
        # under the names of the branches, too
        file["t"].extend(rows | {"v": [[1.0], []]})
    after = sapwood.open(path)["t"].arrays(library="ak")
    for name in before.fields:
        assert after[name].to_list() == 3 * before[name].to_list(), name


def test_divided_columns_that_do_not_fit(tmp_path):
    path = tmp_path / "a.root"
    with sapwood.recreate(path) as file:
        file.mktree("t", {"m": dict[int, float], "p.": Inner}).extend({"m": [{1: 2.5}], "p.": [Inner(1, ["a"])]})
    with sapwood.update(path) as file:
        tree = file["t"]
        good = {"m.first": [[1]], "m.second": [[2.5]], "p.x": [1], "p.names": [["a"]]}
        for wrong, message in {
            "m.second": "branch m: the lists of its members have different lengths",
            "p.x": "branch p.: its members have 1 to 2 entries",
        }.items():
            with pytest.raises(sapwood.InvalidError, match=message):
                tree.extend(good | {wrong: [[2.5, 3.5]] if wrong[0] == "m" else [1, 2]})
        with pytest.raises(sapwood.InvalidError, match=r"branch p\.: no entries for its sub-branch p\.names"):
            tree.extend({name: value for name, value in good.items() if name != "p.names"})
        with pytest.raises(sapwood.KeyInFileError, match="no branch q"):
            tree.extend(good | {"q": [1]})
        tree.extend(good)
        assert tree.num_entries == 2


def test_no_column_stands_for_two_branches(tmp_path):
    path = tmp_path / "a.root"
    with sapwood.recreate(path) as file:
        file.mktree("t", {"a": Inner, "b": Inner, "x": "i2"}).extend(
            {"a": [Inner(1, [])], "b": [Inner(2, [])], "x": [3]}
        )
    rows = {"b/x": [5], "b/names": [["d"]], "x": [6]}
    with sapwood.update(path) as file:
        tree = file["t"]
        # a's members may be called by their names alone, but x is a branch
        with pytest.raises(sapwood.InvalidError, match="branch a: no entries for its sub-branch x"):
            tree.extend(rows | {"names": [["c"]]})
        with pytest.raises(sapwood.InvalidError, match="branch a"):
            tree.extend(rows)
        with pytest.raises(sapwood.InvalidError, match="branch b/names: names is ambiguous"):
            tree.extend({"a/x": [4], "b/x": [5], "names": [["c"]], "x": [6]})
        tree.extend(rows | {"a/x": [4], "names": [["c"]]})
    with sapwood.open(path) as file:
        assert file["t/a/x"].array().to_list() == [1, 4] and file["t/b/x"].array().to_list() == [2, 5]
        assert file["t/b/names"].array().to_list() == [[], ["d"]] and file["t/x"].array().to_list() == [3, 6]


def test_counters_without_a_sign_may_be_given(tmp_path):
    counts, values = np.array([1, 0, 2], "u4"), ak.Array([[1.5], [], [2.5, 3.5]])
    path = tmp_path / "a.root"
    with sapwood.recreate(path) as file:
        file.mktree("t", {"n": "u4", "x": "var * float32"}, counter_name=lambda _: "n").extend(
            {"n": counts, "x": values}
        )
    with sapwood.update(path) as file:
        file["t"].extend(sapwood.open(path)["t"].arrays(library="ak"))
    assert sapwood.open(path)["t/x"].array(library="ak").to_list() == 2 * values.to_list()
