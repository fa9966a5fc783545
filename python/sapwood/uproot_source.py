"""Sapwood as uproot's source of bytes: ``uproot.open(url, handler=sapwood.SapwoodSource)``.

uproot interprets the file; Sapwood opens it and fetches the ranges: over HTTP and XRootD in few requests of many
ranges, with its retries, redirects, credentials, local cache, and the check that the file does not change meanwhile.
"""

from __future__ import annotations

import concurrent.futures
import os
import queue
import threading
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import uproot
import uproot.source.chunk
import uproot.source.futures

from . import _core
from . import cache as _local_cache
from .arguments.checks import flag
from .arguments.sizes import optional_seconds
from .arguments.storage_options import of_s3
from .errors import UnverifiedFileWarning, WholeFileWarning
from .public import public

#: Reads of one file at once at most. Each may have several requests in flight.
THREADS = 4


@public
class SapwoodSource(uproot.source.chunk.Source):
    """A source of bytes for uproot that reads with Sapwood.

    Args:
        file_path: a path, or a URL that :func:`sapwood.open` reads itself.
        timeout: seconds without any progress after which a read fails; None to wait indefinitely.
        insecure_redirects, local_cache, offline: as for :func:`sapwood.open`.
        storage_options: how the store of an ``s3://`` URL is reached, as for :func:`sapwood.open`.
        options: uproot's own options, which have no effect here.

    Raises:
        FileMissingError: (a FileNotFoundError) no such file.
        ReadError, StalledError, DeniedError: (OSErrors) the file cannot be read.
    """

    def __init__(
        self,
        file_path: str,
        *,
        timeout: float | None = 60,
        insecure_redirects: bool = False,
        local_cache: _local_cache.Folder | None = None,
        offline: bool = False,
        storage_options: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        unknown = [name for name in options if name not in uproot.reading.open.defaults]
        if unknown:
            raise TypeError(f"SapwoodSource has no option {', '.join(unknown)}")
        self._given = os.fspath(file_path)
        self._arguments = (
            optional_seconds(timeout, "timeout"),
            flag(insecure_redirects, "insecure_redirects"),
            _local_cache.folder(local_cache, "local_cache"),
            flag(offline, "offline"),
            of_s3(storage_options),
        )
        self._open()

    def _open(self) -> None:
        self._closed = False
        self._file = _core.open_bytes(self._given, *self._arguments)
        self._file_path, self._num_bytes = self._file.url, self._file.size
        self._lock = threading.Lock()
        self._threads: concurrent.futures.ThreadPoolExecutor | None = None
        self._process = os.getpid()
        for remark in self._file.remarks:
            warnings.warn(remark, UnverifiedFileWarning, stacklevel=4)
        if self._file.whole_file_remark is not None:
            warnings.warn(self._file.whole_file_remark, WholeFileWarning, stacklevel=4)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._file_path!r}{' (closed)' if self._closed else ''}>"

    def __getstate__(self) -> dict[str, Any]:
        # opened again where it is unpickled
        state = self.__dict__.copy()
        for name in ("_file", "_lock", "_threads"):
            del state[name]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        was_closed = state["_closed"]
        self.__dict__.update(state)
        self._open()
        if was_closed:
            self.close()

    def __enter__(self) -> SapwoodSource:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            threads, self._threads, self._closed = self._threads, None, True
        if threads is not None and self._process == os.getpid():
            # reads that have begun give their bytes to those who wait for them
            threads.shutdown(wait=False)
        self._file.close()

    @property
    def closed(self) -> bool:
        """Whether the source is closed."""
        return self._closed

    @property
    def counts(self) -> tuple[int, int]:
        """Requests that were sent, and bytes that came for them, the opening included."""
        return self._file.counts

    def chunk(self, start: int, stop: int) -> uproot.source.chunk.Chunk:
        """A range of bytes; it ends at the end of the file at the latest."""
        self._count([(start, stop)])
        (data,) = self._file.read(self._inside([(start, stop)]))
        return uproot.source.chunk.Chunk(self, start, stop, uproot.source.futures.TrivialFuture(data))

    def chunks(
        self, ranges: list[tuple[int, int]], notifications: queue.Queue[uproot.source.chunk.Chunk]
    ) -> list[uproot.source.chunk.Chunk]:
        """Ranges of bytes, fetched together in the background. Each chunk is put on the queue when it is filled."""
        ranges = [(int(start), int(stop)) for start, stop in ranges]
        self._count(ranges)
        futures: list[concurrent.futures.Future[bytes]] = [concurrent.futures.Future() for _ in ranges]
        chunks = []
        for (start, stop), future in zip(ranges, futures, strict=True):
            chunk = uproot.source.chunk.Chunk(self, start, stop, future)
            future.add_done_callback(_tell(chunk, notifications))
            chunks.append(chunk)
        if ranges:
            self._executor_here().submit(self._fill, self._inside(ranges), futures)
        return chunks

    def _fill(self, ranges: list[tuple[int, int]], futures: list[concurrent.futures.Future[bytes]]) -> None:
        try:
            for future, data in zip(futures, self._file.read(ranges), strict=True):
                future.set_result(data)
        except BaseException as e:
            for future in futures:
                if not future.done():
                    future.set_exception(e)

    def _executor_here(self) -> concurrent.futures.ThreadPoolExecutor:
        with self._lock:
            if self._closed:
                raise OSError(f"file {self._file_path!r} is closed")
            if self._threads is None or self._process != os.getpid():
                self._threads = concurrent.futures.ThreadPoolExecutor(THREADS, thread_name_prefix="sapwood")
                self._process = os.getpid()
            return self._threads

    def _count(self, ranges: list[tuple[int, int]]) -> None:
        with self._lock:
            if self._closed:
                raise OSError(f"file {self._file_path!r} is closed")
            self._num_requests += 1
            self._num_requested_chunks += len(ranges)
            self._num_requested_bytes += sum(stop - start for start, stop in ranges)

    def _inside(self, ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """What of the ranges is inside the file: uproot asks for more than there is of short files."""
        size = self._num_bytes
        return [(min(start, size), min(max(start, stop), size)) for start, stop in ranges]


def _tell(
    chunk: uproot.source.chunk.Chunk, notifications: queue.Queue[uproot.source.chunk.Chunk]
) -> Callable[[object], None]:
    """Puts a chunk on the queue when it is filled."""

    def filled(_: object) -> None:
        notifications.put(chunk)

    return filled
