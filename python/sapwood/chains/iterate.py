"""Several files read in steps, one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, overload

from ..arguments.entries import Entries
from ..arguments.filters import Filter
from ..arguments.paths import Where
from ..arguments.progress import Progress
from ..arguments.sizes import Size
from ..arguments.uproot_options import OF_FILES, OF_READING, without_effect
from ..public import public
from ..reading.file import ReadOnlyFile
from .request import Request, windows_of

if TYPE_CHECKING:
    import awkward as ak
    import numpy.typing as npt
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from typing_extensions import Unpack

    from .. import Branch, Tree
    from ..arguments.signatures import (
        Ak,
        AnyFilesSteps,
        Cut,
        Files,
        FilesSteps,
        Np,
        Pa,
        Pd,
        Pl,
        ReportedFilesSteps,
    )
    from ..arguments.uproot_options import UprootReadOptions
    from ..reading.arrays import Report
    from ..reading.selection import Expressions


@overload
def iterate(
    files: Files, expressions: Expressions = ..., cut: Cut = ..., *, library: Ak = ..., **options: Unpack[FilesSteps]
) -> Iterator[ak.Array]: ...
@overload
def iterate(
    files: Files, expressions: Expressions = ..., cut: Cut = ..., *, library: Np, **options: Unpack[FilesSteps]
) -> Iterator[dict[str, npt.NDArray[Any]]]: ...
@overload
def iterate(
    files: Files, expressions: Expressions = ..., cut: Cut = ..., *, library: Pd, **options: Unpack[FilesSteps]
) -> Iterator[pd.DataFrame]: ...
@overload
def iterate(
    files: Files, expressions: Expressions = ..., cut: Cut = ..., *, library: Pa, **options: Unpack[FilesSteps]
) -> Iterator[pa.Table]: ...
@overload
def iterate(
    files: Files, expressions: Expressions = ..., cut: Cut = ..., *, library: Pl, **options: Unpack[FilesSteps]
) -> Iterator[pl.DataFrame]: ...
@overload
def iterate(
    files: Files,
    expressions: Expressions = ...,
    cut: Cut = ...,
    *,
    library: Ak = ...,
    **options: Unpack[ReportedFilesSteps],
) -> Iterator[tuple[ak.Array, Report]]: ...
@overload
def iterate(
    files: Files, expressions: Expressions = ..., cut: Cut = ..., *, library: Np, **options: Unpack[ReportedFilesSteps]
) -> Iterator[tuple[dict[str, npt.NDArray[Any]], Report]]: ...
@overload
def iterate(
    files: Files, expressions: Expressions = ..., cut: Cut = ..., *, library: Pd, **options: Unpack[ReportedFilesSteps]
) -> Iterator[tuple[pd.DataFrame, Report]]: ...
@overload
def iterate(
    files: Files, expressions: Expressions = ..., cut: Cut = ..., *, library: Pa, **options: Unpack[ReportedFilesSteps]
) -> Iterator[tuple[pa.Table, Report]]: ...
@overload
def iterate(
    files: Files, expressions: Expressions = ..., cut: Cut = ..., *, library: Pl, **options: Unpack[ReportedFilesSteps]
) -> Iterator[tuple[pl.DataFrame, Report]]: ...
@overload
def iterate(
    files: Files,
    expressions: Expressions = ...,
    cut: Cut = ...,
    *,
    library: str = ...,
    **options: Unpack[AnyFilesSteps],
) -> Iterator[Any]: ...
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
    allow_missing: bool = False,
    ak_add_doc: bool | Mapping[str, str] = False,
    _opened_as: type[ReadOnlyFile] | None = None,
    _differing: str = "",
    **uproot_options: Unpack[UprootReadOptions],
) -> Iterator[Any]:
    """Read like :meth:`Tree.iterate`, from several files in order; a step never spans two files.

    Args:
        files: ``"file.root:tree"``, ``{file: tree}``, Paths, or lists of these; patterns and ``@LIST`` as for
            :func:`chain`. The tree name may be omitted if a file has only one tree.
        entry_start, entry_stop, entries: as for :meth:`Tree.iterate`, counted across all files. If any of these is
            given, every file is opened first, to count its entries.
        cache_size, timeout, threads: see :func:`sapwood.open`; all files share the cache.
        skip_bad_files: skip files that cannot be opened or lack the tree or a branch, with a
            :class:`SkippedFileWarning` for each. Later failures within a file are always errors.
        allow_missing: skip files that lack the tree or a branch, without a warning.
        uproot_options: options of uproot that are accepted and have no effect; see :func:`sapwood.open`.

    Raises:
        UnsupportedError: the columns of a file differ from those of the first file; the message names file and branch.
    """
    from ..columns.libraries import group_name
    from ..columns.libraries import library as library_of
    from ..reading.arrays import _iterate, _step

    # an invalid request fails before any file is opened
    without_effect(uproot_options, OF_FILES | OF_READING, "iterate")
    lib, group = library_of(library), group_name(how)
    if filter_branch is None:
        filter_branch = uproot_options.get("filter_field")
    filters = {"filter_name": filter_name, "filter_typename": filter_typename, "filter_branch": filter_branch}
    options = {"cache_size": cache_size, "timeout": timeout, "threads": threads}
    request = Request(
        expressions,
        cut,
        filters,
        aliases,
        _step(step_size),
        options,
        skip_bad_files,
        progress,
        allow_missing,
        differing=_differing,
        opened_as=_opened_as or ReadOnlyFile,
    )
    windows = windows_of(files, options, skip_bad_files, (entry_start, entry_stop), entries)
    ahead = request.of(windows)

    def titled(made: Any, tree: Tree) -> Any:
        if not ak_add_doc:
            return made
        from ..columns.documented import documented

        return (documented(tree, made[0], ak_add_doc), made[1]) if report else documented(tree, made, ak_add_doc)

    def run() -> Iterator[Any]:
        offset = 0
        for part, look_ahead in ahead.parts():
            offset = offset if part.offset is None else part.offset
            steps = _iterate(
                part.tree, part.selection, part.wanted, lib, group, progress, part.step, report, offset, part.scan
            )
            while True:
                look_ahead()
                held = [next(steps, _NO_MORE)]
                if held[0] is _NO_MORE:
                    break
                yield titled(held.pop(), part.tree)
            offset += part.tree.num_entries

    return run()


#: The end of an iteration.
_NO_MORE = object()
