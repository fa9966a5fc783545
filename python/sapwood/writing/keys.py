"""Keys of maps that are written: each of a map's is there once, or readers would lose values."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import InvalidError
from .columns import Column, length


def check_keys(maps: Column, what: str, each: str) -> None:
    """Refuse maps that have a key more than once; ``maps`` are lists of keys and values.

    Raises:
        InvalidError: the first such map, by number, and its key.
    """
    offsets, keys = maps[1], maps[2][2][0][1]
    found = _repeated(keys[1], offsets) if keys[0] == "flat" else _repeated_of_any(keys, offsets)
    if found is not None:
        number, key = found
        raise InvalidError(
            f"{what}: {each} {number} of the batch has the key {key} more than once, and a map holds one value for "
            "each; in ntuples std::vector<std::pair<..., ...>> holds all"
        )


def _repeated(keys: np.ndarray, offsets: np.ndarray) -> tuple[int, Any] | None:
    first, last = int(offsets[0]), int(offsets[-1])
    keys = keys[first:last]
    if len(keys) < 2:
        return None
    of_map = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    same_map = of_map[1:] == of_map[:-1]
    if (keys[1:] > keys[:-1])[same_map].all():
        return None
    order = np.lexsort((keys, of_map))
    twice = np.flatnonzero((np.diff(of_map[order]) == 0) & (keys[order][1:] == keys[order][:-1]))
    return (int(of_map[order[twice[0]]]), keys[order[twice[0]]]) if len(twice) else None


def _repeated_of_any(keys: Column, offsets: np.ndarray) -> tuple[int, Any] | None:
    values, bounds = _values(keys), offsets.tolist()
    for number, (start, stop) in enumerate(pairwise(bounds)):
        seen = set()
        for key in values[start:stop]:
            if key in seen:
                return number, key.decode("utf-8", "replace") if isinstance(key, bytes) else key
            seen.add(key)
    return None


def _values(column: Column) -> list[Any]:
    """The entries of a column as values that can be compared and kept in sets."""
    kind = column[0]
    if kind == "flat":
        return column[1].tolist()
    if kind == "regular":
        items, size = _values(column[3]), column[1]
        return [tuple(items[i * size : (i + 1) * size]) for i in range(length(column))]
    if kind == "record":
        return list(zip(*(_values(content) for _, content in column[2]), strict=True))
    bounds = column[1].tolist()
    if kind == "text":
        data = column[2].tobytes()
        return [data[start:stop] for start, stop in pairwise(bounds)]
    items = _values(column[2])
    return [tuple(items[start:stop]) for start, stop in pairwise(bounds)]
