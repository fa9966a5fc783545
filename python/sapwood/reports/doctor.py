"""What a file is like: the doctor's report, and the map of where everything lies."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .. import _core
from ..arguments.paths import Where, split
from ..arguments.sizes import Size, optional_seconds, size_in_bytes
from ..errors import InvalidError
from .json_text import loads


class Diagnosis:
    """What :func:`doctor` found. ``print(diagnosis)`` is the report of ``sapwood doctor``."""

    def __init__(self, data: str, text: str) -> None:
        self._text = text
        #: everything, as ``sapwood doctor --json`` prints it: ``file``, ``damage`` and ``layout``
        self.data: dict[str, Any] = loads(data)

    @property
    def healthy(self) -> bool:
        """Whether no damage was found; see :attr:`unchecked` for parts that were not checked."""
        return self.data["damage"]["healthy"]

    @property
    def unchecked(self) -> int:
        """How many parts could not be checked, as this version does not read them: their severity is ``unchecked``."""
        return self.data["damage"]["unchecked"]

    @property
    def findings(self) -> list[dict[str, Any]]:
        """Damage, unchecked parts and notes: ``severity`` (``damage``, ``unchecked``, ``note``), ``part``,
        ``object``, ``bytes`` (start and end, end exclusive, or None), ``what``."""
        return self.data["damage"]["findings"]

    @property
    def trees(self) -> list[dict[str, Any]]:
        """Layout of trees: clusters, sizes and order of baskets; ``costs``: cost of typical uses ``now`` and
        ``rewritten`` by :func:`sapwood.optimize`."""
        return self.data["layout"]

    def __str__(self) -> str:
        return self._text.removesuffix("\n")

    def __repr__(self) -> str:
        damage = sum(finding["severity"] == "damage" for finding in self.findings)
        state = "healthy" if self.healthy else f"{damage} places of damage"
        if self.unchecked:
            state = f"{'no damage found' if self.healthy else state}, {self.unchecked} parts not checked"
        return f"<Diagnosis of {self.data['file']}: {state}, {len(self.trees)} trees>"


def doctor(
    path: str | os.PathLike[str],
    *,
    deep: bool = False,
    cache_sizes: Iterable[Size | None] = (0, None),
    round_trips: Iterable[float] = (0, 0.02, 0.2),
    timeout: float | None = 60,
) -> Diagnosis:
    """Examine a file: damage, the layout of its trees, what reading costs and what a rewrite would gain.

    Args:
        path: a path or URL.
        deep: decompress every basket and read every object.
        cache_sizes: tree caches for which costs are worked out: bytes, 0 for basket by basket, None for automatic.
        round_trips: round-trip times of networks for which they are, in seconds; 0 is a local disk.
        timeout: seconds without any progress after which a read fails; None or infinity to wait indefinitely.

    Raises:
        CorruptError: not a ROOT file. Damage is not an error: see :attr:`Diagnosis.findings`.
        FileMissingError: (a FileNotFoundError) no such file.
    """
    where, name = split(path)
    if name is not None:
        raise InvalidError(f"doctor examines a whole file: omit {name!r}")
    caches = [None if size is None else size_in_bytes(size, "cache size") for size in cache_sizes]
    return Diagnosis(
        *_core.doctor(where, bool(deep), optional_seconds(timeout, "timeout"), caches, [float(s) for s in round_trips])
    )


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
        kind = Path(path).suffix.lower()
        if kind == ".svg":
            _core.write_file(os.fspath(path), self._core.svg().encode())
        elif kind == ".png":
            _core.write_file(os.fspath(path), self._core.png(2.0))
        elif kind == ".json":
            _core.write_file(os.fspath(path), self._core.json().encode())
        else:
            raise InvalidError(f"{_core.redacted(os.fspath(path))}: a map is saved as .svg, .png or .json")

    def _repr_svg_(self) -> str:
        return self._core.svg()

    def __str__(self) -> str:
        return self._core.text().removesuffix("\n")

    def __repr__(self) -> str:
        chosen = ", ".join(f"{c['name']}: {c['baskets']} baskets in {c['pieces']} pieces" for c in self.chosen)
        return f"<FileMap of {self.data['file']}: {chosen}>"


def map(path: Where, branches: str | Iterable[str] = (), *, timeout: float | None = 60) -> FileMap:
    """Return where every basket is in a file, like ``TFile::DrawMap``.

    Args:
        path: a path or URL, optionally with a tree: ``"url:tree"``.
        branches: names to tell apart, with ``*`` and ``?``: one colour for each, at most eight; one that fits a branch
            with branches below it chooses those. Without, each tree has a colour.
        timeout: seconds without any progress after which a read fails; None or infinity to wait indefinitely.

    Raises:
        KeyInFileError: (a KeyError) no such tree, or a name that fits no branch.
    """
    from ..reading.file import Options, ReadOnlyFile

    where, name = split(path)
    with ReadOnlyFile(where, Options(None, optional_seconds(timeout, "timeout"), 0)) as file:
        if name is None:
            return FileMap(file._core.map(patterns(branches)))
        tree = file[name]
        if not hasattr(tree, "map"):
            raise InvalidError(f"{name!r} is a {type(tree).__name__}, not a tree: a map is one of a file or of a tree")
        return tree.map(branches)


def patterns(branches: str | Iterable[str]) -> list[str]:
    """Names as a list of text."""
    names = [branches] if isinstance(branches, str) else list(branches)
    if not all(isinstance(name, str) for name in names):
        raise InvalidError("branches must be strings, which may contain * and ?")
    return names
