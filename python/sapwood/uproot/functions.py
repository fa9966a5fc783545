"""uproot's functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..arguments.sizes import BasketBytes
from ..arguments.uproot_options import OF_FILES, without_effect
from ..reading.file import Options, open_as

#: Options of `sapwood.open`, which are taken here, too.
_OWN = (
    "cache_size",
    "timeout",
    "threads",
    "recover",
    "insecure_redirects",
    "local_cache",
    "offline",
    "cacheread",
    "storage_options",
)


def open(path: Any, **options: Any) -> Any:
    """Open a file, or an object in it; takes the options of ``uproot.open`` and of :func:`sapwood.open`."""
    from .file import ReadOnlyFile

    own = {name: value for name, value in options.items() if name in _OWN}
    without_effect({name: value for name, value in options.items() if name not in _OWN}, OF_FILES, "open")
    return open_as(ReadOnlyFile, path, Options.checked(**own))


#: As ``uproot.open`` has them, for scripts that look there or set them. They say how sources of uproot read, and have
#: no effect here.
_DEFAULTS = {
    "handler": None,
    "max_num_elements": None,
    "num_workers": 1,
    "use_threads": True,
    "num_fallback_workers": 10,
    "begin_chunk_size": 403,
    "minimal_ttree_metadata": True,
    "http_max_header_bytes": 21784,
}
open.defaults = _DEFAULTS  # type: ignore[attr-defined]


def iterate(files: Any, expressions: Any = None, cut: str | None = None, **options: Any) -> Iterator[Any]:
    """Read several files in steps; takes the options of ``uproot.iterate`` and of :func:`sapwood.iterate`.

    Text as a step size means bytes in baskets, a MB is 1 000 000 bytes, and all steps of a file but the last have the
    same number of entries."""
    from ..chains.iterate import iterate
    from .sizes import decimal_bytes

    step = options.get("step_size", "100 MB")
    if isinstance(step, str) and step != "cluster":
        options["step_size"] = BasketBytes(decimal_bytes(step))
    # the class of the files is no part of Sapwood's own interface
    read: Any = iterate
    return read(files, expressions, cut, _opened_as=_file_class(), _differing="all", **options)


def concatenate(files: Any, expressions: Any = None, cut: str | None = None, **options: Any) -> Any:
    """Read several files into one array; takes the options of ``uproot.concatenate`` and of
    :func:`sapwood.concatenate`.

    Where the types of a branch differ between files, the column has the common type of numpy, or awkward's union."""
    from ..chains.concatenate import concatenate

    read: Any = concatenate
    own = {"casting": "same_kind", "_opened_as": _file_class(), "_differing": "all"}
    return read(files, expressions, cut, **{**own, **options})


def dask(files: Any, **options: Any) -> Any:
    """Return Dask collections; takes the options of ``uproot.dask`` and of :func:`sapwood.dask`. Partitions have equal
    numbers of entries."""
    from ..with_dask.dask import collections

    given = {name: value for name, value in options.items() if type(value).__name__ != "_Unset"}
    return collections(files, False, opened_as=_file_class(), **given)


def _file_class() -> Any:
    from .file import ReadOnlyFile

    return ReadOnlyFile


def num_entries(paths: Any) -> Iterator[tuple[str, str, int]]:
    """Iterate over (file, tree, number of entries) of several files."""
    from ..chains.num_entries import num_entries

    return num_entries(paths)


def as_TGraph(df: Any, title: str = "", xAxisLabel: str = "", yAxisLabel: str = "", **options: Any) -> Any:
    """A data frame as a graph to write; see :func:`sapwood.uproot.graph.as_TGraph`."""
    from .graph import as_TGraph

    return as_TGraph(df, title, xAxisLabel, yAxisLabel, **options)


__all__ = ["as_TGraph", "concatenate", "dask", "iterate", "num_entries", "open"]
