"""Conversion of the data that users pass to columns of the core."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..columns.casting import common, lost_integer
from ..errors import InvalidError, UnsupportedError, require
from .columns import Column, cut, is_tuple, length, option
from .tables import members, tables

_KINDS = "biuf"


def from_any(data: Any, what: str) -> Column:
    """A column of a tree from a numpy, awkward, pyarrow, pandas or polars array, or from a list.

    Raises:
        UnsupportedError: data that a tree cannot hold; the message says why.
    """
    return _of_tree(any_column(data, what), what)


def _of_tree(column: Column, what: str) -> Column:
    """The column without what only ntuples can hold."""
    kind = column[0]
    if kind == "list":
        return kind, column[1], _of_tree(column[2], what)
    if kind == "regular":
        return kind, column[1], column[2], _of_tree(column[3], what)
    if kind == "option":
        if length(column[2]) != length(column):
            raise _missing(what)
        return _of_tree(column[2], what)
    if kind == "union":
        raise UnsupportedError(
            f"{what}: values of several types cannot be stored in a ROOT tree; an ntuple can hold them"
        )
    if kind == "record":
        if is_tuple(column) and len(column[2]) != 2:
            raise UnsupportedError(
                f"{what}: tuples have no field names for branches; convert them to records with ak.zip"
            )
        fields = [(name, _of_tree(content, f"{what}.{name}")) for name, content in column[2]]
        return kind, column[1], fields, *column[3:]
    return column


def any_column(data: Any, what: str) -> Column:
    """The same for an ntuple."""
    if type(data) is np.ndarray:
        return _from_numpy(data, what)
    module = type(data).__module__.partition(".")[0]
    if module == "awkward":
        return _from_awkward(data.layout if hasattr(data, "layout") else data, what)
    if module == "pyarrow":
        return _from_arrow(data, what)
    if module == "polars":
        try:
            arrow = data.to_arrow()
        except (ValueError, TypeError, NotImplementedError):
            raise UnsupportedError(
                f"{what}: polars' {data.dtype} cannot be stored in a ROOT file; convert it first"
            ) from None
        return _from_arrow(arrow, what)
    if isinstance(data, Mapping) or (module == "pandas" and hasattr(data, "columns")):
        return _of_fields(tables(data), what)
    if module == "pandas":
        return _from_pandas(data, what)
    if isinstance(data, np.ndarray):
        # of a matrix each part is a matrix again
        return _from_numpy(np.asarray(data) if isinstance(data, np.matrix) else data, what)
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _from_list(data, what)
    if hasattr(data, "__array__"):
        return _from_numpy(np.asarray(data), what)
    raise UnsupportedError(
        f"{what}: {type(data).__name__} is not an array; use numpy, awkward, pyarrow, pandas, polars or a list"
    )


def _of_fields(fields: Mapping[str, Any], what: str) -> Column:
    """Columns by name as one column of records."""
    columns = [(str(name), any_column(column, f"{what}, field {name}")) for name, column in fields.items()]
    lengths = {length(column) for _, column in columns}
    if len(lengths) != 1:
        raise InvalidError(f"{what}: the fields have different lengths: {', '.join(map(str, sorted(lengths)))}")
    return "record", lengths.pop(), columns


@functools.cache
def _native(dtype: np.dtype) -> np.dtype | None:
    """The same type in native byte order; None if it is not a number that a tree can hold."""
    if dtype.kind not in _KINDS or dtype.itemsize > 8 or dtype == np.float16:
        return None
    return dtype.newbyteorder("=")


def _numbers(array: np.ndarray, what: str) -> np.ndarray:
    """One-dimensional, contiguous, in native byte order."""
    native = _native(array.dtype)
    if native is None:
        raise UnsupportedError(
            f"{what}: values of type {array.dtype} cannot be stored in a ROOT file; convert them first"
        )
    return np.ascontiguousarray(array, dtype=native)


def _from_numpy(array: np.ndarray, what: str) -> Column:
    if array.ndim == 0:
        raise InvalidError(f"{what}: a single value is not a column; pass an array with one value per entry")
    if array.dtype.names is not None:
        fields = [(name, _from_numpy(array[name], f"{what}.{name}")) for name in array.dtype.names]
        return "record", len(array), fields
    if isinstance(array, np.ma.MaskedArray):
        there = ~np.ma.getmaskarray(array).reshape(-1)
        whole = _from_numpy(array.data.reshape(-1), what)
        if there.all() or whole[0] != "flat":
            if not there.all():
                raise UnsupportedError(
                    f"{what}: only numbers can be missing in a masked array; pass an awkward array with None"
                )
            return _from_numpy(array.data, what)
        return _in_shape(array, option(there, ("flat", whole[1][there])))
    if array.dtype.kind in "US" or array.dtype.kind == "T":
        return _texts(array.ravel().tolist(), what) if array.ndim == 1 else _from_list(array.tolist(), what)
    if array.dtype.kind == "O":
        return _from_list(list(array), what)
    if array.dtype.kind in "mM":
        raise UnsupportedError(
            f"{what}: ROOT files cannot hold dates; convert them to numbers, for example with array.astype('int64')"
        )
    return _in_shape(array, ("flat", _numbers(array.reshape(-1), what)))


def _in_shape(array: np.ndarray, column: Column) -> Column:
    """The column of all values of an array, in its dimensions."""
    entries = array.size
    for size in reversed(array.shape[1:]):
        entries = entries // size if size else int(np.prod(array.shape[:-1]))
        column = ("regular", size, entries, column)
    return column


def _texts(values: Sequence[Any], what: str) -> Column:
    if any(v is None for v in values):
        there = np.array([v is not None for v in values], bool)
        return option(there, _texts([v for v in values if v is not None], what))
    if any(not isinstance(v, (str, bytes)) for v in values):
        raise UnsupportedError(f"{what}: strings are mixed with other values")
    try:
        # bytes that are not UTF-8 are read as lone surrogates; restore them
        parts = [v.encode("utf-8", "surrogateescape") if isinstance(v, str) else v for v in values]
    except UnicodeEncodeError as e:
        raise InvalidError(f"{what}: {e.object!r} is not valid Unicode; it contains a lone surrogate") from None
    offsets = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(p) for p in parts], out=offsets[1:])
    return "text", offsets, np.frombuffer(b"".join(parts), np.uint8)


def _from_list(values: Sequence[Any], what: str) -> Column:
    if not len(values):
        return "flat", np.zeros(0)
    if all(isinstance(v, (str, bytes)) for v in values):
        return _texts(values, what)
    if all(isinstance(v, np.ndarray) and v.ndim == 1 and v.dtype.kind in _KINDS for v in values):
        offsets = np.zeros(len(values) + 1, np.int64)
        np.cumsum([len(v) for v in values], out=offsets[1:])
        types = {v.dtype for v in values}
        if len(types) > 1 and common(types) is None:
            raise UnsupportedError(f"{what}: its arrays of {_names(types)} have no common type; convert them first")
        return "list", offsets, ("flat", _numbers(np.concatenate(values), what))
    if all(isinstance(v, (bool, int, float, np.generic)) for v in values):
        return _from_numpy(_of_numbers(values, what), what)
    ak = require("awkward", f"{what}: nested lists")
    try:
        try:
            array = ak.Array([v.tolist() if isinstance(v, np.ndarray) else v for v in values])
        except (TypeError, ValueError):
            array = ak.Array([_plain(v) for v in values])
    except (TypeError, ValueError) as e:
        raise UnsupportedError(f"{what}: {e}") from None
    except (RuntimeError, OverflowError):
        present = [v for v in values if v is not None]
        if all(isinstance(v, (int, np.integer)) for v in present):
            # awkward takes them for signed ones
            return option(np.array([v is not None for v in values], bool), _from_list(present, what))
        raise UnsupportedError(
            f"{what}: its integers do not fit in 64 bits with a sign (pass arrays of uint64), or its values contain "
            "themselves"
        ) from None
    if _large_floats(array.layout):
        _no_lost_integer(values, what)
    return _from_awkward(array.layout, what)


def _of_numbers(values: Sequence[Any], what: str) -> np.ndarray:
    """Numbers as an array, without changing any of them."""
    array = np.asarray(values)
    if array.dtype.kind in "fO" and all(isinstance(v, (int, np.integer)) for v in values):
        # numpy converts mixed signed and unsigned 64-bit integers to floats
        try:
            return np.asarray([int(v) for v in values], np.uint64)
        except OverflowError:
            raise UnsupportedError(f"{what}: its integers do not fit in one 64-bit type; convert them first") from None
    if array.dtype.kind == "O":
        raise UnsupportedError(f"{what}: its values have no common type; convert them first")
    if array.dtype.kind == "f":
        _no_lost_integer(values, what)
    return array


def _no_lost_integer(values: Any, what: str) -> None:
    lost = lost_integer(values)
    if lost is not None:
        raise UnsupportedError(f"{what}: {lost} is mixed with floats and would be rounded; convert the values first")


def _large_floats(layout: Any) -> bool:
    """Whether there are floats to which integers may have been rounded."""
    if layout.is_numpy:
        data = np.asarray(layout.data)
        return data.dtype.kind == "f" and bool((np.abs(data) >= 1 << 53).any())
    if hasattr(layout, "contents"):
        return any(map(_large_floats, layout.contents))
    return hasattr(layout, "content") and _large_floats(layout.content)


def _names(types: Iterable[np.dtype]) -> str:
    return " and ".join(sorted(t.name for t in types))


def _plain(value: Any) -> Any:
    """Replace arrays and dataclass instances by lists and dicts, at any depth."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(v) for v in value) if type(value) in (list, tuple) else [_plain(v) for v in value]
    held = members(value)
    return value if held is None else {name: _plain(v) for name, v in held.items()}


def _from_awkward(layout: Any, what: str) -> Column:
    ak = require("awkward", "awkward arrays")
    c = ak.contents
    if isinstance(layout, c.NumpyArray):
        return _from_numpy(np.asarray(layout.data), what)
    if isinstance(layout, c.EmptyArray):
        return "flat", np.zeros(0)
    if layout.is_list:
        text = layout.parameter("__array__") in ("string", "bytestring")
        if layout.is_regular and not text:
            content = layout.content[: layout.size * layout.length]
            return "regular", layout.size, layout.length, _from_awkward(content, what)
        packed = layout.to_ListOffsetArray64(True)
        offsets = np.asarray(packed.offsets.data, np.int64)
        content = packed.content[: offsets[-1]]
        if text:
            return "text", offsets, _from_awkward(content, what)[1]
        return "list", offsets, _from_awkward(content, what)
    if layout.is_record:
        fields = [(f, _from_awkward(layout.content(f)[: layout.length], f"{what}.{f}")) for f in layout.fields]
        # as maps are read, here and by uproot
        is_map = layout.parameter("__array__") == "sorted_map" and len(fields) == 2
        return ("record", layout.length, fields, "map") if is_map else ("record", layout.length, fields)
    if layout.is_option:
        array = ak.Array(layout)
        there = ~np.asarray(ak.is_none(array), bool)
        return option(there, _from_awkward(ak.drop_none(array, axis=0).layout, what))
    if layout.is_indexed:
        return _from_awkward(layout.project(), what)
    if layout.is_union:
        tags = np.asarray(layout.tags.data)
        index = np.asarray(layout.index.data)[: len(tags)]
        parts = []
        for number, content in enumerate(layout.contents):
            here = tags == number
            _, offsets, inner = option(here, _from_awkward(ak.Array(content)[index[here]].layout, what))
            parts.append((str(number), ("list", offsets, inner)))
        return "union", len(tags), parts
    raise UnsupportedError(f"{what}: arrays of type {ak.type(layout)} cannot be stored in a ROOT file")


def _from_arrow(array: Any, what: str) -> Column:
    pa = require("pyarrow", "Arrow arrays")
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks() if array.num_chunks != 1 else array.chunk(0)
        if isinstance(array, pa.ChunkedArray):
            array = pa.concat_arrays(array.chunks)
    kind = array.type
    if pa.types.is_null(kind):
        if not len(array):
            raise UnsupportedError(f"{what}: the type of its values is not known; cast the column first")
        return option(np.zeros(len(array), bool), ("flat", np.zeros(0)))
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        # Arrow cannot drop missing views
        return _from_arrow(array.cast(pa.large_string() if pa.types.is_string_view(kind) else pa.large_binary()), what)
    if array.null_count:
        there = np.asarray(array.is_valid().to_numpy(zero_copy_only=False), bool)
        return option(there, _from_arrow(array.drop_null(), what))
    if pa.types.is_dictionary(kind):
        return _from_arrow(array.dictionary_decode(), what)
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        array = array.cast(pa.large_string() if pa.types.is_string(kind) else pa.large_binary())
        kind = array.type
    if pa.types.is_large_string(kind) or pa.types.is_large_binary(kind):
        _, offsets, data = array.buffers()
        offsets = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
        data = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
        return "text", offsets - offsets[0], data[offsets[0] : offsets[-1]]
    if pa.types.is_fixed_size_list(kind):
        return "regular", kind.list_size, len(array), _from_arrow(array.flatten(), what)
    if pa.types.is_map(kind):
        entries = (
            "record",
            len(array.keys),
            [("key", _from_arrow(array.keys, what)), ("value", _from_arrow(array.items, what))],
        )
        offsets = np.asarray(array.offsets, np.int64)
        return cut(("list", offsets, entries), 0, len(array))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        offsets = np.asarray(array.offsets, np.int64)
        return "list", offsets - offsets[0], _from_arrow(array.flatten(), what)
    if pa.types.is_struct(kind):
        flat = zip(kind, array.flatten(), strict=True)
        return "record", len(array), [(f.name, _from_arrow(a, f"{what}.{f.name}")) for f, a in flat]
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return _from_numpy(array.to_numpy(zero_copy_only=False), what)
    raise UnsupportedError(f"{what}: Arrow's {kind} cannot be stored in a ROOT file; convert it first")


def _from_pandas(series: Any, what: str) -> Column:
    # numpy's floats have NaN, pandas' own have NA
    if (series.dtype.kind != "f" or str(series.dtype) in ("Float32", "Float64")) and series.isna().any():
        there = ~np.asarray(series.isna(), bool)
        return option(there, _from_pandas(series[there], what))
    if type(series.dtype).__name__ == "ArrowDtype":
        return _from_arrow(series.array.__arrow_array__(), what)
    if type(series.dtype).__name__ == "AwkwardDtype":
        return any_column(series.array._data, what)
    if type(series.dtype).__name__ in ("CategoricalDtype", "StringDtype"):
        return _from_list(series.tolist(), what)
    numpy_dtype = getattr(series.dtype, "numpy_dtype", None)
    return _from_numpy(series.to_numpy(dtype=numpy_dtype) if numpy_dtype is not None else series.to_numpy(), what)


def _missing(what: str) -> Exception:
    return UnsupportedError(f"{what}: ROOT trees cannot hold missing values; fill or drop them first")
