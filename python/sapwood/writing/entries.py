"""Entries that are appended, to a tree or by a producer."""

from __future__ import annotations

from typing import Any

from ..errors import InvalidError
from .columns import Column, length
from .layout import Layout
from .refusal import refusing
from .tables import is_stream, members


class Entries:
    """Takes entries in batches of any size: a tree that is written, or one of its producers."""

    _layout: Layout
    _core: Any

    def keys(self) -> list[str]:
        """Return the names of the branches, without counters."""
        return list(self._layout.branches)

    def _check_open(self) -> None:
        raise NotImplementedError

    def _take(self, columns: list[tuple[str, Column]], total: int) -> None:
        self._core.extend(columns)

    @refusing
    def extend(self, data: Any) -> None:
        """Append entries: a dict of arrays, a table, a data frame, a record array, a list of rows as dicts, or an Arrow
        reader, whose batches are appended one by one.

        Raises:
            InvalidError: (a ValueError) wrong lengths or types; nothing was appended.
            KeyInFileError: (a KeyError) the tree has no such branch.
        """
        self._check_open()
        if is_stream(data):
            for batch in data:
                self.extend(batch)
            return
        columns = self._layout.columns(data)
        entries = {length(column) for _, column in columns}
        if len(entries) > 1:
            (first, a), (name, b) = columns[0], next(c for c in columns if length(c[1]) != length(columns[0][1]))
            values = "1 value" if length(b) == 1 else f"{length(b)} values"
            raise InvalidError(f"branch {name}: {values}, but {first} has {length(a)}", branch=name)
        if entries:
            self._take(columns, entries.pop())

    def fill(self, *args: Any, **values: Any) -> None:
        """Append one entry: by name (``fill(x=1, y=[1, 2])``), or a dict or dataclass instance.

        Use :meth:`extend` to append many entries faster.
        """
        for row in args:
            held = members(row)
            if held is None:
                raise InvalidError(f"an entry must be a dict or a dataclass instance, not a {type(row).__name__}")
            values |= held
        self.extend({name: [value] for name, value in values.items()})
