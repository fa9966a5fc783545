"""Trees that a worker holds open for its next partitions."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ..errors import Error, KeyInFileError
from . import settings

#: Files that a process holds open.
_MOST = 8

_held: OrderedDict[tuple[Any, ...], Any] = OrderedDict()
_lock = threading.Lock()

T = TypeVar("T")


def with_tree(
    file: str, name: str | None, options: Mapping[str, Any], environment: Mapping[str, str], use: Callable[[Any], T]
) -> T:
    """The result of a function of a tree, which stays open for the next call.

    A local file that was replaced is opened again. After an error the file is closed.
    """
    settings.apply(environment)
    key = (file, name, tuple(sorted(options.items())), _version(file))
    with _lock:
        tree = _held.pop(key, None)
    if tree is None:
        tree = _open(file, name, options)
    try:
        result = use(tree)
    except Error:
        tree.file.close()
        raise
    with _lock:
        # another thread may have opened it as well
        doubled = _held.pop(key, None)
        _held[key] = tree
        closed = [doubled] if doubled is not None else []
        while len(_held) > _MOST:
            closed.append(_held.popitem(last=False)[1])
    for old in closed:
        old.file.close()
    return result


def _open(file: str, name: str | None, options: Mapping[str, Any]) -> Any:
    from ..reading.tree_of_file import tree_of

    opened = open_file(file, options)
    try:
        return tree_of(opened, name)
    except BaseException:
        opened.close()
        raise


def open_file(file: str, options: Mapping[str, Any]) -> Any:
    """Open a file with options of :func:`sapwood.open`; ``opened_as`` among them is the class of the file.

    Unless ``threads`` is given, it decompresses on one thread: the scheduler runs as many tasks as it has cores.
    """
    from ..reading.file import Options, ReadOnlyFile, open_as

    given = {name: value for name, value in options.items() if name != "opened_as"}
    if given.get("threads") is None:
        given["threads"] = 1
    return open_as(options.get("opened_as", ReadOnlyFile), {file: None}, Options.checked(**given))


def _version(file: str) -> tuple[int, ...] | None:
    """What changes when a local file is replaced; the core notices when a remote one is."""
    if "://" in file:
        return None
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def has_no_tree(e: Exception) -> bool:
    """Whether a file was read that does not contain the tree."""
    return isinstance(e, KeyInFileError)
