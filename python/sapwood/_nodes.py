"""awkward's nodes for columns, made quickly.

A step of a tree of thousands of branches has thousands of nodes. awkward's constructors check each of them, which takes
longer than decoding the step. What the core hands out is right by construction, so nodes are made here as copies of one
that the constructor made, with other contents: as long as the node has just the attributes known here. Where an awkward
to come keeps its nodes otherwise, the constructors are called.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from awkward import contents, index

#: What nodes of this awkward are made of; the last two are the same for all of a kind.
_ATTRIBUTES = {
    "NumpyArray": {"_data", "_parameters", "_backend"},
    "RegularArray": {"_content", "_size", "_length", "_zeros_length_generator", "_parameters", "_backend"},
    "ListOffsetArray": {"_offsets", "_content", "_parameters", "_backend"},
    "Index64": {"_data", "_metadata", "_nplike"},
}


def _example(node: Any) -> dict[str, Any] | None:
    """The attributes that copies of this node take over, if it has those that are known and no others."""
    attributes = getattr(node, "__dict__", {})
    return dict(attributes) if attributes.keys() == _ATTRIBUTES[type(node).__name__] else None


_NUMBERS = contents.NumpyArray(np.zeros(1))
_OFFSETS = index.Index64(np.zeros(2, dtype=np.int64))
_number_attributes = _example(_NUMBERS)
_offset_attributes = _example(_OFFSETS)
_regular_attributes = _example(contents.RegularArray(_NUMBERS, 1))
_list_attributes = _example(contents.ListOffsetArray(_OFFSETS, _NUMBERS))


def _copy(kind: type, example: dict[str, Any], **other: Any) -> Any:
    node = kind.__new__(kind)
    node.__dict__.update(example, **other)
    return node


def numbers(data: np.ndarray) -> contents.NumpyArray:
    """A node of numbers: an array of one dimension."""
    if _number_attributes is None:
        return contents.NumpyArray(data)
    return _copy(contents.NumpyArray, _number_attributes, _data=data)


def regular(content: contents.Content, size: int, length: int) -> contents.RegularArray:
    """``length`` arrays of ``size`` items each."""
    if _regular_attributes is None:
        return contents.RegularArray(content, size, zeros_length=length)
    return _copy(contents.RegularArray, _regular_attributes, _content=content, _size=size, _length=length)


def lists(offsets: np.ndarray, content: contents.Content) -> contents.ListOffsetArray:
    """Lists of items: 64-bit offsets, one more than lists."""
    if _list_attributes is None or _offset_attributes is None:
        return contents.ListOffsetArray(index.Index64(offsets), content)
    held = _copy(index.Index64, _offset_attributes, _data=offsets)
    return _copy(contents.ListOffsetArray, _list_attributes, _offsets=held, _content=content)
