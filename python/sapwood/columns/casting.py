"""Numbers of one type as numbers of another: which values would change."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from ..errors import InvalidError

CASTINGS = ("safe", "same_kind", "unsafe")

#: Numbers in the text of a column's type.
_NUMBER = re.compile(r"\b(?:u?int\d+|float\d+|bool)\b")


def checked(casting: str) -> str:
    """The name of a casting.

    Raises:
        InvalidError: no such name.
    """
    if casting not in CASTINGS:
        raise InvalidError(f'casting is "safe", "same_kind" or "unsafe", as numpy names them, not {casting!r}')
    return casting


def shape(column_type: str) -> str:
    """A column's type but for the types of its numbers."""
    return _NUMBER.sub("number", column_type)


def numbers(column_type: str) -> list[np.dtype]:
    """The types of the numbers in a column's type, in their order."""
    return [np.dtype(name) for name in _NUMBER.findall(column_type)]


def common(types: Iterable[np.dtype]) -> np.dtype | None:
    """The type that holds every value of all of these, where numpy's has room for each: integers of 64 bits have none
    in a float."""
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
    """Numbers as floats of a type, and the place of the first one that is lost: a number that becomes infinite, an
    integer that becomes another one. Fractions are rounded."""
    if values.dtype.kind != "f":
        converted = values.astype(wanted)
        if values.dtype.kind == "b" or _holds(wanted, values.dtype) or not len(values):
            return converted, None
        exact = 1 << (np.finfo(wanted).nmant + 1)
        if int(values.max()) <= exact and int(values.min()) >= -exact:
            return converted, None
        # the float behind the greatest integer is no integer of that type
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
    """The first integer in nested lists that no float of 64 bits is equal to."""
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
