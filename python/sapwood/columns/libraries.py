"""Libraries that columns are converted to: awkward, numpy, pandas, pyarrow, polars. Each is imported on first use."""

from __future__ import annotations

import numpy as np

from ..errors import InvalidError, UnsupportedError, require
from . import conversion
from .arrow_libraries import Arrow, Polars
from .library import Library
from .pandas_library import Pandas, PandasArrow

__all__ = ["Library", "computed", "group_name", "library"]

_GROUPS: dict[object, str] = {tuple: "tuple", list: "list", dict: "dict"}


def group_name(how: object) -> str | None:
    """The name for the argument ``how``: None, "tuple", "list", "dict" or "zip"."""
    name = _GROUPS.get(how, how) if isinstance(how, type) else how
    if name is None or name in ("tuple", "list", "dict", "zip"):
        return name  # type: ignore[return-value]
    raise InvalidError(f'how must be None, "tuple", "list", "dict" (or these types) or "zip", not {how!r}')


class Awkward(Library):
    """``ak.Array``; a table is an array of records."""

    name = "ak"
    takes_awkward = True
    joins_sizes = True

    def __init__(self) -> None:
        self.ak = require("awkward", 'library="ak"')

    def array(self, column, name):
        return conversion.to_awkward(column)

    def piece(self, column, name):
        return conversion.to_layout(column)

    def table(self, names, arrays, entries):
        content = self.ak.contents.Content
        if all(isinstance(a, content) for a in arrays):
            from . import awkward_nodes

            return awkward_nodes.array(awkward_nodes.records(list(names), list(arrays), entries))
        layouts = [a if isinstance(a, content) else self.ak.to_layout(a) for a in arrays]
        return self.ak.Array(self.ak.contents.RecordArray(layouts, list(names), length=entries))

    def zipped(self, names, arrays, entries):
        from .zip_lists import zipped

        return zipped(names, arrays, entries)

    def concatenate(self, parts, *, numbered=False):
        from .joined_unions import concatenate

        return concatenate(parts)

    def types(self, table):
        return {name: str(table[name].layout.form.type) for name in table.fields}


class Numpy(Library):
    """numpy arrays; a table is a dict of them."""

    name = "np"

    def array(self, column, name):
        return conversion.to_numpy(column)

    def concatenate(self, parts, *, numbered=False):
        def joined(arrays: list[np.ndarray]) -> np.ndarray:
            masked = any(isinstance(a, np.ma.MaskedArray) for a in arrays)
            return np.ma.concatenate(arrays) if masked else np.concatenate(arrays)

        return {name: joined([p[name] for p in parts]) for name in parts[0]}

    def kinds(self, table):
        def kind(values):
            return f"{values.dtype.name} with dimensions {values.shape[1:]}" if values.ndim > 1 else values.dtype.name

        return {name: kind(values) for name, values in table.items()}

    def types(self, table):
        return {name: values.dtype.name for name, values in table.items() if values.dtype.kind in "biuf"}

    def taken(self, table, order):
        return {name: values[order] for name, values in table.items()}


_LIBRARIES = {
    **dict.fromkeys(("ak", "awkward"), Awkward),
    **dict.fromkeys(("np", "numpy"), Numpy),
    **dict.fromkeys(("pd", "pandas"), Pandas),
    **dict.fromkeys(("pd[pyarrow]", "pandas[pyarrow]"), PandasArrow),
    **dict.fromkeys(("pa", "arrow", "pyarrow"), Arrow),
    **dict.fromkeys(("pl", "polars"), Polars),
}


def library(name: str) -> Library:
    """The library of this name.

    Raises:
        InvalidError: no such name.
        MissingLibraryError: it is not installed.
    """
    try:
        kind = _LIBRARIES[name]
    except (KeyError, TypeError):
        raise InvalidError(f'library must be "ak", "np", "pd", "pd[pyarrow]", "pa" or "pl", not {name!r}') from None
    return kind()


def computed(lib: Library, value, what: str):
    """An expression's result as one array of the library."""
    if lib.takes_awkward:
        import awkward as ak

        return (
            value
            if isinstance(value, ak.Array)
            else ak.Array(conversion.to_layout(conversion.from_computed(value, what)))
        )
    try:
        return lib.array(conversion.from_computed(value, what), what)
    except (TypeError, NotImplementedError) as e:
        if isinstance(e, UnsupportedError):
            raise
        raise UnsupportedError(f"{what} cannot be converted for library={lib.name!r}: {e}") from e
