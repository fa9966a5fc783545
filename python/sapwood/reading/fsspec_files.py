"""Files in file systems of fsspec: given as its objects, or by a URL whose scheme only fsspec knows."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..errors import CorruptError, Error, InvalidError, MissingLibraryError, ReadError

Ranges = list[tuple[int, int]]

#: First bytes of a file that are compared at each read: in ROOT files they hold UUID, dates and the end of the file.
_BEGINNING = 512

#: What file systems call the facts that tell versions of a file apart.
_FACTS = (
    "size", "etag", "ETag", "mtime", "LastModified", "last_modified", "Last-Modified", "updated", "modified",
    "generation", "md5Hash", "md5", "checksum", "sha", "uid", "VersionId", "version_id",
)  # fmt: skip


class FileOfFsspec:
    """Reads ranges of a file in an fsspec file system, by ``cat_ranges``, and compares the file at each read."""

    def __init__(self, given: Any, fs: Any, path: str) -> None:
        self.given, self._path = given, path
        self._fs, self._process = _usable(fs), os.getpid()
        self.name = f"<{type(fs).__name__} {path}>"
        try:
            info = self._fs.info(path)
        except FileNotFoundError as e:
            from ..errors import FileMissingError

            raise FileMissingError(f"no such file: {path}", file=path) from e
        except Error:
            raise
        except (OSError, RuntimeError, ValueError) as e:
            raise ReadError(f"{self.name}: {type(e).__name__}: {e}", file=self.name) from e
        if info.get("type") == "directory":
            raise InvalidError(f"{self.name} is a directory, not a file")
        size = info.get("size")
        if size is None:
            raise InvalidError(f"{type(fs).__name__} does not know the size of {path}: open it as a file object")
        self.size = int(size)
        self._facts = _facts(info)
        self._beginning: bytes | None = None

    def __call__(self, ranges: Ranges) -> list[bytes]:
        if self._process != os.getpid():
            # no connection and no event loop of the parent's works in a forked child
            self._fs, self._process = _usable(self._fs), os.getpid()
        first = (0, min(_BEGINNING, self.size))
        wanted = [first, *ranges]
        parts, info = self._read(wanted)
        for (start, stop), part in zip(wanted, parts, strict=True):
            if len(part) != stop - start:
                raise ReadError(
                    f"{self.name}: the file system returned {len(part)} bytes instead of {stop - start} at {start}; "
                    "the file may have changed: open it again",
                    file=self.name,
                )
        now = _facts(info)
        different = [name for name, value in self._facts.items() if name in now and now[name] != value]
        if self._beginning is None:
            self._beginning = parts[0]
        elif self._beginning != parts[0]:
            different.append("first bytes")
        if different:
            what = f"{self.name} changed while it was being read ({', '.join(different)}): open it again"
            raise CorruptError(what, file=self.name)
        return parts[1:]

    def _read(self, ranges: Ranges) -> tuple[list[bytes], Mapping[str, Any]]:
        """The bytes, and what the file system says of the file after it or along with it."""
        fs, path = self._fs, self._path
        paths = [path] * len(ranges)
        starts, stops = [start for start, _ in ranges], [stop for _, stop in ranges]
        # a listing that is kept would hide a change
        fs.invalidate_cache(fs._parent(path))
        if _is_async(fs):
            import asyncio

            from fsspec.asyn import sync

            async def both() -> tuple[list[Any], Any]:
                # in one round trip
                read = fs._cat_ranges(paths, starts, stops, on_error="raise")
                return tuple(await asyncio.gather(read, fs._info(path)))

            parts, info = sync(fs.loop, both)
        else:
            parts = fs.cat_ranges(paths, starts, stops, on_error="raise")
            info = fs.info(path)
        return [bytes(part) for part in parts], info


def by_url(url: str, options: Mapping[str, Any] | None) -> tuple[Any, str] | None:
    """The file system of fsspec that a URL names, and the path in it; None where fsspec is not installed, or does
    not know the scheme.

    Raises:
        MissingLibraryError: fsspec knows the scheme, but the library for it is not installed.
    """
    scheme = url.split("://", 1)[0] if "://" in url else url.split("::", 1)[0] if "::" in url else ""
    if not scheme or os.path.exists(url):
        return None
    try:
        from fsspec.core import url_to_fs
        from fsspec.registry import get_filesystem_class, known_implementations, registry
    except ImportError:
        return None
    outer = scheme.split("::", 1)[0]
    if outer not in registry and outer not in known_implementations:
        return None
    try:
        get_filesystem_class(outer)
        return url_to_fs(url, **dict(options or {}))
    except ImportError as e:
        raise MissingLibraryError(f"{_shown(url)}: {e}") from e
    except (TypeError, ValueError) as e:
        raise InvalidError(f"{_shown(url)}: {e}") from e


def _shown(url: str) -> str:
    from .._core import redacted

    return redacted(url)


def _is_async(fs: Any) -> bool:
    if not getattr(fs, "async_impl", False):
        return False
    # caching file systems call themselves asynchronous as the one below them, without being it
    from fsspec.implementations.cached import CachingFileSystem

    return not isinstance(fs, CachingFileSystem)


def _usable(fs: Any) -> Any:
    """The file system, or one with the same options where this one cannot be called here."""
    is_foreign = getattr(fs, "_pid", os.getpid()) != os.getpid()
    if is_foreign or getattr(fs, "asynchronous", False):
        options = {name: value for name, value in fs.storage_options.items() if name not in ("asynchronous", "loop")}
        fs = type(fs)(*fs.storage_args, **options)
    if getattr(fs, "async_impl", False):
        import asyncio

        try:
            running: Any = asyncio.get_running_loop()
        except RuntimeError:
            running = None
        if running is not None and running is fs.loop:
            raise InvalidError(
                "a file of an asynchronous file system cannot be read from within fsspec's own event loop"
            )
    return fs


def _facts(info: Mapping[str, Any]) -> dict[str, Any]:
    return {name: info[name] for name in _FACTS if info.get(name) is not None}
