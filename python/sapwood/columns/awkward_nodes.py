"""awkward's nodes and arrays for columns, made quickly.

A step of a tree of thousands of branches has thousands of nodes. awkward's constructors check each of them, which takes
longer than decoding the step, and look up behaviors for each array. What the core returns is correct by construction,
so nodes are made here by setting the attributes that the constructor would set: as long as a node that the constructor
made has exactly these. If a future awkward stores its nodes differently, the constructors are called.
"""

from __future__ import annotations

import awkward as ak
import numpy as np
from awkward import contents, index

#: The attributes of awkward's nodes.
_ATTRIBUTES = {
    "NumpyArray": {"_data", "_parameters", "_backend"},
    "RegularArray": {"_content", "_size", "_length", "_zeros_length_generator", "_parameters", "_backend"},
    "ListOffsetArray": {"_offsets", "_content", "_parameters", "_backend"},
    "RecordArray": {"_contents", "_fields", "_length", "_length_generator", "_parameters", "_backend"},
    "Index64": {"_data", "_metadata", "_nplike"},
    "Array": {"_layout", "_behavior", "_attrs", "_numbaview", "_cpp_type", "_generator", "_lookup"},
}

_number = contents.NumpyArray(np.zeros(1))
_offsets = index.Index64(np.zeros(2, dtype=np.int64))
_examples = [
    _number,
    _offsets,
    contents.RegularArray(_number, 1),
    contents.ListOffsetArray(_offsets, _number),
    contents.RecordArray([_number], ["x"], length=1),
]


def _are_known(examples: list) -> bool:
    """Whether nodes have the attributes known here alone, with the same values where no column decides."""
    for node in examples:
        if getattr(node, "__dict__", {}).keys() != _ATTRIBUTES[type(node).__name__]:
            return False
    nodes = [node for node in examples if isinstance(node, contents.Content)]
    return all(node._parameters is None and node._backend is nodes[0]._backend for node in nodes)


_KNOWN = _are_known(_examples)
#: What arrays without behaviors have besides their layout.
_plain = {name: value for name, value in vars(ak.Array(_number)).items() if name != "_layout"}
_KNOWN_ARRAY = _plain.keys() | {"_layout"} == _ATTRIBUTES["Array"] and not any(_plain.values())
_backend = getattr(_number, "_backend", None)
_metadata, _nplike = getattr(_offsets, "_metadata", None), getattr(_offsets, "_nplike", None)
_zeros_length_generator = getattr(_examples[2], "_zeros_length_generator", None)
_length_generator = getattr(_examples[4], "_length_generator", None)
_new = object.__new__


def numbers(data: np.ndarray, parameters: dict | None = None) -> contents.NumpyArray:
    """A node of numbers: an array of one dimension."""
    if not _KNOWN:
        return contents.NumpyArray(data, parameters=parameters)
    node = _new(contents.NumpyArray)
    node._data = data
    node._parameters = parameters
    node._backend = _backend
    return node


def regular(content: contents.Content, size: int, length: int) -> contents.RegularArray:
    """``length`` arrays of ``size`` items each."""
    if not _KNOWN:
        return contents.RegularArray(content, size, zeros_length=length)
    node = _new(contents.RegularArray)
    node._content = content
    node._size = size
    node._length = length
    node._zeros_length_generator = _zeros_length_generator
    node._parameters = None
    node._backend = _backend
    return node


def lists(offsets: np.ndarray, content: contents.Content, parameters: dict | None = None) -> contents.ListOffsetArray:
    """Lists of items: 64-bit offsets, one more than lists."""
    if not _KNOWN:
        return contents.ListOffsetArray(index.Index64(offsets), content, parameters=parameters)
    held = _new(index.Index64)
    held._data = offsets
    held._metadata = _metadata
    held._nplike = _nplike
    node = _new(contents.ListOffsetArray)
    node._offsets = held
    node._content = content
    node._parameters = parameters
    node._backend = _backend
    return node


def texts(offsets: np.ndarray, data: np.ndarray) -> contents.ListOffsetArray:
    """Strings: 64-bit offsets into their bytes, one more than strings."""
    return lists(offsets, numbers(data, {"__array__": "char"}), {"__array__": "string"})


def options(content: contents.Content, present: np.ndarray) -> contents.ByteMaskedArray:
    """The entries of a node that are present, and None for the others."""
    return contents.ByteMaskedArray(index.Index8(present.view(np.int8)), content, valid_when=True)


def optional(offsets: np.ndarray, content: contents.Content) -> contents.Content:
    """Lists of at most one item, as the item or None."""
    present = offsets[1:] > offsets[:-1]
    where = np.where(present, offsets[:-1], -1)
    if content.is_union:
        # awkward would make one type of integers and floats; the first of the variant's parts is None
        tags, rows = np.zeros(len(where), np.int8), np.zeros(len(where), np.int64)
        tags[present] = np.asarray(content.tags.data)[where[present]]
        rows[present] = np.asarray(content.index.data)[where[present]]
        return contents.UnionArray(index.Index8(tags), index.Index64(rows), content.contents)
    # one None where an option is in another
    return contents.IndexedOptionArray.simplified(index.Index64(where), content)


def variant(alternatives: list[tuple[np.ndarray, contents.Content]], length: int) -> contents.UnionArray:
    """The value of the alternative that has one, of ``length`` entries; None where none has. The type is uproot's."""
    tags = np.zeros(length, dtype=np.int8)
    where = np.zeros(length, dtype=np.int64)
    for i, (offsets, _) in enumerate(alternatives):
        present = offsets[1:] > offsets[:-1]
        tags[present] = i + 1
        where[present] = offsets[:-1][present]
    nothing = contents.IndexedOptionArray(index.Index64(np.array([-1])), contents.EmptyArray())
    nodes = [nothing, *(contents.UnmaskedArray.simplified(content) for _, content in alternatives)]
    return contents.UnionArray(index.Index8(tags), index.Index64(where), nodes)


def records(
    fields: list[str] | None, columns: list[contents.Content], length: int, parameters: dict | None = None
) -> contents.RecordArray:
    """``length`` records (tuples, where fields have no names), of columns that are as long."""
    if not _KNOWN:
        return contents.RecordArray(columns, fields, length=length, parameters=parameters)
    node = _new(contents.RecordArray)
    node._contents = columns
    node._fields = fields
    node._length = length
    node._length_generator = _length_generator
    node._parameters = parameters
    node._backend = _backend
    return node


def array(layout: contents.Content) -> ak.Array:
    """The array of a layout."""
    named = layout.purelist_parameters("__record__", "__list__", "__doc__") is not None
    if named or not _KNOWN_ARRAY:
        # a class may have been registered for arrays of that name
        return ak.Array(layout)
    made = _new(ak.Array)
    vars(made).update(_plain, _layout=layout)
    return made
