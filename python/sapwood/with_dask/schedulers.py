"""What runs work elsewhere: a Dask client, the address of its scheduler, or any executor."""

from __future__ import annotations

import os
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

from ..errors import InvalidError, require


@contextmanager
def executor_of(scheduler: Any):
    """The executor of a ``distributed.Client``, of the scheduler at an address, or an executor itself."""
    if isinstance(scheduler, str):
        distributed = require("distributed", f"scheduler={scheduler!r}")
        if "://" not in scheduler:
            raise InvalidError(f"scheduler must be an address such as tcp://host:8786, not {scheduler!r}")
        with distributed.Client(scheduler, set_as_default=False) as client:
            yield client.get_executor(pure=False)
    elif hasattr(scheduler, "get_executor"):
        yield scheduler.get_executor(pure=False)
    elif isinstance(scheduler, Executor):
        yield scheduler
    else:
        raise InvalidError(
            "scheduler must be a distributed.Client, the address of a Dask scheduler, or a "
            f"concurrent.futures.Executor, not {scheduler!r}"
        )


def most_under_way(executor: Any) -> int:
    """Tasks that are submitted before the first is done."""
    number = getattr(executor, "_max_workers", None) or os.cpu_count() or 1
    # how many workers a cluster has changes while it runs
    return max(64, 4 * number)
