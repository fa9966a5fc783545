"""What a library that columns are converted to offers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InvalidError


class Library:
    """A library. An array is the result for one column, a group the result of a request for several."""

    name = ""
    #: Whether results of expressions are passed on unchanged, including missing values.
    takes_awkward = False
    #: Whether fixed arrays of different sizes can be concatenated, as lists.
    joins_sizes = False
    #: Whether a table is made from a stream of Arrow, without conversion of its columns in Python.
    takes_streams = False

    def streamed(self, names: list[str], stream: Any) -> Any:
        """The table of a stream (``__arrow_c_stream__``), with these names of columns."""
        raise NotImplementedError

    def array(self, column, name: str) -> Any:
        """One column."""
        raise NotImplementedError

    def piece(self, column, name: str) -> Any:
        """One column for a table, in the form that is cheapest to make."""
        return self.array(column, name)

    def select(self, array, mask: np.ndarray) -> Any:
        """The entries of an array where the mask is true."""
        return array[mask]

    def take(self, array, order: np.ndarray) -> Any:
        """The rows of an array in this order."""
        return array[order]

    def label(self, array, rows: np.ndarray) -> Any:
        """An array with these row numbers, if the library numbers rows."""
        return array

    def shifted(self, made, by: int) -> Any:
        """An array or group with its row numbers increased, if the library numbers rows."""
        return made

    def group(self, names: Sequence[str], arrays: Sequence[Any], how: str | None, entries: int) -> Any:
        """Several columns of the same length, combined as ``how`` says."""
        if how == "tuple":
            return tuple(arrays)
        if how == "list":
            return list(arrays)
        if how == "dict":
            return dict(zip(names, arrays, strict=True))
        if how == "zip":
            return self.zipped(names, arrays, entries)
        return self.table(names, arrays, entries)

    def table(self, names: Sequence[str], arrays: Sequence[Any], entries: int) -> Any:
        """The table of this library."""
        return dict(zip(names, arrays, strict=True))

    def zipped(self, names: Sequence[str], arrays: Sequence[Any], entries: int) -> Any:
        """Lists of the same length as lists of records."""
        raise InvalidError(f'how="zip" makes lists of records and needs library="ak", not {self.name!r}')

    def concatenate(self, parts: Sequence[Any], *, numbered: bool = False) -> Any:
        """Tables with the same columns, concatenated; with the numbers of their rows, if ``numbered`` and the library
        numbers rows."""
        raise NotImplementedError

    def errors(self) -> tuple[type[Exception], ...]:
        """What its concatenation raises, besides Python's own exceptions."""
        return ()

    def types(self, table: Any) -> dict[str, str]:
        """The types of a table's columns, if concatenating tables can change them."""
        return {}

    def kinds(self, table: Any) -> dict[str, str]:
        """The types of a table's columns in the words of the library, for errors."""
        return self.types(table)

    def taken(self, table: Any, order: np.ndarray) -> Any:
        """The rows of a table in this order."""
        return self.take(table, order)
