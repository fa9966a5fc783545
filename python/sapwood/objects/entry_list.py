"""Entry lists of ROOT: TEntryList, TEntryListArray and the older TEventList."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import CorruptError, InvalidError
from ..public import public
from .object import Object
from .unread import Unread

if TYPE_CHECKING:
    from .._core import DrawnEntries


class ListPart(NamedTuple):
    """The entries of one tree."""

    #: Name of the tree; empty if unknown, as in a TEventList, where entries count through the chain.
    tree: str
    #: Its file, with the name that it had when the list was made.
    file: str
    #: Entry numbers, ascending.
    numbers: np.ndarray
    #: The selected instances of some entries, in a TEntryListArray; all instances of the others are selected.
    instances: dict[int, np.ndarray] = {}  # noqa: RUF012

    def for_core(self) -> tuple[str, str, np.ndarray, list[tuple[int, list[int]]]]:
        """The part as the core takes it."""
        return self.tree, self.file, self.numbers, [(entry, n.tolist()) for entry, n in self.instances.items()]


@public
class EntryList(Object):
    """The entries of a tree, or of the trees of a chain, that passed a cut: TEntryList, TEntryListArray or TEventList.

    It is read from a file, or made by ``tree.draw(">>list", cut)``. Pass it as ``entries=``
    (``tree.arrays(entries=file["list"])``), or write it: ``file["list"] = entries``.
    """

    #: Number of rows that passed, if the list was made by :meth:`Tree.draw`: several for an entry if the cut has
    #: several values for it.
    rows: int | None = None
    _through: np.ndarray | None = None

    @property
    def parts(self) -> list[ListPart]:
        """The entries tree by tree.

        Raises:
            CorruptError: its blocks are inconsistent.
        """
        content = self._get()
        if isinstance(content, Unread):
            raise CorruptError(f"{self.classname} {self.name}: {content.why}")
        return [
            ListPart(tree, file, np.asarray(numbers), {entry: np.asarray(n, np.int64) for entry, n in instances})
            for tree, file, numbers, instances in content
        ]

    @property
    def numbers(self) -> np.ndarray:
        """The entry numbers (int64), counted through the chain that the list was made from.

        Raises:
            InvalidError: the list has parts for several trees and was read from a file, so that it is unknown where
                each tree begins in a chain; use :attr:`parts`.
        """
        parts = self.parts
        if self._through is not None:
            return self._through
        if len(parts) != 1:
            raise InvalidError(
                f"the list {self.name} has parts for {len(parts)} trees, whose order and lengths are unknown: use its "
                "parts, or pass the list itself as entries="
            )
        return parts[0].numbers

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.numbers, dtype=dtype, copy=True if copy is None else copy)

    def __len__(self) -> int:
        return sum(len(part.numbers) for part in self.parts)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        parts = self.parts
        trees = f" of {len(parts)} trees" if len(parts) > 1 else ""
        return f"<{self.classname} {self.name!r}: {sum(len(p.numbers) for p in parts)} entries{trees}>"


def drawn_list(drawn: DrawnEntries) -> EntryList:
    """What the core made of ``>>list``."""
    made = EntryList()
    made.classname, name, title, made.rows, through, parts = drawn
    made._fill(0, [], {"fName": name, "fTitle": title}, parts)
    made._through = np.asarray(through)
    return made
