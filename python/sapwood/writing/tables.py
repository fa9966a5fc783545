"""Data for a whole tree, as columns by name."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import InvalidError, UnsupportedError


def members(row: Any) -> Mapping[str, Any] | None:
    """The members of a dict or dataclass instance; None for anything else."""
    if isinstance(row, Mapping):
        return row
    if dataclasses.is_dataclass(row) and not isinstance(row, type):
        return {f.name: getattr(row, f.name) for f in dataclasses.fields(row)}
    return None


def tables(data: Any) -> dict[str, Any]:
    """The columns of data for a whole tree, by name.

    Raises:
        UnsupportedError: the columns have no names.
    """
    module = type(data).__module__.partition(".")[0]
    if isinstance(data, Mapping):
        return dict(data)
    if module == "awkward":
        layout = data.layout
        while layout.is_indexed:
            layout = layout.project()
        if layout.is_record and not layout.is_tuple and data.fields:
            return {name: data[name] for name in data.fields}
    elif module == "pyarrow" and hasattr(data, "column_names"):
        return _named(data.column_names, data.columns)
    elif module == "pyarrow" and hasattr(data, "schema"):
        return _named(data.schema.names, data.columns)
    elif module == "polars" and hasattr(data, "get_columns"):
        return {column.name: column for column in data.get_columns()}
    elif module == "pandas" and hasattr(data, "columns"):
        names = [
            c if isinstance(c, str) else "_".join(map(str, c)) if isinstance(c, tuple) else str(c) for c in data.columns
        ]
        columns = [data.iloc[:, i] for i in range(len(names))]
        if not _plain_index(data.index):
            names, columns = [data.index.name or "index", *names], [data.index.to_series(), *columns]
        return _named(names, columns)
    elif isinstance(data, np.ndarray) and data.dtype.names is not None:
        return {name: data[name] for name in data.dtype.names}
    elif isinstance(data, Sequence) and len(data) and members(data[0]) is not None:
        rows = [members(row) for row in data]
        if all(row is not None for row in rows):
            return _of_rows(rows)  # type: ignore[arg-type]
    raise UnsupportedError(
        f"{type(data).__name__} has no named columns; pass a dict of arrays, a table, a data frame or a record array"
    )


def _named(names: Sequence[Any], columns: Sequence[Any]) -> dict[str, Any]:
    """Columns by name; duplicate names are an error, because only one of the columns would be written."""
    out = dict(zip(names, columns, strict=True))
    if len(out) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise InvalidError(
            f"there are two columns named {twice} (one may be the index of a data frame); rename one of them"
        )
    return out


def _of_rows(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    names = rows[0].keys()
    for i, row in enumerate(rows):
        if row.keys() != names:
            more, less = ([str(n) for n in a if n not in b] for a, b in ((row, names), (names, row)))
            wrong = f"has {more[0]}, which the first row does not have" if more else f"has no {less[0]}"
            raise InvalidError(f"row {i} {wrong}; all rows must have the same keys")
    return {name: [row[name] for row in rows] for name in names}


def _plain_index(index: Any) -> bool:
    """Whether a frame's index only counts its rows."""
    counts = type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1
    return counts and index.name is None


def is_stream(data: Any) -> bool:
    """Whether this is an Arrow reader, which yields batches."""
    return type(data).__module__.partition(".")[0] == "pyarrow" and hasattr(data, "read_next_batch")


def is_table(data: Any) -> bool:
    """Whether this is data for a whole tree."""
    if is_stream(data):
        return True
    try:
        tables(data)
    except UnsupportedError:
        return False
    return True
