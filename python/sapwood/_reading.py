"""From a request to arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._errors import InvalidError, UnsupportedError
from ._libraries import group_name, library
from ._progress import Progress, reporter
from ._selection import Expressions, select
from ._sizes import Size, entry_range, size_in_bytes

if TYPE_CHECKING:
    from ._branches import HasBranches
    from ._tree import Branch, Tree

#: Start and stop as the user gave them.
Span = tuple["int | None", "int | None"]


@dataclass(frozen=True)
class Report:
    """Which entries a step holds."""

    #: First entry, in the tree.
    start: int
    #: Entry behind the last, in the tree.
    stop: int
    #: The tree.
    tree: Tree
    #: Entries of all files before this one.
    offset: int = 0

    @property
    def tree_entry_start(self) -> int:
        """First entry, in the tree."""
        return self.start

    @property
    def tree_entry_stop(self) -> int:
        """Entry behind the last, in the tree."""
        return self.stop

    @property
    def global_entry_start(self) -> int:
        """First entry, counted through all files."""
        return self.offset + self.start

    @property
    def global_entry_stop(self) -> int:
        """Entry behind the last, counted through all files."""
        return self.offset + self.stop

    @property
    def file_path(self) -> str:
        """Path or URL of the file."""
        return self.tree.file_path


def _steps(
    tree: Tree, numbers: list[int], first: int, last: int, step: tuple[str, int], progress: Progress
) -> Iterator[tuple[int, int, dict[int, Any]]]:
    """(start, stop, columns by branch). Taken all at once there is one step even without entries, with the types."""
    tree.file._check_open()
    tell, done = reporter(progress)
    if not numbers:
        # nothing but constants
        yield from ((a, b, {}) for a, b in _ranges(first, last, step))
        done()
        return
    options = tree.file._options
    scan = tree._core.scan(numbers, first, last, *step, options.cache_size, options.threads, tell)
    tree.file._scans.add(scan)
    try:
        for start, stop, columns in scan:
            yield start, stop, dict(zip(numbers, columns, strict=True))
    finally:
        scan.close()
        done()


def _whole(tree: Tree, numbers: list[int], first: int, last: int, progress: Progress) -> dict[int, Any]:
    ((_, _, columns),) = _steps(tree, numbers, first, last, ("all", 0), progress)
    return columns


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
) -> Any:
    """See :meth:`HasBranches.arrays`."""
    lib, group, tree = library(library_name), group_name(how), owner.tree
    selection = select(owner, expressions, cut, aliases, filters)
    first, last = entry_range(*span, tree.num_entries)
    columns = _whole(tree, selection.branches(), first, last, progress)
    return selection.make(columns, last - first, lib, group)


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
) -> Iterator[Any]:
    """See :meth:`HasBranches.iterate`. What is wrong with the request is said at once, not at the first step."""
    lib, group, tree = library(library_name), group_name(how), owner.tree
    selection = select(owner, expressions, cut, aliases, filters)
    first, last = entry_range(*span, tree.num_entries)
    step = _step(step_size)

    def run() -> Iterator[Any]:
        if first == last:
            return
        for start, stop, columns in _steps(tree, selection.branches(), first, last, step, progress):
            made = selection.make(columns, stop - start, lib, group)
            yield (made, Report(start, stop, tree, offset)) if report else made

    return run()


def _step(step_size: Size) -> tuple[str, int]:
    if step_size == "cluster":
        return "cluster", 0
    if isinstance(step_size, str):
        unit, size = "bytes", size_in_bytes(step_size, "step_size")
    else:
        unit, size = "entries", step_size
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        raise InvalidError(
            f'step_size is a number of entries from 1 on, text such as "100 MB" or "cluster", not {step_size!r}'
        )
    return unit, size


def array(branch: Branch, span: Span, library_name: str, progress: Progress) -> Any:
    """See :meth:`Branch.array`."""
    lib = library(library_name)
    if branch.branches:
        try:
            _ = branch.column_type
        except UnsupportedError:
            # as in uproot, a branch that is only a folder is read as what is in it
            filters: dict[str, Any] = {}
            return arrays(branch, None, None, filters, None, span, library_name, None, progress)
    # its own entries: in broken files not those of the tree
    first, last = entry_range(*span, branch.num_entries)
    columns = _whole(branch.tree, [branch.number], first, last, progress)
    return lib.array(columns[branch.number], branch.name)
