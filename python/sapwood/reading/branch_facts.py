"""What is known of a branch without its values: where it is, its counter, its baskets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ..arguments.sizes import whole
from ..errors import InvalidError, UnsupportedError
from .stored import HasStoredMembers

if TYPE_CHECKING:
    from .. import Branch, ReadOnlyFile, Tree
    from ..objects.object import Object
    from .basket import Basket, BasketKey
    from .leaf import Leaf


class BranchFacts(HasStoredMembers):
    """Attributes of a branch that have uproot's names."""

    if TYPE_CHECKING:
        path: str

        @property
        def tree(self) -> Tree: ...
        @property
        def parent(self) -> Branch | Tree: ...
        @property
        def _told(self) -> dict[str, Any]: ...
        @property
        def num_baskets(self) -> int: ...
        @property
        def entry_offsets(self) -> list[int]: ...

    @property
    def file(self) -> ReadOnlyFile:
        """The file that contains the branch."""
        return self.tree.file

    @property
    def file_path(self) -> str:
        """Path or URL of the file."""
        return self.tree.file_path

    @property
    def object_path(self) -> str:
        """Path of the tree in the file, with cycle, and path of the branch in the tree."""
        return f"{self.tree.object_path}:{self.path}"

    @property
    def cache_key(self) -> str:
        """A name for the branch that differs between branches, trees and files."""
        return f"{self.tree.cache_key}:{self.path}({self.index})"

    @property
    def index(self) -> int:
        """Its position among the sub-branches of its parent."""
        return next(i for i, b in enumerate(self.parent.branches) if b is self)

    @property
    def top_level(self) -> bool:
        """Whether its parent is the tree."""
        return self.parent is self.tree

    @property
    def count_branch(self) -> Branch | None:
        """The branch that counts the items of each entry; None if there is none."""
        name = self._counter_name()
        if name is None:
            return None
        above: Any = self
        while above is not self.tree:
            above = above.parent
            number = above.branch_number(name)
            if number is not None:
                return self.tree._branch(number)
            leaf: Leaf | None = above.leaf(name)
            if leaf is not None:
                return leaf.branch
        return None

    @property
    def count_leaf(self) -> Object | None:
        """The leaf that counts the items of each entry, as an object of the file; None if there is none, and for a
        field of an ntuple."""
        if self.tree._is_ntuple:
            return None
        leaves = self.member("fLeaves", none_if_missing=True) or []
        return leaves[0].member("fLeafCount", none_if_missing=True) if len(leaves) else None

    def _counter_name(self) -> str | None:
        counter = self.count_leaf
        return None if counter is None else counter.name

    @property
    def streamer(self) -> None:
        """None: Sapwood does not show the class descriptions of single branches."""
        return None

    def basket_entry_start_stop(self, basket: int) -> tuple[int, int]:
        """Return the first entry of a basket, and the end (exclusive)."""
        number = self._basket_number(basket)
        return self.entry_offsets[number], self.entry_offsets[number + 1]

    def basket(self, basket: int) -> Basket:
        """Read a basket as stored in the file: bytes after decompression.

        Raises:
            UnsupportedError: the basket is stored in the tree's header.
        """
        from .basket import Basket

        return Basket(cast("Branch", self), self._basket_number(basket))

    def basket_key(self, basket: int) -> BasketKey:
        """Read the key of a basket."""
        from .basket import basket_key

        return basket_key(cast("Branch", self), self._basket_number(basket))

    def basket_uncompressed_bytes(self, basket: int) -> int:
        """Return the size of a basket after decompression, with its key."""
        key = self.basket_key(basket)
        return key.fObjlen + key.fKeylen

    def _basket_number(self, basket: Any) -> int:
        number = whole(basket)
        if number is None:
            raise InvalidError(f"basket must be a number, not {basket!r}")
        if not 0 <= number < self.num_baskets:
            raise IndexError(f"branch {self.path!r} has {self.num_baskets} baskets, no basket {basket}")
        return number

    def _stored(self) -> Object:
        if self.tree._is_ntuple:
            raise UnsupportedError(f"{self.file_path}: {self.path} is a field of an ntuple, without stored members")
        return self.parent._stored().member("fBranches")[self.index]
