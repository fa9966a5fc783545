"""Lists of entries that ROOT keeps in files: TEntryList, and the older TEventList."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import CorruptError
from .object import Object
from .unread import Unread


class ListPart(NamedTuple):
    """The entries of one tree."""

    #: Name of the tree; empty where it is not told, as in a TEventList: entries are then counted through the chain.
    tree: str
    #: Its file as it was called when the list was made.
    file: str
    #: Numbers of the entries, ascending.
    numbers: np.ndarray


class EntryList(Object):
    """A TEntryList or TEventList: which entries of a tree, or of the trees of a chain, passed a cut.

    It is what ``entries=`` takes: ``tree.arrays(entries=file["list"])``.
    """

    @property
    def parts(self) -> list[ListPart]:
        """The entries tree by tree.

        Raises:
            CorruptError: its blocks do not fit together.
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
