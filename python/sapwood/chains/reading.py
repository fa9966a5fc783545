"""Several files, one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments.filters import Filter
from ..arguments.paths import Where, several
from ..arguments.progress import Progress
from ..arguments.sizes import Size, entry_range, size_in_bytes
from ..columns.casting import checked, common, numbers, shape
from ..errors import InvalidError, UnsupportedError
from ..public import public
from ..reading.entry_selection import Chosen, Entries, chosen
from ..reading.file import ReadOnlyFile, open
from .prefetch import Ahead, Part, Window

if TYPE_CHECKING:
    from ..columns.libraries import Library
    from ..reading.branch import Branch
    from ..reading.selection import Expressions
    from ..reading.tree import Tree
    from .chain import Chain


@dataclass(frozen=True)
class _Request:
    """What is asked of every file."""

    expressions: Expressions
    cut: str | None
    filters: Mapping[str, Any]
    aliases: Mapping[str, str] | None
    step: tuple[str, int]
    options: Mapping[str, Any]
    skip_bad: bool
    progress: Progress
    #: Of columns that are put together.
    casting: str | None = None

    def files(self, files: list[tuple[str, str | None, Window | None]]) -> Ahead:
        """The files, each to be opened and asked."""
        from ..reading.arrays import _wanted
        from ..reading.selection import select

        cache = self.options["cache_size"]
        cache = None if cache is None else size_in_bytes(cache, "cache_size")

        def prepare(file_path: str, name: str | None, window: Window | None, begin: bool) -> Part:
            file = open({file_path: None}, **self.options)
            try:
                tree = _tree(file, name)
                selection = select(tree, self.expressions, self.cut, self.aliases, self.filters)
                offset, *span, numbers = window or (None, None, None, None)
                wanted = _wanted(tree, selection, (span[0], span[1]), numbers)
                part = Part(tree, selection, wanted, offset)
                # who watches it sees every file by itself, as its turn comes
                if begin and wanted.branches and wanted.rows and not self.progress:
                    part.scan = wanted.begin(tree, self.step, None, ahead.share())
            except BaseException:
                file.close()
                raise
            return part

        ahead = Ahead(files, prepare, cache, self.skip_bad, self.casting)
        return ahead


@dataclass(frozen=True)
class _Windows:
    """The files that are read, and what of each."""

    files: list[tuple[str, str | None, Window | None]]
    #: The first entry, counted through all files.
    first: int = 0
    #: Those that are chosen.
    chosen: Chosen | None = None


def _windows(
    files: Where | Iterable[Where] | Chain,
    options: Mapping[str, Any],
    skip_bad: bool,
    span: tuple[int | None, int | None],
    entries: Entries,
) -> _Windows:
    from .chain import Chain

    chain = files if isinstance(files, Chain) else Chain(several(files), dict(options), skip_bad)
    if span == (None, None) and entries is None:
        return _Windows([(file, tree, None) for file, tree in chain.files])
    places = chain._places
    first, last = entry_range(*span, chain.num_entries)
    picked = chosen(entries, first, last, places)
    read: list[tuple[str, str | None, Window | None]] = []
    for p in places:
        begin, end = max(first, p.first), min(last, p.last)
        numbers = None
        if picked is not None:
            numbers = picked.numbers[slice(*np.searchsorted(picked.numbers, [begin, max(begin, end)]))] - p.first
        if begin < end and (numbers is None or len(numbers)):
            read.append((p.file, p.tree, Window(p.first, begin - p.first, end - p.first, numbers)))
    if not read:
        # none of the entries: of the types there is something to say nevertheless
        read = [(p.file, p.tree, Window(0, 0, 0)) for p in places[:1]]
    return _Windows(read, first, picked)


def _tree(file: ReadOnlyFile, name: str | None) -> Tree:
    from ..reading.tree import Tree

    if name is not None:
        found = file[name]
        if not isinstance(found, Tree):
            raise InvalidError(f"{file.file_path}: {name} is not a tree but {found!r}", file=file.file_path)
        return found
    names = file.keys(cycle=False, filter_classname=["TTree", "TNtuple", "TNtupleD"])
    if len(names) == 1:
        return file[names[0]]
    what = f"trees {', '.join(names)}" if names else "no tree"
    raise InvalidError(f"{file.file_path} holds {what}; name one: file.root:tree", file=file.file_path)


@public
def iterate(
    files: Where | Iterable[Where],
    expressions: Expressions = None,
    cut: str | None = None,
    *,
    filter_name: Filter = None,
    filter_typename: Filter = None,
    filter_branch: Callable[[Branch], object] | None = None,
    aliases: Mapping[str, str] | None = None,
    step_size: Size = "100 MB",
    entry_start: int | None = None,
    entry_stop: int | None = None,
    entries: Entries = None,
    library: str = "ak",
    how: object = None,
    report: bool = False,
    progress: Progress = None,
    cache_size: Size | None = None,
    timeout: float | None = 60,
    threads: int | None = None,
    skip_bad_files: bool = False,
) -> Iterator[Any]:
    """Read like :meth:`Tree.iterate`, from several files in order; a step never spans two files.

    Args:
        files: ``"file.root:tree"``, ``{file: tree}``, Paths, or lists of these; globs of local paths are expanded
            in alphabetical order. The tree name may be omitted if a file has only one tree.
        entry_start, entry_stop, entries: as for :meth:`Tree.iterate`, counted through all files; any of these opens
            every file first, to count its entries.
        cache_size, timeout, threads: see :func:`sapwood.open`; all files share the cache.
        skip_bad_files: skip files that cannot be opened or lack the tree or a branch, with a
            :class:`SkippedFileWarning` each. Later failures within a file are always errors.

    Raises:
        UnsupportedError: the columns of a file differ from those of the first file; the message names file and branch.
    """
    from ..columns.libraries import group_name
    from ..columns.libraries import library as library_of
    from ..reading.arrays import _iterate, _step

    # what is wrong with the request is said before any file is opened
    lib, group = library_of(library), group_name(how)
    filters = {"filter_name": filter_name, "filter_typename": filter_typename, "filter_branch": filter_branch}
    options = {"cache_size": cache_size, "timeout": timeout, "threads": threads}
    request = _Request(expressions, cut, filters, aliases, _step(step_size), options, skip_bad_files, progress)
    windows = _windows(files, options, skip_bad_files, (entry_start, entry_stop), entries)
    ahead = request.files(windows.files)

    def run() -> Iterator[Any]:
        offset = 0
        for part, look_ahead in ahead.parts():
            offset = offset if part.offset is None else part.offset
            steps = _iterate(
                part.tree, part.selection, part.wanted, lib, group, progress, request.step, report, offset, part.scan
            )
            while True:
                look_ahead()
                held = [next(steps, _NO_MORE)]
                if held[0] is _NO_MORE:
                    break
                yield held.pop()
            offset += part.tree.num_entries

    return run()


#: The end of an iteration.
_NO_MORE = object()


@public
def concatenate(
    files: Where | Iterable[Where],
    expressions: Expressions = None,
    cut: str | None = None,
    *,
    filter_name: Filter = None,
    filter_typename: Filter = None,
    filter_branch: Callable[[Branch], object] | None = None,
    aliases: Mapping[str, str] | None = None,
    entry_start: int | None = None,
    entry_stop: int | None = None,
    entries: Entries = None,
    library: str = "ak",
    progress: Progress = None,
    cache_size: Size | None = None,
    timeout: float | None = 60,
    threads: int | None = None,
    skip_bad_files: bool = False,
    casting: str = "safe",
) -> Any:
    """Read like :meth:`Tree.arrays`, with the entries of several files read into one array; see :func:`iterate`.

    Args:
        casting: what may become of numbers where files have a branch in different types, as numpy names it. With
            "safe" the column has a type that holds all values of all files, or is refused; with "same_kind" and
            "unsafe" it has numpy's, where integers of 64 bits are rounded beside floats and beside integers of
            another sign.
    """
    from ..columns.libraries import library as library_of
    from ..reading.arrays import _made, _steps

    lib = library_of(library)
    casting = checked(casting)
    filters = {"filter_name": filter_name, "filter_typename": filter_typename, "filter_branch": filter_branch}
    options = {"cache_size": cache_size, "timeout": timeout, "threads": threads}
    request = _Request(expressions, cut, filters, aliases, ("all", 0), options, skip_bad_files, progress, casting)
    windows = _windows(files, options, skip_bad_files, (entry_start, entry_stop), entries)
    order = None if windows.chosen is None else windows.chosen.order(windows.chosen.numbers)
    if order is not None and cut is not None and cut.strip():
        raise InvalidError("with a cut the entries of several files are given in ascending order and each once")
    parts = []
    windowed = windows.files[0][2] is not None
    for part, look_ahead in request.files(windows.files).parts():
        look_ahead()
        (step,) = _steps(part.tree, part.wanted, request.step, progress, part.scan)
        parts.append(_made(part.selection, part.wanted, step, lib, None, ordered=True))
    if len(parts) == 1 and not windowed:
        return parts[0]
    if casting == "safe":
        _same_values(parts, lib)
    try:
        made = lib.concatenate(parts)
        if windows.first and windows.chosen is None and not cut:
            made = lib.shifted(made, windows.first)
        return made if order is None else lib.taken(made, order)
    except (KeyError, ValueError, TypeError) as e:
        raise UnsupportedError(f"the files' columns do not fit together: {e}") from e


def _same_values(parts: list[Any], lib: Library) -> None:
    """That what expressions gave in each file has one type that holds all of it: what branches have is known before."""
    told = [lib.types(part) for part in parts]
    for name, kind in told[0].items():
        kinds = [types[name] for types in told if name in types and shape(types[name]) == shape(kind)]
        for types in zip(*map(numbers, kinds), strict=True):
            if common(set(types)) is None:
                names = " and ".join(sorted({t.name for t in types}))
                raise UnsupportedError(
                    f"{name!r} is {names} in different files: as {np.result_type(*types)} large integers would be "
                    'rounded; casting="same_kind" allows that',
                    branch=name,
                )
