"""A chain: the trees of several files, read as one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, cast, overload

from ..arguments.checks import flag, thread_count
from ..arguments.paths import Where, several
from ..arguments.sizes import Size, entry_range, optional_seconds, size_in_bytes
from ..errors import InvalidError
from ..public import public
from .branches import ChainBranches

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

    from ..arguments.progress import Progress
    from ..arguments.signatures import (
        Ak,
        AnyChainSteps,
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
    from ..reading.arrays import Report
    from ..reading.entry_selection import Entries, Place
    from ..reading.selection import Expressions
    from ..selecting.selector import Selector


@public
def chain(
    files: Where | Iterable[Where],
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
class Chain(ChainBranches):
    """Several files, each with a tree of the same columns. Returned by :func:`sapwood.chain`."""

    def __init__(self, files: list[tuple[str, str | None]], options: dict[str, Any], skip_bad: bool) -> None:
        if not files:
            raise InvalidError("no files given")
        self._files = files
        self._options = options
        self._skip_bad = skip_bad
        self._counted: list[Place] | None = None

    @property
    def files(self) -> list[tuple[str, str | None]]:
        """The files in order, with tree names where given."""
        return list(self._files)

    @property
    def num_entries(self) -> int:
        """Number of entries of all files; opens each file once."""
        places = self._places
        return places[-1].last if places else 0

    @property
    def _places(self) -> list[Place]:
        """The trees with their entries; the first use opens each file once."""
        if self._counted is None:
            from .. import _core
            from ..reading.entry_selection import Place

            cache, timeout, threads = self._core_options()
            counted = _core.chain_places(self._files, cache, timeout, threads, self._skip_bad)
            self._counted = [Place(*each) for each in counted]
        return self._counted

    def __len__(self) -> int:
        return self.num_entries

    def __bool__(self) -> bool:
        return True

    def _core_options(self) -> tuple[int | None, float | None, int]:
        cache = self._options["cache_size"]
        return (
            None if cache is None else size_in_bytes(cache, "cache_size"),
            optional_seconds(self._options["timeout"], "timeout"),
            thread_count(self._options["threads"]),
        )

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
        entry_start: int | None = ...,
        entry_stop: int | None = ...,
        entries: Entries = ...,
        progress: Progress = ...,
    ) -> hist.Hist | Histogram: ...

    @overload
    def draw(
        self,
        *,
        draws: Iterable[str | tuple[Any, ...] | dict[str, Any]],
        entry_start: int | None = ...,
        entry_stop: int | None = ...,
        entries: Entries = ...,
        progress: Progress = ...,
    ) -> list[hist.Hist | Histogram]: ...

    def draw(
        self,
        expression: str | None = None,
        cut: str = "",
        bins: Any = None,
        option: str = "",
        *,
        draws: Iterable[str | tuple[Any, ...] | dict[str, Any]] | None = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        entries: Entries = None,
        progress: Progress = None,
    ) -> hist.Hist | Histogram | list[hist.Hist | Histogram]:
        """Fill one or several histograms over all files; see :meth:`Tree.draw`. Entries count across files."""
        from .. import _core
        from ..arguments.progress import reporter
        from ..drawing.draw import drawings_from, histogram_from
        from ..reading.entry_selection import chosen
        from ..selecting.script import is_script

        if expression is not None and is_script(expression):
            return self.process(
                expression, entry_start=entry_start, entry_stop=entry_stop, entries=entries, progress=progress
            )
        drawings, single = drawings_from(expression, cut, bins, option, draws)
        if not drawings:
            return []
        first, last = 0 if entry_start is None else entry_start, 2**64 - 1 if entry_stop is None else entry_stop
        numbers = None
        if first < 0 or last < 0 or entries is not None:
            # these need the number of entries
            first, last = entry_range(entry_start, entry_stop, self.num_entries)
            picked = chosen(entries, first, last, self._places)
            numbers = None if picked is None else picked.numbers
        tell, done = reporter(progress)
        cache, timeout, threads = self._core_options()
        try:
            drawn = _core.draw_chain(
                self._files, drawings, first, last, cache, timeout, threads, tell, numbers, self._skip_bad
            )
        finally:
            done()
        histograms = [histogram_from(one) for one in drawn]
        return histograms[0] if single else histograms

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
    ) -> Any:
        """Run a selector over the entries of all files; see :meth:`Tree.process`. Entries count across files."""
        from ..selecting.process import process

        return process(
            self, selector, executor=executor, workers=workers, step_size=step_size, span=(entry_start, entry_stop),
            entries=entries, progress=progress,
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"<Chain of {len(self._files)} files>"
