"""Columns of the core (nested tuples over buffers, see ``_core.pyi``), converted to and from numpy and awkward.

Numbers are not copied for awkward, nor for numpy if all entries have the same shape.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from .. import _core
from ..errors import UnsupportedError, require

Column = Any


def length(column: Column) -> int:
    """Entries in a column."""
    kind = column[0]
    if kind == "flat":
        return len(column[1])
    if kind == "regular":
        return column[2]
    if kind == "record":
        return column[1]
    if kind == "option":
        return length(column[1])
    return max(0, len(column[1]) - 1)


def member(column: Column, name: str) -> Column:
    """A member of the records in a column, with the lists and arrays around the records.

    Raises:
        UnsupportedError: the column has no records with this member.
    """
    kind = column[0]
    if kind == "record":
        for field, content in column[2]:
            if field == name:
                return content
    elif kind == "list":
        return (kind, column[1], member(column[2], name), *column[3:])
    elif kind == "regular":
        return (kind, column[1], column[2], member(column[3], name))
    elif kind == "option":
        return (kind, member(column[1], name), column[2])
    raise UnsupportedError(f"the column has no records with a member {name!r}")


def is_optional(column: Column) -> bool:
    """Whether the column is of lists of at most one item, which stand for values that may be missing."""
    return column[0] == "list" and len(column) > 3


def placed(column: Column) -> tuple[np.ndarray, np.ndarray, Column]:
    """Of a column of optional values: which entries have one, the numbers of the values of these, and the values.

    An option of an option is one.
    """
    present, where, content = _places(column)
    while is_optional(content):
        inner_present, inner_where, inner = _places(content)
        # of the inner options, those that are taken
        kept = inner_present[where]
        numbers = np.cumsum(inner_present) - 1
        where = inner_where[numbers[where[kept]]]
        present[present] = kept
        content = inner
    return present, where, content


def _places(column: Column) -> tuple[np.ndarray, np.ndarray, Column]:
    offsets = np.asarray(column[1])
    present = offsets[1:] > offsets[:-1]
    return present, offsets[:-1][present], column[2]


def alternatives(column: Column) -> Column:
    """The alternatives of a variant as optional members of records; other records as they are."""
    if column[0] == "record" and len(column) > 3 and column[3] == "variant":
        return ("record", column[1], [(name, ("list", c[1], c[2], "optional")) for name, c in column[2]], None)
    return column


def to_numpy(column: Column) -> np.ndarray:
    """One numpy array whose first axis is the entries.

    Numbers: one dimension. Fixed arrays: one more for each, ``(entries, size)``. Lists: an object array of numpy
    arrays. Strings: an object array of str (bytes that are not UTF-8 kept as surrogates). Records: a structured array.
    Entries may be missing: a masked array.
    """
    kind = column[0]
    if kind == "option":
        return _masked(to_numpy(column[1]), ~np.asarray(column[2]))
    if is_optional(column):
        present, where, content = placed(column)
        values = to_numpy(content)
        out = np.zeros((len(present), *values.shape[1:]), values.dtype)
        if values.dtype == object:
            out.fill(None)
        if isinstance(values, np.ma.MaskedArray):
            out = np.ma.MaskedArray(out, np.zeros(out.shape, values.mask.dtype))
        out[present] = values[where]
        return _masked(out, ~present)
    if kind == "flat":
        return np.asarray(column[1])
    if kind == "regular":
        content = to_numpy(column[3])
        return content.reshape((column[2], column[1], *content.shape[1:]))
    if kind == "list":
        return _pieces(np.asarray(column[1]), to_numpy(column[2]))
    if kind == "text":
        return _strings(np.asarray(column[1]), np.asarray(column[2]))
    fields = [(name, to_numpy(content)) for name, content in alternatives(column)[2]]
    out = np.empty(column[1], dtype=[(name, a.dtype, a.shape[1:]) for name, a in fields])
    if any(isinstance(a, np.ma.MaskedArray) for _, a in fields):
        out = np.ma.MaskedArray(out, np.zeros(out.shape, np.ma.make_mask_descr(out.dtype)))
    for name, a in fields:
        out[name] = a
    return out


def _masked(values: np.ndarray, missing: np.ndarray) -> np.ma.MaskedArray:
    """Entries of which some are missing, beside items of them that may be missing already."""
    kind = np.ma.make_mask_descr(values.dtype)
    mask = np.array(np.ma.getmaskarray(values), kind)
    mask[missing] = np.ones((), kind)
    return np.ma.MaskedArray(values, mask)


def _pieces(offsets: np.ndarray, content: np.ndarray) -> np.ndarray:
    """The lists as an object array of views of their content."""
    if windows := _windows(offsets, content):
        pieces = _core.pieces(offsets, windows)
    else:
        pieces = [content[start:stop] for start, stop in pairwise(offsets.tolist())]
    return np.fromiter(pieces, dtype=object, count=len(pieces))


def _windows(offsets: np.ndarray, content: np.ndarray) -> list[np.ndarray | None]:
    """For each length that lists have, the content as overlapping rows of this length, one for each place to begin.

    A row of these costs half the time of a slice. Empty where that does not pay, or where rows are no plain views.
    """
    entries = len(offsets) - 1
    plain = type(content) is np.ndarray and content.flags.c_contiguous and not content.dtype.hasobject
    if entries < 64 or not plain:
        return []
    lengths = np.diff(offsets)
    longest = int(lengths.max())
    if longest > entries:
        return []
    present = np.bincount(lengths, minlength=longest + 1) > 0
    if np.count_nonzero(present) * 16 > entries:
        return []
    step, inner = content.strides[0], content.strides
    return [
        np.ndarray((len(content) - n + 1, n, *content.shape[1:]), content.dtype, content, 0, (step, *inner))
        if there
        else None
        for n, there in enumerate(present.tolist())
    ]


def _strings(offsets: np.ndarray, data: np.ndarray) -> np.ndarray:
    text, bounds = data.tobytes(), offsets.tolist()
    out = np.empty(max(0, len(bounds) - 1), dtype=object)
    for i, (start, stop) in enumerate(pairwise(bounds)):
        out[i] = text[start:stop].decode("utf-8", "surrogateescape")
    return out


@cache
def _nodes():
    """The module that makes awkward's nodes; cached, because trees have thousands of columns."""
    require("awkward", 'library="ak"')
    from . import awkward_nodes

    return awkward_nodes


def to_layout(column: Column):
    """An awkward layout over the same memory: lists with 64-bit offsets, fixed arrays regular, strings as strings.

    Records have the name of their C++ class; keys and values of maps are pairs, as in uproot.
    """
    nodes = _nodes()
    kind = column[0]
    if kind == "option":
        return nodes.options(to_layout(column[1]), np.asarray(column[2]))
    if kind == "flat":
        return nodes.numbers(np.asarray(column[1]))
    if kind == "regular":
        return nodes.regular(to_layout(column[3]), column[1], column[2])
    if kind == "list":
        if len(column) > 3:
            return nodes.optional(np.asarray(column[1]), to_layout(column[2]))
        return nodes.lists(np.asarray(column[1]), to_layout(column[2]))
    if kind == "text":
        return nodes.texts(np.asarray(column[1]), np.asarray(column[2]))
    if len(column) > 3 and column[3] == "variant":
        alternatives = [(np.asarray(content[1]), to_layout(content[2])) for _, content in column[2]]
        return nodes.variant(alternatives, column[1])
    layouts = [to_layout(content) for _, content in column[2]]
    class_name = column[3] if len(column) > 3 else None
    if class_name == "map":
        # as in uproot: pairs without names
        return nodes.records(None, layouts, column[1], {"__array__": "sorted_map"})
    if class_name == "tuple":
        return nodes.records(None, layouts, column[1])
    parameters = {"__record__": class_name} if class_name else None
    # a record without members is a tuple, as in uproot
    names = [name for name, _ in column[2]] or None
    return nodes.records(names, layouts, column[1], parameters)


def to_awkward(column: Column):
    """An ``ak.Array`` over the same memory."""
    return _nodes().array(to_layout(column))


def is_rectangular(column: Column) -> bool:
    """Whether all entries are numbers of the same shape, so that numpy alone can compute with the column."""
    while column[0] == "regular":
        column = column[3]
    return column[0] == "flat"


def from_computed(value, what: str) -> Column:
    """A column from a numpy or awkward array, the result of an expression.

    Raises:
        UnsupportedError: unions, which only awkward can hold.
    """
    if isinstance(value, np.ndarray):
        column: Column = ("flat", np.ascontiguousarray(value).reshape(-1))
        for axis in range(value.ndim - 1, 0, -1):
            entries = int(np.prod(value.shape[:axis], dtype=np.int64))
            column = ("regular", value.shape[axis], entries, column)
        return column
    import awkward as ak

    return _from_layout(ak.to_layout(ak.to_packed(value)), what)


def _from_layout(layout, what: str) -> Column:
    text = layout.parameter("__array__") in ("string", "bytestring")
    if layout.is_numpy:
        return from_computed(np.asarray(layout.data), what)
    if layout.is_regular and not text:
        return ("regular", layout.size, layout.length, _from_layout(layout.content, what))
    if layout.is_list:
        layout = layout.to_ListOffsetArray64(True)
        offsets = np.asarray(layout.offsets.data)
        if text:
            return ("text", offsets, np.asarray(layout.content.data))
        return ("list", offsets, _from_layout(layout.content, what))
    if layout.is_record:
        fields = [(name, _from_layout(layout.content(name), what)) for name in layout.fields]
        return ("record", layout.length, fields)
    if layout.is_option:
        present = np.asarray(layout.mask_as_bool(valid_when=True))
        offsets = np.concatenate(([0], np.cumsum(present))).astype(np.int64)
        return ("list", offsets, _from_layout(layout.project(), what), "optional")
    raise UnsupportedError(f'{what} evaluates to {layout.form.type}, which only library="ak" can hold')
