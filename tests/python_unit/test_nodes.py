"""Nodes made attribute by attribute are what awkward's constructors make."""

import awkward as ak
import numpy as np
import pytest
from awkward import contents, index

from sapwood.columns import awkward_nodes as nodes

DATA = np.arange(6, dtype="f4")
OFFSETS = np.array([0, 2, 2, 6])
LETTERS = np.frombuffer(b"abcdef", dtype="u1")


def made():
    numbers = nodes.numbers(DATA)
    lists = nodes.lists(OFFSETS, numbers)
    records = nodes.records(["n", "l"], [nodes.regular(numbers, 2, 3), lists], 3)
    named = nodes.records(["n"], [lists], 3, {"__record__": "Hit"})
    pairs = nodes.records(None, [nodes.regular(numbers, 2, 3), lists], 3, {"__array__": "sorted_map"})
    texts = nodes.texts(OFFSETS, LETTERS)
    return numbers, nodes.regular(numbers, 2, 3), lists, nodes.regular(numbers, 0, 4), records, named, pairs, texts


def constructed():
    numbers = contents.NumpyArray(DATA)
    lists = contents.ListOffsetArray(index.Index64(OFFSETS), numbers)
    records = contents.RecordArray([contents.RegularArray(numbers, 2), lists], ["n", "l"], length=3)
    named = contents.RecordArray([lists], ["n"], length=3, parameters={"__record__": "Hit"})
    regular = contents.RegularArray(numbers, 2)
    pairs = contents.RecordArray([regular, lists], None, length=3, parameters={"__array__": "sorted_map"})
    letters = contents.NumpyArray(LETTERS, parameters={"__array__": "char"})
    texts = contents.ListOffsetArray(index.Index64(OFFSETS), letters, parameters={"__array__": "string"})
    return numbers, regular, lists, contents.RegularArray(numbers, 0, zeros_length=4), records, named, pairs, texts


def attributes(node):
    """Every attribute, nodes and indexes within taken apart as well."""
    if isinstance(node, np.ndarray):
        return node.dtype.str, node.tolist()
    if isinstance(node, contents.Content | index.Index):
        return type(node), {name: attributes(value) for name, value in vars(node).items()}
    if isinstance(node, list):
        return [attributes(item) for item in node]
    return node


def test_this_awkward_keeps_its_nodes_as_is_known():
    assert nodes._KNOWN


def test_they_equal_constructed_nodes():
    for ours, theirs in zip(made(), constructed(), strict=True):
        assert attributes(ours) == attributes(theirs)
        assert ak.is_valid(ak.Array(ours))
        assert ak.to_list(ours) == ak.to_list(theirs)


def test_an_awkward_with_other_attributes_is_asked_itself(monkeypatch):
    monkeypatch.setattr(nodes, "_KNOWN", False)
    monkeypatch.setattr(nodes, "_new", None)
    for ours, theirs in zip(made(), constructed(), strict=True):
        assert attributes(ours) == attributes(theirs)


@pytest.mark.parametrize("node", constructed()[:5], ids=lambda node: type(node).__name__)
def test_an_attribute_that_is_not_known_is_noticed(node):
    assert nodes._are_known([node])
    node._kept = 1
    assert not nodes._are_known([node])


def test_nodes_with_parameters_of_their_own_are_noticed():
    assert not nodes._are_known([contents.NumpyArray(DATA, parameters={"a": 1})])


class Hits(ak.Array):
    """What arrays of records "Hit" become where it is registered."""


def test_arrays_are_what_awkward_makes():
    for layout in made():
        assert type(nodes.array(layout)) is ak.Array
        ours, theirs = vars(nodes.array(layout)), vars(ak.Array(layout))
        assert ours.pop("_layout") is theirs.pop("_layout") is layout
        assert ours == theirs
        assert nodes.array(layout).to_list() == ak.Array(layout).to_list()


def test_arrays_of_records_have_the_class_registered_for_them(monkeypatch):
    monkeypatch.setitem(ak.behavior, ("*", "Hit"), Hits)
    assert {type(nodes.array(layout)) for layout in made()} == {ak.Array, Hits}


def test_arrays_with_other_attributes_are_made_by_awkward(monkeypatch):
    monkeypatch.setattr(nodes, "_KNOWN_ARRAY", False)
    monkeypatch.setattr(nodes, "_plain", None)
    assert nodes.array(nodes.numbers(DATA)).to_list() == DATA.tolist()
