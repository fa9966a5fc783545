"""From a request to arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments.entries import Entries, Span
from ..arguments.progress import Progress, reporter
from ..arguments.sizes import BasketBytes, Size, entry_range, size_in_bytes, whole
from ..columns import conversion
from ..columns.libraries import Library, group_name, library
from ..errors import ClosedError, Error, InvalidError
from ..public import public
from .entry_selection import Chosen, chosen, place
from .interpretation import Interpretation
from .selection import Expressions, Selection, group_of, select

if TYPE_CHECKING:
    from .. import Branch, Tree
    from .branches import HasBranches


@public
@dataclass(frozen=True)
class Report:
    """The entries of a step."""

    #: First entry in the tree.
    start: int
    #: End of the entries in the tree (exclusive).
    stop: int
    #: The tree.
    tree: Tree
    #: Entries of all files before this one.
    offset: int = 0

    @property
    def tree_entry_start(self) -> int:
        """First entry in the tree."""
        return self.start

    @property
    def tree_entry_stop(self) -> int:
        """End of the entries in the tree (exclusive)."""
        return self.stop

    @property
    def global_entry_start(self) -> int:
        """First entry, counted through all files."""
        return self.offset + self.start

    @property
    def global_entry_stop(self) -> int:
        """End of the entries, counted through all files (exclusive)."""
        return self.offset + self.stop

    @property
    def file_path(self) -> str:
        """Path or URL of the file."""
        return self.tree.file_path


@dataclass(frozen=True)
class Wanted:
    """The branches and entries that a scan reads."""

    branches: list[int]
    first: int
    last: int
    #: Only these entries.
    chosen: Chosen | None = None
    #: The branches of a cut that are read first, and the function that evaluates it.
    cut: tuple[list[int], Any] | None = None

    @property
    def rows(self) -> int:
        """Number of rows before a cut."""
        return self.last - self.first if self.chosen is None else len(self.chosen.numbers)

    def begin(self, tree: Tree, step: tuple[str, int], tell: Any, share: int | None = None) -> Any:
        """Start a scan. A share limits the bytes that it holds until its first batch is requested."""
        tree.file._check_open()
        numbers = None if self.chosen is None else self.chosen.numbers
        threads = tree.file._options.threads
        scan = tree._core.scan(
            self.branches, self.first, self.last, *step, tree._cache_size if share is None else share, threads, tell,
            numbers, self.cut, share is not None,
        )  # fmt: skip
        tree.file._scans.add(scan)
        return scan


def _wanted(tree: Tree, selection: Selection, span: Span, entries: Entries) -> Wanted:
    """The scan for a request."""
    first, last = entry_range(*span, tree.num_entries)
    picked = chosen(entries, first, last, [place(tree)])
    guide = selection.guide()
    cut = None if guide is None else (guide, selection.test(guide))
    return Wanted(selection.branches(), first, last, picked, cut)


def _steps(
    tree: Tree, wanted: Wanted, step: tuple[str, int], progress: Progress, scan: Any = None
) -> Iterator[tuple[int, int, dict[int, Any], np.ndarray | None]]:
    """(start, stop, columns by branch, entry numbers if entries are selected).

    With the step "all" there is one step even without entries, for the types. A given scan is continued.
    """
    tree.file._check_open()
    tell, done = reporter(progress)
    if not wanted.branches:
        # constants only
        for a, b in _ranges(wanted.first, wanted.last, step):
            numbers = None if wanted.chosen is None else wanted.chosen.numbers
            yield a, b, {}, None if numbers is None else numbers[(numbers >= a) & (numbers < b)]
        done()
        return
    scan = scan or wanted.begin(tree, step, tell)
    try:
        for start, stop, columns, selected in scan:
            held = [dict(zip(wanted.branches, columns, strict=True))]
            came = [None if selected is None else np.asarray(selected)]
            del columns, selected
            # release a step's memory before the next one is read
            yield start, stop, held.pop(), came.pop()
    except Error as error:
        if not tree.file.closed:
            raise
        # which ended the scan, perhaps from another thread
        path = tree.file.file_path
        raise ClosedError(f"{path}: was closed while it was being read", file=path) from error
    finally:
        scan.close()
        done()


def _made(
    selection: Selection,
    wanted: Wanted,
    part: tuple,
    lib: Library,
    how: str | None,
    offset: int = 0,
    *,
    ordered: bool,
) -> Any:
    """The result of a step; `offset` is the number of entries in the files before this one."""
    start, stop, columns, came = part
    entries = stop - start if came is None else len(came)
    rows = order = None
    picked = wanted.chosen
    if came is not None and wanted.cut is not None:
        # the cut has been applied: these are the numbers of the rows that passed it
        rows = came - start if picked is None else np.searchsorted(picked.numbers, came)
    if ordered and picked is not None and came is not None:

        def order(mask):
            return picked.order(came if mask is None else came[mask])

    made = selection.make(columns, entries, lib, how, rows, order)
    by = start + offset if picked is None else 0
    return lib.shifted(made, by) if by else made


def _ranges(first: int, last: int, step: tuple[str, int]) -> Iterator[tuple[int, int]]:
    size = step[1] if step[0] == "entries" else max(1, last - first)
    yield from ((a, min(a + size, last)) for a in range(first, max(last, first + 1), size))


def arrays(
    owner: HasBranches,
    expressions: Expressions,
    cut: str | None,
    filters: Mapping[str, Any],
    aliases: Mapping[str, str] | None,
    span: Span,
    library_name: str,
    how: object,
    progress: Progress,
    entries: Entries = None,
) -> Any:
    """See :meth:`HasTable.arrays`."""
    lib, group, tree = library(library_name), group_name(how), owner.tree
    selection = select(owner, expressions, cut, aliases, filters)
    wanted = _wanted(tree, selection, span, entries)
    # streams report no progress
    if group is None and not progress and lib.takes_streams and _is_streamed(tree, selection, wanted):
        return lib.streamed([name for name, _ in selection.outputs], wanted.begin(tree, ("all", 0), None))
    (part,) = _steps(tree, wanted, ("all", 0), progress)
    return _made(selection, wanted, part, lib, group, ordered=True)


def _is_streamed(tree: Tree, selection: Selection, wanted: Wanted) -> bool:
    """Whether Arrow's stream from the core is the table: whole branches, and none of friends.

    All entries are one batch, so that the type of text depends on whether all of it is UTF-8.
    """
    numbers = [what for _, what in selection.outputs]
    if selection.cut is not None or wanted.chosen is not None or wanted.rows == 0 or numbers != wanted.branches:
        return False
    return all(number in tree._places for number in wanted.branches)


def iterate(
    owner: HasBranches,
    expressions: Expressions,
    cut: str | None,
    filters: Mapping[str, Any],
    aliases: Mapping[str, str] | None,
    span: Span,
    library_name: str,
    how: object,
    progress: Progress,
    step_size: Size,
    *,
    report: bool,
    offset: int = 0,
    entries: Entries = None,
) -> Iterator[Any]:
    """See :meth:`HasTable.iterate`. An invalid request fails here, not at the first step."""
    lib, group, tree = library(library_name), group_name(how), owner.tree
    selection = select(owner, expressions, cut, aliases, filters)
    wanted = _wanted(tree, selection, span, entries)
    return _iterate(tree, selection, wanted, lib, group, progress, _step(step_size), report, offset)


def _iterate(
    tree: Tree,
    selection: Selection,
    wanted: Wanted,
    lib: Library,
    how: str | None,
    progress: Progress,
    step: tuple[str, int],
    report: bool,
    offset: int = 0,
    scan: Any = None,
) -> Iterator[Any]:
    """The steps of a tree, each with a :class:`Report` if requested."""
    if wanted.rows == 0:
        return
    for part in _steps(tree, wanted, step, progress, scan):
        start, stop = part[:2]
        held = [_made(selection, wanted, part, lib, how, offset, ordered=False)]
        del part
        # as in _steps: only the caller keeps a step
        yield (held.pop(), (tree._report or Report)(start, stop, tree, offset)) if report else held.pop()


def step_of(step: tuple[str, int], tree: Tree, selection: Selection) -> tuple[str, int]:
    """The step for one tree: a number of entries in place of bytes in baskets."""
    if step[0] != "basket bytes":
        return step
    numbers = [n for n in selection.branches() if n in tree._places]
    total = sum(tree._loose_branch(n).uncompressed_bytes for n in numbers)
    return "entries", BasketBytes(step[1]).entries(tree.num_entries, total)


def _step(step_size: Size | BasketBytes) -> tuple[str, int]:
    size: int | None
    if step_size == "cluster":
        return "cluster", 0
    if isinstance(step_size, BasketBytes):
        return "basket bytes", step_size.size
    if isinstance(step_size, str):
        unit, size = "bytes", size_in_bytes(step_size, "step_size")
    else:
        unit, size = "entries", whole(step_size)
    if size is None or not 1 <= size < 2**63:
        raise InvalidError(
            f'step_size must be a positive number of entries, text such as "100 MB", or "cluster", not {step_size!r}'
        )
    return unit, size


def _group(branch: Branch, span: Span, lib: Library, progress: Progress, entries: Entries) -> Any:
    """A branch as a record of its sub-branches."""
    if lib.name in ("pa", "pl"):
        # tables without records: the branches at all depths
        return arrays(branch, None, None, {}, None, span, lib.name, None, progress, entries)
    selection = Selection(outputs=list(group_of(branch).members), own=branch.tree._places)
    wanted = _wanted(branch.tree, selection, span, entries)
    (part,) = _steps(branch.tree, wanted, ("all", 0), progress)
    return _made(selection, wanted, part, lib, None, ordered=True)


def array(
    branch: Branch,
    span: Span,
    library_name: str,
    progress: Progress,
    interpretation: object = None,
    leaf: str = "",
    entries: Entries = None,
) -> Any:
    """See :meth:`Branch.array`; if a leaf is named, only this member of the records."""
    lib = library(library_name)
    if interpretation is not None and not isinstance(interpretation, Interpretation):
        raise InvalidError(
            f"interpretation must be None, not {interpretation!r}: the file describes how {branch.path!r} is read. "
            "Pass entry_start and entry_stop by name"
        )
    if not leaf and branch.reads_as_group():
        # as in uproot, a split collection, and a branch without values of its own, is read as its sub-branches
        return _group(branch, span, lib, progress, entries)
    first, last = entry_range(*span, branch.num_entries)
    where = place(branch.tree)._replace(last=branch.num_entries)
    picked = chosen(entries, first, last, [where])
    ((_, _, columns, came),) = _steps(branch.tree, Wanted([branch.number], first, last, picked), ("all", 0), progress)
    column = columns[branch.number]
    made = lib.array(conversion.member(column, leaf) if leaf else column, leaf or branch.name)
    order = None if picked is None or came is None else picked.order(came)
    if picked is not None:
        return made if order is None else lib.take(made, order)
    return lib.shifted(made, first) if first else made
