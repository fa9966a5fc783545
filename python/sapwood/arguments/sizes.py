"""Sizes, timeouts and ranges of entries as users write them."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidError

_UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


@dataclass(frozen=True)
class BasketBytes:
    """The size of a step as uproot counts it: bytes in baskets, and the same number of entries in all steps."""

    size: int

    def entries(self, all_entries: int, basket_bytes: int) -> int:
        """Entries of a step of a tree whose branches have this many bytes."""
        return max(1, round(self.size * all_entries / basket_bytes)) if basket_bytes else max(1, all_entries)


#: Bytes as a number, or as text: "100 MB".
Size = int | str


def whole(value: Any) -> int | None:
    """The value as an int if it is an integer of Python, numpy or another library; None for anything else, also
    booleans."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def optional_seconds(value: Any, what: str, least: float | None = None) -> float | None:
    """A timeout in seconds, above 0 or at least ``least``; None, also for infinity, to wait indefinitely."""
    if value is None:
        return None
    try:
        number = math.nan if isinstance(value, (bool, str)) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if number > 0 or (least is not None and number >= least):
        return None if number == math.inf else number
    bound = "above 0" if least is None else f"at least {least:g}"
    raise InvalidError(f"{what} must be a number of seconds ({bound}), or None to wait indefinitely, not {value!r}")


def size_in_bytes(size: Size, what: str = "size", below: int = 2**63) -> int:
    """Bytes of ``"100 MB"``, ``"1.5GiB"``, ``"4k"`` or a number; a kB is 1024 bytes."""
    number: float | None = whole(size)
    unit = 1
    if number is None and not isinstance(size, str):
        raise InvalidError(f'{what} must be a number of bytes or text such as "100 MB", not {size!r}')
    if isinstance(size, str):
        digits = size.strip()
        letters = digits.lstrip("0123456789.eE+- ")
        number_text, suffix = digits[: len(digits) - len(letters)].strip(), letters.lower()
        unit_name = suffix.removesuffix("ib").removesuffix("b") if suffix != "b" else "b"
        try:
            number, unit = float(number_text), _UNITS[unit_name]
        except (KeyError, ValueError):
            raise InvalidError(f'{what} {size!r} is not a size; use a form such as "100 MB"') from None
    if number is None or not 0 <= number * unit < below:
        raise InvalidError(f"{what} {size!r} is out of range: must be 0 to {below - 1} bytes")
    return int(number * unit)


def entry_range(start: int | None, stop: int | None, entries: int) -> tuple[int, int]:
    """Entries from start to stop as in a Python slice: negative values count from the end."""
    try:
        bounds = [None if x is None else operator.index(x) for x in (start, stop)]
    except TypeError:
        raise InvalidError(f"entry_start and entry_stop must be integers or None, not {start!r} and {stop!r}") from None
    first, last, _ = slice(*bounds).indices(entries)
    return first, max(first, last)
