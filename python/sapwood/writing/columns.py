"""Columns as the core takes them: nested tuples with numpy arrays for the numbers.

``("flat", numbers)``, ``("regular", size, entries, content)``, ``("list", offsets, content)``,
``("text", offsets, bytes)``, ``("record", entries, [(name, content), ...])``, with ``"map"`` behind where these are
keys and values of maps.

For ntuples also ``("option", offsets, content)``, whose content has the values that are not missing, and
``("union", entries, [(number, list of one value or none), ...])``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Column = tuple[Any, ...]


def length(column: Column) -> int:
    """Entries."""
    if column[0] == "flat":
        return len(column[1])
    if column[0] == "regular":
        return column[2]
    if column[0] in ("record", "union"):
        return column[1]
    return len(column[1]) - 1


def cut(column: Column, start: int, stop: int) -> Column:
    """Entries from start to stop, without copying numbers."""
    kind = column[0]
    if kind == "flat":
        return kind, column[1][start:stop]
    if kind == "regular":
        return kind, column[1], stop - start, cut(column[3], start * column[1], stop * column[1])
    if kind in ("record", "union"):
        return kind, stop - start, [(name, cut(content, start, stop)) for name, content in column[2]], *column[3:]
    offsets = column[1][start : stop + 1]
    first, last = int(offsets[0]), int(offsets[-1])
    content = column[2][first:last] if kind == "text" else cut(column[2], first, last)
    return kind, offsets - first, content


def is_map_item(column: Column) -> bool:
    """Whether it holds the keys and values of maps: pairs alone may be in any order, and more than one of a key."""
    return column[0] == "record" and column[3:] == ("map",)


def nbytes(column: Column) -> int:
    """Bytes of memory, roughly."""
    if column[0] == "flat":
        return column[1].nbytes
    if column[0] == "regular":
        return nbytes(column[3])
    if column[0] in ("record", "union"):
        return sum(nbytes(content) for _, content in column[2])
    return column[1].nbytes + (column[2].nbytes if column[0] == "text" else nbytes(column[2]))


def is_tuple(column: Column) -> bool:
    """Whether it holds records whose fields are numbered."""
    return (
        column[0] == "record"
        and bool(column[2])
        and [name for name, _ in column[2]] == [str(i) for i in range(len(column[2]))]
    )


def option(there: np.ndarray, content: Column) -> Column:
    """Values that are there, and where."""
    offsets = np.zeros(len(there) + 1, np.int64)
    np.cumsum(there, out=offsets[1:])
    return "option", offsets, content
