"""Several files read into one array."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ..arguments.entries import Entries
from ..arguments.filters import Filter
from ..arguments.paths import Where
from ..arguments.progress import Progress
from ..arguments.sizes import Size
from ..arguments.uproot_options import OF_FILES, OF_READING, without_effect
from ..columns.casting import checked, common, numbers, shape
from ..errors import InvalidError, UnsupportedError
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
        Cut,
        Files,
        FilesTable,
        Np,
        Pa,
        Pd,
        Pl,
    )
    from ..arguments.uproot_options import UprootReadOptions
    from ..columns.libraries import Library
    from ..reading.selection import Expressions


@overload
def concatenate(
    files: Files, expressions: Expressions = ..., cut: Cut = ..., *, library: Ak = ..., **options: Unpack[FilesTable]
) -> ak.Array: ...
@overload
def concatenate(
    files: Files, expressions: Expressions = ..., cut: Cut = ..., *, library: Np, **options: Unpack[FilesTable]
) -> dict[str, npt.NDArray[Any]]: ...
@overload
def concatenate(
    files: Files, expressions: Expressions = ..., cut: Cut = ..., *, library: Pd, **options: Unpack[FilesTable]
) -> pd.DataFrame: ...
@overload
def concatenate(
    files: Files, expressions: Expressions = ..., cut: Cut = ..., *, library: Pa, **options: Unpack[FilesTable]
) -> pa.Table: ...
@overload
def concatenate(
    files: Files, expressions: Expressions = ..., cut: Cut = ..., *, library: Pl, **options: Unpack[FilesTable]
) -> pl.DataFrame: ...
@overload
def concatenate(
    files: Files, expressions: Expressions = ..., cut: Cut = ..., *, library: str = ..., **options: Unpack[FilesTable]
) -> Any: ...
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
    allow_missing: bool = False,
    how: object = None,
    ak_add_doc: bool | Mapping[str, str] = False,
    _opened_as: type[ReadOnlyFile] | None = None,
    _differing: str | None = None,
    **uproot_options: Unpack[UprootReadOptions],
) -> Any:
    """Read like :meth:`Tree.arrays`, with the entries of several files read into one array; see :func:`iterate`.

    Args:
        casting: how numbers may change if a branch has different types in different files, with numpy's names. With
            "safe" the column has a type that holds all values of all files; if there is none, reading fails. With
            "same_kind" and "unsafe" it has numpy's common type, which rounds 64-bit integers if other files have
            floats, or integers of the other signedness. Fixed arrays of different sizes, and lists, become lists with
            ``library="ak"``.
        allow_missing, uproot_options: see :func:`iterate`.
        how: see :meth:`Tree.arrays`; ``"zip"`` is not supported for several files.
    """
    from ..columns.libraries import group_name
    from ..columns.libraries import library as library_of
    from ..reading.arrays import _made, _steps

    without_effect(uproot_options, OF_FILES | OF_READING, "concatenate")
    lib, group = library_of(library), group_name(how)
    casting = checked(casting)
    if filter_branch is None:
        filter_branch = uproot_options.get("filter_field")
    filters = {"filter_name": filter_name, "filter_typename": filter_typename, "filter_branch": filter_branch}
    options = {"cache_size": cache_size, "timeout": timeout, "threads": threads}
    request = Request(
        expressions,
        cut,
        filters,
        aliases,
        ("all", 0),
        options,
        skip_bad_files,
        progress,
        allow_missing,
        casting,
        # awkward makes lists of fixed arrays that differ
        _differing or ("sizes" if lib.joins_sizes else ""),
        opened_as=_opened_as or ReadOnlyFile,
    )
    windows = windows_of(files, options, skip_bad_files, (entry_start, entry_stop), entries)
    order = None if windows.chosen is None else windows.chosen.order(windows.chosen.numbers)
    if order is not None and cut is not None and cut.strip():
        raise InvalidError("with a cut, the entries of several files must be in ascending order, without duplicates")

    def finished(made: Any) -> Any:
        if ak_add_doc and trees:
            from ..columns.documented import documented

            made = documented(trees[0], made, ak_add_doc)
        return made if group is None else _grouped(made, lib, group)

    parts = []
    trees: list[Tree] = []
    # the rows that pass a cut keep the numbers of their entries, counted through all files
    numbered = bool(cut) and windows.chosen is None
    before = 0
    windowed = windows.files[0][2] is not None
    for part, look_ahead in request.of(windows).parts():
        look_ahead()
        (step,) = _steps(part.tree, part.wanted, request.step, progress, part.scan)
        trees.append(part.tree)
        before = before if part.offset is None else part.offset
        offset = before if numbered else 0
        parts.append(_made(part.selection, part.wanted, step, lib, None, offset, ordered=True))
        before += part.tree.num_entries
    if len(parts) == 1 and not windowed:
        return finished(parts[0])
    if casting == "safe":
        _same_values(parts, lib)
    refusals: tuple[type[Exception], ...] = (KeyError, ValueError, TypeError, NotImplementedError, *lib.errors())
    try:
        made = lib.concatenate(parts, numbered=numbered)
        if windows.first and windows.chosen is None and not cut:
            made = lib.shifted(made, windows.first)
        return finished(made if order is None else lib.taken(made, order))
    except refusals as e:
        raise _refusal(parts, trees, lib) or UnsupportedError(
            f"the columns of the files cannot be concatenated: {e}"
        ) from e


def _refusal(parts: list[Any], trees: list[Tree], lib: Library) -> UnsupportedError | None:
    """Which column is of another type, and in which file."""
    kinds = [lib.kinds(part) for part in parts]
    for name, first in kinds[0].items():
        for tree, of_part in zip(trees, kinds, strict=True):
            found = of_part.get(name)
            if found != first:
                is_there = f"{name!r} is {found}" if found else f"it has no {name!r}, which is {first}"
                return UnsupportedError(
                    f"{tree.file_path}: {is_there}, but {first} in {trees[0].file_path}, and library={lib.name!r} has "
                    'no type for both; read the files separately, select other columns, or use library="ak"',
                    file=tree.file_path,
                    branch=name,
                )
    return None


def _grouped(table: Any, lib: Library, how: str) -> Any:
    """The columns of a table in the form that `how` asks for."""
    names = next(
        (list(n) for n in (getattr(table, a, None) for a in ("fields", "column_names", "columns")) if n is not None),
        None,
    )
    names = list(table) if names is None else names
    count = len(next(iter(table.values()), ())) if isinstance(table, dict) else len(table)
    return lib.group(names, [table[name] for name in names], how, count)


def _same_values(parts: list[Any], lib: Library) -> None:
    """Check that one type holds the results of expressions in all files; branches are checked when files are opened."""
    told = [lib.types(part) for part in parts]
    for name, kind in told[0].items():
        kinds = [types[name] for types in told if name in types and shape(types[name]) == shape(kind)]
        for types in zip(*map(numbers, kinds), strict=True):
            if common(set(types)) is None:
                names = " and ".join(sorted({t.name for t in types}))
                raise UnsupportedError(
                    f"{name!r} is {names} in different files: large integers would be rounded as "
                    f'{np.result_type(*types)}; casting="same_kind" allows this',
                    branch=name,
                )
