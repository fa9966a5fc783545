"""Sizes of memory in words, ranges of entries."""

from __future__ import annotations

from ._errors import InvalidError

_UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}

#: Bytes as a number, or in words: "100 MB".
Size = int | str


def size_in_bytes(size: Size, what: str = "size") -> int:
    """Bytes of ``"100 MB"``, ``"1.5GiB"``, ``"4k"`` or a number; a kB is 1024 bytes, as in uproot."""
    if isinstance(size, bool) or not isinstance(size, (int, str)):
        raise InvalidError(f'{what} is a number of bytes or text such as "100 MB", not {size!r}')
    if isinstance(size, int):
        number, unit = float(size), 1
    else:
        digits = size.strip()
        letters = digits.lstrip("0123456789.eE+- ")
        number_text, suffix = digits[: len(digits) - len(letters)].strip(), letters.lower()
        unit_name = suffix.removesuffix("ib").removesuffix("b") if suffix != "b" else "b"
        try:
            number, unit = float(number_text), _UNITS[unit_name]
        except (KeyError, ValueError):
            raise InvalidError(f'{what} {size!r} is not understood; write it like "100 MB"') from None
    if not 0 <= number * unit < 2**63:
        raise InvalidError(f"{what} {size!r} is out of range")
    return int(number * unit)


def entry_range(start: int | None, stop: int | None, entries: int) -> tuple[int, int]:
    """Entries from start to stop with the meaning of a Python slice: negative counts from the end."""
    import operator

    try:
        bounds = [None if x is None else operator.index(x) for x in (start, stop)]
    except TypeError:
        raise InvalidError(f"entry_start and entry_stop are integers or None, not {start!r} and {stop!r}") from None
    first, last, _ = slice(*bounds).indices(entries)
    return first, max(first, last)
