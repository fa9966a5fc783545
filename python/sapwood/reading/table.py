"""Columns of several branches, read together as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, overload

from ..arguments.filters import Filter
from .branches import HasBranches

if TYPE_CHECKING:
    import awkward as ak
    import numpy.typing as npt
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from typing_extensions import Unpack

    from .. import Branch
    from ..arguments.entries import Entries
    from ..arguments.progress import Progress
    from ..arguments.signatures import (
        Ak,
        AnySteps,
        AsDict,
        AsList,
        AsTuple,
        AsZip,
        Cut,
        GroupOptions,
        Np,
        Pa,
        Pd,
        Pl,
        ReportedSteps,
        Steps,
        TableOptions,
    )
    from ..arguments.sizes import Size
    from ..tables.record_batches import RecordBatches
    from .arrays import Report
    from .selection import Expressions


class HasTable(HasBranches):
    """A mapping of branches of which some or all can be read."""

    @overload
    def arrays(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: Ak = ..., **options: Unpack[TableOptions]
    ) -> ak.Array: ...
    @overload
    def arrays(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: Np, **options: Unpack[TableOptions]
    ) -> dict[str, npt.NDArray[Any]]: ...
    @overload
    def arrays(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: Pd, **options: Unpack[TableOptions]
    ) -> pd.DataFrame: ...
    @overload
    def arrays(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: Pa, **options: Unpack[TableOptions]
    ) -> pa.Table: ...
    @overload
    def arrays(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: Pl, **options: Unpack[TableOptions]
    ) -> pl.DataFrame: ...
    @overload
    def arrays(
        self,
        expressions: Expressions = ...,
        cut: Cut = ...,
        *,
        library: str = ...,
        how: AsTuple,
        **options: Unpack[GroupOptions],
    ) -> tuple[Any, ...]: ...
    @overload
    def arrays(
        self,
        expressions: Expressions = ...,
        cut: Cut = ...,
        *,
        library: str = ...,
        how: AsList,
        **options: Unpack[GroupOptions],
    ) -> list[Any]: ...
    @overload
    def arrays(
        self,
        expressions: Expressions = ...,
        cut: Cut = ...,
        *,
        library: str = ...,
        how: AsDict,
        **options: Unpack[GroupOptions],
    ) -> dict[str, Any]: ...
    @overload
    def arrays(
        self,
        expressions: Expressions = ...,
        cut: Cut = ...,
        *,
        library: Ak = ...,
        how: AsZip,
        **options: Unpack[GroupOptions],
    ) -> ak.Array: ...
    @overload
    def arrays(
        self,
        expressions: Expressions = ...,
        cut: Cut = ...,
        *,
        library: str = ...,
        how: object = ...,
        **options: Unpack[GroupOptions],
    ) -> Any: ...
    def arrays(
        self,
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
        how: object = None,
        progress: Progress = None,
        ak_add_doc: bool | Mapping[str, str] = False,
        virtual: bool = False,
        access_log: Any = None,
        language: object = None,
        decompression_executor: object = None,
        interpretation_executor: object = None,
        array_cache: object = None,
    ) -> Any:
        """Read entries ``entry_start`` to ``entry_stop`` (as in a slice; negative values count from the end).

        Args:
            expressions: names of branches or expressions of them in Python's syntax with numpy's functions, such as
                ``"sqrt(px**2 + py**2)"``; None for every branch that passes the filters.
            cut: an expression with one boolean per entry; only entries where it is true are kept. The branches it
                needs are read first, and of the others only baskets with an entry that passed. With ``library="ak"`` an
                expression with a boolean for each item of a list keeps the items where it is true.
            filter_name, filter_typename, filter_branch: see :meth:`iteritems`; used when expressions is None.
            aliases: names for expressions, to be used in expressions and in the cut.
            entries: entry numbers in any order, or a boolean for each entry of the tree (or from entry_start
                to entry_stop): only these are returned, and only their baskets are fetched. Or an
                entry list from a file (TEntryList, TEventList), itself or as ``"file.root:list"``.
            library: ``"ak"`` (an ``ak.Array`` of records), ``"np"`` (a dict of numpy arrays; lists as objects),
                ``"pd"`` (``DataFrame``; ``"pd[pyarrow]"`` with Arrow types), ``"pa"`` (``pyarrow.Table``) or ``"pl"``
                (polars ``DataFrame``).
            how: None for a table; ``"tuple"``, ``"list"`` or ``"dict"`` for a collection of single columns; ``"zip"``
                to combine lists of the same length to lists of records (``Muon_pt`` and ``Muon_eta`` become ``Muon``
                with ``pt`` and ``eta``).
            progress: True for a bar, or a function of (entries done, entries in all, bytes read).
            ak_add_doc: with ``library="ak"``, keep titles as the parameter ``__doc__`` of the columns and the table; or
                names of parameters by names of attributes, ``{"__doc__": "title", "typename": "typename"}``.
            virtual: with ``library="ak"``, read each column only when it is used; for whole branches alone, without
                expressions, cut and aliases.
            access_log: with ``virtual``, a list to which each buffer of a column is appended when it is used first.
            language, decompression_executor, interpretation_executor, array_cache: accepted for compatibility with
                uproot, and without effect.

        With ``library="pd"`` the index holds the entry numbers of the tree.

        Raises:
            KeyInFileError: no such branch.
            UnsupportedError: a branch cannot be read; the message says why. A request for all branches skips such
                branches, and duplicates of a name, with a :class:`SkippedBranchWarning`.
            InvalidError: an invalid expression.
            CorruptError, ReadError, StalledError: reading fails.
        """
        from .arrays import arrays

        filters = {"filter_name": filter_name, "filter_typename": filter_typename, "filter_branch": filter_branch}
        span = (entry_start, entry_stop)
        if virtual or access_log is not None:
            from .virtual import virtual_arrays

            others = {
                "expressions": expressions, "cut": cut, "aliases": aliases, "how": how, "entries": entries,
                "library": None if library in ("ak", "awkward") else library,
            }  # fmt: skip
            return virtual_arrays(self, filters, span, access_log, others, virtual=virtual, ak_add_doc=ak_add_doc)
        made = arrays(self, expressions, cut, filters, aliases, span, library, how, progress, entries)
        if ak_add_doc:
            from ..columns.documented import documented

            return documented(self, made, ak_add_doc)
        return made

    @overload
    def iterate(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: Ak = ..., **options: Unpack[Steps]
    ) -> Iterator[ak.Array]: ...
    @overload
    def iterate(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: Np, **options: Unpack[Steps]
    ) -> Iterator[dict[str, npt.NDArray[Any]]]: ...
    @overload
    def iterate(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: Pd, **options: Unpack[Steps]
    ) -> Iterator[pd.DataFrame]: ...
    @overload
    def iterate(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: Pa, **options: Unpack[Steps]
    ) -> Iterator[pa.Table]: ...
    @overload
    def iterate(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: Pl, **options: Unpack[Steps]
    ) -> Iterator[pl.DataFrame]: ...
    @overload
    def iterate(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: Ak = ..., **options: Unpack[ReportedSteps]
    ) -> Iterator[tuple[ak.Array, Report]]: ...
    @overload
    def iterate(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: Np, **options: Unpack[ReportedSteps]
    ) -> Iterator[tuple[dict[str, npt.NDArray[Any]], Report]]: ...
    @overload
    def iterate(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: Pd, **options: Unpack[ReportedSteps]
    ) -> Iterator[tuple[pd.DataFrame, Report]]: ...
    @overload
    def iterate(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: Pa, **options: Unpack[ReportedSteps]
    ) -> Iterator[tuple[pa.Table, Report]]: ...
    @overload
    def iterate(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: Pl, **options: Unpack[ReportedSteps]
    ) -> Iterator[tuple[pl.DataFrame, Report]]: ...
    @overload
    def iterate(
        self, expressions: Expressions = ..., cut: Cut = ..., *, library: str = ..., **options: Unpack[AnySteps]
    ) -> Iterator[Any]: ...
    def iterate(
        self,
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
        ak_add_doc: bool | Mapping[str, str] = False,
        language: object = None,
        decompression_executor: object = None,
        interpretation_executor: object = None,
        array_cache: object = None,
    ) -> Iterator[Any]:
        """Read like :meth:`arrays`, in steps; the next steps are fetched in the background.

        Args:
            entries: as for :meth:`arrays`, but in ascending order and without duplicates.
            step_size: entries per step, memory per step as text (``"100 MB"``), or ``"cluster"`` for clusters of the
                file.
            report: yield (arrays, :class:`Report`) instead of arrays.
        """
        from .arrays import iterate

        filters = {"filter_name": filter_name, "filter_typename": filter_typename, "filter_branch": filter_branch}
        span = (entry_start, entry_stop)
        steps = iterate(
            self,
            expressions,
            cut,
            filters,
            aliases,
            span,
            library,
            how,
            progress,
            step_size,
            report=report,
            entries=entries,
        )
        if ak_add_doc:
            from ..columns.documented import documented

            if report:
                return ((documented(self, made, ak_add_doc), said) for made, said in steps)
            return (documented(self, made, ak_add_doc) for made in steps)
        return steps

    def record_batches(
        self,
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
    ) -> RecordBatches:
        """Return columns as a stream of Arrow record batches, for pyarrow, polars, DuckDB, DataFusion and others.

        Takes the arguments of :meth:`iterate`; a batch is a step. Nothing is read before the stream is used. Branches
        without expressions need no pyarrow.

        >>> pyarrow.RecordBatchReader.from_stream(tree.record_batches(["px", "py"]))   # doctest: +SKIP
        """
        from ..tables.record_batches import of_branches

        options = {
            "filter_name": filter_name,
            "filter_typename": filter_typename,
            "filter_branch": filter_branch,
            "aliases": aliases,
            "step_size": step_size,
            "entry_start": entry_start,
            "entry_stop": entry_stop,
            "entries": entries,
        }
        return of_branches(self, expressions, cut, options)

    def num_entries_for(
        self,
        memory_size: Size,
        expressions: Expressions = None,
        cut: str | None = None,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        filter_branch: Callable[[Branch], object] | None = None,
        aliases: Mapping[str, str] | None = None,
        language: object = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
    ) -> int:
        """Return the number of entries that take about ``memory_size`` bytes, at least 1, with the branches of the cut.

        ``language``, ``entry_start`` and ``entry_stop`` are accepted for compatibility with uproot; the estimate is for
        the whole tree.
        """
        from ..arguments.sizes import size_in_bytes
        from .selection import select

        filters = {"filter_name": filter_name, "filter_typename": filter_typename, "filter_branch": filter_branch}
        numbers = select(self, expressions, cut, aliases, filters).branches()
        total = sum(self.tree._branch(n).uncompressed_bytes for n in numbers if n in self.tree._places)
        entries = self.tree.num_entries
        if total == 0:
            return max(1, entries)
        return max(1, size_in_bytes(memory_size, "memory_size") * entries // total)

    def common_entry_offsets(
        self,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        filter_branch: Callable[[Branch], object] | None = None,
        recursive: bool = True,
    ) -> list[int]:
        """Return the entries at which all these branches start a basket, and the number of entries.

        For a branch without sub-branches these are its own; ``[0]`` if there is no basket.
        """
        common = self._own_offsets()
        for branch in self.filtered(filter_name, filter_typename, filter_branch, recursive):
            if branch.num_baskets:
                offsets = set(branch.entry_offsets)
                common = offsets if common is None else common & offsets
        return sorted(common if common is not None else {0})

    def _own_offsets(self) -> set[int] | None:
        """The entries at which the baskets of a branch without sub-branches start."""
        return None
