"""Leaves of branches with several leaves: ``px`` of a branch ``p`` with the leaf list ``px/F:py/F``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..public import public
from .column import HasArray

if TYPE_CHECKING:
    from .. import Branch, Tree
    from ..arguments.entries import Entries, Span
    from ..arguments.progress import Progress


@public
class Leaf(HasArray):
    """One leaf of a branch with several. Returned by ``tree["branch/leaf"]`` or ``tree["leaf"]``."""

    def __init__(self, branch: Branch, name: str) -> None:
        #: The branch.
        self.branch = branch
        #: Its name.
        self.name = name

    @property
    def tree(self) -> Tree:
        """The tree that contains the leaf."""
        return self.branch.tree

    @property
    def path(self) -> str:
        """Path of the branch and name of the leaf, separated by a slash."""
        return f"{self.branch.path}/{self.name}"

    @property
    def num_entries(self) -> int:
        """Number of entries of the branch."""
        return self.branch.num_entries

    def _read(self, span: Span, library: str, progress: Progress, interpretation: object, entries: Entries) -> Any:
        return self.branch._read_leaf(self.name, span, library, progress, interpretation, entries)

    def __repr__(self) -> str:
        return f"<Leaf {self.path!r}>"

    def __reduce__(self):
        return Leaf, (self.branch, self.name)
