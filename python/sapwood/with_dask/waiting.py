"""Lets a worker of Dask begin its next tasks while one waits for a server."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

#: Tasks of a process that wait outside of its pool of threads, at most.
_AT_MOST = 8
#: Uncompressed bytes of a partition that is read outside of the pool; larger ones occupy a thread, which bounds a
#: worker's memory.
SMALL = 32 << 20

_slots = threading.BoundedSemaphore(_AT_MOST)


class TaskThread:
    """The thread of a task, which may leave the worker's pool for a while."""

    def __init__(self) -> None:
        self._outside = False

    def leave_pool(self) -> None:
        """Let the worker begin another task; nothing outside of Dask, or when many tasks have left already."""
        distributed = sys.modules.get("distributed")
        if self._outside or distributed is None or not _slots.acquire(blocking=False):
            return
        try:
            distributed.secede()
        except (ValueError, AttributeError, KeyError):
            # not a task of a worker with a pool of threads
            _slots.release()
        else:
            self._outside = True

    def return_to_pool(self) -> None:
        """Wait for a free thread, if the task has left the pool."""
        if not self._outside:
            return
        import distributed

        self._outside = False
        _slots.release()
        distributed.rejoin()


@contextmanager
def outside_pool(remote: bool) -> Iterator[TaskThread]:
    """A block in which a task mostly waits for a server, if ``remote``."""
    thread = TaskThread()
    if remote:
        thread.leave_pool()
    try:
        yield thread
    finally:
        thread.return_to_pool()
