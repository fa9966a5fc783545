"""Batches with columns that a tree does not have: added as branches where that is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InvalidError, UnsupportedError
from ..writing.columns import Column
from ..writing.from_data import from_any
from ..writing.tables import is_stream, tables

if TYPE_CHECKING:
    from ..writing.layout import Layout


def unknown_columns(data: Any, layout: Layout) -> list[str]:
    """The columns of a batch that belong to no branch, also not as records whose fields are branches."""
    if is_stream(data):
        return []
    given = tables(data)
    return [
        name
        for name, value in given.items()
        if name not in layout.types and name not in layout._counters and not layout._of_records(name, value)
    ]


def zeros(data: Any, names: list[str], entries: int) -> dict[str, np.ndarray]:
    """Zeros for the entries of a tree from before, of the types of these columns.

    Raises:
        UnsupportedError: a column is not one of numbers, or arrays of numbers of one size.
    """
    given = tables(data)
    return {name: _zeros_like(from_any(given[name], f"branch {name}"), name, entries) for name in names}


def _zeros_like(column: Column, name: str, entries: int) -> np.ndarray:
    shape: list[int] = []
    while column[0] == "regular":
        shape.append(column[1])
        column = column[3]
    if column[0] != "flat":
        kind = "jagged" if column[0] == "list" else "of text" if column[0] == "text" else "of records"
        raise UnsupportedError(
            f"branch {name} is {kind}: earlier entries have no zeros of this type; add it with add_branches",
            branch=name,
        )
    return np.zeros((entries, *shape), column[1].dtype)


def refusal(names: list[str], data: Any, layout: Layout) -> InvalidError:
    """The error for columns that the tree does not have; it is a ValueError, as in uproot."""
    given: Mapping[str, Any] = tables(data)
    missing = [name for name in layout.types if name not in given]
    words = f"the tree has no branch {names[0]}; it has {', '.join(layout.types)}"
    if missing:
        words += f" (missing from the batch: {', '.join(missing)})"
    return InvalidError(f"{words}; accept_new_fields=True adds branches", branch=names[0])
