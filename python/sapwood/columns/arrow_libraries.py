"""Columns as Arrow's arrays and tables, and as those of polars, which go through Arrow."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import UnsupportedError, require
from . import conversion
from .library import Library
from .strings import is_utf8

_NUMPY = {"double": "float64", "float": "float32", "halffloat": "float16"}
_FLOAT = re.compile(r"\b(?:double|float|halffloat)\b")


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
        same = _as_bytes(parts, lambda p, i: p.schema.field(i).type, text, raw, self._cast)
        for i in range(min(part.num_columns for part in same)):
            kinds = [part.schema.field(i).type for part in same]
            if any(kind != kinds[0] for kind in kinds):
                wide = self.common(kinds)
                same = [self._cast(part, i, wide) for part in same]
        return self.pa.concat_tables(same)

    def common(self, kinds):
        """The type of numpy's common numbers, for types that differ in numbers only."""
        pa, first = self.pa, kinds[0]
        if {*kinds} == {pa.large_string(), pa.large_binary()}:
            return pa.large_binary()
        if any(kind.id != first.id and (pa.types.is_nested(kind) or pa.types.is_nested(first)) for kind in kinds):
            raise TypeError("lists, fixed arrays, records and numbers have no common type")
        if pa.types.is_struct(first):
            fields = [first.field(i) for i in range(first.num_fields)]
            return pa.struct([f.with_type(self.common([k.field(i).type for k in kinds])) for i, f in enumerate(fields)])
        if pa.types.is_large_list(first):
            return pa.large_list(self.common([kind.value_type for kind in kinds]))
        if pa.types.is_fixed_size_list(first):
            return pa.list_(self.common([kind.value_type for kind in kinds]), first.list_size)
        if all(kind == first for kind in kinds):
            return first
        return pa.from_numpy_dtype(np.result_type(*(kind.to_pandas_dtype() for kind in kinds)))

    def _cast(self, table, i: int, kind):
        # whether values may change was found before
        return table.set_column(i, table.schema.field(i).name, table.column(i).cast(kind, safe=False))

    def kinds(self, table):
        return {field.name: str(field.type) for field in table.schema}

    def types(self, table):
        return {name: self.words(kind) for name, kind in self.kinds(table).items()}

    @staticmethod
    def words(kind: str) -> str:
        """The text of a type with numpy's names of numbers."""
        return _FLOAT.sub(lambda found: _NUMPY[found[0]], kind)


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
        same = _as_bytes(parts, lambda p, i: p.dtypes[i], text, raw, self._cast)
        for i in range(min(part.width for part in same)):
            if any(part.dtypes[i] != same[0].dtypes[i] for part in same):
                # by way of Arrow: the types of library="pa"
                wide = self.common([part.to_series(i).head(0).to_arrow().type for part in same])
                kind = self.pl.Series(self.pa.array([], wide)).dtype
                same = [self._cast(part, i, kind) for part in same]
        return self.pl.concat(same)

    def kinds(self, table):
        return {name: str(kind) for name, kind in table.schema.items()}

    def types(self, table):
        return {name: kind.lower() for name, kind in self.kinds(table).items()}

    def errors(self):
        return (self.pl.exceptions.PolarsError,)

    def _cast(self, table, i: int, kind):
        return table.with_columns(table.to_series(i).cast(kind))

    def taken(self, table, order):
        return table[order]
