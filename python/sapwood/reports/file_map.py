"""The map of a file: where its baskets are."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .. import _core
from ..arguments.checks import strings
from ..arguments.paths import Where, local_path, split
from ..arguments.sizes import optional_seconds
from ..errors import InvalidError
from ..public import public
from .json_text import loads


@public
class FileMap:
    """The layout of a file. ``print(map)`` shows it as text; a notebook shows the picture."""

    def __init__(self, core: _core.Map) -> None:
        self._core = core
        self._data: dict[str, Any] | None = None

    @property
    def data(self) -> dict[str, Any]:
        """Everything, as ``sapwood map --json`` prints it: ``file``, ``bytes``, ``chosen``, ``trees`` (of each chosen
        branch's baskets first entry, offset and bytes), ``records``."""
        if self._data is None:
            self._data = loads(self._core.json())
        return self._data

    @property
    def chosen(self) -> list[dict[str, Any]]:
        """The selected groups of branches, by pattern or tree: ``name``, ``branches``, ``baskets``, ``bytes``,
        the number of contiguous ``pieces``, and their range (``extent``)."""
        return self.data["chosen"]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the picture (``.svg``, ``.png``) or the numbers (``.json``)."""
        file = local_path(path)
        kind = Path(file).suffix.lower()
        if kind == ".svg":
            _core.write_file(file, self._core.svg().encode())
        elif kind == ".png":
            _core.write_file(file, self._core.png(2.0))
        elif kind == ".json":
            _core.write_file(file, self._core.json().encode())
        else:
            raise InvalidError(f"{file}: a map can be saved as .svg, .png or .json")

    def _repr_svg_(self) -> str:
        return self._core.svg()

    def __str__(self) -> str:
        return self._core.text().removesuffix("\n")

    def __repr__(self) -> str:
        chosen = ", ".join(f"{c['name']}: {c['baskets']} baskets in {c['pieces']} pieces" for c in self.chosen)
        return f"<FileMap of {self.data['file']}: {chosen}>"


@public
def map(path: Where, branches: str | Iterable[str] = (), *, timeout: float | None = 60) -> FileMap:
    """Return where every basket is in a file, like ``TFile::DrawMap``.

    Args:
        path: a path or URL, optionally with a tree: ``"url:tree"``.
        branches: names to show in different colors, at most eight; ``*`` and ``?`` are wildcards. The name of a branch
            selects its sub-branches as well. By default each tree has a color.
        timeout: seconds without any progress after which a read fails; None or infinity to wait indefinitely.

    Raises:
        KeyInFileError: (a KeyError) no such tree, or a name that matches no branch.
    """
    from ..reading.file import Options, ReadOnlyFile

    where, name = split(path)
    with ReadOnlyFile(where, Options(None, optional_seconds(timeout, "timeout"), 0)) as file:
        if name is None:
            return FileMap(file._core.map(patterns(branches)))
        tree = file[name]
        if not hasattr(tree, "map"):
            raise InvalidError(f"{name!r} is a {type(tree).__name__}; only files and trees have a map")
        return tree.map(branches)


def patterns(branches: str | Iterable[str]) -> list[str]:
    """Names as a list of strings."""
    return strings(branches, "branches")
