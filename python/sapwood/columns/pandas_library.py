"""Columns as pandas' series and data frames."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import require
from . import conversion
from .arrow_libraries import Arrow
from .library import Library
from .strings import is_utf8


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
        for name in parts[0].columns if all(part.columns.is_unique for part in parts) else ():
            kinds = [part[name].dtype for part in parts if name in part.columns]
            # NaN is where no float is; pandas would take a type of its own beside missing integers
            if any(kind.kind == "f" and isinstance(kind, np.dtype) for kind in kinds):
                parts = [self._as_floats(part, name) for part in parts]
        return self.pd.concat(parts, ignore_index=not numbered)

    def _as_floats(self, part, name):
        if name not in part.columns or not isinstance(part[name].array, self.pd.arrays.IntegerArray):
            return part
        floats = part[name].to_numpy(np.float64, na_value=np.nan)
        return part.assign(**{name: self.pd.Series(floats, index=part.index)})

    def kinds(self, table):
        return {str(name): str(kind) for name, kind in table.dtypes.items()}

    def types(self, table):
        return {str(name): kind.name for name, kind in table.dtypes.items() if kind.kind in "biuf"}


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
        # in numpy's names
        names = self._of.words
        return {str(name): names(str(kind)) for name, kind in table.dtypes.items()}

    def concatenate(self, parts, *, numbered=False):
        for name in parts[0].columns if all(part.columns.is_unique for part in parts) else ():
            kinds = [part[name].dtype for part in parts if name in part.columns]
            if any(kind != kinds[0] for kind in kinds):
                wide = self._of.common([kind.pyarrow_dtype for kind in kinds])
                parts = [self._cast(part, name, wide) for part in parts]
        return self.pd.concat(parts, ignore_index=not numbered)

    def _cast(self, part, name, wide):
        if name not in part.columns:
            return part
        values = self.pd.arrays.ArrowExtensionArray(part[name].array.__arrow_array__().cast(wide, safe=False))
        return part.assign(**{name: self.pd.Series(values, index=part.index)})
