"""The values of a branch or leaf as one array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from collections.abc import Mapping

    import awkward as ak
    import numpy.typing as npt
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from typing_extensions import Unpack

    from ..arguments.entries import Entries, Span
    from ..arguments.progress import Progress
    from ..arguments.signatures import Ak, ColumnOptions, Np, Pa, Pd, Pl


class HasArray:
    """A column of a tree. numpy's functions take it as an array (``np.sum(tree["x"])``): they read all of it."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        import numpy as np

        from ..errors import InvalidError

        values = self._read((None, None), "np", None, None, None)
        if not isinstance(values, np.ndarray):
            raise InvalidError(f"{self!r} holds several columns, not one array; read them with arrays()")
        return values if dtype is None else values.astype(dtype, copy=False)

    def _read(self, span: Span, library: str, progress: Progress, interpretation: object, entries: Entries) -> Any:
        raise NotImplementedError

    @overload
    def array(
        self,
        interpretation: None = ...,
        entry_start: int | None = ...,
        entry_stop: int | None = ...,
        *,
        library: Ak = ...,
        **options: Unpack[ColumnOptions],
    ) -> ak.Array: ...
    @overload
    def array(
        self,
        interpretation: None = ...,
        entry_start: int | None = ...,
        entry_stop: int | None = ...,
        *,
        library: Np,
        **options: Unpack[ColumnOptions],
    ) -> npt.NDArray[Any]: ...
    @overload
    def array(
        self,
        interpretation: None = ...,
        entry_start: int | None = ...,
        entry_stop: int | None = ...,
        *,
        library: Pd,
        **options: Unpack[ColumnOptions],
    ) -> pd.Series | pd.DataFrame: ...
    @overload
    def array(
        self,
        interpretation: None = ...,
        entry_start: int | None = ...,
        entry_stop: int | None = ...,
        *,
        library: Pa,
        **options: Unpack[ColumnOptions],
    ) -> pa.Array: ...
    @overload
    def array(
        self,
        interpretation: None = ...,
        entry_start: int | None = ...,
        entry_stop: int | None = ...,
        *,
        library: Pl,
        **options: Unpack[ColumnOptions],
    ) -> pl.Series: ...
    @overload
    def array(
        self,
        interpretation: None = ...,
        entry_start: int | None = ...,
        entry_stop: int | None = ...,
        *,
        library: str = ...,
        **options: Unpack[ColumnOptions],
    ) -> Any: ...
    def array(
        self,
        interpretation: None = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        *,
        entries: Entries = None,
        library: str = "ak",
        progress: Progress = None,
        ak_add_doc: bool | Mapping[str, str] = False,
        decompression_executor: object = None,
        interpretation_executor: object = None,
        array_cache: object = None,
        language: object = None,
    ) -> Any:
        """Read the values from entry ``entry_start`` to ``entry_stop`` (as in a slice).

        Args:
            interpretation: must be None; accepted for compatibility with uproot.
            entries, progress, ak_add_doc: see :meth:`Tree.arrays`.
            decompression_executor, interpretation_executor, array_cache: see :meth:`Tree.arrays`.
            library: ``"ak"``, ``"np"``, ``"pd"`` (Series), ``"pa"`` (Array) or ``"pl"`` (Series); with ``"np"``
                fixed arrays have the shape ``(entries, size)``, lists and strings are objects.

        Raises:
            UnsupportedError: the branch cannot be read; the message says why.
            CorruptError, ReadError, StalledError: reading fails.
        """
        made = self._read((entry_start, entry_stop), library, progress, interpretation, entries)
        if ak_add_doc:
            from ..columns.documented import documented

            return documented(self, made, ak_add_doc)
        return made
