"""Conversion of columns to the types of their branches."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..columns.casting import as_float
from ..errors import InvalidError
from .columns import Column, cut, length
from .keys import check_keys
from .types import Type, extents_of, numpy_name

_WORDS = {
    "flat": "number",
    "regular": "fixed array",
    "list": "list",
    "text": "string",
    "record": "record",
    "option": "optional value",
    "union": "value of several types",
}
_KINDS = {"i": "integer", "u": "integer", "f": "float", "b": "bool"}


def fit(column: Column, t: Type, what: str) -> Column:
    """Convert a column to a type of a branch. Numbers are converted if only the precision of fractions is lost.

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
    return fit_field(column, ("text",) if t[0] == "cstring" else t[1], what)


def fit_field(column: Column, t: Type, what: str) -> Column:
    """Convert a column to a type of an ntuple's field, as :func:`fit` does."""
    return _fit_cpp(column, t, what, "entry")


def _fit_optional(column: Column, item: Type, what: str) -> Column:
    if column[0] != "option":
        # all values are there
        return "list", np.arange(length(column) + 1, dtype=np.int64), _fit_cpp(column, item, what)
    return "list", column[1], _fit_cpp(column[2], item, what)


def _fit_tuple(column: Column, items: list[Type], what: str) -> Column:
    if not length(column) and column[0] == "flat":
        return "record", 0, [(str(i), _empty(item)) for i, item in enumerate(items)]
    if column[0] != "record" or len(column[2]) != len(items):
        raise InvalidError(f"{what}: each value must be a tuple or a record of {len(items)} values")
    fitted = [(n, _fit_cpp(c, item, f"{what}.{n}")) for (n, c), item in zip(column[2], items, strict=True)]
    return "record", column[1], fitted


def _fit_variant(column: Column, items: list[Type], what: str) -> Column:
    """Values of one of several types: each of the given parts is that of its own type, or of the first that it fits."""
    n = length(column)
    present = None
    if column[0] == "option":
        # a variant without a value: none of its types has one
        present, column = column[1], column[2]
    inner = length(column)
    parts = column[2] if column[0] == "union" else [("0", ("list", np.arange(inner + 1, dtype=np.int64), column))]
    found: dict[int, Column] = {}
    for _, (_, offsets, content) in parts:
        offsets = offsets if present is None else offsets[present]
        if content[0] == "option" and not any(item[0] == "optional" for item in items):
            offsets, content = content[1][offsets], content[2]
        if column[0] == "union" and offsets[0] == offsets[-1]:
            # it takes none of the types: arrays that were read have such a part for variants without a value
            continue
        errors = []
        for i, item in sorted(enumerate(items), key=lambda numbered: _farther(content, numbered[1])):
            if i in found:
                continue
            try:
                if content[0] == "option" and item[0] != "optional":
                    raise InvalidError(f"{what}: values are missing, but none of its types is optional")
                found[i] = "list", offsets, _fit_cpp(content, item, what)
                break
            except InvalidError as e:
                errors.append(e)
        else:
            raise _none_fits(errors, len(items), what)
    nothing = np.zeros(n + 1, np.int64)
    lists = [(str(i), found.get(i, ("list", nothing, _empty(item)))) for i, item in enumerate(items)]
    return "record", n, lists


def _farther(content: Column, item: Type) -> int:
    """Numbers are first tried in their own type (int64 fits int32 if the values do, but is not that type), then in
    others of their kind: an integer is no float, even if a float holds it."""
    if content[0] != "flat" or item[0] != "number":
        return 0 if content[0] != "flat" else 2
    own = content[1].dtype
    return 0 if numpy_name(own) == item[1] else 1 if _KINDS.get(own.kind) == _KINDS.get(np.dtype(item[1]).kind) else 2


def _none_fits(errors: list[InvalidError], types: int, what: str) -> InvalidError:
    if not errors:
        return InvalidError(f"{what}: the values are of more than {types} types")
    reasons = list(dict.fromkeys(str(e).removeprefix(f"{what}: ") for e in errors))
    return (
        errors[0] if len(reasons) == 1 else InvalidError(f"{what}: no type of the variant fits: {'; '.join(reasons)}")
    )


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


def _fit_array(column: Column, t: Type, what: str) -> Column:
    """Arrays of any items, which only ntuples have."""
    n = length(column)
    if not n:
        return "regular", t[2], 0, _empty(t[1])
    if column[0] == "list" and (np.diff(column[1]) == t[2]).all():
        first, last = int(column[1][0]), int(column[1][-1])
        column = "regular", t[2], n, cut(column[2], first, last)
    if column[0] != "regular" or column[1] != t[2]:
        raise InvalidError(f"{what}: each entry must be an array of {t[2]} items")
    return "regular", t[2], n, _fit_cpp(column[3], t[1], what)


def _empty(t: Type) -> Column:
    return _fit_cpp(("flat", np.zeros(0)), t, "")


def _fit_cpp(column: Column, t: Type, what: str, each: str = "map") -> Column:
    """``each`` is what one value of the column is called."""
    if t[0] == "optional":
        return _fit_optional(column, t[1], what)
    if column[0] == "option":
        if length(column[2]) != length(column):
            raise InvalidError(f"{what}: values are missing, but its type is not optional")
        column = column[2]
    if t[0] == "tuple":
        return _fit_tuple(column, t[1], what)
    if t[0] == "variant":
        return _fit_variant(column, t[1], what)
    if column[0] == "union":
        raise InvalidError(f"{what}: the values are of several types")
    if t[0] == "reduced":
        return _fit_numbers(column, t[1], what)
    if t[0] == "number":
        return _fit_numbers(column, t[1], what)
    nothing = column[0] == "flat" and not length(column)
    if t[0] == "array":
        if isinstance(t[1], tuple):
            return _fit_array(column, t, what)
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
        return _fit_map(column, t, what, each)
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


def _fit_map(column: Column, t: Type, what: str, each: str) -> Column:
    if column[0] == "list" and column[2][0] == "record" and len(column[2][2]) == 2:
        (first, keys), (second, values) = column[2][2]
        pairs = [(first, _fit_cpp(keys, t[1], what)), (second, _fit_cpp(values, t[2], what))]
        fitted = "list", column[1], ("record", column[2][1], pairs)
        check_keys(fitted, what, each)
        return fitted
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
    if t[0] in ("optional", "array"):
        return isinstance(t[1], tuple) and _holds_map(t[1])
    if t[0] == "tuple":
        return any(map(_holds_map, t[1]))
    return t[0] == "map" or (t[0] == "vector" and _holds_map(t[1]))


def _pairs_within(value: Any, t: Type) -> Any:
    if t[0] == "class":
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            value = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        if isinstance(value, Mapping):
            members = dict(t[2])
            return {n: _pairs_within(v, members[n]) if n in members else v for n, v in value.items()}
    if t[0] == "optional" and value is not None:
        return _pairs_within(value, t[1])
    if t[0] == "map" and isinstance(value, Mapping):
        return [{"first": k, "second": _pairs_within(v, t[2])} for k, v in value.items()]
    if t[0] in ("vector", "array") and isinstance(t[1], tuple) and isinstance(value, (list, tuple)):
        return [_pairs_within(item, t[1]) for item in value]
    if t[0] == "tuple" and isinstance(value, (list, tuple)) and len(value) == len(t[1]):
        return tuple(map(_pairs_within, value, t[1]))
    return value
