"""Parts of a draw as tasks of an executor: submitted in their order, as many as may be under way, and collected so."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass, replace
from typing import Any

from ..errors import Error, ReadError
from .part import Divided, Part

#: Results that wait for those before them, as a multiple of the tasks under way.
_HELD = 4
#: Seconds until tasks are looked at again.
_LOOK = 0.5


@dataclass
class _Task:
    part: Part
    future: Future[Any]


class Tasks:
    """Parts, and the function of a part that workers call."""

    def __init__(
        self, executor: Executor, most: int, parts: list[Part], function: Callable[..., Any], arguments: tuple[Any, ...]
    ) -> None:
        self._executor, self._most, self._function, self._arguments = executor, most, function, arguments
        self._left = iter(parts)
        #: Tasks; and in the places of files that were divided, those of their parts that are not submitted yet.
        self._entries: list[_Task | deque[Part]] = []

    def results(self) -> Iterator[tuple[Part, Any]]:
        """The results in the order of the parts; of files that are divided, those of their parts."""
        try:
            while True:
                self._submit()
                if not self._entries:
                    return
                first = self._entries[0]
                if isinstance(first, _Task) and not self._divide(first):
                    made = _result(first)
                    del self._entries[0]
                    yield first.part, made
        finally:
            for task in self._tasks():
                task.future.cancel()

    def _tasks(self) -> list[_Task]:
        return [entry for entry in self._entries if isinstance(entry, _Task)]

    def _submit(self) -> None:
        tasks = self._tasks()
        under_way = sum(not task.future.done() for task in tasks)
        free = min(self._most - under_way, _HELD * self._most - len(tasks))
        at = 0
        while at < len(self._entries):
            entry = self._entries[at]
            if not isinstance(entry, _Task):
                # the first one is waited for, whatever else is under way
                if free <= 0 and at > 0:
                    break
                self._entries.insert(at, self._task(entry.popleft()))
                free -= 1
                if not entry:
                    del self._entries[at + 1]
            at += 1
        while free > 0 and (part := next(self._left, None)) is not None:
            self._entries.append(self._task(part))
            free -= 1

    def _task(self, part: Part) -> _Task:
        try:
            return _Task(part, self._executor.submit(self._function, part, *self._arguments))
        except BrokenExecutor as e:
            raise _ended(part, e) from e

    def _divide(self, first: _Task) -> bool:
        """Waits for the first task, or for a file that may be divided, whose parts then take its place. Whether to
        look again."""
        files = [task for task in self._tasks() if task.part.divide]
        if not files or (not first.part.divide and first.future.done()):
            return False
        # no executor may tell of one that somebody else has cancelled
        wait([first.future, *(task.future for task in files)], timeout=_LOOK, return_when=FIRST_COMPLETED)
        for i, task in enumerate(self._entries):
            if not isinstance(task, _Task) or not task.part.divide or not task.future.done():
                continue
            is_there = not task.future.cancelled() and task.future.exception() is None
            if is_there and isinstance(of := task.future.result(), Divided):
                self._entries[i] = deque(parts_of(task.part, of))
            else:
                task.part = replace(task.part, divide=False)
        return True


def parts_of(part: Part, of: Divided) -> list[Part]:
    """The parts of a file that was divided."""
    return [replace(part, start=a, stop=b, uuid=of.uuid, divide=False) for a, b in of.bounds]


def _ended(part: Part, error: BaseException) -> ReadError:
    return ReadError(f"{part}: a process of the executor ended: {error}", file=part.file)


def _result(task: _Task) -> Any:
    part = task.part
    try:
        return task.future.result()
    except Error:
        raise
    except BrokenExecutor as e:
        raise _ended(part, e) from e
    except CancelledError as e:
        raise ReadError(f"{part}: its task was cancelled", file=part.file) from e
    except Exception as e:
        if type(e).__module__.partition(".")[0] == "distributed":
            raise ReadError(f"{part}: the worker ended: {type(e).__name__}: {e}", file=part.file) from e
        raise
