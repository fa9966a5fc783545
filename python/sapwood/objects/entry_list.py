"""Entry lists of ROOT: TEntryList, and the older TEventList."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import CorruptError
from .object import Object
from .unread import Unread


class ListPart(NamedTuple):
    """The entries of one tree."""

    #: Name of the tree; empty if unknown, as in a TEventList, where entries count through the chain.
    tree: str
    #: Its file, with the name that it had when the list was made.
    file: str
    #: Entry numbers, ascending.
    numbers: np.ndarray


class EntryList(Object):
    """A TEntryList or TEventList: the entries of a tree, or of the trees of a chain, that passed a cut.

    Pass it as ``entries=``: ``tree.arrays(entries=file["list"])``.
    """

    @property
    def parts(self) -> list[ListPart]:
        """The entries tree by tree.

        Raises:
            CorruptError: its blocks are inconsistent.
        """
        content = self._get()
        if isinstance(content, Unread):
            raise CorruptError(f"{self.classname} {self.name}: {content.why}")
        return [ListPart(tree, file, np.asarray(numbers)) for tree, file, numbers in content]

    def __len__(self) -> int:
        return sum(len(part.numbers) for part in self.parts)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        parts = self.parts
        trees = f" of {len(parts)} trees" if len(parts) > 1 else ""
        return f"<{self.classname} {self.name!r}: {sum(len(p.numbers) for p in parts)} entries{trees}>"
