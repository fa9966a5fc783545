"""Options of files and trees that are written, in the terms of the core."""

from __future__ import annotations

from typing import Any, Literal

from ..arguments.sizes import size_in_bytes, whole
from ..errors import InvalidError

Compression = Any

#: What data become that are assigned to a name.
Format = Literal["tree", "ntuple"]


def compression_text(compression: Compression) -> str:
    """``"zstd:5"``, ROOT's number 505, or an object of uproot's (``uproot.ZSTD(5)``) as text for the core."""
    if compression is None:
        return "none"
    if isinstance(compression, str):
        return compression
    if (number := whole(compression)) is not None:
        return str(number)
    code = getattr(compression, "code", None)
    if isinstance(code, int):
        return str(code)
    raise InvalidError(
        f'compression must be text such as "zstd:5", a number of ROOT such as 505, or None, not {compression!r}'
    )


def format_of_data(given: Any) -> Format:
    """``"tree"`` or ``"ntuple"``."""
    if given == "tree" or given == "ntuple":
        return given  # type: ignore[no-any-return]
    raise InvalidError(f'format must be "tree" or "ntuple", not {given!r}')


def cluster_size(auto_flush: int | str) -> int:
    """Entries per cluster, or bytes as a negative number, as in ROOT."""
    if isinstance(auto_flush, str):
        return -size_in_bytes(auto_flush, "auto_flush")
    number = whole(auto_flush)
    if number is None or not -(2**63) < number < 2**63:
        raise InvalidError(f'auto_flush must be a number of entries, or bytes as text ("30 MB"), not {auto_flush!r}')
    return number


def split_level(split: bool | int) -> int:
    """ROOT's split level."""
    level = 99 if split is True else 0 if split is False else whole(split)
    if level is None or not 0 <= level <= 99:
        raise InvalidError(f"split must be True, False, or a split level from 0 to 99, not {split!r}")
    return level
