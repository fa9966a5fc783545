"""uproot's functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..arguments.uproot_options import OF_FILES, without_effect
from ..reading.file import Options, open_as

#: Options of `sapwood.open`, which are taken here, too.
_OWN = ("cache_size", "timeout", "threads", "recover", "insecure_redirects", "local_cache", "offline", "cacheread")


def open(path: Any, **options: Any) -> Any:
    """Open a file, or an object in it; takes the options of ``uproot.open`` and of :func:`sapwood.open`."""
    from .read import ReadOnlyFile

    own = {name: value for name, value in options.items() if name in _OWN}
    without_effect({name: value for name, value in options.items() if name not in _OWN}, OF_FILES, "open")
    return open_as(ReadOnlyFile, path, Options.checked(**own))


def iterate(files: Any, expressions: Any = None, cut: str | None = None, **options: Any) -> Iterator[Any]:
    """Read several files in steps; takes the options of ``uproot.iterate`` and of :func:`sapwood.iterate`."""
    from ..chains.iterate import iterate

    return iterate(files, expressions, cut, **options)


def concatenate(files: Any, expressions: Any = None, cut: str | None = None, **options: Any) -> Any:
    """Read several files into one array; takes the options of ``uproot.concatenate`` and of
    :func:`sapwood.concatenate`."""
    from ..chains.concatenate import concatenate

    return concatenate(files, expressions, cut, **options)


def dask(files: Any, **options: Any) -> Any:
    """Return Dask collections; takes the options of ``uproot.dask`` and of :func:`sapwood.dask`. Partitions have equal
    numbers of entries."""
    from ..with_dask.dask import collections

    given = {name: value for name, value in options.items() if type(value).__name__ != "_Unset"}
    return collections(files, False, **given)


def num_entries(paths: Any) -> Iterator[tuple[str, str, int]]:
    """Iterate over (file, tree, number of entries) of several files."""
    from ..chains.num_entries import num_entries

    return num_entries(paths)


def as_TGraph(df: Any, title: str = "", xAxisLabel: str = "", yAxisLabel: str = "", **limits: Any) -> Any:
    """A data frame with the columns x and y, and optionally errors, as a graph to write.

    The errors are the columns ``x_errors`` and ``y_errors`` or, for those below and above, ``x_errors_low``,
    ``x_errors_up``, ``y_errors_low`` and ``y_errors_up``.
    """
    from ..errors import InvalidError
    from ..writing.objects import Graph

    for name in limits:
        if name not in ("minY", "maxY", "x_low", "x_up", "y_low", "y_up"):
            raise TypeError(f"as_TGraph() got an unexpected keyword argument {name!r}")
    if any(value is not None for value in limits.values()):
        raise InvalidError("limits of the axes of a graph cannot be written")
    names: Iterable[str] = list(df.keys())

    def errors(axis: str) -> Any:
        if f"{axis}_errors" in names:
            return df[f"{axis}_errors"]
        if f"{axis}_errors_low" in names:
            return df[f"{axis}_errors_low"], df[f"{axis}_errors_up"]
        return None

    words = ";".join([title, xAxisLabel, yAxisLabel]) if xAxisLabel or yAxisLabel else title
    return Graph(df["x"], df["y"], x_errors=errors("x"), y_errors=errors("y"), title=words)


__all__ = ["as_TGraph", "concatenate", "dask", "iterate", "num_entries", "open"]
