"""A leaf of a branch with several: ``px`` of a branch ``p`` with the leaves ``px/F:py/F``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..public import public
from .column import HasArray

if TYPE_CHECKING:
    from ..arguments.progress import Progress
    from .arrays import Span
    from .branch import Branch
    from .entry_selection import Entries
    from .tree import Tree


@public
class Leaf(HasArray):
    """One member of the records that a branch holds. Comes from ``tree["branch/leaf"]`` or ``tree["leaf"]``."""

    def __init__(self, branch: Branch, name: str) -> None:
        #: The branch.
        self.branch = branch
        #: Its own name.
        self.name = name

    @property
    def tree(self) -> Tree:
        """The tree it is in."""
        return self.branch.tree

    @property
    def path(self) -> str:
        """Path of the branch and its own name, divided by a slash."""
        return f"{self.branch.path}/{self.name}"

    @property
    def num_entries(self) -> int:
        """Entries of the branch."""
        return self.branch.num_entries

    def _read(self, span: Span, library: str, progress: Progress, interpretation: object, entries: Entries) -> Any:
        from .arrays import array

        return array(self.branch, span, library, progress, interpretation, self.name, entries)

    def __repr__(self) -> str:
        return f"<Leaf {self.path!r}>"

    def __reduce__(self):
        return Leaf, (self.branch, self.name)
