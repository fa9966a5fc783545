"""Objects other than trees: text, histograms, graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._writing import WritableDirectory


def write_object(directory: WritableDirectory, name: str, value: Any) -> bool:
    """Writes text; False when the value is something else."""
    if isinstance(value, str):
        place, last = directory._place(name)
        tobject = [("u2", 1), ("i4", 0), ("i4", 0)]
        directory._file._core.object(place, "TObjString", last, "Collectable string class", [("versioned", 1, [*tobject, ("text", value)])])
        return True
    return False
