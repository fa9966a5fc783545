"""Collections of numpy arrays and of pandas data frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from ..columns.casting import common
from ..columns.conversion import to_numpy
from ..errors import UnsupportedError
from .one_form import is_text, sample
from .partitions import Partition, columns_of, read


def _columns(
    partition: Partition,
    names: list[str],
    library: str,
    options: Mapping[str, Any],
    environment: Mapping[str, str],
) -> Any:
    """Columns of a partition."""

    def use(tree: Any, start: int, stop: int) -> Any:
        return columns_of(tree, names, start, stop, library)

    return read(partition, options, environment, names, use)


def _column(
    partition: Partition, name: str, like: np.ndarray, text: bool, options: Any, environment: Any
) -> np.ndarray:
    """One column of a partition, of the type that the collection has."""
    made = _fitted(_columns(partition, [name], "np", options, environment)[name], like.dtype)
    if made.dtype == like.dtype == object and _are_text(made) not in (None, text):
        found, wanted = ("strings" if are else "no strings" for are in (not text, text))
        raise _other_type(partition, name, f"has {found}", wanted)
    if made.dtype != like.dtype or made.shape[1:] != like.shape[1:]:
        found, wanted = (f"{a.dtype}{list(a.shape[1:])}" for a in (made, like))
        raise _other_type(partition, name, f"is {found}", wanted)
    return made


def _fitted(made: Any, wanted: Any) -> Any:
    """Numbers in the type of the collection, if none of them changes."""
    if made.dtype == wanted or not (_is_numbers(made.dtype) and _is_numbers(wanted)):
        return made
    both = common([made.dtype, wanted])
    return made if both is None or both != wanted else made.astype(wanted)


def _is_numbers(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "biuf"


def arrays(form: Any, parts: list[Partition], counts: list[int] | None, options: Any, environment: Any) -> Any:
    """A ``dask.array`` for each column. Its chunks have unknown lengths where files were not opened."""
    import dask.array as da
    from dask.base import tokenize

    lengths = tuple(float("nan") for _ in parts) if counts is None else tuple(counts)
    made = {}
    for name in form.fields:
        like = to_numpy(sample(form.content(name)))[:0]
        key = f"sapwood-{name}-{tokenize(name, parts, options)}"
        inner = like.shape[1:]
        zeros = (0,) * len(inner)
        text = is_text(form.content(name))
        function = partial(_column, name=name, like=like, text=text, options=options, environment=environment)
        graph = {(key, i, *zeros): (function, part) for i, part in enumerate(parts)}
        chunks = (lengths, *((n,) for n in inner))
        made[name] = da.Array(graph, key, chunks, dtype=like.dtype, meta=like)
    return made


def data_frame(form: Any, parts: list[Partition], counts: list[int] | None, options: Any, environment: Any) -> Any:
    """A ``dask.dataframe.DataFrame`` of the columns; the index starts at 0 in each file.

    Dask would make strings of all objects, lists among them: only strings are converted, by the reader.
    """
    import dask
    import dask.dataframe as dd
    from dask.dataframe.utils import pyarrow_strings_enabled

    from ..columns.pandas_library import Pandas

    library = Pandas()
    strings = library.pd.StringDtype("pyarrow") if pyarrow_strings_enabled() else None
    series: dict[str, Any] = {}
    fields: dict[str, str] = {}
    for field in form.fields:
        for name, column in _columns_of(library, field, form.content(field)):
            is_text = strings is not None and column.dtype.name in ("str", "string")
            series[name] = column.astype(strings) if is_text else column
            fields[name] = field
    meta = library.table(list(series), list(series.values()), 0)
    types = {name: column.dtype for name, column in series.items()}
    reader = partial(_frame, types=types, fields=fields, options=options, environment=environment)
    with dask.config.set({"dataframe.convert-string": False}):
        return dd.from_map(reader, parts, meta=meta, label="from-sapwood", enforce_metadata=True)


def _columns_of(library: Any, name: str, form: Any) -> Iterator[tuple[str, Any]]:
    """The columns of a frame that one column of a tree makes: one for each member of records."""
    made = library.array(sample(form), name).iloc[:0]
    if isinstance(made, library.pd.DataFrame):
        yield from made.items()
    else:
        yield name, made


def _frame(
    partition: Partition,
    columns: list[str] | None = None,
    *,
    types: dict[str, Any],
    fields: dict[str, str],
    options: Any,
    environment: Any,
) -> Any:
    """A partition as a data frame; Dask says which columns are used."""
    names = list(types) if columns is None else list(columns)
    made = _columns(partition, list(dict.fromkeys(fields[name] for name in names)), "pd", options, environment)
    fitted = {}
    for name in names:
        if name not in made.columns:
            raise _other_type(partition, fields[name], f"has the columns {', '.join(made.columns)}", f"no {name!r}")
        fitted[name] = _series(partition, fields[name], made[name], types[name])
    return made.assign(**fitted)[names]


def _series(partition: Partition, branch: str, made: Any, wanted: Any) -> Any:
    """A column in the type of the collection, if no value changes."""
    import pandas as pd

    if made.dtype == wanted and wanted != np.dtype(object):
        return made
    strings = made.dtype == object or isinstance(made.dtype, pd.StringDtype)
    if isinstance(wanted, pd.StringDtype):
        if strings and _are_text(made) is not False:
            try:
                return made.astype(wanted)
            except UnicodeEncodeError:
                raise UnsupportedError(
                    f"{partition.file}: branch {branch!r} has strings that are not UTF-8, which frames of Dask "
                    'require; select other branches, or use library="ak" or "np"',
                    file=partition.file,
                    branch=branch,
                ) from None
    elif wanted == np.dtype(object):
        if strings and not _are_text(made):
            return made.astype(object)
    else:
        own, into = (getattr(dtype, "numpy_dtype", dtype) for dtype in (made.dtype, wanted))
        if _is_numbers(own) and _is_numbers(into) and _holds(into, own):
            if isinstance(wanted, np.dtype) and made.dtype != own:
                # NaN is where no value is, as in columns of floats
                if into.kind != "f" and made.isna().any():
                    raise _other_type(partition, branch, f"is {made.dtype}", str(wanted))
                return pd.Series(made.to_numpy(into, na_value=np.nan) if into.kind == "f" else made.to_numpy(into))
            return made.astype(wanted)
    raise _other_type(partition, branch, f"is {made.dtype}", str(wanted))


def _are_text(values: Any) -> bool | None:
    """Whether objects are strings; None where no value is."""
    for value in values:
        if isinstance(value, str):
            return True
        if isinstance(value, (np.ndarray, list)) or hasattr(value, "layout"):
            return False
    return None


def _holds(wide: np.dtype, narrow: np.dtype) -> bool:
    both = common([wide, narrow])
    # numpy finds None equal to float64
    return both is not None and both == wide


def _other_type(partition: Partition, branch: str, found: str, wanted: str) -> UnsupportedError:
    return UnsupportedError(
        f"{partition.file}: branch {branch!r} {found}, but {wanted} in the collection; select branches of "
        "the same type in all files, or make a collection of the files with this type",
        file=partition.file,
        branch=branch,
    )
