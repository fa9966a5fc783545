"""A branch for each kind of type (tests/data/types.root): values, names and types in every library."""

import json
from pathlib import Path

import awkward as ak
import numpy as np
import pytest

import sapwood

FILE = Path(__file__).parent / "data" / "types.root"
SAID = json.loads(FILE.with_name("types.root.json").read_text())["branches"]


@pytest.fixture(scope="module")
def tree():
    with sapwood.open(FILE) as file:
        yield file["t"]


def plain(said):
    """The JSON as awkward gives it: keys and values of maps are pairs, members have no dimensions in their names."""
    if isinstance(said, dict):
        if set(said) == {"key", "value"}:
            return plain(said["key"]), plain(said["value"])
        return {name: plain(value) for name, value in said.items()}
    return [plain(value) for value in said] if isinstance(said, list) else said


def only(read, said):
    """What was read, without the members that the JSON does not tell."""
    if isinstance(read, dict) and isinstance(said, dict):
        bare = {name.split("[")[0]: value for name, value in read.items()}
        return {name: only(bare[name], value) for name, value in said.items()}
    if isinstance(read, list) and isinstance(said, list) and len(read) == len(said):
        return [only(r, s) for r, s in zip(read, said, strict=True)]
    return read


@pytest.mark.parametrize("name", sorted(SAID))
def test_values(tree, name):
    said = plain(SAID[name])
    read = tree[name].array()
    if tree[name].reads_as_group():
        # a split collection is a record of lists; the core alone reads how many items it has
        read = ak.num(read[read.fields[0]])
    assert only(read.to_list(), said) == said


@pytest.mark.parametrize("library", ["np", "pd", "pa"])
def test_every_library_takes_every_type(tree, library):
    pytest.importorskip({"pd": "pandas", "pa": "pyarrow"}.get(library, "numpy"))
    for name in SAID:
        made = tree[name].array(library=library)
        for column in made.values() if isinstance(made, dict) else [made]:
            assert len(column) == tree.num_entries, name


def test_records_bear_the_names_of_their_classes(tree):
    assert (
        str(tree["p4"].array().type.content)
        == "TLorentzVector[fP: TVector3[fX: float64, fY: float64, fZ: float64], fE: float64]"
    )
    assert tree["vtrack0"].array().layout.content.parameter("__record__") == "Track"
    assert tree["track0"].array().layout.parameter("__record__") == "Track"


def test_lists_of_objects_of_any_class(tree):
    """A table for each class, and the list as places in them."""
    objects = tree["split./split.objects"].array()
    assert ak.num(objects.object).to_list() == [entry % 3 for entry in range(tree.num_entries)]
    places = [{"class": "TObjString", "index": 0}, {"class": "Derived", "index": 0}]
    assert objects.object[5].to_list() == places
    assert objects.TObjString.fString[5].to_list() == ["ooooo"]
    assert objects.Derived[5].to_list() == [{"b": 4, "d": 1.5}]


def test_a_clones_array_that_is_not_divided(tree):
    derived = tree["whole"].array().clones.Derived
    assert derived[6].to_list() == [{"b": 6, "d": 0.0}, {"b": 6, "d": 0.5}]
    assert ak.num(derived).to_list() == [entry % 4 for entry in range(tree.num_entries)]


def test_maps_are_lists_of_pairs(tree):
    pairs = tree["msvi0"].array()
    assert pairs.layout.content.is_tuple
    assert pairs.layout.content.parameter("__array__") == "sorted_map"
    assert pairs[3].to_list() == [("k", []), ("kk", [3]), ("kkk", [3, 3])]


def test_a_pointer_is_a_list_of_at_most_one(tree):
    cells = tree["split./split.cell"].array()
    assert ak.num(cells).to_list() == [entry % 2 for entry in range(tree.num_entries)]
    assert np.all(ak.flatten(cells.row) == np.arange(1, tree.num_entries, 2))


def test_pointers_to_a_base_class_tell_the_class(tree):
    various = tree["split./split.various"].array()
    assert various.fields == ["Base", "Derived"]
    assert ak.all(ak.num(various.Base, axis=2) + ak.num(various.Derived, axis=2) <= 1)
