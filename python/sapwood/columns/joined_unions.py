"""Awkward arrays with variants, joined: awkward's own function makes one type of a variant's integers and floats, and
rounds."""

from __future__ import annotations

from typing import Any

import awkward as ak
import numpy as np
from awkward import contents, index

from .casting import shape


def concatenate(parts: list[Any]) -> Any:
    """Arrays of several files as one."""
    if not has_union(parts[0].layout.form):
        return ak.concatenate(parts)
    made = _joined([part.layout for part in parts])
    return ak.Array(made, behavior=parts[0].behavior, attrs=parts[0].attrs)


def has_union(form: Any) -> bool:
    """Whether an array of a form has values of several types."""
    if form.is_union:
        return True
    if form.is_record:
        return any(map(has_union, form.contents))
    return (form.is_list or form.is_option or form.is_indexed) and has_union(form.content)


def _joined(parts: list[Any]) -> Any:
    first = parts[0]
    form = first.form
    if not has_union(form) or len({_kind(part) for part in parts}) > 1:
        return ak.concatenate([ak.Array(part) for part in parts]).layout
    total = sum(part.length for part in parts)
    if first.is_record:
        joined = [_joined([part.content(i)[: part.length] for part in parts]) for i in range(len(first.contents))]
        fields = None if first.is_tuple else first.fields
        return contents.RecordArray(joined, fields, length=total, parameters=first.parameters)
    if first.is_list:
        packed = [part.to_ListOffsetArray64(True) for part in parts]
        inner = _joined([part.content[: part.offsets.data[-1]] for part in packed])
        if first.is_regular and all(part.size == first.size for part in parts):
            return contents.RegularArray(inner, first.size, total, parameters=first.parameters)
        sizes = np.concatenate([np.diff(np.asarray(part.offsets.data)) for part in packed])
        offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        return contents.ListOffsetArray(index.Index64(offsets), inner, parameters=first.parameters)
    if first.is_union:
        tags = np.concatenate([np.asarray(part.tags.data) for part in parts])
        rows, inner = [], []
        for part in parts:
            rows.append(np.array(part.index.data[: part.length], np.int64))
        for number in range(len(first.contents)):
            before = 0
            for part, row in zip(parts, rows, strict=True):
                row[np.asarray(part.tags.data) == number] += before
                before += part.contents[number].length
            inner.append(_joined([part.contents[number] for part in parts]))
        return contents.UnionArray(index.Index8(tags), index.Index64(np.concatenate(rows)), inner)
    # options and indices: the values that are there, and where
    there = [~np.asarray(ak.is_none(ak.Array(part)), bool) for part in parts]
    inner = _joined([part.project() for part in parts])
    every = np.concatenate(there)
    where = np.where(every, np.cumsum(every) - 1, -1)
    return contents.IndexedOptionArray(index.Index64(where), inner, parameters=first.parameters)


def _kind(part: Any) -> tuple[Any, ...]:
    """What arrays have in common that are joined part by part."""
    if part.is_record:
        return "record", tuple(part.fields), part.is_tuple
    if part.is_union:
        return "union", shape(str(part.form.type))
    return ("list",) if part.is_list else ("option",) if part.is_option else ("other",)
