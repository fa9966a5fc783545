"""Collections of numpy arrays and of pandas data frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..columns.casting import common
from ..errors import UnsupportedError
from .partitions import Partition, read


def _columns(
    partition: Partition,
    names: list[str],
    library: str,
    options: Mapping[str, Any],
    environment: Mapping[str, str],
) -> Any:
    """Columns of a partition."""

    def use(tree: Any, start: int, stop: int) -> Any:
        return tree.arrays(names, entry_start=start, entry_stop=stop, library=library)

    return read(partition, options, environment, names, use)


def _column(partition: Partition, name: str, like: np.ndarray, options: Any, environment: Any) -> np.ndarray:
    """One column of a partition, of the type that the collection has."""
    made = _fitted(_columns(partition, [name], "np", options, environment)[name], like.dtype)
    if made.dtype != like.dtype or made.shape[1:] != like.shape[1:]:
        raise UnsupportedError(
            f"{partition.file}: branch {name!r} is {made.dtype}{list(made.shape[1:])}, but "
            f"{like.dtype}{list(like.shape[1:])} in the collection",
            file=partition.file,
            branch=name,
        )
    return made


def _fitted(made: Any, wanted: Any) -> Any:
    """Numbers in the type of the collection, if none of them changes."""
    if made.dtype == wanted or not (_is_numbers(made.dtype) and _is_numbers(wanted)):
        return made
    both = common([made.dtype, wanted])
    return made if both is None or both != wanted else made.astype(wanted)


def _is_numbers(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "biuf"


def _dtype(form: Any) -> Any:
    """The type of the numbers of a column; None if it has others than numbers, or fixed arrays of them."""
    while form.is_regular and not form.is_numpy:
        form = form.content
    return np.dtype(form.primitive) if form.is_numpy else None


def _empty(form: Any, parts: list[Partition], library: str, options: Any, environment: Any) -> Any:
    """The columns without entries, of the first file, in the types of the collection."""
    first = replace(parts[0], start=0, stop=0, entries=None, uuid=None)
    made = _columns(first, form.fields, library, options, environment)
    for name in form.fields:
        wanted = _dtype(form.content(name))
        if wanted is not None:
            made[name] = _fitted(made[name], wanted)
    return made


def arrays(form: Any, parts: list[Partition], counts: list[int] | None, options: Any, environment: Any) -> Any:
    """A ``dask.array`` for each column. Its chunks have unknown lengths where files were not opened."""
    import dask.array as da
    from dask.base import tokenize

    lengths = tuple(float("nan") for _ in parts) if counts is None else tuple(counts)
    made = {}
    for name, like in _empty(form, parts, "np", options, environment).items():
        key = f"sapwood-{name}-{tokenize(name, parts, options)}"
        inner = like.shape[1:]
        zeros = (0,) * len(inner)
        function = partial(_column, name=name, like=like, options=options, environment=environment)
        graph = {(key, i, *zeros): (function, part) for i, part in enumerate(parts)}
        chunks = (lengths, *((n,) for n in inner))
        made[name] = da.Array(graph, key, chunks, dtype=like.dtype, meta=like)
    return made


def data_frame(form: Any, parts: list[Partition], counts: list[int] | None, options: Any, environment: Any) -> Any:
    """A ``dask.dataframe.DataFrame`` of the columns; the index starts at 0 in each file."""
    import dask.dataframe as dd

    meta = _empty(form, parts, "pd", options, environment)
    types = {name: meta[name].dtype for name in form.fields}
    reader = partial(_frame, types=types, options=options, environment=environment)
    return dd.from_map(reader, parts, meta=meta, label="from-sapwood", enforce_metadata=True)


def _frame(
    partition: Partition, columns: list[str] | None = None, *, types: dict[str, Any], options: Any, environment: Any
) -> Any:
    """A partition as a data frame; Dask says which columns are used."""
    names = list(types) if columns is None else list(columns)
    made = _columns(partition, names, "pd", options, environment)
    different = {name: _fitted(made[name], types[name]) for name in names if made[name].dtype != types[name]}
    for name, column in different.items():
        if column.dtype != types[name] and (_is_numbers(column.dtype) or _is_numbers(types[name])):
            raise UnsupportedError(
                f"{partition.file}: branch {name!r} is {column.dtype}, but {types[name]} in the collection",
                file=partition.file,
                branch=name,
            )
    return made.assign(**different) if different else made
