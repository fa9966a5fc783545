"""Nodes made as copies are what awkward's constructors make."""

import awkward as ak
import numpy as np
import pytest
from awkward import contents, index

from sapwood import _nodes

EXAMPLES = ["_number_attributes", "_offset_attributes", "_regular_attributes", "_list_attributes"]
DATA = np.arange(6, dtype="f4")
OFFSETS = np.array([0, 2, 2, 6])


def made():
    numbers = _nodes.numbers(DATA)
    return numbers, _nodes.regular(numbers, 2, 3), _nodes.lists(OFFSETS, numbers), _nodes.regular(numbers, 0, 4)


def constructed():
    numbers = contents.NumpyArray(DATA)
    lists = contents.ListOffsetArray(index.Index64(OFFSETS), numbers)
    return numbers, contents.RegularArray(numbers, 2), lists, contents.RegularArray(numbers, 0, zeros_length=4)


def attributes(node):
    """Every attribute, nodes and indexes within taken apart as well."""
    if isinstance(node, np.ndarray):
        return node.dtype.str, node.tolist()
    if isinstance(node, contents.Content | index.Index):
        return type(node), {name: attributes(value) for name, value in vars(node).items()}
    return node


def test_this_awkward_keeps_its_nodes_as_is_known():
    assert all(getattr(_nodes, name) is not None for name in EXAMPLES)


def test_copies_equal_constructed_nodes():
    for ours, theirs in zip(made(), constructed(), strict=True):
        assert attributes(ours) == attributes(theirs)
        assert ak.is_valid(ak.Array(ours))
        assert ak.to_list(ours) == ak.to_list(theirs)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_awkward_with_other_attributes_is_asked_itself(monkeypatch, name):
    monkeypatch.setattr(_nodes, name, None)
    for ours, theirs in zip(made(), constructed(), strict=True):
        assert attributes(ours) == attributes(theirs)


def test_an_attribute_that_is_not_known_is_noticed():
    node = contents.NumpyArray(DATA)
    assert _nodes._example(node) is not None
    node._kept = 1
    assert _nodes._example(node) is None
