"""Running a selector over a tree or chain."""

from __future__ import annotations

import os
import pickle
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arguments.entries import Entries
from ..arguments.progress import Progress, reporter
from ..arguments.sizes import Size, entry_range, whole
from ..chains.files import ChainFiles
from ..errors import InvalidError, SelectorError
from ..public import public
from ..reading.entry_selection import chosen, place
from .script import load, selector_of
from .selector import Merging, Partition, Selector, run_on
from .workers import Inline, Processes, Workers, not_sent

if TYPE_CHECKING:
    from .. import Chain, Tree


@public
@dataclass(frozen=True)
class PartialResult:
    """The results of the entries processed so far."""

    #: The selector, of the class that was given, merged up to here. Later steps change it.
    selector: Any
    #: Entries processed, and all entries; None if not known because the files of a chain are not counted.
    entries: int
    total: int | None


#: Called with the error of each batch that is left out.
OnError = Callable[[SelectorError], None] | None


class Task(NamedTuple):
    """A batch to be read in another process."""

    partition: Partition
    #: The tree, pickled.
    tree: bytes
    numbers: np.ndarray | None


@dataclass(frozen=True)
class Request:
    """What is read, and how."""

    source: Tree | Chain
    selector: Selector
    #: The script that defines the selector.
    script: str | None
    step_size: Size
    span: tuple[int | None, int | None]
    entries: Entries

    def batches(self) -> Iterator[tuple[Any, Partition]]:
        """The batches in order, read ahead by the tree cache."""
        own = self.selector
        steps = self.source.iterate(
            own.branches, own.cut, filter_name=own.filter_name, aliases=own.aliases, library=own.library,
            step_size=self.step_size, entry_start=self.span[0], entry_stop=self.span[1], entries=self.entries,
            report=True,
        )  # fmt: skip
        try:
            for batch, report in steps:
                tree = report.tree
                partition = Partition(tree.file_path, tree.name, report.start, report.stop, report.offset)
                held = [batch]
                del batch
                yield held.pop(), partition
        finally:
            steps.close()  # type: ignore[attr-defined]

    def tasks(self) -> Iterator[Task]:
        """The same batches, to be read elsewhere."""
        from ..reading.arrays import _step, _wanted
        from ..reading.selection import select

        own, step = self.selector, _step(self.step_size)
        filters = {"filter_name": own.filter_name, "filter_typename": None, "filter_branch": None}
        if not isinstance(self.source, ChainFiles):
            selection = select(self.source, own.branches, own.cut, own.aliases, filters)
            yield from _tasks(self.source, _wanted(self.source, selection, self.span, self.entries), step, 0)
            return
        from ..chains.request import Request as Files
        from ..chains.request import windows_of

        chain = self.source
        # with a progress function no file is read here
        files = Files(
            own.branches, own.cut, filters, own.aliases, step, chain._options, chain._skip_bad, lambda *_: None
        )
        windows = windows_of(chain, chain._options, chain._skip_bad, self.span, self.entries)
        offset = 0
        for part, look_ahead in files.of(windows).parts():
            look_ahead()
            offset = offset if part.offset is None else part.offset
            yield from _tasks(part.tree, part.wanted, step, offset)
            offset += part.tree.num_entries

    def total(self) -> int:
        """The number of entries to be read."""
        first, last = entry_range(*self.span, self.source.num_entries)
        if self.entries is None:
            return last - first
        places = self.source._places if isinstance(self.source, ChainFiles) else [place(self.source)]
        picked = chosen(self.entries, first, last, places)
        return 0 if picked is None else len(picked.numbers)


def _tasks(tree: Tree, wanted: Any, step: tuple[str, int], offset: int) -> Iterator[Task]:
    numbers = None if wanted.chosen is None else wanted.chosen.numbers
    if not wanted.rows:
        return
    if not wanted.branches:
        raise InvalidError("the selector reads no branch: with constants only, use threads")
    of_cut = [b for b in (wanted.cut[0] if wanted.cut else []) if b not in wanted.branches]
    ranges = tree._core.batches(wanted.branches + of_cut, wanted.first, wanted.last, *step, numbers)
    pickled = pickle.dumps(tree)
    for start, stop in ranges:
        own = None if numbers is None else numbers[slice(*np.searchsorted(numbers, [start, stop]))]
        yield Task(Partition(tree.file_path, tree.name, start, stop, offset), pickled, own)


class Reader:
    """Reads and processes tasks in another process."""

    def __init__(self, selector: Selector) -> None:
        self._selector = selector
        self._pickled: bytes | None = None
        self._tree: Any = None

    def __call__(self, task: Task) -> Selector:
        """The copy of the selector for a task."""
        from ..columns.libraries import library

        if task.tree != self._pickled:
            self.close()
            self._tree, self._pickled = pickle.loads(task.tree), task.tree
        own, where = self._selector, task.partition
        batch = self._tree.arrays(
            own.branches, own.cut, filter_name=own.filter_name, aliases=own.aliases, library=own.library,
            entry_start=where.entry_start, entry_stop=where.entry_stop, entries=task.numbers,
        )  # fmt: skip
        if where.offset and task.numbers is None:
            batch = library(own.library).shifted(batch, where.offset)
        return run_on(own, batch, where)

    def close(self) -> None:
        """Close the file."""
        if self._tree is not None:
            self._tree.file.close()
        self._tree = self._pickled = None


def reader(script: str | None, pickled: bytes) -> Reader:
    """What a worker process does with tasks."""
    if script is not None:
        # its classes are found when the selector is unpickled
        load(script)
    return Reader(pickle.loads(pickled))


_readers: dict[tuple[str | None, bytes], Reader] = {}


def _read_elsewhere(script: str | None, pickled: bytes, task: Task) -> Selector:
    """A task in a worker of an executor that the user made."""
    made = _readers.get((script, pickled))
    if made is None:
        for old in _readers.values():
            old.close()
        _readers.clear()
        made = _readers[script, pickled] = reader(script, pickled)
    return made(task)


@public
def partial_results(
    source: Tree | Chain,
    selector: Any,
    *,
    executor: Executor | str | None = None,
    workers: int | None = None,
    step_size: Size = "20 MB",
    entry_start: int | None = None,
    entry_stop: int | None = None,
    entries: Entries = None,
    progress: Progress = None,
    on_error: OnError = None,
) -> Iterator[PartialResult]:
    """Run a selector like :meth:`Tree.process`, and yield what is merged so far after each batch, in order.

    A batch that fails, and is skipped with ``on_error``, yields nothing. ``end`` is not called. Closing the generator
    ends the work and closes the files of a chain.
    """
    request = _request(source, selector, step_size, (entry_start, entry_stop), entries)
    run = _started(executor, workers, request)
    return _partial(request, run, Merging(request.selector), progress, on_error)


def process(
    source: Tree | Chain,
    selector: Any,
    *,
    executor: Executor | str | None,
    workers: int | None,
    step_size: Size,
    span: tuple[int | None, int | None],
    entries: Entries,
    progress: Progress,
    on_error: OnError,
    scheduler: Any = None,
) -> Any:
    """See :meth:`Tree.process`."""
    if scheduler is not None:
        from ..with_dask.schedulers import executor_of

        if executor is not None or workers is not None:
            raise InvalidError("give executor or scheduler, not both; a scheduler has its own workers")
        with executor_of(scheduler) as found:
            return process(
                source, selector, executor=found, workers=None, step_size=step_size, span=span, entries=entries,
                progress=progress, on_error=on_error,
            )  # fmt: skip
    request = _request(source, selector, step_size, span, entries)
    run = _started(executor, workers, request)
    merging = Merging(request.selector)
    for _ in _partial(request, run, merging, progress, on_error):
        pass
    return merging.end()


def _request(
    source: Any, selector: Any, step_size: Size, span: tuple[int | None, int | None], entries: Entries
) -> Request:
    own, script = selector_of(selector)
    own._prepare()
    return Request(source, own, script, step_size, span, entries)


@dataclass(frozen=True)
class Run:
    """What runs a selector."""

    executor: Executor
    #: Batches that may be under way.
    most: int
    #: Whether the executor was made for this run.
    owned: bool
    #: Whether batches are read where they are processed.
    reads: bool


def _started(executor: Any, workers: int | None, request: Request) -> Run:
    if workers is not None and ((whole(workers) or 0) < 1 or executor is None):
        raise InvalidError(f'workers must be a number above 0, with executor="threads" or "processes", not {workers!r}')
    number = workers or os.cpu_count() or 1
    if executor is None:
        return Run(Inline(), 1, True, False)
    if executor == "threads":
        return Run(Workers(number), 2 * number, True, False)
    if executor == "processes":
        try:
            pickled = pickle.dumps(request.selector)
        except (pickle.PicklingError, TypeError, AttributeError) as e:
            raise not_sent(e) from e
        return Run(Processes(number, reader, (request.script, pickled)), 2 * number, True, True)
    if isinstance(executor, Executor):
        number = workers or getattr(executor, "_max_workers", None) or number
        return Run(executor, 2 * number, False, not isinstance(executor, (ThreadPoolExecutor, Workers, Inline)))
    raise InvalidError(
        f'executor must be None, "threads", "processes" or a concurrent.futures.Executor, not {executor!r}'
    )


def _submitted(request: Request, run: Run) -> Iterator[tuple[Partition, Future[Selector]]]:
    """The work, submitted when the next is asked for."""
    if not run.reads:
        batches = request.batches()
        try:
            for batch, partition in batches:
                held = [batch]
                del batch
                yield partition, run.executor.submit(run_on, request.selector, held.pop(), partition)
        finally:
            batches.close()  # type: ignore[attr-defined]
        return
    try:
        pickled = b"" if run.owned else pickle.dumps(request.selector)
    except (pickle.PicklingError, TypeError, AttributeError) as e:
        raise not_sent(e) from e
    tasks = request.tasks()
    try:
        for task in tasks:
            if run.owned:
                # its processes have made the reader; they get the task alone
                submit: Any = run.executor.submit
                yield task.partition, submit(reader, task)
            else:
                yield task.partition, run.executor.submit(_read_elsewhere, request.script, pickled, task)
    finally:
        tasks.close()  # type: ignore[attr-defined]


def _partial(
    request: Request, run: Run, merging: Merging, progress: Progress, on_error: OnError
) -> Iterator[PartialResult]:
    tell, done = reporter(progress)
    pending: deque[tuple[Partition, Future[Selector]]] = deque()
    # the files of a chain are counted only for a progress function
    counted = tell is not None or not isinstance(request.source, ChainFiles)
    count, total = 0, request.total() if counted else None
    submitted = _submitted(request, run)
    try:
        more = True
        while more or pending:
            if more and len(pending) < run.most and not (pending and pending[0][1].done()):
                following = next(submitted, None)
                if following is None:
                    more = False
                else:
                    pending.append(following)
                del following
                continue
            partition, future = pending.popleft()
            try:
                own = _result(partition, future, pending)
            except SelectorError as e:
                # an executor that broke loses all that follows
                if on_error is None or isinstance(e.__cause__, BrokenExecutor):
                    raise
                on_error(e)
                continue
            finally:
                del future
            merged = merging.add(own)
            del own
            count += partition.entry_stop - partition.entry_start
            if tell is not None:
                tell(count, total or 0, 0)
            yield PartialResult(merged, count, total)
    finally:
        for _, future in pending:
            future.cancel()
        submitted.close()  # type: ignore[attr-defined]
        if run.owned:
            run.executor.shutdown(wait=False)
        done()


def _result(partition: Partition, future: Future[Selector], pending: Any) -> Selector:
    try:
        return future.result()
    except BrokenExecutor as e:
        # which of its processes died is not known
        names = "; ".join(str(p) for p in (partition, *(p for p, f in pending)))
        raise SelectorError(
            f"a worker of the executor ended; these entries were not finished: {names}", file=partition.file
        ) from e
