"""Many producers of one tree: threads, and processes over a local socket."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _core
from ._errors import InvalidError, ProducerLostWarning, UnsupportedError
from ._sizes import optional_seconds
from ._writing_tree import Entries, Layout

if TYPE_CHECKING:
    from ._writing_tree import WritableTree


@dataclass(frozen=True)
class LostProducer:
    """A producer that went without finishing."""

    #: who it was: ``process 1234``, or a thread's name
    producer: str
    #: its entries that are in the tree
    entries: int
    #: what happened
    why: str


class Merger:
    """Joins the entries of many producers in one tree. A context manager.

    Each producer gathers entries by itself and hands them on in pieces, which stay together and follow one another in
    the order they come; together producers hold about 32 MB, and wait when the disk does not follow. The merger can be
    given to other processes, as an argument of ``multiprocessing.Process`` or ``Pool``; there it only makes producers.

    ::

        def work(merger, seed):
            with merger.producer() as tree:
                tree.extend({"x": np.random.default_rng(seed).normal(size=1000)})

        with sapwood.recreate("out.root") as file:
            with file.mktree("events", {"x": "f8"}).merger() as merger:
                with multiprocessing.Pool() as pool:
                    pool.starmap(work, [(merger, seed) for seed in range(16)])

    A producer that is lost, since its process died or its ``with`` block failed, loses the piece it had not handed on;
    a :class:`ProducerLostWarning` and :attr:`lost` tell of it.
    """

    def __init__(self, tree: WritableTree, patience: float | None) -> None:
        seconds = optional_seconds(patience, "patience", least=0.0)
        self._tree: WritableTree | None = tree
        self._layout: Layout = tree._layout
        self._patience = seconds
        self._process = os.getpid()
        self._core: _core.TreeMerger | None = _core.TreeMerger(tree._core)
        self._told: tuple[int, int, list[tuple[str, int, str]]] = (0, 0, [])
        try:
            self._address: str | None = self._core.address()
        except UnsupportedError:
            self._address = None

    def __getstate__(self) -> dict[str, Any]:
        if self._address is None:
            raise UnsupportedError("producers in other processes are not known on this system; use threads")
        return {"_layout": self._layout, "_address": self._address, "_process": self._process}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state | {"_tree": None, "_core": None, "_patience": 0.0, "_told": (0, 0, [])}

    @property
    def address(self) -> str | None:
        """Where other processes connect: the path of a socket, in a folder that only this user can enter."""
        return self._address

    def _here(self) -> _core.TreeMerger | None:
        """The merger itself; a copy that was inherited by fork is none."""
        return self._core if os.getpid() == self._process else None

    def producer(self) -> Producer:
        """A writer for one more producer, in this process.

        Raises:
            ReadError: (an OSError) the merger is gone.
        """
        core = self._here()
        if core is not None:
            return Producer(core.producer(), self._layout)
        if self._address is None:
            raise InvalidError("the merger was closed")
        return Producer(_core.TreeProducer.connect(self._address), self._layout)

    @property
    def num_entries(self) -> int:
        """Entries that are in the tree."""
        core = self._here()
        return core.entries if core is not None else 0

    def _summary(self) -> tuple[int, int, list[tuple[str, int, str]]]:
        core = self._here()
        return (core.summary() if core is not None else None) or self._told

    @property
    def finished(self) -> int:
        """Producers that finished."""
        return self._summary()[0]

    @property
    def lost(self) -> list[LostProducer]:
        """Producers that went without finishing."""
        return [LostProducer(*lost) for lost in self._summary()[2]]

    def close(self) -> None:
        """Waits for the processes that still write, and gives the tree back to a single writer.

        Raises:
            InvalidError: producers of this process still write.
        """
        if self._tree is None or os.getpid() != self._process:
            return
        assert self._core is not None
        self._told = self._core.close(self._patience)
        self._core, self._tree._merger, self._tree, self._address = None, None, None, None
        for lost in self.lost:
            text = f"{lost.producer} was lost after {lost.entries} entries: {lost.why}"
            warnings.warn(text, ProducerLostWarning, stacklevel=2)

    def __enter__(self) -> Merger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Merger at {self._address!r}, {self.num_entries} entries>"


class Producer(Entries):
    """One producer's writer of a tree, which takes entries as a :class:`WritableTree` does. A context manager.

    A block that fails loses what was not handed on, and the merger says so.
    """

    def __init__(self, core: _core.TreeProducer, layout: Layout) -> None:
        self._core = core
        self._layout = layout
        self._entries: int | None = None

    @property
    def num_entries(self) -> int:
        """Entries that this producer took."""
        return self._core.entries if self._entries is None else self._entries

    def __len__(self) -> int:
        return self.num_entries

    def __bool__(self) -> bool:
        return True

    def _check_open(self) -> None:
        if self._entries is not None:
            raise InvalidError("the producer was closed")

    def flush(self) -> None:
        """Hands on what it holds."""
        self._check_open()
        self._core.flush()

    def close(self) -> None:
        """Hands on what it holds and goes; returns when all of it is in the tree."""
        if self._entries is None:
            self._entries = self._core.entries
            self._core.finish()

    def __enter__(self) -> Producer:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self._entries = self._core.entries
            self._core.abandon()

    def __repr__(self) -> str:
        return f"<Producer, {self.num_entries} entries>"
