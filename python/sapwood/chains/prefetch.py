"""Files of a chain in order. While one is read, the next ones are opened and their first baskets fetched."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..columns import casting
from ..errors import Error, KeyInFileError, SkippedFileWarning, UnsupportedError
from ..reading.told_types import told_types

if TYPE_CHECKING:
    from .. import Tree
    from ..reading.arrays import Wanted
    from ..reading.selection import Selection

#: Number of files to open ahead of the current one, and the divisor for the budget of each of them.
_AHEAD, _SHARE = 4, 8
#: Default budget in bytes, and the least budget that is divided; with less, further files are only opened.
_BUDGET, _LEAST = 64 << 20, 4 << 20


class Skipped(NamedTuple):
    """A file that was skipped."""

    file: str
    why: Error


class Window(NamedTuple):
    """The entries to read from a file of a chain whose entries are known."""

    #: Number of entries of the files before it.
    offset: int
    #: First entry in the file, and the end (exclusive).
    first: int
    last: int
    #: Only these of its entries.
    numbers: np.ndarray | None = None


@dataclass
class Part:
    """A file of a chain, ready to be read."""

    tree: Tree
    selection: Selection
    wanted: Wanted
    #: Number of entries of the files before it, if known.
    offset: int | None = None
    #: The size of its steps: unit and number.
    step: tuple[str, int] = ("all", 0)
    #: The scan, if it has started.
    scan: Any = None
    _columns: dict[str, str] | None = None

    def close(self) -> None:
        """Closes the file."""
        self.tree.file.close()

    def columns(self) -> dict[str, str]:
        """The types of the outputs that are branches. They are found while the file is open."""
        if self._columns is None:
            branches = {
                name: self.tree._branch(what)
                for name, what in self.selection.outputs
                if isinstance(what, int) and what in self.tree._places
            }
            self._columns = told_types(branches, self.tree)
        return self._columns


@dataclass
class Ahead:
    """The files of a chain, in order."""

    files: list[tuple[str, str | None, Window | None]]
    #: Opens a file; the arguments are the file, the name of the tree, its entries, and whether to start reading.
    prepare: Callable[[str, str | None, Window | None, bool], Part]
    cache_size: int | None
    skip_bad: bool = False
    #: Skip files without the tree or a branch.
    allow_missing: bool = False
    #: If columns will be concatenated, how numbers may change: see numpy's castings.
    casting: str | None = None
    #: What else may differ, see :class:`Request`.
    differing: str = ""
    skipped: list[Skipped] = field(default_factory=list)
    #: Types of the numbers of each column in the files so far.
    _types: dict[str, list[set[np.dtype]]] = field(default_factory=dict)

    def parts(self) -> Iterator[tuple[Part, Callable[[], None]]]:
        """(file, function to call before each step of the file is requested). A file is closed when the next one is
        requested."""
        pool = ThreadPoolExecutor(_AHEAD, "sapwood-chain")
        ahead: deque[tuple[str, Future[Part]]] = deque()
        rest = iter(self.files)
        budget = _BUDGET if self.cache_size is None else min(self.cache_size, _BUDGET)
        current: Part | None = None

        def open_further(most: int, begin: bool) -> None:
            while len(ahead) < most and (file := next(rest, None)) is not None:
                ahead.append((file[0], pool.submit(self.prepare, *file, begin)))

        def look_ahead() -> None:
            if current is None:
                return
            if current.scan is None:
                # its requests are not known here
                open_further(1, False)
                return
            asked_all, held = current.scan.asked()
            if asked_all and budget < _LEAST:
                open_further(1, False)
            elif asked_all and held <= budget // 2:
                open_further(_AHEAD, True)

        first: Part | None = None
        last: Error | None = None
        try:
            open_further(1, budget >= _LEAST)
            while ahead:
                name, opening = ahead.popleft()
                try:
                    current = opening.result()
                    self._check(first, current)
                except Error as e:
                    absent = self.allow_missing and isinstance(e, KeyInFileError)
                    if not (self.skip_bad or absent):
                        raise
                    last = e
                    # as in errors: without credentials
                    shown = e.file or name
                    self.skipped.append(Skipped(shown, e))
                    if not absent:
                        why = str(e).removeprefix(f"{shown}: ")
                        warnings.warn(f"skipped {shown}: {why}", SkippedFileWarning, stacklevel=4)
                    if current is not None:
                        current.close()
                        current = None
                else:
                    first = first or current
                    if current.scan is not None and budget >= _LEAST:
                        current.scan.set_budget(budget - budget // _SHARE * len(ahead))
                    yield current, look_ahead
                    current.close()
                    current = None
                open_further(1, budget >= _LEAST)
            if first is None and last is not None:
                # all files were skipped
                raise last
        finally:
            if current is not None:
                current.close()
            if first is not None:
                # its columns were compared after it was closed
                first.tree._forget_branches()
            for _, opening in ahead:
                opening.add_done_callback(_close)
            pool.shutdown(wait=False, cancel_futures=True)

    def share(self) -> int | None:
        """The budget of a file that is opened ahead."""
        if self.cache_size == 0:
            return 0
        return (_BUDGET if self.cache_size is None else min(self.cache_size, _BUDGET)) // _SHARE

    def _join(self, name: str, kind: str, words: str, part: Part) -> None:
        """Check that one type can represent the numbers of all files exactly."""
        for types, more in zip(self._types[name], casting.numbers(kind), strict=True):
            types.add(more)
            if casting.common(types) is None:
                lost = f"{words}: large integers would be rounded as {np.result_type(*types)}"
                remedy = 'casting="same_kind" allows this'
                raise UnsupportedError(f"{lost}; {remedy}", file=part.tree.file_path, branch=name)

    def _check(self, first: Part | None, part: Part) -> None:
        """Check that a file has the columns of the first one."""
        if first is None:
            if len(self.files) > 1 and part.tree._is_ntuple:
                part.columns()
            return
        told, own = first.columns(), part.columns()
        if not self._types:
            self._types = {name: [{t} for t in casting.numbers(kind)] for name, kind in told.items()}
        front = f"{part.tree.file_path}: "
        behind = f" in {first.tree.file_path}"
        names = {name for name, _ in first.selection.outputs}, {name for name, _ in part.selection.outputs}
        remedy = "; select branches that all files have, or skip such files with skip_bad_files=True"
        for missing in sorted(names[0] - names[1]):
            raise UnsupportedError(f"{front}it has no {missing!r}, which is{behind}{remedy}", file=part.tree.file_path)
        for more in sorted(names[1] - names[0]):
            raise UnsupportedError(f"{front}it has {more!r}, which is not{behind}{remedy}", file=part.tree.file_path)
        for name, kind in told.items():
            if not casting.fits(own.get(name, kind), kind, self.differing):
                raise UnsupportedError(
                    f"{front}{name!r} is {own[name]}, but {kind}{behind}{remedy}",
                    file=part.tree.file_path,
                    branch=name,
                )
            if self.casting == "safe" and name in own and casting.fits(own[name], kind, "sizes"):
                self._join(name, own[name], f"{front}{name!r} is {own[name]}, but {kind}{behind}", part)
        order = {name: i for i, (name, _) in enumerate(first.selection.outputs)}
        part.selection.outputs.sort(key=lambda output: order[output[0]])


def _close(opening: Future[Part]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()
