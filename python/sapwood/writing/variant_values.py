"""Python objects for types in which variants are: each value takes the alternative that has its own type.

As one array they would have one type: numpy and awkward make floats of integers beside floats, and integers of
booleans.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..columns.casting import as_float
from ..errors import InvalidError
from .columns import Column, length
from .convert import fit_field, with_pairs
from .from_data import any_column
from .keys import check_keys
from .tables import members, tables
from .types import Type, numpy_name, words_of

#: How well a value fits a type, 0 best; None if the type does not hold it.
Rank = Callable[[Any], "int | None"]


def has_variant(t: Type) -> bool:
    """Whether a type is a variant or contains one."""
    if t[0] == "variant":
        return True
    if t[0] == "class":
        return any(has_variant(member) for _, member in t[2])
    inner = t[1] if t[0] == "tuple" else t[1:]
    return any(has_variant(item) for item in inner if isinstance(item, tuple))


def fit_data(data: Any, t: Type, what: str) -> Column:
    """The column of an ntuple's field of a type, of an array or of Python objects.

    Raises:
        InvalidError: a value that the type does not hold; of a variant an integer that none of its types holds exactly.
    """
    if has_variant(t):
        objects = _objects(data)
        if objects is not None:
            return _fit_objects(objects, t, what)
        if t[0] == "class" and _is_frame(data):
            fields = tables(data)
            if fields.keys() == {name for name, _ in t[2]}:
                columns = [(name, fit_data(fields[name], member, f"{what}.{name}")) for name, member in t[2]]
                sizes = {length(column) for _, column in columns}
                if len(sizes) == 1:
                    return "record", sizes.pop(), columns
    return fit_field(any_column(with_pairs(data, ("object", t)), what), t, what)


def _objects(data: Any) -> list[Any] | None:
    """The Python objects of a column that consists of such, not of an array of one type."""
    if isinstance(data, np.ndarray) and data.dtype.kind == "O" and data.ndim == 1:
        return None if isinstance(data, np.ma.MaskedArray) else list(data)
    if type(data).__module__.partition(".")[0] == "pandas" and getattr(data, "dtype", "") == np.dtype(object):
        return [None if missing else value for value, missing in zip(data, data.isna(), strict=True)]
    return list(data) if isinstance(data, (list, tuple)) else None


def _is_frame(data: Any) -> bool:
    """Whether these are columns of records by name."""
    pandas = type(data).__module__.partition(".")[0] == "pandas"
    return isinstance(data, Mapping) or (pandas and hasattr(data, "columns"))


def _fit_objects(values: list[Any], t: Type, what: str) -> Column:
    if not has_variant(t):
        return fit_field(any_column(with_pairs(values, ("object", t)), what), t, what)
    if t[0] == "variant":
        return _fit_variant(values, t[1], what)
    if t[0] == "optional":
        there = [value for value in values if value is not None]
        return "list", _offsets([value is not None for value in values]), _fit_objects(there, t[1], what)
    if t[0] == "vector":
        lists = [_items(value, t, what) for value in values]
        return "list", _offsets(list(map(len, lists))), _fit_objects(_joined(lists), t[1], what)
    if t[0] == "array":
        arrays = [_items(value, t, what) for value in values]
        if any(len(array) != t[2] for array in arrays):
            raise InvalidError(f"{what}: each entry must be an array of {t[2]} items")
        return "regular", t[2], len(arrays), _fit_objects(_joined(arrays), t[1], what)
    if t[0] == "map":
        pairs = [_pairs(value, t, what) for value in values]
        keys, found = ([pair[side] for pair in _joined(pairs)] for side in (0, 1))
        fields = [("first", _fit_objects(keys, t[1], what)), ("second", _fit_objects(found, t[2], what))]
        maps = "list", _offsets(list(map(len, pairs))), ("record", len(keys), fields)
        check_keys(maps, what, "map")
        return maps
    named = [(str(i), item) for i, item in enumerate(t[1])] if t[0] == "tuple" else t[2]
    rows = [_row(value, t, what) for value in values]
    return "record", len(rows), [
        (name, _fit_objects([row[i] for row in rows], item, f"{what}.{name}")) for i, (name, item) in enumerate(named)
    ]  # fmt: skip


def _fit_variant(values: list[Any], items: list[Type], what: str) -> Column:
    ranks = [_rank(item) for item in items]
    taken: list[list[Any]] = [[] for _ in items]
    chosen = np.full(len(values), -1)
    for row, value in enumerate(values):
        found = [(rank(value), i) for i, rank in enumerate(ranks)]
        fitting = [(how, i) for how, i in found if how is not None]
        if fitting:
            chosen[row] = min(fitting)[1]
            taken[chosen[row]].append(value)
        elif value is not None:
            raise InvalidError(_refusal(value, items, what))
        # else a variant without a value: none of its types has one
    fitted = [
        (str(i), ("list", _offsets(chosen == i), _fit_objects(taken[i], item, what))) for i, item in enumerate(items)
    ]
    return "record", len(values), fitted


def _refusal(value: Any, items: list[Type], what: str) -> str:
    types = ", ".join(map(words_of, items))
    if isinstance(value, (int, np.integer)):
        return (
            f"{what}: the integer {value} cannot be stored exactly as any of {types}; add a type of integers "
            "that holds it to the variant, or convert the value, for example with float(), where rounding is meant"
        )
    shown = repr(value)
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    return (
        f"{what}: {shown} ({type(value).__name__}) cannot be stored exactly as any of {types}; convert the value first"
    )


def _offsets(sizes: Any) -> np.ndarray:
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def _joined(lists: Sequence[Sequence[Any]]) -> list[Any]:
    return [item for items in lists for item in items]


def _sequence(value: Any) -> Sequence[Any] | None:
    """The items of a list, tuple or array."""
    if isinstance(value, (list, tuple)):
        return value
    if isinstance(value, np.ndarray) and value.ndim:
        return list(value)
    if type(value).__module__.partition(".")[0] == "awkward" and type(value).__name__ == "Array":
        return value.tolist()
    return None


def _items(value: Any, t: Type, what: str) -> Sequence[Any]:
    items = _sequence(value)
    if items is None:
        raise InvalidError(f"{what}: each value must be a list for {words_of(t)}, not {value!r}")
    return items


def _pair_list(value: Any) -> list[tuple[Any, Any]] | None:
    if isinstance(value, Mapping):
        return list(value.items())
    items = _sequence(value)
    if items is None:
        return None
    pairs = [tuple(item.values()) if isinstance(item, Mapping) else item for item in items]
    return pairs if all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in pairs) else None  # type: ignore[return-value]


def _pairs(value: Any, t: Type, what: str) -> list[tuple[Any, Any]]:
    pairs = _pair_list(value)
    if pairs is None:
        raise InvalidError(f"{what}: each value must be a map: pass dicts, or lists of records of key and value")
    return pairs


def _row_of(value: Any, t: Type) -> Sequence[Any] | None:
    """The members of a record or tuple, in the order of its type."""
    held = members(value)
    if t[0] == "tuple":
        row = list(held.values()) if held is not None else _sequence(value)
        return row if row is not None and len(row) == len(t[1]) else None
    names = [name for name, _ in t[2]]
    return [held[name] for name in names] if held is not None and held.keys() == set(names) else None


def _row(value: Any, t: Type, what: str) -> Sequence[Any]:
    row = _row_of(value, t)
    if row is None:
        raise InvalidError(f"{what}: {value!r} is no value of {words_of(t)}")
    return row


def _rank(t: Type) -> Rank:
    kind = t[0]
    if kind in ("number", "reduced"):
        return _rank_of_number(np.dtype(t[1]), kind == "number")
    if kind == "text":
        return lambda value: 0 if isinstance(value, (str, bytes)) else None
    if kind in ("vector", "array"):
        item = _rank(t[1] if isinstance(t[1], tuple) else ("number", t[1]))
        size = t[2] if kind == "array" else None

        def of_list(value: Any) -> int | None:
            items = _sequence(value)
            return None if items is None or size not in (None, len(items)) else _worst(map(item, items))

        return of_list
    if kind == "optional":
        inner = _rank(t[1])
        return lambda value: 0 if value is None else inner(value)
    if kind == "variant":
        ranks = [_rank(item) for item in t[1]]
        return lambda value: min((r for rank in ranks if (r := rank(value)) is not None), default=None)
    if kind == "map":
        key, held = _rank(t[1]), _rank(t[2])

        def of_map(value: Any) -> int | None:
            pairs = _pair_list(value)
            return None if pairs is None else _worst(r for k, v in pairs for r in (key(k), held(v)))

        return of_map
    parts = [_rank(item) for item in (t[1] if kind == "tuple" else [member for _, member in t[2]])]

    def of_row(value: Any) -> int | None:
        row = _row_of(value, t)
        return None if row is None else _worst(rank(v) for rank, v in zip(parts, row, strict=True))

    return of_row


def _worst(ranks: Any) -> int | None:
    worst = 0
    for rank in ranks:
        if rank is None:
            return None
        worst = max(worst, rank)
    return worst


def _rank_of_number(dtype: np.dtype, plain: bool) -> Rank:
    """The own type of a value first (a Python number is int64 or float64, as in numpy), then others of its kind."""
    name = numpy_name(dtype)
    limits = np.iinfo(dtype) if dtype.kind in "iu" else None
    largest = float(np.finfo(dtype).max) if dtype.kind == "f" else 0.0

    def rank(value: Any) -> int | None:
        if isinstance(value, (bool, np.bool_)):
            return 0 if dtype.kind == "b" else 1 if limits is not None else 2
        if isinstance(value, (int, np.integer)):
            if limits is not None:
                own = numpy_name(value.dtype) if isinstance(value, np.integer) else "int64"
                return None if not limits.min <= int(value) <= limits.max else 0 if own == name and plain else 1
            return 2 if dtype.kind == "f" and _exact(int(value), dtype) else None
        if isinstance(value, (float, np.floating)) and dtype.kind == "f":
            own = numpy_name(value.dtype) if isinstance(value, np.floating) else "float64"
            overflows = np.isfinite(value) and abs(value) > largest
            return None if overflows else 0 if own == name and plain else 1
        return None

    return rank


def _exact(value: int, dtype: np.dtype) -> bool:
    if abs(value) >= 1 << 64:
        return False
    return as_float(np.array([value], np.uint64 if value > 0 else np.int64), dtype)[1] is None
