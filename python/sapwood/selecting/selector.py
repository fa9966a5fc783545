"""The base class of selectors, and how one is run on a batch."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..arguments.filters import Filter
from ..errors import Error, InvalidError, SelectorError
from ..public import public

if TYPE_CHECKING:
    from ..reading.selection import Expressions


class Partition(NamedTuple):
    """The entries of a batch."""

    #: Path or URL of the file.
    file: str
    #: Path of the tree.
    tree: str
    #: First entry in the tree.
    entry_start: int
    #: End of the entries in the tree (exclusive).
    entry_stop: int
    #: Entries of all files before this one.
    offset: int = 0

    def __str__(self) -> str:
        return f"{self.file}: {self.tree}, entries {self.entry_start} to {self.entry_stop - 1}"


@public
class Selector:
    """What to do with the entries of a tree or chain; see :meth:`Tree.process`.

    Derive a class, list in :attr:`branches` what it reads, and define :meth:`process` and :meth:`merge`. Each batch
    gets a copy of the selector, so that batches can be processed at the same time. The copies are merged in the order
    of entries: the result does not depend on the number of workers.
    """

    #: Columns to read: names or expressions as for :meth:`Tree.arrays`; None for all that pass ``filter_name``.
    branches: Expressions = None
    #: Pattern of branches to read if ``branches`` is None.
    filter_name: Filter = None
    #: Only entries that pass this expression are read.
    cut: str | None = None
    #: Names for expressions.
    aliases: Mapping[str, str] | None = None
    #: Library of the batches: ``"ak"``, ``"np"``, ``"pd"``, ``"pa"`` or ``"pl"``.
    library: str = "ak"
    #: File, tree, and entries of the batch; for :meth:`begin` and :meth:`process`.
    partition: Partition | None = None

    def begin(self) -> None:
        """Prepare the results of a batch. Called on each copy before :meth:`process`."""

    def process(self, batch: Any) -> None:
        """Process consecutive entries."""
        raise NotImplementedError(f"{type(self).__name__} has no method process(self, batch)")

    def merge(self, other: Any) -> None:
        """Add the results of ``other``, the copy for the entries that follow."""
        raise NotImplementedError(f"{type(self).__name__} has no method merge(self, other)")

    def end(self) -> Any:
        """Return the result. Called once, after all copies are merged."""
        return self

    def _prepare(self) -> None:
        """What is done once, before anything is read."""

    def _run(self, batch: Any) -> None:
        self.begin()
        self.process(batch)


def checked(selector: Any) -> Selector:
    """A selector from an instance or a class."""
    if isinstance(selector, type) and issubclass(selector, Selector):
        return selector()
    if isinstance(selector, Selector):
        return selector
    raise InvalidError(
        f"selector must be a sapwood.Selector, a function with @sapwood.selector, or a Python script, not {selector!r}"
    )


def run_on(selector: Selector, batch: Any, partition: Partition) -> Selector:
    """A copy of the selector that has processed a batch."""
    try:
        own = copy.deepcopy(selector)
        own.partition = partition
        own._run(batch)
    except Exception as e:
        raise located(e, partition) from e
    return own


def located(e: Exception, partition: Partition) -> Error:
    """The error of a selector, with the file and the entries."""
    return SelectorError(f"{partition}: {type(e).__name__}: {e}", file=partition.file)


class Merging:
    """The copies of a selector, merged in the order of entries."""

    def __init__(self, selector: Selector) -> None:
        self._selector = selector
        self._whole: Selector | None = None

    def add(self, own: Selector) -> Selector:
        """Merge the next copy; returns the selector with all results so far."""
        if self._whole is None:
            self._whole = own
            return own
        partition = own.partition
        assert partition is not None
        try:
            self._whole.merge(own)
        except Exception as e:
            raise located(e, partition) from e
        return self._whole

    def end(self) -> Any:
        """The result."""
        if self._whole is None:
            # no entries
            self._whole = copy.deepcopy(self._selector)
            self._whole.begin()
        return self._whole.end()
