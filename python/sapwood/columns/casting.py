"""Conversion between types of numbers, and the values that it would change."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from ..errors import InvalidError

CASTINGS = ("safe", "same_kind", "unsafe")

#: Numbers in the text of a column's type.
_NUMBER = re.compile(r"\b(?:u?int\d+|float\d+|bool)\b")

#: Sizes of fixed arrays.
_SIZE = re.compile(r"\b\d+ \*")


def checked(casting: str) -> str:
    """The name of a casting.

    Raises:
        InvalidError: no such name.
    """
    if casting not in CASTINGS:
        raise InvalidError(f'casting must be "safe", "same_kind" or "unsafe", as in numpy, not {casting!r}')
    return casting


def shape(column_type: str) -> str:
    """A column's type with the types of its numbers left out."""
    return _NUMBER.sub("number", column_type)


def fits(column_type: str, first: str, differing: str) -> bool:
    """Whether columns of a type can follow those of the first file, which differ in the types of numbers and in what is
    named: "sizes" of fixed arrays, or "all"."""
    if differing == "all" or shape(column_type) == shape(first):
        return True
    return differing == "sizes" and _SIZE.sub("var *", shape(column_type)) == _SIZE.sub("var *", shape(first))


def numbers(column_type: str) -> list[np.dtype]:
    """The types of the numbers in a column's type, in order."""
    return [np.dtype(name) for name in _NUMBER.findall(column_type)]


def common(types: Iterable[np.dtype]) -> np.dtype | None:
    """numpy's common type, if it represents every value of these types: a float does not for 64-bit integers."""
    types = list(types)
    made = np.result_type(*types)
    return made if all(_holds(made, t) for t in types) else None


def _holds(wide: np.dtype, narrow: np.dtype) -> bool:
    if wide.kind == "f" and narrow.kind in "iu":
        return _bits(narrow) <= np.finfo(wide).nmant + 1
    return bool(np.can_cast(narrow, wide, "safe"))


def _bits(integer: np.dtype) -> int:
    return integer.itemsize * 8 - (integer.kind == "i")


def as_float(values: np.ndarray, wanted: np.dtype) -> tuple[np.ndarray, int | None]:
    """Numbers as floats of a type, and the index of the first one that is lost: a number that becomes infinite, or an
    integer that changes. Fractions may be rounded."""
    if values.dtype.kind != "f":
        converted = values.astype(wanted)
        if values.dtype.kind == "b" or _holds(wanted, values.dtype) or not len(values):
            return converted, None
        exact = 1 << (np.finfo(wanted).nmant + 1)
        if int(values.max()) <= exact and int(values.min()) >= -exact:
            return converted, None
        # the next float above the greatest integer does not fit in the integer type
        inside = converted < wanted.type(2.0) ** _bits(values.dtype)
        back = np.where(inside, converted, 0).astype(values.dtype)
        return converted, _first(~inside | (back != values))
    try:
        with np.errstate(over="raise", invalid="ignore"):
            return values.astype(wanted), None
    except FloatingPointError:
        with np.errstate(over="ignore", invalid="ignore"):
            converted = values.astype(wanted)
        return converted, _first(np.isinf(converted) & ~np.isinf(values))


def _first(wrong: np.ndarray) -> int | None:
    places = np.flatnonzero(wrong)
    return int(places[0]) if len(places) else None


def lost_integer(values: Iterable) -> int | None:
    """The first integer in nested lists that a 64-bit float cannot represent."""
    for value in values:
        if isinstance(value, (int, np.integer)):
            # beyond the range of floats as well
            if abs(int(value)) > 1 << 53 and (abs(int(value)) >= 1 << 1023 or int(float(value)) != int(value)):
                return int(value)
        elif isinstance(value, dict):
            found = lost_integer(value.values())
            if found is not None:
                return found
        elif isinstance(value, (list, tuple)):
            found = lost_integer(value)
            if found is not None:
                return found
    return None
