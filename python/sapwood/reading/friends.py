"""Friends given to trees and chains."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..arguments.checks import string
from ..arguments.paths import expanded, several
from ..errors import FileMissingError, InvalidError


class Friend(NamedTuple):
    """A friend, as the core takes it."""

    alias: str | None
    #: Files, each with its tree.
    files: list[tuple[str, str | None]]
    #: The expressions of its index: major and minor.
    keys: tuple[str, str] | None


def friend_from(tree: str, files: Any, alias: str | None, index: str | Iterable[str] | None) -> Friend:
    """The friend that the arguments of :meth:`Tree.add_friend` describe.

    Raises:
        FileMissingError: a local file does not exist.
        InvalidError: the arguments make no sense.
    """
    name = string(tree, "tree")
    places: list[tuple[str, str | None]] = [(file, path or name) for file, path in several(files)]
    if not places:
        raise InvalidError("a friend needs a file")
    for file, _ in places:
        # otherwise it would be noticed only where one of its branches is used
        if "://" not in file and not os.path.exists(expanded(file)):
            raise FileMissingError(f"{file}: no such file", file=file)
    if alias is not None and (not string(alias, "alias") or "." in alias):
        raise InvalidError(f"alias must be a name without dots, not {alias!r}")
    return Friend(alias, places, _index(index))


def _index(index: str | Iterable[str] | None) -> tuple[str, str] | None:
    if index is None:
        return None
    names = (index,) if isinstance(index, str) else tuple(string(name, "index") for name in index)
    if not 1 <= len(names) <= 2 or not all(names):
        raise InvalidError(f"index must be one or two expressions, such as ('run', 'event'), not {index!r}")
    return names[0], names[1] if len(names) > 1 else "0"
