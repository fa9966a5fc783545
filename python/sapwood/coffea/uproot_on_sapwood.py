"""The names of uproot that coffea uses, with files opened by Sapwood."""

from __future__ import annotations

from typing import Any

import uproot as _uproot

from ..errors import KeyInFileError
from .files import open


class _Exceptions:
    """uproot's exceptions, and Sapwood's where coffea handles one."""

    KeyInFileError = KeyInFileError

    def __getattr__(self, name: str) -> Any:
        return getattr(_uproot.exceptions, name)


exceptions = _Exceptions()


def dask(*args: Any, **options: Any) -> Any:
    """Return a lazy collection; takes the arguments of ``uproot.dask``."""
    from . import lazy

    return lazy.dask(*args, **options)  # type: ignore[attr-defined]


def __getattr__(name: str) -> Any:
    return getattr(_uproot, name)


__all__ = ["dask", "exceptions", "open"]
