"""The local cache: keeps what was read of remote files in a directory on this machine.

It is off by default. Turn it on for this process by :func:`configure` or the environment variables
``SAPWOOD_CACHE_DIR`` and ``SAPWOOD_CACHE_MAX``, for all programs of the user by ``sapwood cache on``, or for one file
by ``sapwood.open(..., local_cache=)``.

>>> import sapwood
>>> sapwood.cache.configure(directory="/data/sapwood-cache", max_bytes="50 GB")   # doctest: +SKIP
>>> sapwood.cache.status()["bytes"]                                               # doctest: +SKIP
"""

from __future__ import annotations

import os
from typing import Any

from . import _core
from .arguments.paths import name as file_name
from .arguments.sizes import Size, size_in_bytes
from .errors import InvalidError

__all__ = ["configure", "flush", "ls", "purge", "status", "verify"]

#: A directory, or False for no local cache.
Folder = str | bytes | os.PathLike[Any] | bool


def configure(directory: Folder | None = None, *, max_bytes: Size | None = None) -> None:
    """Set the local cache for files that this process opens from now on.

    Args:
        directory: the directory, which is created if it does not exist. None: ``$XDG_CACHE_HOME/sapwood`` or
            ``~/.cache/sapwood``. False: no local cache.
        max_bytes: maximum size (``"50 GB"``); the least recently used data are removed. None: ``SAPWOOD_CACHE_MAX``,
            or 20 GB.
    """
    limit = None if max_bytes is None else size_in_bytes(max_bytes, "max_bytes")
    if limit == 0:
        raise InvalidError("max_bytes must be greater than 0; directory=False turns the local cache off")
    _core.cache_configure(folder(directory, "directory"), limit)


def status() -> dict[str, Any] | None:
    """Return the directory, the limit, the size, and this process's hits and misses; None if the local cache is off."""
    return _core.cache_status()


def ls() -> list[dict[str, Any]]:
    """Return the cached files: URL, size, cached bytes, last use (seconds since 1970)."""
    return _core.cache_list()


def verify() -> dict[str, int]:
    """Compare all checksums; remove damaged data, and return how much was checked and removed."""
    return _core.cache_verify()


def purge(url: str | None = None) -> dict[str, int]:
    """Remove the cached data of one file, or everything; return how much was removed."""
    return _core.cache_purge(None if url is None else file_name(url))


def flush() -> None:
    """Wait until all data that were read are written to the directory. This also happens at the end of the process."""
    _core.cache_flush()


def folder(given: Any, what: str) -> str | bool | None:
    """A directory as text; None and False unchanged."""
    if given is None or given is False:
        return given
    if given is True or isinstance(given, int):
        raise InvalidError(f"{what} must be a path, or False for no local cache, not {given!r}")
    try:
        text = os.path.expanduser(os.fsdecode(given))
        if "://" in text:
            raise InvalidError(f"{what} must be a path on this machine, not the URL {text}")
        # as on the command line and in the environment
        return False if given == "off" else text
    except TypeError:
        raise InvalidError(f"{what} must be a path, or False for no local cache, not {given!r}") from None
