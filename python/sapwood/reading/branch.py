"""Branches of trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import UnsupportedError
from ..public import public
from ..uproot_registration import stands_for
from .branch_facts import BranchFacts
from .branches import column_words
from .column import HasArray
from .context import ClosesFile
from .interpretation import Interpretation
from .table import HasTable

if TYPE_CHECKING:
    from .. import Tree
    from ..arguments.entries import Entries, Span
    from ..arguments.progress import Progress


@public
@stands_for("behaviors.TBranch.TBranch")
class Branch(BranchFacts, ClosesFile, HasArray, HasTable):
    """A branch: a column of the tree, or a mapping of its sub-branches."""

    def __init__(self, tree: Tree, number: int, name: str, path: str, parent: int | None, children: list[int]) -> None:
        self._tree = tree
        #: Its number in the core.
        self.number = number
        self._name = name
        #: Names of the parent branches and its own, separated by slashes.
        self.path = path
        self._parent = parent
        self._children = children
        self._header: dict[str, Any] | None = None
        self._typename: str | None = None
        self._column_type: str | None = None

    def _shown_first(self) -> tuple[tuple[str, Branch], ...]:
        return ((self.name, self),)

    @property
    def tree(self) -> Tree:
        """The tree that contains the branch."""
        return self._tree

    @property
    def _prefix(self) -> str:
        return self.path + "/"

    @property
    def _self_name(self) -> str:
        return f"branch {self.path!r}"

    @property
    def _told(self) -> dict[str, Any]:
        if self._header is None:
            self._header = self.tree._core.branch(self.number)
        return self._header

    @property
    def branches(self) -> list[Branch]:
        """The direct sub-branches."""
        return [self.tree._branch(n) for n in self._children]

    @property
    def parent(self) -> Branch | Tree:
        """The parent branch, or the tree."""
        return self.tree if self._parent is None else self.tree._branch(self._parent)

    @property
    def name(self) -> str:
        """Name, without the names of parent branches."""
        return self._name

    @property
    def title(self) -> str:
        """Title: ROOT's list of leaves."""
        return self._told["title"]

    @property
    def classname(self) -> str:
        """C++ class of the branch itself: TBranch, TBranchElement, …"""
        return self._told["class_name"]

    @property
    def typename(self) -> str:
        """C++ type of its values, such as ``float[]``."""
        if self._typename is None:
            self._typename = self.tree._core.type_name(self.number)
        return self._typename

    @property
    def column_type(self) -> str:
        """The type of an entry in the column it becomes, such as ``var * float32``.

        Raises:
            UnsupportedError: the branch cannot be read; the message says why.
        """
        if self._column_type is None:
            self._column_type = self.tree._core.column_type(self.number)
        return self._column_type

    def reads_as_group(self) -> bool:
        """Whether its values are those of its sub-branches: a split collection of the C++ library, and a branch without
        values of its own. A split TClonesArray or map is read as the numbers of its items."""
        if not self._children:
            return False
        try:
            counted = self.column_type == "int32"
        except UnsupportedError:
            return True
        name = self.tree._core.type_name(self.number)
        return counted and name.startswith("std::") and "map<" not in name.partition("<")[0] + "<"

    def is_record_in_group(self) -> bool:
        """Whether a branch above it that is read as a record has a record of this branch's sub-branches."""
        return bool(self._children)

    @property
    def column_words(self) -> str:
        """:attr:`column_type`, or why there is none."""
        return "" if self._children else column_words(lambda: self.column_type)

    @property
    def num_entries(self) -> int:
        """Number of entries; differs from the tree's only if the branch was filled separately."""
        return self.tree._core.entries_of(self.number)

    @property
    def num_baskets(self) -> int:
        """Number of baskets."""
        return self._told["num_baskets"]

    @property
    def entry_offsets(self) -> list[int]:
        """The first entry of each basket, and the number of entries."""
        return [*self._told["basket_entry"][: self.num_baskets], self.num_entries]

    def _own_offsets(self) -> set[int] | None:
        return None if self.branches else set(self.entry_offsets)

    def basket_compressed_bytes(self, basket: int) -> int:
        """Return the size of a basket in the file in bytes, with its key; 0 if it is stored in the tree's header."""
        sizes, number = self._told["basket_bytes"], self._basket_number(basket)
        return sizes[number] if number < len(sizes) else 0

    @property
    def compressed_bytes(self) -> int:
        """Compressed size in bytes."""
        return self._told["zip_bytes"]

    @property
    def uncompressed_bytes(self) -> int:
        """Uncompressed size in bytes."""
        return self._told["total_bytes"]

    @property
    def compression_ratio(self) -> float:
        """Uncompressed over compressed size; 1 for an empty branch."""
        told = self._told
        return told["total_bytes"] / told["zip_bytes"] if told["zip_bytes"] else 1.0

    @property
    def compression(self) -> int:
        """ROOT's setting: 100 times the algorithm plus the level."""
        return self._told["compression"]

    @property
    def interpretation(self) -> Interpretation:
        """How its values become a column.

        Raises:
            UnsupportedError: the branch cannot be read; the message says why.
        """
        return Interpretation(self.typename, self.column_type)

    def _read(self, span: Span, library: str, progress: Progress, interpretation: object, entries: Entries) -> Any:
        from .arrays import array

        return array(self, span, library, progress, interpretation, entries=entries)

    def _read_leaf(
        self, name: str, span: Span, library: str, progress: Progress, interpretation: object, entries: Entries
    ) -> Any:
        """The values of one of several leaves."""
        from .arrays import array

        return array(self, span, library, progress, interpretation, name, entries)

    def __repr__(self) -> str:
        below = f", {len(self._children)} branches" if self._children else ""
        return f"<Branch {self.path!r}: {self.typename}{below}>"

    def __reduce__(self):
        return self.tree._branch, (self.number,)
