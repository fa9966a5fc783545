"""Lazy frames of polars over trees and chains: only the columns and baskets that a query needs are read."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments.checks import flag
from ..arguments.paths import Where, several
from ..arguments.sizes import Size
from ..chains.files import ChainFiles
from ..columns import conversion
from ..errors import Error, KeyInFileError, SkippedBranchWarning, UnsupportedError, require
from ..public import public
from ..reading.selection import Selection, _all
from .one_schema import with_types_of

if TYPE_CHECKING:
    import polars as pl

    from .. import Branch, Tree
    from ..arguments.filters import Filter
    from ..columns.libraries import Library


@public
def scan_polars(
    files: Where | Iterable[Where],
    *,
    filter_name: Filter = None,
    filter_typename: Filter = None,
    filter_branch: Callable[[Branch], object] | None = None,
    step_size: Size = "100 MB",
    cache_size: Size | None = None,
    timeout: float | None = 60,
    threads: int | None = None,
    skip_bad_files: bool = False,
) -> pl.LazyFrame:
    """Return a lazy frame of polars over the trees of one or more files, like ``polars.scan_parquet``.

    The first file is opened when polars asks for the schema. A query reads the columns that it uses. Filters are
    evaluated first: of the other columns only baskets with an entry that passes are fetched.

    Args:
        files: see :func:`sapwood.iterate`.
        filter_name, filter_typename, filter_branch: the branches that become columns; see :meth:`Tree.iteritems`.
        step_size: entries or memory of the frames that polars gets, see :meth:`Tree.iterate`.
        cache_size, timeout, threads, skip_bad_files: see :func:`sapwood.iterate`.
    """
    options = {"cache_size": cache_size, "timeout": timeout, "threads": threads}
    of_files = ChainFiles(several(files), options, flag(skip_bad_files, "skip_bad_files"))
    filters = {"filter_name": filter_name, "filter_typename": filter_typename, "filter_branch": filter_branch}
    return lazy_frame(of_files, filters, step_size)


def lazy_frame(source: Tree | ChainFiles, filters: Mapping[str, Any], step_size: Size) -> pl.LazyFrame:
    """See :func:`scan_polars`."""
    from ..reading.arrays import _step

    require("polars", "scan_polars")
    from polars.io.plugins import register_io_source

    frames = Frames(source, filters, _step(step_size))
    schema = frames.schema if isinstance(source, ChainFiles) else frames.schema()
    return register_io_source(frames.read, schema=schema, validate_schema=False, is_pure=True)


@dataclass
class Frames:
    """The source of a lazy frame."""

    source: Tree | ChainFiles
    filters: Mapping[str, Any]
    step: tuple[str, int]
    _schema: pl.Schema | None = None

    def schema(self) -> pl.Schema:
        """Names and types of the columns: those of the tree, or of the first file."""
        if self._schema is None:
            with _first_tree(self.source) as tree:
                none: Any = tree.arrays(library="pl", entry_start=0, entry_stop=0, **self.filters)
            self._schema = none.schema
        return self._schema

    def read(
        self, with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        """The frames of a query. The number of rows counts before the filter."""
        names = list(self.schema()) if with_columns is None else with_columns
        # a filter that is evaluated first hides how many rows there were
        filtered = predicate if n_rows is None else None
        left = n_rows
        steps = self._fitted(names, predicate, filtered)
        try:
            while left is None or left > 0:
                frame = next(steps, None)
                if frame is None:
                    break
                if left is not None:
                    frame = frame.head(left)
                    left -= frame.height
                    if predicate is not None:
                        frame = frame.filter(predicate)
                yield frame.select(names)
        finally:
            steps.close()

    def _fitted(
        self, names: Sequence[str], predicate: pl.Expr | None, filtered: pl.Expr | None
    ) -> Generator[pl.DataFrame]:
        schema = self.schema()
        # a query that ends early closes its files
        with closing(self._steps(names, predicate, filtered)) as steps:
            for file, frame in steps:
                yield with_types_of(frame, schema, file)

    def _steps(
        self, names: Sequence[str], predicate: pl.Expr | None, filtered: pl.Expr | None
    ) -> Generator[tuple[str, pl.DataFrame]]:
        from ..chains.request import Request, windows_of
        from ..columns.libraries import library
        from ..reading.arrays import _iterate, _wanted

        lib, source, schema = library("pl"), self.source, self.schema()

        def selection(tree: Tree) -> Selection:
            return Filtered.of(tree, self.filters, names, predicate, filtered, schema)

        if not isinstance(source, ChainFiles):
            own = selection(source)
            wanted = _wanted(source, own, (None, None), None)
            for frame in _iterate(source, own, wanted, lib, None, None, self.step, report=False):
                yield source.file_path, frame
            return
        request = Request(
            None, None, self.filters, None, self.step, source._options, source._skip_bad, None, select=selection
        )
        windows = windows_of(source, source._options, source._skip_bad, (None, None), None)
        for part, look_ahead in request.of(windows).parts():
            steps = _iterate(
                part.tree, part.selection, part.wanted, lib, None, None, self.step, report=False, scan=part.scan
            )
            while True:
                look_ahead()
                frame = next(steps, None)
                if frame is None:
                    break
                yield part.tree.file_path, frame


@contextmanager
def _first_tree(source: Tree | ChainFiles) -> Iterator[Tree]:
    """The tree, or that of the first file of a chain that can be opened."""
    from ..reading.file import open
    from ..reading.tree_of_file import tree_of

    if not isinstance(source, ChainFiles):
        yield source
        return
    for number, (path, name) in enumerate(source.files, 1):
        try:
            file = open({path: None}, **source._options)
            try:
                tree = tree_of(file, name)
            except BaseException:
                file.close()
                raise
        except Error:
            if source._skip_bad and number < len(source.files):
                continue
            raise
        with file:
            yield tree
        return


def _missing(
    tree: Tree, name: str, others: Sequence[str], known: Mapping[str, int], schema: pl.Schema
) -> KeyInFileError | UnsupportedError:
    """That a file lacks a column of the first one. Where it has numbers in place of lists, the missing one may be their
    counter, which nobody has chosen."""
    import polars as pl

    file = tree.file_path
    for other in others:
        kind = tree._branch(known[other]).column_type
        if (schema[other] == pl.List) != kind.startswith("var *"):
            return UnsupportedError(
                f"{file}: column {other!r} is {kind}, but {schema[other]} in the first file, and there is no {name!r} "
                "here; omit these columns, or read this file by itself",
                file=file,
                branch=other,
            )
    return KeyInFileError(
        f"{file}: {tree.name} has no branch {name!r}, which is in the first file; select columns that all files have, "
        "or read this file by itself",
        file=file,
        branch=name,
    )


@dataclass
class Filtered(Selection):
    """Branches, and a filter of polars in place of a cut."""

    #: Evaluated on the columns of :attr:`roots` in the types of the lazy frame: in those of a file, `x + 1` may
    #: overflow.
    predicate: pl.Expr | None = None
    schema: pl.Schema | None = None
    #: For messages.
    file: str | None = None
    #: The branches of the filter by name.
    roots: Mapping[str, int] | None = None
    #: Whether the filter is applied here.
    applied: bool = False

    @classmethod
    def of(
        cls,
        tree: Tree,
        filters: Mapping[str, Any],
        names: Sequence[str],
        predicate: pl.Expr | None,
        filtered: pl.Expr | None,
        schema: pl.Schema,
    ) -> Filtered:
        """The columns with these names, and those that the filter needs."""
        with warnings.catch_warnings():
            # the schema contains them
            warnings.simplefilter("ignore", SkippedBranchWarning)
            known = dict(_all(tree, filters))
        roots = [] if predicate is None else predicate.meta.root_names()
        for name in (*names, *roots):
            if name not in known:
                raise _missing(tree, name, [n for n in (*names, *roots) if n in known], known, schema)
        # without a filter that is evaluated first, its columns are read along
        along = [] if filtered is not None and set(names) - set(roots) else roots
        outputs: list[tuple[str, Any]] = [(name, known[name]) for name in dict.fromkeys((*names, *along))]
        return cls(
            outputs,
            predicate=predicate,
            schema=schema,
            file=tree.file_path,
            roots={name: known[name] for name in roots},
            applied=filtered is not None,
        )

    def branches(self) -> list[int]:
        """The branches to read, each once."""
        first = list(self.roots.values()) if self.roots and self.applied else []
        return list(dict.fromkeys([*first, *(what for _, what in self.outputs if isinstance(what, int))]))

    def guide(self) -> list[int] | None:
        """The branches of the filter, if there are others."""
        if not self.applied or not self.roots:
            return None
        own = list(dict.fromkeys(self.roots.values()))
        return own if len(own) < len(self.branches()) else None

    def test(self, branches: Sequence[int]) -> Callable[..., np.ndarray]:
        """A function that tells a scan which rows pass the filter."""
        import polars as pl

        from ..columns.libraries import library

        lib, roots, predicate = library("pl"), self.roots or {}, self.predicate
        assert predicate is not None

        def passes(start: int, stop: int, selected, columns: list[conversion.Column]) -> np.ndarray:
            of = dict(zip(branches, columns, strict=True))
            frame = pl.DataFrame([lib.array(of[number], name).alias(name) for name, number in roots.items()])
            mask = self._typed(frame, roots).select(predicate).to_series().fill_null(False).to_numpy()
            return np.ascontiguousarray(mask, dtype=np.bool_)

        return passes

    def make(self, columns, entries: int, lib: Library, how, rows=None, order=None):
        """The frame; filtered here if the scan has not done so."""
        frame = super().make(columns, entries, lib, how, rows, order)
        if self.applied and self.predicate is not None and rows is None:
            frame = self._typed(frame, self.roots or {}).filter(self.predicate)
        return frame

    def _typed(self, frame: pl.DataFrame, names: Iterable[str]) -> pl.DataFrame:
        """The frame with the columns of the filter in the types of the lazy frame."""
        assert self.schema is not None
        return frame.with_columns(*with_types_of(frame.select(list(names)), self.schema, self.file).get_columns())
