"""Executors whose work ends at once on Ctrl-C: threads that do not delay the exit of Python, and processes."""

from __future__ import annotations

import os
import pickle
import queue
import signal
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Executor, Future
from multiprocessing import connection, get_context
from typing import Any

from ..errors import InvalidError, SelectorError


def not_sent(e: Exception) -> InvalidError:
    """The error for a selector that cannot be pickled."""
    return InvalidError(
        f"the selector cannot be sent to other processes: {e}. Define it at the top of a module or script, or use "
        'executor="threads"'
    )


class Inline(Executor):
    """Does the work when it is submitted."""

    def submit(self, function, /, *args, **kwargs):
        """Call the function."""
        done: Future[Any] = Future()
        try:
            done.set_result(function(*args, **kwargs))
        except Exception as e:
            done.set_exception(e)
        return done


class Workers(Executor):
    """Threads that take work from a queue."""

    def __init__(self, workers: int) -> None:
        self._work: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._serve, args=(n,), name=f"sapwood-selector-{n}", daemon=True)
            for n in range(workers)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, function, /, *args, **kwargs):
        """Call the function on a thread."""
        result: Future[Any] = Future()
        self._work.put((result, function, args))
        return result

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the threads when they have done their work; they are not awaited."""
        for _ in self._threads:
            self._work.put(None)

    def _serve(self, number: int) -> None:
        while (work := self._work.get()) is not None:
            result, function, args = work
            del work
            if result.set_running_or_notify_cancel():
                try:
                    result.set_result(self._call(number, function, args))
                except BaseException as e:
                    result.set_exception(e)
            # free the batch while waiting
            del result, function, args

    def _call(self, number: int, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        return function(*args)


class Processes(Workers):
    """Processes, each with a thread here that sends it work and waits for the answer.

    So it is known which work a process had that has died.
    """

    def __init__(self, workers: int, prepare: Callable[..., Any], payload: tuple[Any, ...]) -> None:
        """``prepare(*payload)`` is called once in each process and returns the function that does the work."""
        try:
            self._payload = pickle.dumps((prepare, payload))
        except (pickle.PicklingError, TypeError, AttributeError) as e:
            raise not_sent(e) from e
        # a fork would copy locks that threads of the core hold
        self._context = get_context("spawn")
        self._running: list[tuple[Any, Any] | None] = [None] * workers
        self._closed = False
        super().__init__(workers)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes at once."""
        self._closed = True
        super().shutdown()
        for running in self._running:
            if running is not None:
                running[0].kill()

    def _process(self, number: int) -> tuple[Any, Any]:
        running = self._running[number]
        if running is None:
            ours, theirs = self._context.Pipe()
            process = self._context.Process(target=_serve, args=(theirs,), name="sapwood-selector", daemon=True)
            process.start()
            theirs.close()
            self._running[number] = running = process, ours
            if self._closed:
                process.kill()
            ours.send_bytes(self._payload)
        return running

    def _call(self, number: int, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        # the function is the one of prepare; args are one task, whose partition names it in errors
        (task,) = args
        process = None
        try:
            process, pipe = self._process(number)
            pipe.send(task)
            done, value, text = pipe.recv()
        except (EOFError, OSError) as e:
            if process is None and (running := self._running[number]) is not None:
                process = running[0]
            # the next task gets a new process
            self._running[number] = None
            raise SelectorError(
                f"{task.partition}: the worker process {_ending(process)}", file=task.partition.file
            ) from e
        if not done:
            raise value from RemoteTraceback(text)
        return value


class RemoteTraceback(Exception):
    """The traceback of another process."""

    def __str__(self) -> str:
        return f"\n\nin a worker process:\n{self.args[0]}"


def _ending(process: Any) -> str:
    """How a process ended."""
    if process is None:
        return "could not be started"
    process.join(5)
    status = process.exitcode
    if status is not None and status < 0:
        try:
            name = signal.Signals(-status).name
        except ValueError:
            name = f"signal {-status}"
        hint = "; if memory ran out, use fewer workers or a smaller step_size" if name == "SIGKILL" else ""
        return f"was ended by {name}{hint}"
    guard = '; in a script, call process below `if __name__ == "__main__":`' if status == 1 else ""
    return f"ended with status {status}{guard}"


def _serve(pipe: connection.Connection) -> None:
    """What a worker process does."""
    # Ctrl-C is the parent's: it ends this process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    work: Callable[..., Any] | None = None
    failed: Exception | None = None
    try:
        prepare, payload = pickle.loads(pipe.recv_bytes())
        work = prepare(*payload)
    except EOFError:
        return
    except Exception as e:
        failed = SelectorError(f"the selector cannot be used in another process: {type(e).__name__}: {e}")
        text = traceback.format_exc()
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        if work is None:
            answer = (False, failed, text)
        else:
            try:
                answer = (True, work(task), "")
            except Exception as e:
                answer = (False, e, traceback.format_exc())
        try:
            data = pickle.dumps(answer)
        except Exception as e:
            told = SelectorError(
                f"{task.partition}: the results cannot be sent to the main process: {e}", file=task.partition.file
            )
            data = pickle.dumps((False, told, traceback.format_exc()))
        try:
            pipe.send_bytes(data)
        except OSError:
            os._exit(1)
