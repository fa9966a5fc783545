"""A chain: the trees of several files, read as one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast, overload

from ..arguments.checks import flag
from ..arguments.paths import Where, several
from ..arguments.sizes import Size, entry_range
from ..errors import InvalidError
from ..public import public
from ..reading.given_aliases import HasGivenAliases
from .branches import ChainBranches
from .files import ChainFiles

if TYPE_CHECKING:
    import os
    from concurrent.futures import Executor
    from typing import Literal

    import awkward as ak
    import hist
    import numpy.typing as npt
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from typing_extensions import Unpack

    from ..arguments.entries import Entries
    from ..arguments.filters import Filter
    from ..arguments.progress import Progress
    from ..arguments.signatures import (
        Ak,
        AnyChainSteps,
        ChainBatches,
        ChainSteps,
        ChainTable,
        Cut,
        Np,
        Pa,
        Pd,
        Pl,
        ReportedChainSteps,
    )
    from ..drawing.histogram import Histogram
    from ..errors import SelectorError
    from ..reading.arrays import Report
    from ..reading.branch import Branch
    from ..reading.rows import Rows
    from ..reading.selection import Expressions
    from ..selecting.selector import Selector
    from ..tables.record_batches import RecordBatches


@public
def chain(
    files: Where | Chain | Iterable[Where | Chain],
    *,
    cache_size: Size | None = None,
    timeout: float | None = 60,
    threads: int | None = None,
    skip_bad_files: bool = False,
) -> Chain:
    """Combine the trees of several files, like ROOT's ``TChain``. Files are opened only when they are read.

    Args:
        files: see :func:`sapwood.iterate`.
        cache_size, timeout, threads: see :func:`sapwood.open`; all files share the cache.
        skip_bad_files: see :func:`sapwood.iterate`.
    """
    options = {"cache_size": cache_size, "timeout": timeout, "threads": threads}
    return Chain(several(files), options, flag(skip_bad_files, "skip_bad_files"))


@public
class Chain(ChainFiles, HasGivenAliases, ChainBranches):
    """Several files, each with a tree of the same columns. Returned by :func:`sapwood.chain`."""

    def _common(self) -> dict[str, Any]:
        return {**self._options, "skip_bad_files": self._skip_bad}

    @overload
    def iterate(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: Ak = ..., **options: Unpack[ChainSteps]
    ) -> Iterator[ak.Array]: ...
    @overload
    def iterate(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: Np, **options: Unpack[ChainSteps]
    ) -> Iterator[dict[str, npt.NDArray[Any]]]: ...
    @overload
    def iterate(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: Pd, **options: Unpack[ChainSteps]
    ) -> Iterator[pd.DataFrame]: ...
    @overload
    def iterate(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: Pa, **options: Unpack[ChainSteps]
    ) -> Iterator[pa.Table]: ...
    @overload
    def iterate(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: Pl, **options: Unpack[ChainSteps]
    ) -> Iterator[pl.DataFrame]: ...
    @overload
    def iterate(
        self,
        expressions: Expressions = ...,
        cut: Cut = ...,
        *,
        library: Ak = ...,
        **options: Unpack[ReportedChainSteps],
    ) -> Iterator[tuple[ak.Array, Report]]: ...
    @overload
    def iterate(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: Np, **options: Unpack[ReportedChainSteps]
    ) -> Iterator[tuple[dict[str, npt.NDArray[Any]], Report]]: ...
    @overload
    def iterate(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: Pd, **options: Unpack[ReportedChainSteps]
    ) -> Iterator[tuple[pd.DataFrame, Report]]: ...
    @overload
    def iterate(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: Pa, **options: Unpack[ReportedChainSteps]
    ) -> Iterator[tuple[pa.Table, Report]]: ...
    @overload
    def iterate(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: Pl, **options: Unpack[ReportedChainSteps]
    ) -> Iterator[tuple[pl.DataFrame, Report]]: ...
    @overload
    def iterate(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: str = ..., **options: Unpack[AnyChainSteps]
    ) -> Iterator[Any]: ...
    def iterate(self, expressions: Expressions = None, cut: str | None = None, **options) -> Iterator[Any]:
        """Read in steps; takes the options of :func:`sapwood.iterate` except those of the chain itself."""
        from .iterate import iterate

        self._check(iterate, "iterate", options)
        return iterate(cast(Any, self), expressions, cut, **self._common(), **options)

    @overload
    def arrays(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: Ak = ..., **options: Unpack[ChainTable]
    ) -> ak.Array: ...
    @overload
    def arrays(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: Np, **options: Unpack[ChainTable]
    ) -> dict[str, npt.NDArray[Any]]: ...
    @overload
    def arrays(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: Pd, **options: Unpack[ChainTable]
    ) -> pd.DataFrame: ...
    @overload
    def arrays(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: Pa, **options: Unpack[ChainTable]
    ) -> pa.Table: ...
    @overload
    def arrays(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: Pl, **options: Unpack[ChainTable]
    ) -> pl.DataFrame: ...
    @overload
    def arrays(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: str = ..., **options: Unpack[ChainTable]
    ) -> Any: ...
    def arrays(self, expressions: Expressions = None, cut: str | None = None, **options) -> Any:
        """Read the columns of all files into one array; takes the options of :func:`sapwood.concatenate`."""
        from .concatenate import concatenate

        self._check(concatenate, "arrays", options)
        return concatenate(cast(Any, self), expressions, cut, **self._common(), **options)

    def record_batches(
        self, expressions: Expressions = None, cut: str | None = None, **options: Unpack[ChainBatches]
    ) -> RecordBatches:
        """Return columns of all files as a stream of Arrow record batches; see :meth:`Tree.record_batches`."""
        from ..tables.record_batches import of_chain
        from .iterate import iterate

        taken = cast("dict[str, Any]", options)
        for option in ("library", "how", "report", "progress"):
            if option in taken:
                raise InvalidError(f"Chain.record_batches() has no option {option!r}")
        self._check(iterate, "record_batches", taken)
        return of_chain(self, expressions, cut, options)

    def scan_polars(
        self,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        filter_branch: Callable[[Branch], object] | None = None,
        step_size: Size = "100 MB",
    ) -> pl.LazyFrame:
        """Return a lazy frame of polars over all files; see :func:`sapwood.scan_polars`."""
        from ..tables.lazy_frames import lazy_frame

        filters = {"filter_name": filter_name, "filter_typename": filter_typename, "filter_branch": filter_branch}
        return lazy_frame(self, filters, step_size)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any:
        """All columns that can be read, as a stream of Arrow's PyCapsule interface; see :meth:`record_batches`."""
        return self.record_batches().__arrow_c_stream__(requested_schema)

    def _check(self, function: Callable[..., Any], name: str, options: dict[str, Any]) -> None:
        """Check that these are options of a function, and not of the chain itself."""
        own = self._common()
        known = [o for o in inspect.signature(function).parameters if o not in ("files", "expressions", "cut", *own)]
        for option in options:
            if option in own:
                raise InvalidError(f"{option} is an option of sapwood.chain(), not of Chain.{name}()")
            if option not in known:
                raise InvalidError(f"Chain.{name}() has no option {option!r}; its options are {', '.join(known)}")

    @overload
    def draw(
        self,
        expression: str,
        cut: str = "",
        bins: Any = None,
        option: str = "",
        *,
        aliases: Mapping[str, str] | None = ...,
        entry_start: int | None = ...,
        entry_stop: int | None = ...,
        entries: Entries = ...,
        progress: Progress = ...,
        scheduler: Any = ...,
        partial: Callable[[Any], object] | None = ...,
    ) -> Any: ...

    @overload
    def draw(
        self,
        *,
        draws: Iterable[str | tuple[Any, ...] | dict[str, Any]],
        aliases: Mapping[str, str] | None = ...,
        entry_start: int | None = ...,
        entry_stop: int | None = ...,
        entries: Entries = ...,
        progress: Progress = ...,
        scheduler: Any = ...,
        partial: Callable[[Any], object] | None = ...,
    ) -> list[hist.Hist | Histogram]: ...

    def draw(
        self,
        expression: str | None = None,
        cut: str = "",
        bins: Any = None,
        option: str = "",
        *,
        draws: Iterable[str | tuple[Any, ...] | dict[str, Any]] | None = None,
        aliases: Mapping[str, str] | None = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        entries: Entries = None,
        progress: Progress = None,
        scheduler: Any = None,
        partial: Callable[[Any], object] | None = None,
    ) -> hist.Hist | Histogram | list[hist.Hist | Histogram]:
        """Fill one or several histograms over all files; see :meth:`Tree.draw`. Entries count across files."""
        from .. import _core
        from ..arguments.progress import reporter
        from ..drawing.draw import drawings_from, product, without_partial
        from ..selecting.script import is_script

        if expression is not None and is_script(expression, self.keys):
            from ..drawing.function import draw_script

            span = entry_start, entry_stop
            return draw_script(self, expression, cut, bins, option, span, entries, progress, scheduler)
        drawings, single = drawings_from(expression, cut, bins, option, draws, self._aliases_with(aliases))
        if not drawings:
            return []
        if scheduler is not None:
            from ..drawing.parts import draw_parts

            span = entry_start, entry_stop
            made = draw_parts(self, drawings, span, entries, progress, partial, scheduler, single=single)
            return made[0] if single else made
        without_partial(partial)
        first, last, numbers = self._chosen(entry_start, entry_stop, entries)
        tell, done = reporter(progress)
        cache, timeout, threads = self._core_options()
        try:
            drawn = _core.draw_chain(
                self._files,
                drawings,
                first,
                last,
                cache,
                timeout,
                threads,
                tell,
                numbers,
                self._skip_bad,
                self._friends,
            )
        finally:
            done()
        products: list[Any] = [product(one) for one in drawn]
        return products[0] if single else products

    def query(
        self,
        expressions: str,
        cut: str = "",
        *,
        aliases: Mapping[str, str] | None = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        entries: Entries = None,
        progress: Progress = None,
        scheduler: Any = None,
    ) -> Rows:
        """Return rows of values over all files; see :meth:`Tree.query`. Entries count across files."""
        from .. import _core
        from ..arguments.progress import reporter
        from ..reading.rows import Rows, asked

        texts = *asked(expressions, cut), self._aliases_with(aliases)
        if scheduler is not None:
            from ..drawing.parts import query_parts

            return query_parts(self, texts, (entry_start, entry_stop), entries, progress, scheduler)
        first, last, numbers = self._chosen(entry_start, entry_stop, entries)
        tell, done = reporter(progress)
        cache, timeout, threads = self._core_options()
        try:
            return Rows(
                _core.query_chain(
                    self._files,
                    *texts,
                    first,
                    last,
                    cache,
                    timeout,
                    threads,
                    tell,
                    numbers,
                    self._skip_bad,
                    self._friends,
                )
            )
        finally:
            done()

    def _chosen(self, start: int | None, stop: int | None, entries: Entries) -> tuple[int, int, Any]:
        """The first entry, the end, and the selected ones if not all are, as the core takes them."""
        from ..reading.entry_selection import chosen

        first, last = 0 if start is None else start, 2**64 - 1 if stop is None else stop
        if first >= 0 and last >= 0 and entries is None:
            return first, last, None
        # these need the number of entries
        first, last = entry_range(start, stop, self.num_entries)
        picked = chosen(entries, first, last, self._places)
        return first, last, None if picked is None else picked.for_core()

    def process(
        self,
        selector: Selector | type[Selector] | str | os.PathLike[str],
        *,
        executor: Executor | Literal["threads", "processes"] | None = None,
        workers: int | None = None,
        step_size: Size = "20 MB",
        entry_start: int | None = None,
        entry_stop: int | None = None,
        entries: Entries = None,
        progress: Progress = None,
        on_error: Callable[[SelectorError], None] | None = None,
        scheduler: Any = None,
    ) -> Any:
        """Run a selector over the entries of all files; see :meth:`Tree.process`. Entries count across files."""
        from ..selecting.process import process

        return process(
            self, selector, executor=executor, workers=workers, step_size=step_size, span=(entry_start, entry_stop),
            entries=entries, progress=progress, on_error=on_error, scheduler=scheduler,
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"<Chain of {len(self._files)} files>"
