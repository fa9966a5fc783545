"""Lists of pairs stay lists of pairs, maps stay maps, and no map is written that has a key twice."""

from __future__ import annotations

import numpy as np
import pytest

import sapwood
from sapwood.errors import InvalidError, UnsupportedError

ak = pytest.importorskip("awkward")

PAIRS = [[(3, 1.5), (1, 2.5), (3, 0.5)], [], [(1, 1.0), (1, 1.0)]]


def begun(file, kind, types):
    """A tree, whose maps are not split: they are read as maps; or an ntuple."""
    return file.mktree("t", types, split=0) if kind == "tree" else file.mkntuple("t", types)


def typename(path, field):
    with sapwood.open(path) as file:
        return file["t"][field].typename


def values(path, field):
    with sapwood.open(path) as file:
        return ak.to_list(file["t"][field].array())


@pytest.mark.parametrize(
    "given",
    [PAIRS, ak.Array(PAIRS), ak.cartesian([ak.Array([[1, 2]]), ak.Array([[3, 4]])])],
    ids=["lists", "awkward", "cartesian"],
)
def test_lists_of_pairs_of_ntuples_stay_lists(tmp_path, given):
    path = tmp_path / "n.root"
    with sapwood.recreate(path, format="ntuple") as file:
        file["t"] = {"c": given}
    assert typename(path, "c").startswith("std::vector<std::pair<")
    assert values(path, "c") == ak.to_list(ak.Array(given))
    with sapwood.open(path) as file, sapwood.recreate(tmp_path / "again.root", format="ntuple") as again:
        again["t"] = {"c": file["t"]["c"].array()}
    assert typename(tmp_path / "again.root", "c") == typename(path, "c")
    assert values(tmp_path / "again.root", "c") == ak.to_list(ak.Array(given))


@pytest.mark.parametrize("given", [PAIRS, ak.Array(PAIRS)], ids=["lists", "awkward"])
def test_trees_refuse_lists_of_pairs_that_are_not_declared_as_maps(tmp_path, given):
    message = r"branch c: trees cannot hold lists of pairs; .*ak\.zip"
    with sapwood.recreate(tmp_path / "t.root") as file, pytest.raises(UnsupportedError, match=message):
        file["t"] = {"c": given}


@pytest.mark.parametrize("kind", ["tree", "ntuple"])
def test_a_map_that_is_read_is_written_as_one(tmp_path, kind):
    path = tmp_path / "m.root"
    given = [{2: 1.5, 7: 2.5}, {}, {1: 0.5}]
    with sapwood.recreate(path, format=kind) as file:
        made = begun(file, kind, {"m": "map<int32, float>", "x": "int32"})
        made.extend({"m": given, "x": [1, 2, 3]})
    with sapwood.open(path) as file, sapwood.recreate(tmp_path / "again.root", format=kind) as again:
        array = file["t"]["m"].array()
        data = {"m": array, "some": array[np.array([2, 0, 1])]}
        begun(again, kind, data).extend(data)
    for name in ("m", "some"):
        assert typename(tmp_path / "again.root", name).startswith("std::map<")
    assert [dict(pairs) for pairs in values(tmp_path / "again.root", "m")] == given
    assert [dict(pairs) for pairs in values(tmp_path / "again.root", "some")] == [given[2], given[0], given[1]]


@pytest.mark.parametrize("kind", ["tree", "ntuple"])
@pytest.mark.parametrize(
    ("declared", "given", "message"),
    [
        ("map<int, float>", PAIRS, "entry 0 of the batch has the key 3 more than once"),
        ("map<int, float>", [[(1, 1.0)], [], [(4, 1.0), (5, 1.0), (4, 2.0)]], "entry 2 of the batch has the key 4"),
        ("map<string, int>", [[("a", 1)], [("b", 1), ("b", 2)]], "entry 1 of the batch has the key b"),
        ("vector<map<int, float>>", [[[(1, 1.0)]], [[(2, 1.0), (2, 1.0)]]], "map 1 of the batch has the key 2"),
    ],
)
def test_a_key_that_a_map_has_twice_is_refused(tmp_path, kind, declared, given, message):
    with sapwood.recreate(tmp_path / "m.root") as file:
        made = begun(file, kind, {"m": declared})
        with pytest.raises(InvalidError, match=message):
            made.extend({"m": given})
        assert made.num_entries == 0


def test_keys_that_are_not_sorted_and_the_same_key_of_other_entries_are_allowed(tmp_path):
    path = tmp_path / "m.root"
    with sapwood.recreate(path, format="ntuple") as file:
        made = file.mkntuple("t", {"m": "map<int, float>"})
        made.extend({"m": [[(3, 1.0), (1, 2.0)], [(1, 1.0), (3, 2.0)], []]})
    assert [dict(pairs) for pairs in values(path, "m")] == [{1: 2.0, 3: 1.0}, {1: 1.0, 3: 2.0}, {}]
