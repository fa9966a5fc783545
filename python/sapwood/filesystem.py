"""Sapwood as a file system of fsspec: other readers fetch through it.

>>> import fsspec
>>> with fsspec.open("sapwood://root://eospublic.cern.ch//eos/data.root") as f:  # doctest: +SKIP
...     f.read(4)
b'root'

Put ``sapwood::`` or ``sapwood://`` before a local path or an ``http(s)://``, ``root(s)://`` or ``s3://`` URL.
``sapwood::`` is fsspec's notation for chains; fsspec then imports its own file system for the URL as well
(``fsspec-xrootd``, ``aiohttp``). ``sapwood://`` needs nothing but Sapwood. The file system reads only.
"""

from __future__ import annotations

import os
import threading
import warnings
from typing import Any

from fsspec.spec import AbstractBufferedFile

try:
    from fsspec.implementations.chained import ChainedFileSystem
except ImportError:  # before fsspec 2025.10, which gives such a file system the path behind the "::"
    from fsspec import AbstractFileSystem as ChainedFileSystem

from . import _core
from .errors import UnverifiedFileWarning, WholeFileWarning

#: Files kept open, so that reading range by range does not open them each time.
KEPT = 32


class SapwoodFileSystem(ChainedFileSystem):
    """A read-only file system over local paths and ``http(s)://``, ``root(s)://`` and ``s3://`` URLs.

    Args:
        timeout: seconds without any progress after which a read fails; None to wait indefinitely.
        insecure_redirects: follow redirects from ``https`` to ``http``, and to this machine.
        target_protocol, target_options, fo: set by fsspec for ``sapwood::URL``.
    """

    protocol = "sapwood"
    root_marker = ""

    def __init__(
        self,
        timeout: float | None = 60,
        insecure_redirects: bool = False,
        target_protocol: str | None = None,
        target_options: dict[str, Any] | None = None,
        fo: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._timeout, self._insecure_redirects = timeout, insecure_redirects
        self._target, self._host, self._only = target_protocol, (target_options or {}).get("hostid"), fo
        self._files: dict[str, _core.ByteFile] = {}
        self._lock = threading.Lock()

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        if isinstance(path, list):
            return [cls._strip_protocol(p) for p in path]
        path = os.fspath(path)
        for front in ("sapwood://", "sapwood::"):
            path = path.removeprefix(front)
        return path

    def unstrip_protocol(self, name: str) -> str:
        """The path with the protocol: ``sapwood://URL``."""
        return f"sapwood://{self._url(name)}"

    def _url(self, path: str) -> str:
        path = self._strip_protocol(path) or self._only or ""
        if "://" not in path and self._target in ("root", "roots", "xroot"):
            # fsspec-xrootd keeps the host apart from the path
            scheme = "root" if self._target == "xroot" else self._target
            return f"{scheme}://{self._host}/{path}"
        return path.removeprefix("file://").removeprefix("local://")

    def _file(self, path: str) -> _core.ByteFile:
        url = self._url(path)
        with self._lock:
            file = self._files.pop(url, None)
            if file is not None:
                # the one used last comes last
                self._files[url] = file
                return file
        file = _core.open_bytes(url, self._timeout, self._insecure_redirects)
        for remark in file.remarks:
            warnings.warn(remark, UnverifiedFileWarning, stacklevel=4)
        if file.whole_file_remark is not None:
            warnings.warn(file.whole_file_remark, WholeFileWarning, stacklevel=4)
        with self._lock:
            self._files[url] = file
            # no close(): another thread may be reading it
            while len(self._files) > KEPT:
                del self._files[next(iter(self._files))]
        return file

    def _read(self, path: str, ranges: list[tuple[int | None, int | None]]) -> list[bytes]:
        file = self._file(path)
        try:
            return file.read([_range(file.size, start, end) for start, end in ranges])
        except Exception:
            # it may have changed: opened again when it is next read
            self.invalidate_cache(path)
            raise

    def invalidate_cache(self, path: str | None = None) -> None:
        """Open files again when they are next read: all, or this one."""
        with self._lock:
            if path is None:
                self._files.clear()
            else:
                self._files.pop(self._url(path), None)
        super().invalidate_cache(path)

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Name, size and type."""
        url = self._url(path)
        if "://" not in url and os.path.isdir(url):
            return {"name": url, "size": 0, "type": "directory"}
        return {"name": url, "size": self._file(path).size, "type": "file"}

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        """What a directory holds: local ones, those of XRootD servers, and prefixes of S3 buckets."""
        url = self._url(path)
        if url.startswith(("root://", "roots://", "s3://")):
            escaped = _escaped if url.startswith("s3://") else str
            found = [
                {
                    "name": f"{url.rstrip('/')}/{escaped(name)}",
                    "size": size,
                    "type": "directory" if folder else "file",
                    "mtime": at,
                }
                for name, size, folder, at in _core.list_directory(url)
            ]
        elif "://" in url:
            raise NotImplementedError("HTTP servers do not list directories")
        else:
            with os.scandir(url or ".") as entries:
                found = [
                    {
                        "name": entry.path,
                        "size": entry.stat().st_size,
                        "type": "directory" if entry.is_dir() else "file",
                        "mtime": int(entry.stat().st_mtime),
                    }
                    for entry in entries
                ]
        return found if detail else [entry["name"] for entry in found]

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **_: Any) -> bytes:
        """The bytes of a file, or of a range of it."""
        return self._read(path, [(start, end)])[0]

    def cat_ranges(
        self, paths: Any, starts: Any, ends: Any, max_gap: int | None = None, on_error: str = "return", **_: Any
    ) -> list[Any]:
        """Ranges of files; those of one file are fetched together."""
        count = len(paths)
        starts = starts if isinstance(starts, (list, tuple)) else [starts] * count
        ends = ends if isinstance(ends, (list, tuple)) else [ends] * count
        if not count == len(starts) == len(ends):
            raise ValueError("paths, starts and ends differ in length")
        out: list[Any] = [None] * count
        of_file: dict[str, list[int]] = {}
        for i, path in enumerate(paths):
            of_file.setdefault(path, []).append(i)
        for path, indices in of_file.items():
            try:
                read: list[Any] = list(self._read(path, [(starts[i], ends[i]) for i in indices]))
            except Exception as e:
                if on_error == "raise":
                    raise
                read = [e] * len(indices)
            for i, part in zip(indices, read, strict=True):
                out[i] = part
        return out

    def _open(
        self, path: str, mode: str = "rb", block_size: Any = None, cache_options: Any = None, **kwargs: Any
    ) -> Any:
        if mode != "rb":
            raise NotImplementedError("the file system only reads: open in mode 'rb'")
        options = {"cache_type": kwargs.pop("cache_type", "readahead"), "cache_options": cache_options}
        return SapwoodFile(self, path, mode, block_size or "default", size=self._file(path).size, **options)

    def created(self, path: str) -> Any:
        """Not known."""
        raise NotImplementedError("the creation time of a file is not known")

    modified = created


class SapwoodFile(AbstractBufferedFile):
    """A file of :class:`SapwoodFileSystem`, open for reading."""

    def _fetch_range(self, start: int, end: int) -> bytes:
        return self.fs.cat_file(self.path, start, end)


def _escaped(name: str) -> str:
    """A name as a part of an ``s3://`` URL."""
    return name.replace("%", "%25").replace("?", "%3F")


def _range(size: int, start: int | None, end: int | None) -> tuple[int, int]:
    """As a slice of the file's bytes would be cut."""
    begin, stop, _ = slice(start, end).indices(size)
    return begin, max(begin, stop)
