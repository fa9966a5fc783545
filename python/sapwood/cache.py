"""The local cache: what was read of remote files, kept in a folder on this machine.

It is off unless it is turned on: for this process by :func:`configure` or the environment variables
``SAPWOOD_CACHE_DIR`` and ``SAPWOOD_CACHE_MAX``, for all programs of the user by ``sapwood cache on``, for one file by
``sapwood.open(..., local_cache=)``.

>>> import sapwood
>>> sapwood.cache.configure(directory="/data/sapwood-cache", max_bytes="50 GB")   # doctest: +SKIP
>>> sapwood.cache.status()["bytes"]                                               # doctest: +SKIP
"""

from __future__ import annotations

import os
from typing import Any

from . import _core
from .arguments.sizes import Size, size_in_bytes
from .errors import InvalidError

__all__ = ["configure", "flush", "ls", "purge", "status", "verify"]

#: A folder, or False for no local cache.
Folder = str | bytes | os.PathLike[Any] | bool


def configure(directory: Folder | None = None, *, max_bytes: Size | None = None) -> None:
    """Set the local cache for files that this process opens from now on.

    Args:
        directory: the folder; it is made if it does not exist. None: ``$XDG_CACHE_HOME/sapwood`` or
            ``~/.cache/sapwood``. False: no local cache.
        max_bytes: bytes that it may hold (``"50 GB"``); the least recently used are dropped. None:
            ``SAPWOOD_CACHE_MAX``, or 20 GB.
    """
    limit = None if max_bytes is None else size_in_bytes(max_bytes, "max_bytes")
    if limit == 0:
        raise InvalidError("max_bytes must be greater than 0; directory=False turns the local cache off")
    _core.cache_configure(folder(directory, "directory"), limit)


def status() -> dict[str, Any] | None:
    """Return the folder, the limit, what is held, this process's hits and misses; None if the local cache is off."""
    return _core.cache_status()


def ls() -> list[dict[str, Any]]:
    """Return the files of which something is held: URL, size, bytes held, last use (seconds since 1970)."""
    return _core.cache_list()


def verify() -> dict[str, int]:
    """Read all that is held and compare its checksums; drop what is damaged, and return how much that was."""
    return _core.cache_verify()


def purge(url: str | None = None) -> dict[str, int]:
    """Remove what is held of one file, or everything; return how much that was."""
    return _core.cache_purge(url)


def flush() -> None:
    """Wait until all that was read is in the folder. This happens by itself at the end of the process."""
    _core.cache_flush()


def folder(given: Any, what: str) -> str | bool | None:
    """A folder as text; None and False as they are."""
    if given is None or given is False:
        return given
    if given is True or isinstance(given, int):
        raise InvalidError(f"{what} is a folder, or False for no local cache, not {given!r}")
    try:
        text = os.path.expanduser(os.fsdecode(given))
        if "://" in text:
            raise InvalidError(f"{what} is a folder on this machine, not the URL {text}")
        # as on the command line and in the environment
        return False if given == "off" else text
    except TypeError:
        raise InvalidError(f"{what} is a folder, or False for no local cache, not {given!r}") from None
