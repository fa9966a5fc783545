"""Columns of polars in the types of a schema, which the first file has decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..columns.casting import common
from ..errors import UnsupportedError

if TYPE_CHECKING:
    import polars as pl


def with_types_of(frame: pl.DataFrame, schema: pl.Schema, file: str | None) -> pl.DataFrame:
    """The frame with the types of a schema. Integers may be in a narrower type, if all of them have a place there.

    Raises:
        UnsupportedError: a column has another type, and its values would change.
    """
    different = {name: kind for name, kind in frame.schema.items() if kind != schema[name]}
    return frame.with_columns(_cast(frame[name], schema[name], file) for name in different) if different else frame


def _cast(column: pl.Series, wanted: pl.DataType, file: str | None) -> pl.Series:
    import polars as pl

    where = "" if file is None else f"{file}: "
    name, kind = column.name, column.dtype
    pairs = _leaves(kind, wanted)
    if pairs is None:
        if pl.Binary in (kind, wanted):
            raise UnsupportedError(
                f"{where}column {name!r} is {kind} here, not {wanted} as in the schema: strings that are not UTF-8 "
                "cannot be in a lazy frame; omit the column, or read it with arrays()",
                branch=name,
            )
        raise UnsupportedError(
            f"{where}column {name!r} is {kind}, but {wanted} in the first file; omit the column, or read this file "
            "by itself",
            branch=name,
        )
    for given, target in pairs:
        if not _may_become(given, target):
            remedy = "specify this file first" if _may_become(target, given) else "read this file by itself"
            raise UnsupportedError(
                f"{where}column {name!r} is {kind}, but {wanted} in the first file: its values would change; {remedy}",
                branch=name,
            )
    try:
        return column.cast(wanted, strict=True)
    except pl.exceptions.InvalidOperationError:
        raise UnsupportedError(
            f"{where}column {name!r} is {kind} and has values beyond {wanted}, its type in the first file; specify "
            "this file first",
            branch=name,
        ) from None


def _leaves(given: pl.DataType, wanted: pl.DataType) -> list[tuple[pl.DataType, pl.DataType]] | None:
    """The types of numbers that stand for each other in types of the same shape; None if these differ otherwise."""
    import polars as pl

    if given == wanted:
        return []
    if isinstance(given, pl.List) and isinstance(wanted, pl.List):
        return _leaves(given.inner, wanted.inner)  # type: ignore[arg-type]
    if isinstance(given, pl.Array) and isinstance(wanted, pl.Array) and given.shape == wanted.shape:
        return _leaves(given.inner, wanted.inner)  # type: ignore[arg-type]
    if isinstance(given, pl.Struct) and isinstance(wanted, pl.Struct):
        if [f.name for f in given.fields] != [f.name for f in wanted.fields]:
            return None
        below = [_leaves(a.dtype, b.dtype) for a, b in zip(given.fields, wanted.fields, strict=True)]  # type: ignore[arg-type]
        return None if None in below else [pair for pairs in below for pair in pairs or ()]
    numbers = all(kind.is_numeric() or kind == pl.Boolean for kind in (given, wanted))
    return [(given, wanted)] if numbers else None


def _may_become(given: pl.DataType, wanted: pl.DataType) -> bool:
    """Whether values keep their value, as far as they have a place: integers are looked at one by one."""
    if given.is_integer() and wanted.is_integer():
        return True
    one, other = (np.dtype("bool" if str(kind) == "Boolean" else str(kind).lower()) for kind in (given, wanted))
    made = common([one, other])
    # numpy takes None for a type
    return made is not None and made == other
