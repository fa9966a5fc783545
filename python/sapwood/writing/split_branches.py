"""Columns for the sub-branches of a split branch: members of a class, keys and values of a map.

A split branch is read as one column for each sub-branch; these columns can be written in the same form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import InvalidError
from .columns import Column, length
from .convert import with_pairs
from .from_data import from_any
from .types import Type


def joined(types: Mapping[str, Type], given: Mapping[Any, Any]) -> tuple[dict[str, Column], set[str]]:
    """Return the columns of branches whose sub-branches alone are given, and the names of the sub-branches.

    Raises:
        InvalidError: a member is missing, a name is ambiguous, or the members of a collection have lists of different
            lengths.
    """
    members = _Members(given, types)
    out = {}
    for name, t in types.items():
        if t[0] == "object" and name not in given and (column := members.of(t[1], name, name, _first_prefix(name))):
            out[name] = column
    return out, members.used


def _first_prefix(name: str) -> str:
    """ROOT names members of an object without a prefix, unless the name of the branch ends with a dot."""
    return name if name.endswith(".") else ""


class _Members:
    def __init__(self, given: Mapping[Any, Any], types: Mapping[str, Type]) -> None:
        self.used: set[str] = set()
        self._branches = types
        self._given = {str(name): value for name, value in given.items()}
        self._short: dict[str, str | None] = {}
        for name in self._given:
            last = name.rpartition("/")[2]
            self._short[last] = None if last in self._short else name

    def _find(self, name: str, path: str) -> str | None:
        """The key of a member in the given columns: its path, or its name if that is unique."""
        if path in self._given:
            return path
        found = name if name in self._given else self._short.get(name)
        if found is None or found in self._branches:
            return None
        top, below, _ = found.partition("/")
        if below and top != path.partition("/")[0]:
            return None
        if found in self.used:
            raise InvalidError(f"branch {path}: {found} is ambiguous; use the name {path}", branch=path)
        return found

    def column(self, t: Type, name: str, path: str) -> Column | None:
        """The column of a branch: as given, or made from the columns of its sub-branches."""
        found = self._find(name, path)
        if found is None:
            return self.of(t, name, path, f"{name}.")
        self.used.add(found)
        return from_any(with_pairs(self._given[found], ("object", t)), f"branch {found}")

    def of(self, t: Type, name: str, path: str, prefix: str) -> Column | None:
        """The column made from the columns of the sub-branches; None if there are none."""
        if t[0] == "class":
            columns = self._all([(n, m, f"{prefix}{n}{_extents(m)}") for n, m in t[2]], name, path)
            return ("record", _one_length(columns, name), columns) if columns else None
        if t[0] == "map":
            items = [("first", t[1]), ("second", t[2])]
        elif t[0] == "vector" and t[1][0] == "class":
            items = t[1][2]
        else:
            return None
        below = name if name.endswith(".") else f"{name}."
        columns = self._all([(n, ("vector", m), f"{below}{n}{_extents(m)}") for n, m in items], name, path)
        return _lists(columns, name) if columns else None

    def _all(self, members: list[tuple[str, Type, str]], name: str, path: str) -> list[tuple[str, Column]] | None:
        found = [(n, self.column(t, full, f"{path}/{full}")) for n, t, full in members]
        missing = [full for (_, column), (_, _, full) in zip(found, members, strict=True) if column is None]
        if len(missing) == len(found):
            return None
        if missing:
            raise InvalidError(f"branch {name}: no entries for its sub-branch {missing[0]}", branch=name)
        return [(n, column) for n, column in found if column is not None]


def _extents(t: Type) -> str:
    """The suffix that ROOT adds to the name of a member: the extent of a fixed array."""
    return f"[{t[2]}]" if t[0] == "array" else ""


def _one_length(columns: list[tuple[str, Column]], name: str) -> int:
    lengths = {length(column) for _, column in columns}
    if len(lengths) > 1:
        raise InvalidError(f"branch {name}: its members have {min(lengths)} to {max(lengths)} entries", branch=name)
    return lengths.pop()


def _lists(columns: list[tuple[str, Column]], name: str) -> Column:
    """Lists of records of lists of each member."""
    offsets, contents = None, []
    for member, column in columns:
        if column[0] == "regular":
            column = ("list", np.arange(column[2] + 1, dtype=np.int64) * column[1], column[3])
        if column[0] == "flat" and not length(column):
            column = ("list", np.zeros(1, np.int64), column)
        if column[0] != "list":
            raise InvalidError(f"branch {name}: each entry of its member {member} must be a list", branch=name)
        if offsets is not None and not np.array_equal(offsets, column[1]):
            raise InvalidError(f"branch {name}: the lists of its members have different lengths", branch=name)
        offsets = column[1]
        contents.append((member, column[2]))
    assert offsets is not None
    return "list", offsets, ("record", int(offsets[-1]), contents)
