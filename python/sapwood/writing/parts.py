"""Parts of objects that the core assembles.

A part is ``(kind, value)`` with the kinds u1, u2, i4, f4, f8, text and bytes, or ``("versioned", version, parts)``
for the members of one class of an object, or ``("object", class, parts)`` for an object behind a pointer. The members
and their order are those of ``crates/sapwood-write/src/classes.txt``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

Part = tuple[Any, ...]

#: What ROOT takes for "not set" as smallest or largest value (TH1::fMinimum).
NOT_SET = -1111.0


def tobject(unique_id: int = 0, bits: int = 0) -> list[Part]:
    """TObject: it has a version and no byte count."""
    return [("u2", 1), ("i4", unique_id), ("i4", bits)]


def tnamed(name: str, title: str, bits: int = 0) -> Part:
    """TNamed."""
    return "versioned", 1, [*tobject(bits=bits), ("text", name), ("text", title)]


def attributes(line_width: int = 1) -> list[Part]:
    """ROOT's default line, fill and marker."""
    return [
        ("versioned", 2, [("u2", 602), ("u2", 1), ("u2", line_width)]),
        ("versioned", 2, [("u2", 0), ("u2", 1001)]),
        ("versioned", 3, [("u2", 1), ("u2", 1), ("f4", 1.0)]),
    ]


def tlist(parts: Iterable[list[Part]] = ()) -> Part:
    """A TList of objects, without options."""
    items = list(parts)
    out: list[Part] = [*tobject(), ("text", ""), ("i4", len(items))]
    for item in items:
        out += [*item, ("u1", 0)]
    return "versioned", 5, out


def array(values: Any, dtype: str = ">f8") -> list[Part]:
    """A TArray: the number of items, and the items."""
    numbers = np.asarray(values).astype(dtype)
    return [("i4", numbers.size), ("bytes", numbers.tobytes())]


def counted(values: np.ndarray) -> Part:
    """An array whose length is another member, after a byte that says whether it is present."""
    return "bytes", b"\x01" + np.asarray(values, ">f8").tobytes() if len(values) else b"\x00"
