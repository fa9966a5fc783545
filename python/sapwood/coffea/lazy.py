"""uproot's lazy collections for Dask, on files that Sapwood opens."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import uproot as _uproot

from ..errors import KeyInFileError
from ..reading.tree import Tree
from .files import as_events, open
from .rebound import functions


class _Util:
    """uproot's helper functions, of which one opens a tree."""

    def __getattr__(self, name: str) -> Any:
        return getattr(_uproot._util, name)

    @staticmethod
    def regularize_object_path(where: Any, name: str | None, _: Any, allow_missing: bool, options: dict) -> Any:
        """Return the tree of a file; None if it is missing and may be."""
        if isinstance(where, Tree):
            return as_events(where)
        directory = open({where: None}, **options)
        try:
            return _uproot._util.object_in_directory(directory, name, allow_missing)
        except KeyInFileError:
            if allow_missing:
                return None
            raise


class _Uproot:
    """uproot with Sapwood's opening of trees."""

    _util = _Util()

    def __getattr__(self, name: str) -> Any:
        return getattr(_uproot, name)


globals().update(
    functions(
        import_module("uproot._dask"),
        {"uproot": _Uproot()},
        __name__,
        ("_UprootRead", "_UprootOpenAndRead"),
    )
)
