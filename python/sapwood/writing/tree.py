"""Trees that are written."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ..errors import InvalidError
from ..public import public
from .columns import Column, cut, nbytes
from .entries import Entries
from .layout import Layout
from .types import words_of

if TYPE_CHECKING:
    from .. import Merger, WritableFile, _core

#: Bytes that are passed to the core at a time. They are copied, so this is small compared to a cluster.
STEP = 4 << 20


@public
class WritableTree(Entries):
    """A tree that is open for writing: append entries in batches of any size."""

    #: What errors call it.
    _what = "tree"

    def __init__(self, file: WritableFile, path: str, title: str, core: _core.WriterTree, layout: Layout) -> None:
        self._path = path
        self._title = title
        self._core = core
        self._layout = layout
        self._entries: int | None = None
        self._file_path = file.file_path
        self._merger: Merger | None = None
        #: Why no more entries can be appended, once this is so.
        self._finished_by = "it was closed"
        self._process = os.getpid()
        #: Whether the file had it before.
        self._in_file = False

    @property
    def path(self) -> str:
        """Path in the file."""
        return self._path

    @property
    def file_path(self) -> str:
        """Path of the file."""
        return str(self._file_path)

    @property
    def closed(self) -> bool:
        """Whether no more entries can be appended."""
        return self._entries is not None

    def show(self, name_width: int = 20, typename_width: int = 24, stream: Any = None) -> None:
        """Print a table of the branches and their types.

        Args:
            stream: output stream; None for standard output.
        """
        import sys

        lines = [f"{'name':<{name_width}} | type", "-" * name_width + "-+-" + "-" * typename_width]
        for name, kind in self._layout.branches.items():
            lines.append(f"{name:<{name_width}} | {words_of(kind)}")
        (stream or sys.stdout).write("\n".join(lines) + "\n")

    @property
    def name(self) -> str:
        """Name of the tree."""
        return self._path.rpartition("/")[2].partition(";")[0]

    @property
    def title(self) -> str:
        """Title of the tree."""
        return self._title

    @property
    def num_entries(self) -> int:
        """Number of entries so far."""
        if self._merger is not None:
            return self._merger.num_entries
        return self._core.entries if self._entries is None else self._entries

    def __len__(self) -> int:
        return self.num_entries

    def __bool__(self) -> bool:
        return True

    def _check_open(self) -> None:
        what = f"{self._file_path}: {self._what} {self.name}"
        if os.getpid() != self._process:
            raise InvalidError(f"{what} can only be written by the process that opened it")
        if self._entries is not None:
            raise InvalidError(f"{what} is finished: {self._finished_by}")
        if self._merger is not None:
            raise InvalidError(f"{what} is written by producers; close their merger first")

    def _take(self, columns: list[tuple[str, Column]], total: int) -> None:
        step = max(1, int(total * STEP / max(1, sum(nbytes(c) for _, c in columns))))
        if total <= step:
            self._core.extend(columns)
            return
        for start in range(0, total, step):
            self._core.extend([(name, cut(c, start, min(total, start + step))) for name, c in columns])

    def merger(self, *, patience: float | None = 30.0) -> Merger:
        """Let several producers write this tree or ntuple: threads, or processes that receive the merger.

        Args:
            patience: seconds to wait for processes that still write when the merger is closed, before they are cut
                off; None or infinity to wait indefinitely.
        """
        from .producers import Merger

        self._check_open()
        self._merger = Merger(self, patience)
        return self._merger

    def flush(self) -> None:
        """End the current cluster, regardless of its size."""
        self._check_open()
        self._core.flush()

    def _abandon(self) -> None:
        """Take the tree back, as if it had not been begun."""
        self._entries = 0
        self._core.abandon()

    def _finish(self) -> None:
        self._in_file = True
        if self._merger is not None:
            self._merger.close()
        if self._entries is None:
            entries = self._core.entries
            self._core.finish()
            self._entries = entries

    def _give_up(self) -> None:
        """The changes to the file are discarded: no more entries."""
        if self._entries is None:
            self._entries = self._core.entries

    def close(self) -> None:
        """Write the remaining entries and close the tree."""
        if os.getpid() == self._process:
            self._finish()

    def __enter__(self) -> WritableTree:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.close()

    def __repr__(self) -> str:
        return f"<WritableTree {self._path!r} in {self._file_path!r}, {self.num_entries} entries>"
