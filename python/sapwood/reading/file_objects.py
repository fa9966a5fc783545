"""Files that Python reads: file objects, and files of fsspec."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, Union

from ..errors import InvalidError

if TYPE_CHECKING:
    from .fsspec_files import FileOfFsspec

Ranges = list[tuple[int, int]]


#: How URLs begin that the core reads itself.
_NATIVE = tuple(
    f"{scheme}://" for scheme in ("file", "http", "https", "root", "roots", "xroot", "xroots", "s3", "sapwood")
)


class BinaryFile(Protocol):
    """A binary file object, or what opens one (fsspec's ``OpenFile``)."""

    def __enter__(self) -> Any: ...
    def __exit__(self, *_: Any) -> Any: ...


class FileObject:
    """Reads ranges of a binary file object: by ``seek`` and ``read``, one range at a time. Moves its position."""

    def __init__(self, file: Any) -> None:
        if isinstance(file, io.TextIOBase):
            raise InvalidError(f"{file!r} is a text file: open it in binary mode ('rb')")
        if not file.seekable():
            raise InvalidError(f"{file!r} cannot seek: read all of it into io.BytesIO first")
        self.given = file
        self.name = f"<{type(file).__name__} {_name_of(file)}>".replace(" >", ">")
        self._lock = threading.Lock()
        with self._lock:
            self.size = file.seek(0, os.SEEK_END)

    def __call__(self, ranges: Ranges) -> list[bytes]:
        out = []
        with self._lock:
            for start, stop in ranges:
                self.given.seek(start)
                out.append(_exactly(self.given, stop - start))
        return out


#: What reads a file for the core: called with ranges, it returns their bytes.
Reader = Union[FileObject, "FileOfFsspec"]


def reader_of(where: Any) -> tuple[Reader | str, str | None] | None:
    """What reads a file object or a file of fsspec (its path where that is a local file), and the object in it where
    ``{file: object}`` names one; None for anything else."""
    path = None
    if isinstance(where, Mapping):
        if len(where) != 1:
            return None
        where, path = next(iter(where.items()))
    # pathlib.Path has no read(); fsspec's OpenFile can be turned into a path, but not all of them are local
    if isinstance(where, (str, bytes)) or (isinstance(where, os.PathLike) and not hasattr(where, "fs")):
        return None
    fs, inner = getattr(where, "fs", None), getattr(where, "path", None)
    if hasattr(fs, "cat_ranges") and isinstance(inner, str):
        if "b" not in str(getattr(where, "mode", "rb")):
            raise InvalidError(f"{where!r} is a text file: open it in binary mode ('rb')")
        if getattr(where, "compression", None) is None:
            from .fsspec_files import FileOfFsspec

            return FileOfFsspec(where, fs, inner), path
        where = where.open()
    if hasattr(where, "read") and hasattr(where, "seek"):
        return _local_path(where) or FileObject(where), path
    return None


def of_url(url: str, options: Mapping[str, Any] | None) -> FileOfFsspec | str:
    """What reads a URL that only fsspec can open; any other path or URL as it is."""
    if not url.lower().startswith(_NATIVE) and ("://" in url or "::" in url):
        from .fsspec_files import FileOfFsspec, by_url

        found = by_url(url, options)
        if found is not None:
            return FileOfFsspec(url, *found)
    if options and not url.lower().startswith("s3://"):
        raise InvalidError("storage_options are for s3:// URLs, and for those that fsspec opens")
    return url


def _local_path(file: Any) -> str | None:
    """The path of a file object of Python's own, if that is still this file: read at the speed of local files."""
    name = getattr(file, "name", None)
    if not isinstance(file, (io.BufferedReader, io.BufferedRandom, io.FileIO)) or not isinstance(name, (str, bytes)):
        return None
    try:
        same = os.path.samestat(os.fstat(file.fileno()), os.stat(name))
    except OSError:
        return None
    return os.path.abspath(os.fsdecode(name)) if same else None


def _name_of(file: Any) -> str:
    name = getattr(file, "name", "")
    return name if isinstance(name, str) else ""


def _exactly(file: Any, size: int) -> bytes:
    """Raw files return less than was asked for."""
    parts, missing = [], size
    while missing > 0:
        part = file.read(missing)
        if not part:
            break
        parts.append(part)
        missing -= len(part)
    return bytes(parts[0]) if len(parts) == 1 else b"".join(parts)
