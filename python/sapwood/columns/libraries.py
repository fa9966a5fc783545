"""Libraries that columns are converted to: awkward, numpy, pandas, pyarrow, polars. Each is imported on first use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import InvalidError, UnsupportedError, require
from . import conversion
from .strings import is_utf8

_GROUPS: dict[object, str] = {tuple: "tuple", list: "list", dict: "dict"}


def group_name(how: object) -> str | None:
    """The name for the argument ``how``: None, "tuple", "list", "dict" or "zip"."""
    name = _GROUPS.get(how, how) if isinstance(how, type) else how
    if name is None or name in ("tuple", "list", "dict", "zip"):
        return name  # type: ignore[return-value]
    raise InvalidError(f'how must be None, "tuple", "list", "dict" (or these types) or "zip", not {how!r}')


class Library:
    """A library. An array is the result for one column, a group the result of a request for several."""

    name = ""
    #: Whether results of expressions are passed on unchanged, including missing values.
    takes_awkward = False
    #: Whether a table is made from a stream of Arrow, without conversion of its columns in Python.
    takes_streams = False

    def streamed(self, names: list[str], stream: Any) -> Any:
        """The table of a stream (``__arrow_c_stream__``), with these names of columns."""
        raise NotImplementedError

    def array(self, column, name: str) -> Any:
        """One column."""
        raise NotImplementedError

    def piece(self, column, name: str) -> Any:
        """One column for a table, in the form that is cheapest to make."""
        return self.array(column, name)

    def select(self, array, mask: np.ndarray) -> Any:
        """The entries of an array where the mask is true."""
        return array[mask]

    def take(self, array, order: np.ndarray) -> Any:
        """The rows of an array in this order."""
        return array[order]

    def label(self, array, rows: np.ndarray) -> Any:
        """An array with these row numbers, if the library numbers rows."""
        return array

    def shifted(self, made, by: int) -> Any:
        """An array or group with its row numbers increased, if the library numbers rows."""
        return made

    def group(self, names: Sequence[str], arrays: Sequence[Any], how: str | None, entries: int) -> Any:
        """Several columns of the same length, combined as ``how`` says."""
        if how == "tuple":
            return tuple(arrays)
        if how == "list":
            return list(arrays)
        if how == "dict":
            return dict(zip(names, arrays, strict=True))
        if how == "zip":
            return self.zipped(names, arrays, entries)
        return self.table(names, arrays, entries)

    def table(self, names: Sequence[str], arrays: Sequence[Any], entries: int) -> Any:
        """The table of this library."""
        return dict(zip(names, arrays, strict=True))

    def zipped(self, names: Sequence[str], arrays: Sequence[Any], entries: int) -> Any:
        """Lists of the same length as lists of records."""
        raise InvalidError(f'how="zip" makes lists of records and needs library="ak", not {self.name!r}')

    def concatenate(self, parts: Sequence[Any], *, numbered: bool = False) -> Any:
        """Tables with the same columns, concatenated; with the numbers of their rows, if ``numbered`` and the library
        numbers rows."""
        raise NotImplementedError

    def types(self, table: Any) -> dict[str, str]:
        """The types of a table's columns, if concatenating tables can change them."""
        return {}

    def taken(self, table: Any, order: np.ndarray) -> Any:
        """The rows of a table in this order."""
        return self.take(table, order)


class Awkward(Library):
    """``ak.Array``; a table is an array of records."""

    name = "ak"
    takes_awkward = True

    def __init__(self) -> None:
        self.ak = require("awkward", 'library="ak"')

    def array(self, column, name):
        return conversion.to_awkward(column)

    def piece(self, column, name):
        return conversion.to_layout(column)

    def table(self, names, arrays, entries):
        content = self.ak.contents.Content
        if all(isinstance(a, content) for a in arrays):
            from . import awkward_nodes

            return awkward_nodes.array(awkward_nodes.records(list(names), list(arrays), entries))
        layouts = [a if isinstance(a, content) else self.ak.to_layout(a) for a in arrays]
        return self.ak.Array(self.ak.contents.RecordArray(layouts, list(names), length=entries))

    def zipped(self, names, arrays, entries):
        from .zip_lists import zipped

        return zipped(names, arrays, entries)

    def concatenate(self, parts, *, numbered=False):
        return self.ak.concatenate(parts)

    def types(self, table):
        return {name: str(table[name].layout.form.type) for name in table.fields}


class Numpy(Library):
    """numpy arrays; a table is a dict of them."""

    name = "np"

    def array(self, column, name):
        return conversion.to_numpy(column)

    def concatenate(self, parts, *, numbered=False):
        def joined(arrays: list[np.ndarray]) -> np.ndarray:
            masked = any(isinstance(a, np.ma.MaskedArray) for a in arrays)
            return np.ma.concatenate(arrays) if masked else np.concatenate(arrays)

        return {name: joined([p[name] for p in parts]) for name in parts[0]}

    def types(self, table):
        return {name: values.dtype.name for name, values in table.items() if values.dtype.kind in "biuf"}

    def taken(self, table, order):
        return {name: values[order] for name, values in table.items()}


class Pandas(Library):
    """``pandas.Series``; a table is a ``DataFrame``.

    Lists and fixed arrays become an awkward column if the package awkward_pandas is installed, otherwise objects (numpy
    arrays). The fields of records become separate columns, ``branch.field``.
    """

    name = "pd"

    def __init__(self) -> None:
        self.pd = require("pandas", 'library="pd"')
        try:
            import awkward_pandas
        except ImportError:
            self.extension = None
        else:
            self.extension = awkward_pandas.AwkwardExtensionArray

    def array(self, column, name):
        if column[0] == "record":
            members = conversion.alternatives(column)[2]
            fields = [(f"{name}.{f}", self.array(c, f"{name}.{f}")) for f, c in members]
            return self.pd.concat([self._frame(a, n) for n, a in fields], axis=1) if fields else self.pd.DataFrame()
        if column[0] == "option":
            return self._option(column[1], np.asarray(column[2]), name)
        if conversion.is_optional(column):
            present, where, content = conversion.placed(column)
            rows = np.full(len(present), -1)
            rows[present] = where
            return self._option(content, present, name, rows)
        if column[0] in ("list", "regular") and self.extension is not None:
            return self.pd.Series(self.extension(conversion.to_awkward(column)), name=name)
        values = conversion.to_numpy(column)
        if values.ndim > 1:
            rows = np.empty(len(values), dtype=object)
            rows[:] = list(values)
            values = rows
        try:
            return self.pd.Series(values, name=name, copy=False)
        except UnicodeEncodeError:
            # pandas' string type does not support strings that are not UTF-8
            return self.pd.Series(values, name=name, copy=False, dtype=object)

    def _option(self, column, present, name, rows=None):
        """A column of which entries may be missing: pandas' own types for whole numbers and booleans, NaN, or None.

        ``rows``: which of the column's values each entry has, if they are not as many.
        """
        if column[0] == "record":
            fields = [(f"{name}.{f}", c) for f, c in conversion.alternatives(column)[2]]
            return self.pd.concat([self._frame(self._option(c, present, n, rows), n) for n, c in fields], axis=1)
        made = self.array(column, name)
        if rows is not None:
            # where nothing is there, there is nothing to take in its place
            zero = np.zeros(1, made.dtype) if isinstance(made.dtype, np.dtype) else [None]
            some = made if len(made) else self.pd.Series(zero, name=name, dtype=made.dtype)
            made = some.take(np.maximum(rows, 0)).reset_index(drop=True)
        if made.dtype.kind in "iu" and isinstance(made.dtype, np.dtype):
            return self.pd.Series(self.pd.arrays.IntegerArray(made.to_numpy(), ~present), name=name)
        if made.dtype.kind == "b" and isinstance(made.dtype, np.dtype):
            return self.pd.Series(self.pd.arrays.BooleanArray(made.to_numpy(), ~present), name=name)
        if made.dtype == object:
            values = made.to_numpy(copy=True)
            values[~present] = None
            return self.pd.Series(values, name=name, dtype=object)
        return made.mask(~present)

    def _frame(self, array, name: str):
        return array if isinstance(array, self.pd.DataFrame) else array.to_frame(name)

    def select(self, array, mask):
        return array[mask]

    def take(self, array, order):
        return array.iloc[order].reset_index(drop=True)

    def label(self, array, rows):
        return array.set_axis(rows)

    def shifted(self, made, by):
        if isinstance(made, dict):
            return {name: self.shifted(a, by) for name, a in made.items()}
        if isinstance(made, (tuple, list)):
            return type(made)(self.shifted(a, by) for a in made)
        made.index = made.index + by
        return made

    def table(self, names, arrays, entries):
        columns: dict[str, Any] = {}
        for name, a in zip(names, arrays, strict=True):
            if isinstance(a, self.pd.DataFrame):
                columns.update((c, a[c]) for c in a.columns)
            else:
                columns[name] = a
        index = arrays[0].index if arrays else self.pd.RangeIndex(entries)
        if all(map(is_utf8, columns)):
            return self.pd.DataFrame(columns, index=index, copy=False)
        # pandas' string type, its default for names, supports UTF-8 only
        frame = self.pd.DataFrame(dict(enumerate(columns.values())), index=index, copy=False)
        frame.columns = self.pd.Index(list(columns), dtype=object)
        return frame

    def concatenate(self, parts, *, numbered=False):
        return self.pd.concat(parts, ignore_index=not numbered)

    def types(self, table):
        return {str(name): kind.name for name, kind in table.dtypes.items() if kind.kind in "biuf"}


class Arrow(Library):
    """``pyarrow.Array``; a table is a ``pyarrow.Table``. Only booleans are copied: Arrow packs them into bits.

    Strings become ``large_string``, or ``large_binary`` where the bytes are not UTF-8.
    """

    name = "pa"
    takes_streams = True

    def streamed(self, names, stream):
        # names that Arrow cannot hold are refused by ours, before the stream meets them
        named = [_utf8(n) for n in names]
        return self.pa.table(stream).rename_columns(named)

    def __init__(self) -> None:
        self.pa = require("pyarrow", f'library="{self.name}"')

    def array(self, column, name):
        return self._arrow(column)

    def _arrow(self, column):
        pa, kind = self.pa, column[0]
        if kind == "option":
            rows = np.arange(conversion.length(column))
            return self._arrow(column[1]).take(pa.array(rows, mask=~np.asarray(column[2])))
        if conversion.is_optional(column):
            present, where, content = conversion.placed(column)
            rows = np.zeros(len(present), dtype=np.int64)
            rows[present] = where
            return self._arrow(content).take(pa.array(rows, mask=~present))
        if kind == "flat":
            return pa.array(np.asarray(column[1]))
        if kind == "regular":
            content = self._arrow(column[3])
            fixed = pa.list_(content.type, column[1])
            return pa.Array.from_buffers(fixed, column[2], [None], children=[content])
        if kind == "list":
            return pa.LargeListArray.from_arrays(pa.array(np.asarray(column[1])), self._arrow(column[2]))
        if kind == "text":
            buffers = [None, pa.py_buffer(np.asarray(column[1])), pa.py_buffer(np.asarray(column[2]))]
            text = pa.Array.from_buffers(pa.large_string(), conversion.length(column), buffers)
            try:
                text.validate(full=True)
            except pa.ArrowInvalid:
                return pa.Array.from_buffers(pa.large_binary(), conversion.length(column), buffers)
            return text
        members = conversion.alternatives(column)[2]
        contents = [self._arrow(c) for _, c in members]
        struct = pa.struct([pa.field(_utf8(n), a.type) for (n, _), a in zip(members, contents, strict=True)])
        return pa.Array.from_buffers(struct, column[1], [None], children=contents)

    def select(self, array, mask):
        return array.filter(self.pa.array(mask))

    def take(self, array, order):
        return array.take(self.pa.array(order))

    def table(self, names, arrays, entries):
        if not arrays:
            return self.pa.table({})
        return self.pa.Table.from_arrays(list(arrays), names=[_utf8(n) for n in names])

    def concatenate(self, parts, *, numbered=False):
        text, raw = self.pa.large_string(), self.pa.large_binary()
        return self.pa.concat_tables(_as_bytes(parts, lambda p, i: p.schema.field(i).type, text, raw, self._cast))

    def _cast(self, table, i: int, kind):
        return table.set_column(i, table.schema.field(i).name, table.column(i).cast(kind))


def _utf8(name: str) -> str:
    """The name, if Arrow supports it."""
    if is_utf8(name):
        return name
    raise UnsupportedError(
        f'{name!r} is not UTF-8, which Arrow requires of names; use library="ak", "np" or "pd", or aliases='
    )


def _as_bytes(parts, kind: Callable[[Any, int], Any], text, raw, cast: Callable[[Any, int, Any], Any]) -> list[Any]:
    """Tables where a column of strings becomes bytes if it is bytes, because it is not UTF-8, in one of them."""
    parts = list(parts)
    for i in range(min(p.shape[1] for p in parts)):
        kinds = [kind(p, i) for p in parts]
        if text in kinds and raw in kinds:
            parts = [cast(p, i, raw) if k == text else p for p, k in zip(parts, kinds, strict=True)]
    return parts


class Polars(Arrow):
    """``polars.Series``; a table is a ``polars.DataFrame``. Goes through Arrow."""

    name = "pl"

    def __init__(self) -> None:
        self.pl = require("polars", 'library="pl"')
        super().__init__()

    def array(self, column, name):
        return self.pl.Series(_utf8(name), self._arrow(column))

    def streamed(self, names, stream):
        named = [_utf8(n) for n in names]
        table = self.pl.DataFrame(stream)
        table.columns = named
        return table

    def select(self, array, mask):
        return array.filter(self.pl.Series(mask))

    def take(self, array, order):
        return array.gather(order)

    def table(self, names, arrays, entries):
        return self.pl.DataFrame([a.alias(_utf8(n)) for n, a in zip(names, arrays, strict=True)])

    def concatenate(self, parts, *, numbered=False):
        text, raw = self.pl.String, self.pl.Binary
        return self.pl.concat(_as_bytes(parts, lambda p, i: p.dtypes[i], text, raw, self._cast))

    def _cast(self, table, i: int, kind):
        return table.with_columns(table.to_series(i).cast(kind))

    def taken(self, table, order):
        return table[order]


class PandasArrow(Pandas):
    """``pandas.Series`` of Arrow types (``pandas.ArrowDtype``), lists, strings and records too. Goes through Arrow."""

    name = "pd[pyarrow]"

    def __init__(self) -> None:
        super().__init__()
        self._of = Arrow()

    def array(self, column, name):
        values = self.pd.arrays.ArrowExtensionArray(self._of.array(column, name))
        return self.pd.Series(values, name=name, copy=False)

    def types(self, table):
        return {str(name): str(kind) for name, kind in table.dtypes.items()}


_LIBRARIES = {
    **dict.fromkeys(("ak", "awkward"), Awkward),
    **dict.fromkeys(("np", "numpy"), Numpy),
    **dict.fromkeys(("pd", "pandas"), Pandas),
    **dict.fromkeys(("pd[pyarrow]", "pandas[pyarrow]"), PandasArrow),
    **dict.fromkeys(("pa", "arrow", "pyarrow"), Arrow),
    **dict.fromkeys(("pl", "polars"), Polars),
}


def library(name: str) -> Library:
    """The library of this name.

    Raises:
        InvalidError: no such name.
        MissingLibraryError: it is not installed.
    """
    try:
        kind = _LIBRARIES[name]
    except (KeyError, TypeError):
        raise InvalidError(f'library must be "ak", "np", "pd", "pd[pyarrow]", "pa" or "pl", not {name!r}') from None
    return kind()


def computed(lib: Library, value, what: str):
    """An expression's result as one array of the library."""
    if lib.takes_awkward:
        import awkward as ak

        return (
            value
            if isinstance(value, ak.Array)
            else ak.Array(conversion.to_layout(conversion.from_computed(value, what)))
        )
    try:
        return lib.array(conversion.from_computed(value, what), what)
    except (TypeError, NotImplementedError) as e:
        if isinstance(e, UnsupportedError):
            raise
        raise UnsupportedError(f"{what} cannot be converted for library={lib.name!r}: {e}") from e
