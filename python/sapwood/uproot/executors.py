"""uproot's executors, for scripts that make one and pass it on: which threads decompress is decided by the core."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent import futures
from typing import Any


class ThreadPoolExecutor(futures.ThreadPoolExecutor):
    """Python's pool of threads, with as many threads as there are cores."""

    def __init__(self, max_workers: int | None = None) -> None:
        number = max_workers or os.cpu_count() or 1
        super().__init__(number)
        #: Number of threads.
        self.max_workers = number

    @property
    def num_workers(self) -> int:
        """Number of threads."""
        return self.max_workers

    @property
    def closed(self) -> bool:
        """Whether it was shut down."""
        return bool(self._shutdown)


class TrivialExecutor(futures.Executor):
    """Calls each function at once, in the thread that submits it."""

    #: uproot's has no threads to end.
    closed = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> futures.Future[Any]:
        """Call the function; the future has its result, or its exception."""
        future: futures.Future[Any] = futures.Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as e:
            future.set_exception(e)
        return future
