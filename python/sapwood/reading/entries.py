"""Loops over single entries, like a loop over a tree in ROOT."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments.sizes import Size, entry_range, size_in_bytes, whole
from ..columns import conversion
from ..errors import InvalidError
from ..public import public

if TYPE_CHECKING:
    from .. import Tree


@public
class Entries:
    """The entries of a tree, one by one. Returned by :meth:`Tree.entries`.

    >>> for entry in tree.entries():               # doctest: +SKIP
    ...     if entry.nMuon >= 2:
    ...         print(entry.Muon_pt)

    Like ``TTreeCache``, it learns from the first entries which branches are used, and then reads these ahead, cluster
    by cluster, in the direction of the loop. ``entries[5]`` is one entry,
    ``reversed(entries)`` goes backwards.
    """

    def __init__(self, tree: Tree, start: int | None, stop: int | None) -> None:
        self._tree = tree
        self._first, self._last = entry_range(start, stop, tree.num_entries)
        tree.file._check_open()
        self._reader = tree._core.entry_reader(tree._cache_size, tree.file._options.threads)
        for name in tree._cached_branches:
            self._reader.add_branch(name)
        if tree._learn_entries is not None:
            self._reader.set_learn_entries(tree._learn_entries)
        #: By name: first entry, end (exclusive), values.
        self._blocks: dict[str, tuple[int, int, Any]] = {}

    @property
    def tree(self) -> Tree:
        """The tree."""
        return self._tree

    def __len__(self) -> int:
        return self._last - self._first

    def __iter__(self) -> Iterator[Entry]:
        return (Entry(self, n) for n in range(self._first, self._last))

    def __reversed__(self) -> Iterator[Entry]:
        return (Entry(self, n) for n in range(self._last - 1, self._first - 1, -1))

    def __getitem__(self, entry: int) -> Entry:
        """Return an entry; negative values count from the end."""
        try:
            number = range(self._first, self._last)[entry]
        except (IndexError, TypeError):
            raise IndexError(f"no entry {entry!r}: there are {len(self)} entries") from None
        return Entry(self, number)

    def add_branch_to_cache(self, name: str) -> int:
        """Read a branch, or all branches that match a pattern, ahead without learning, and return how many were added.
        ``"*"`` ends learning.

        Raises:
            KeyInFileError: no branch of this name.
        """
        return self._reader.add_branch(name)

    def drop_branch_from_cache(self, name: str) -> None:
        """Stop reading a branch ahead."""
        self._reader.drop_branch(self._number(name))

    def stop_learning(self) -> None:
        """Stop learning; keep the branches learnt so far."""
        self._reader.stop_learning()

    def set_learn_entries(self, entries: int) -> None:
        """Set the number of entries to learn from; the default is 100."""
        self._reader.set_learn_entries(_count(entries))

    def set_cache_size(self, cache_size: Size | None) -> None:
        """Set the size of the tree cache (``"10 MB"``); 0 reads one basket per request, None uses ROOT's default."""
        self._reader.set_cache_size(None if cache_size is None else size_in_bytes(cache_size, "cache_size"))

    @property
    def stats(self) -> dict[str, Any]:
        """Counters: whether learning continues (``learning``), the branches that are read ahead (``cached``), columns
        of clusters fetched ahead (``blocks``), baskets fetched on demand (``misses``), and jumps to other entries
        (``jumps``)."""
        told = self._reader.stats()
        return {**told, "cached": [self._tree._branch(n).path for n in told["cached"]]}

    def _number(self, name: str) -> int:
        number = self._tree.branch_number(name)
        if number is None:
            raise self._tree.missing(name)
        return number

    def _value(self, name: str, entry: int) -> Any:
        block = self._blocks.get(name)
        if block is None or not block[0] <= entry < block[1]:
            self._tree.file._check_open()
            start, stop, column = self._reader.block(self._number(name), entry)
            block = self._blocks[name] = (start, stop, _values(column))
        return block[2][entry - block[0]]

    def __repr__(self) -> str:
        return f"<Entries {self._first} to {self._last} of {self._tree!r}>"


@public
class Entry:
    """One entry: its values are attributes (``entry.px``), or items (``entry["a.b"]``) whatever their name."""

    __slots__ = ("_entries", "_number")

    def __init__(self, entries: Entries, number: int) -> None:
        self._entries = entries
        self._number = number

    @property
    def entry_number(self) -> int:
        """Entry number in the tree."""
        return self._number

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self._entries._value(name, self._number)
        except KeyError as e:
            raise AttributeError(str(e)) from e

    def __getitem__(self, name: str) -> Any:
        if not isinstance(name, str):
            raise InvalidError(f"a branch name must be a string, not {name!r}")
        return self._entries._value(name, self._number)

    def __repr__(self) -> str:
        return f"<Entry {self._number} of {self._entries._tree!r}>"


class _Lists:
    """Lists of numbers, each a view."""

    def __init__(self, offsets: np.ndarray, content: np.ndarray) -> None:
        self._offsets = offsets.tolist()
        self._content = content

    def __getitem__(self, i: int) -> np.ndarray:
        return self._content[self._offsets[i] : self._offsets[i + 1]]


def _values(column: conversion.Column) -> Any:
    """The values of a column by position: numpy numbers and arrays where possible, otherwise awkward."""
    if conversion.is_rectangular(column) or column[0] == "text":
        return conversion.to_numpy(column)
    if column[0] == "list" and not conversion.is_optional(column) and conversion.is_rectangular(column[2]):
        return _Lists(np.asarray(column[1]), conversion.to_numpy(column[2]))
    return conversion.to_awkward(column)


def _count(entries: int) -> int:
    number = whole(entries)
    if number is None or not 0 <= number < 2**63:
        raise InvalidError(f"the number of entries must be a non-negative integer, not {entries!r}")
    return number
