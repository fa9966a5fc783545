"""Values that only ntuples hold, and what is said of those that they do not."""

from __future__ import annotations

import numpy as np
import pytest

import sapwood
from sapwood.errors import UnsupportedError

ak = pytest.importorskip("awkward")


def written(tmp_path, types, data):
    path = tmp_path / "n.root"
    with sapwood.recreate(path) as file:
        file.mkntuple("n", types).extend(data)
    with sapwood.open(path) as file:
        return {name: ak.to_list(file["n"][name].array()) for name in data}


def test_large_integers_beside_missing_ones(tmp_path):
    given = {"x": [None, 2**64 - 1, 0]}
    assert written(tmp_path, {"x": "?uint64"}, given) == given


def test_views_of_strings_with_missing_ones(tmp_path):
    pa = pytest.importorskip("pyarrow")
    given = ["a", None, "a string that is longer than a view"]
    strings = pa.array(given, pa.string_view())
    assert written(tmp_path, {"x": "?string"}, {"x": strings}) == {"x": given}
    assert written(tmp_path, {"x": "?string"}, {"x": strings.slice(1)}) == {"x": given[1:]}
    assert written(tmp_path, {"x": "?int32"}, {"x": pa.nulls(3)}) == {"x": [None, None, None]}


@pytest.mark.parametrize("kind", ["Real32Trunc<10>", "Real32Trunc<31>", "Real16"])
def test_what_is_no_number_stays_none(tmp_path, kind):
    bits = np.array([0x7F800001, 0xFF800001, 0x7FC00000, 0x7F800000], np.uint32)
    found = written(tmp_path, {"x": kind}, {"x": bits.view(np.float32)})["x"]
    assert [np.isnan(x) for x in found] == [True, True, True, False] and found[3] == np.inf


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.array([1j]), "values of type complex128 cannot be stored in a ROOT file"),
        (np.array(["2020-01-01"], "M8[D]"), "ROOT files cannot hold dates"),
        ([[2**64 - 1], [1]], "pass arrays of uint64"),
    ],
)
def test_messages_do_not_speak_of_trees(tmp_path, given, message):
    path = tmp_path / "n.root"
    with (
        sapwood.recreate(path, format="ntuple") as file,
        pytest.raises(UnsupportedError, match=message) as caught,
    ):
        file["n"] = {"x": given}
    assert "tree" not in str(caught.value).replace(str(tmp_path), "")


def test_an_ntuple_is_not_called_a_tree(tmp_path):
    with sapwood.recreate(tmp_path / "n.root") as file:
        ntuple, merged = (file.mkntuple(name, {"x": "int32"}) for name in "nm")
        ntuple.close()
        merger = merged.merger()
        for closed, why in ((ntuple, "ntuple n is finished: it was closed"), (merged, "ntuple m is written by")):
            with pytest.raises(sapwood.InvalidError, match=why):
                closed.extend({"x": [1]})
        merger.close()


@pytest.mark.parametrize("name", [".r", "a..b", "a."])
def test_new_fields_have_names_on_both_sides_of_a_dot(tmp_path, name):
    """The message was `field  not found in the ntuple`."""
    with sapwood.recreate(tmp_path / "n.root") as file:
        ntuple = file.mkntuple("n", {"a": "{x: int32}"})
        with pytest.raises(sapwood.InvalidError, match=f'a name in "{name}" is empty; write record.member'):
            ntuple.add_fields({name: "int32"})
