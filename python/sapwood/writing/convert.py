"""Conversion of columns to the types of their branches."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..columns.casting import as_float
from ..errors import InvalidError
from .columns import Column, length
from .types import Type, extents_of, numpy_name

_WORDS = {"flat": "number", "regular": "fixed array", "list": "list", "text": "string", "record": "record"}


def fit(column: Column, t: Type, what: str) -> Column:
    """Convert a column to a type. Numbers are converted if only the precision of fractions is lost.

    Raises:
        InvalidError: the column has another shape, or numbers would change.
    """
    if t[0] == "scalar":
        return _fit_numbers(column, t[1], what)
    if t[0] == "fixed":
        n = length(column)
        extents, content = extents_of(_regular(column))
        if not n and column[0] == "flat":
            extents = list(t[3])
        if math.prod(extents) != t[2] or content[0] != "flat" or (len(t[3]) > 1 and extents != list(t[3])):
            raise InvalidError(f"{what}: each entry must be an array of {' x '.join(map(str, t[3]))} numbers")
        return "regular", t[2], n, _fit_numbers(content, t[1], what)
    if t[0] == "jagged":
        return _fit_list(column, ("number", t[1]), what)
    return _fit_cpp(column, ("text",) if t[0] == "cstring" else t[1], what)


def _regular(column: Column) -> Column:
    """Lists that all have one length, as fixed arrays."""
    if column[0] == "regular":
        return "regular", column[1], column[2], _regular(column[3])
    if column[0] == "list" and length(column):
        sizes = np.diff(column[1])
        if (sizes == sizes[0]).all():
            return "regular", int(sizes[0]), length(column), _regular(column[2])
    return column


def _fit_numbers(column: Column, dtype: str, what: str) -> Column:
    if column[0] != "flat":
        raise InvalidError(f"{what}: each value must be a single {dtype}, not a {_WORDS[column[0]]}")
    numbers = column[1]
    if numpy_name(numbers.dtype) == dtype:
        return column
    wanted = np.dtype(dtype)
    if not len(numbers):
        return "flat", np.zeros(0, wanted)
    if not np.can_cast(numbers.dtype, wanted, "same_kind") and not (numbers.dtype.kind in "iu" and wanted.kind in "iu"):
        raise InvalidError(f"{what}: cannot store {numbers.dtype.name} as {dtype}; convert the values first")
    if wanted.kind == "f":
        converted, lost = as_float(numbers, wanted)
        if lost is not None:
            becomes = f"becomes {converted[lost]}" if np.isinf(converted[lost]) else "would be rounded"
            remedy = f"use another type for the branch, or convert the values with .astype({dtype!r}) first"
            raise InvalidError(f"{what}: {numbers[lost]} {becomes} as {dtype}; {remedy}")
        return "flat", converted
    with np.errstate(over="ignore", invalid="ignore"):
        converted = numbers.astype(wanted)
    if wanted.kind in "iu" and not np.can_cast(numbers.dtype, wanted, "safe"):
        wrong = np.flatnonzero((converted != numbers) | ((converted < 0) != (numbers < 0)))
        if len(wrong):
            raise InvalidError(f"{what}: {numbers[wrong[0]]} does not fit in {dtype}")
    return "flat", converted


def _fit_list(column: Column, item: Type, what: str) -> Column:
    if column[0] == "flat" and not length(column):
        return "list", np.zeros(1, np.int64), _empty(item)
    if column[0] == "regular":
        offsets = np.arange(column[2] + 1, dtype=np.int64) * column[1]
        return "list", offsets, _fit_cpp(column[3], item, what)
    if column[0] != "list":
        raise InvalidError(f"{what}: each value must be a list, not a {_WORDS[column[0]]}")
    return "list", column[1], _fit_cpp(column[2], item, what)


def _empty(t: Type) -> Column:
    return _fit_cpp(("flat", np.zeros(0)), t, "")


def _fit_cpp(column: Column, t: Type, what: str) -> Column:
    if t[0] == "number":
        return _fit_numbers(column, t[1], what)
    nothing = column[0] == "flat" and not length(column)
    if t[0] == "array":
        return fit(column, ("fixed", t[1], t[2], [t[2]]), what)
    if t[0] == "text":
        if nothing:
            return "text", np.zeros(1, np.int64), np.zeros(0, np.uint8)
        if column[0] != "text":
            raise InvalidError(f"{what}: each value must be a string, not a {_WORDS[column[0]]}")
        return column
    if t[0] == "vector":
        return _fit_list(column, t[1], what)
    if t[0] == "map":
        return _fit_map(column, t, what)
    if nothing:
        return "record", 0, [(n, _empty(m)) for n, m in t[2]]
    if column[0] != "record":
        raise InvalidError(f"{what}: each value must be a record, not a {_WORDS[column[0]]}")
    given = dict(column[2])
    missing = [n for n, _ in t[2] if n not in given]
    if missing or len(given) > len(t[2]):
        unknown = sorted(set(given) - {n for n, _ in t[2]})
        raise InvalidError(f"{what}: missing fields: {missing or 'none'}; unknown fields: {unknown or 'none'}")
    return "record", column[1], [(n, _fit_cpp(given[n], m, f"{what}.{n}")) for n, m in t[2]]


def _fit_map(column: Column, t: Type, what: str) -> Column:
    if column[0] == "list" and column[2][0] == "record" and len(column[2][2]) == 2:
        (first, keys), (second, values) = column[2][2]
        pairs = [(first, _fit_cpp(keys, t[1], what)), (second, _fit_cpp(values, t[2], what))]
        return "list", column[1], ("record", column[2][1], pairs)
    offsets = column[1] if column[0] == "list" else np.zeros(1, np.int64)
    if not length(column[2] if column[0] == "list" else column):
        return "list", offsets, ("record", 0, [("first", _empty(t[1])), ("second", _empty(t[2]))])
    raise InvalidError(f"{what}: each value must be a map: pass dicts, or lists of records of key and value")


def with_pairs(values: Any, t: Type) -> Any:
    """Replace dicts that are maps by lists of keys and values in a list of Python objects, because dicts would become
    records. Return anything else unchanged."""
    if t[0] != "object" or not isinstance(values, (list, tuple)) or not _holds_map(t[1]):
        return values
    return [_pairs_within(value, t[1]) for value in values]


def _holds_map(t: Type) -> bool:
    if t[0] == "class":
        return any(_holds_map(member) for _, member in t[2])
    return t[0] == "map" or (t[0] == "vector" and _holds_map(t[1]))


def _pairs_within(value: Any, t: Type) -> Any:
    if t[0] == "class":
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            value = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        if isinstance(value, Mapping):
            members = dict(t[2])
            return {n: _pairs_within(v, members[n]) if n in members else v for n, v in value.items()}
    if t[0] == "map" and isinstance(value, Mapping):
        return [{"first": k, "second": _pairs_within(v, t[2])} for k, v in value.items()]
    if t[0] == "vector" and isinstance(value, (list, tuple)):
        return [_pairs_within(item, t[1]) for item in value]
    return value
