"""Entries selected one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arguments.entries import Entries
from ..arguments.paths import split
from ..errors import InvalidError
from ..objects.entry_list import EntryList

if TYPE_CHECKING:
    from .. import Tree


class Place(NamedTuple):
    """The position of a tree's entries in a chain."""

    file: str
    tree: str
    #: First entry, and the end (exclusive).
    first: int
    last: int


@dataclass(frozen=True)
class Chosen:
    """Selected entries of a tree."""

    #: Entry numbers, ascending and without duplicates.
    numbers: np.ndarray
    #: The numbers as given, if they were not ascending or had duplicates.
    given: np.ndarray | None = None
    #: Of some entries, the selected instances, if an entry list has them; in histograms only these are drawn.
    instances: list[tuple[int, list[int]]] = field(default_factory=list)

    def for_core(self, first_entry: int = 0) -> tuple[np.ndarray, list[tuple[int, list[int]]]]:
        """The entries and instances as the core draws them, of a tree whose entries count from ``first_entry``."""
        return self.numbers + first_entry, [(entry + first_entry, of) for entry, of in self.instances]

    def order(self, came: np.ndarray) -> np.ndarray | None:
        """For the entries that were read (ascending), the row at each position; None if no reordering is needed."""
        if self.given is None:
            return None
        return np.searchsorted(came, self.given[np.isin(self.given, came)])


def chosen(entries: Entries, first: int, last: int, places: list[Place]) -> Chosen | None:
    """The selected entries between ``first`` and ``last``.

    Args:
        entries: numbers in any order (negative counts from the end); or booleans, one for each entry of the tree or
            from ``first`` to ``last``; or an entry list of ROOT, itself or as ``"file:list"``; or None for all.
        places: the trees.
    """
    if entries is None:
        return None
    total = places[-1].last if places else 0
    entries, instances = _listed(entries, places)
    try:
        given = np.asarray(entries)
    except (TypeError, ValueError):
        given = np.zeros(0, dtype=object)
    if given.size == 0 and given.dtype.kind == "f":
        # numpy makes an empty list float64
        given = given.astype(np.int64)
    if given.ndim != 1 or given.dtype.kind not in "biu":
        raise InvalidError(
            "entries must be one-dimensional: entry numbers, or a boolean for each entry; or an entry list in a file, "
            'as "file.root:list"'
        )
    if given.dtype.kind == "b":
        if len(given) == total:
            given = given[first:last]
        if len(given) != last - first:
            what = f"{total} entries" if last - first == total else f"{last - first} entries of {total}"
            raise InvalidError(f"entries has {len(given)} booleans for {what}")
        return Chosen(np.flatnonzero(given).astype(np.int64) + first)
    numbers = given.astype(np.int64)
    outside = (numbers < -total) | (numbers >= total) | ((given > total) if given.dtype.kind == "u" else False)
    if outside.any():
        raise InvalidError(f"no entry {given[outside][0]}: the tree has {total} entries")
    numbers = np.where(numbers < 0, numbers + total, numbers)
    numbers = numbers[(numbers >= first) & (numbers < last)]
    ascending = np.unique(numbers)
    return Chosen(ascending, None if np.array_equal(ascending, numbers) else numbers, instances)


def place(tree: Tree) -> Place:
    """The position of a single tree."""
    return Place(tree.file_path, tree.object_path, 0, tree.num_entries)


def _listed(entries: Entries, places: list[Place]) -> tuple[Entries, list[tuple[int, list[int]]]]:
    """The numbers of an entry list of ROOT, and the instances it has selected; anything else unchanged."""
    if isinstance(entries, (str, Mapping)) and split(entries)[1] is not None:
        from .file import open

        where, entries = entries, open(entries)
        if not isinstance(entries, EntryList):
            raise InvalidError(f'entries={where!r} is not an entry list; write "file.root:list" for one in a file')
    if isinstance(entries, EntryList):
        from .. import _core

        numbers, instances = _core.entries_of_list([part.for_core() for part in entries.parts], places)
        return np.asarray(numbers), instances
    return entries, []
