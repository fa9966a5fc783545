"""Rows of expressions: the result of :meth:`Tree.query`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments.checks import string
from ..arguments.entries import Entries
from ..arguments.progress import Progress, reporter
from ..arguments.sizes import entry_range
from ..public import public
from .entry_selection import chosen, place

if TYPE_CHECKING:
    from .. import Tree
    from .._core import Queried


@public
class Rows(list[tuple[Any, ...]]):
    """A list of tuples, one for each row, with one value for each expression; None where a list is shorter."""

    def __init__(self, queried: Queried | tuple[list[str], list[tuple[Any, ...]], Any, Any]) -> None:
        titles, rows, entries, instances = queried
        super().__init__(rows)
        #: The expressions.
        self.columns: tuple[str, ...] = tuple(titles)
        #: The entry number of each row.
        self.entries = np.asarray(entries)
        #: The number of each row within its entry.
        self.instances = np.asarray(instances)

    def __repr__(self) -> str:
        return f"<Rows of {':'.join(self.columns)}: {len(self)}>"


def query(
    tree: Tree,
    expressions: str,
    cut: str | None,
    aliases: Mapping[str, str] | None,
    span: tuple[int | None, int | None],
    entries: Entries,
    progress: Progress,
) -> Rows:
    """See :meth:`Tree.query`."""
    tree.file._check_open()
    texts = *asked(expressions, cut), tree._aliases_with(aliases)
    first, last = entry_range(*span, tree.num_entries)
    picked = chosen(entries, first, last, [place(tree)])
    tell, done = reporter(progress)
    try:
        # the core counts from the place of the tree in its chain, as its friends do
        before = tree._first_entry
        selected = None if picked is None else picked.for_core(before)
        titles, rows, numbers, instances = tree._core.query(
            *texts, first + before, last + before, tree._cache_size, tree.file._options.threads, tell, selected
        )
        return Rows((titles, rows, np.asarray(numbers) - before, instances))
    finally:
        done()


def asked(expressions: str, cut: str | None) -> tuple[str, str]:
    """The expressions and the cut as the core takes them."""
    return string(expressions, "expressions"), "" if cut is None else string(cut, "cut")
