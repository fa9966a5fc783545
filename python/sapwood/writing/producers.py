"""Many producers of one tree or ntuple: threads, and processes over a local socket."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import _core
from ..arguments.sizes import optional_seconds
from ..errors import InvalidError, ProducerLostWarning, UnsupportedError
from ..public import public
from .entries import Entries
from .layout import Layout
from .ntuple_layout import NtupleLayout

if TYPE_CHECKING:
    from .. import WritableTree


@public
@dataclass(frozen=True)
class LostProducer:
    """A producer that ended without finishing."""

    #: its process (``process 1234``) or the name of its thread
    producer: str
    #: number of its entries that are in the tree
    entries: int
    #: the reason
    why: str


@public
class Merger:
    """Combine the entries of several producers in one tree or ntuple. A context manager.

    Each producer collects entries and passes them on in blocks, which are written whole, in the order of arrival.
    All producers together hold about 32 MB, and wait if the disk is slower. The merger can be
    given to other processes, as an argument of ``multiprocessing.Process`` or ``Pool``; there it only makes producers.

    ::

        def work(merger, seed):
            with merger.producer() as tree:
                tree.extend({"x": np.random.default_rng(seed).normal(size=1000)})

        with sapwood.recreate("out.root") as file:
            with file.mktree("events", {"x": "f8"}).merger() as merger:
                with multiprocessing.Pool() as pool:
                    pool.starmap(work, [(merger, seed) for seed in range(16)])

    If the process of a producer dies or its ``with`` block fails, the block that was not passed on is lost; see
    :class:`ProducerLostWarning` and :attr:`lost`.
    """

    def __init__(self, tree: WritableTree, patience: float | None) -> None:
        seconds = optional_seconds(patience, "patience", least=0.0)
        self._tree: WritableTree | None = tree
        self._layout: Layout | NtupleLayout = tree._layout
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
            raise UnsupportedError("producers in other processes are not supported on this system; use threads")
        return {"_layout": self._layout, "_address": self._address, "_process": self._process}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state | {"_tree": None, "_core": None, "_patience": 0.0, "_told": (0, 0, [])}

    @property
    def address(self) -> str | None:
        """Path of the socket to which other processes connect, in a directory that only this user can access."""
        return self._address

    def _here(self) -> _core.TreeMerger | None:
        """The merger itself; None in a forked child."""
        return self._core if os.getpid() == self._process else None

    def producer(self) -> Producer:
        """Return a new producer in this process.

        Raises:
            ReadError: (an OSError) the merger no longer exists.
        """
        core = self._here()
        if core is not None:
            return Producer(core.producer(), self._layout)
        if self._address is None:
            raise InvalidError("the merger was closed")
        return Producer(_core.TreeProducer.connect(self._address), self._layout)

    @property
    def num_entries(self) -> int:
        """Number of entries in the tree."""
        core = self._here()
        return core.entries if core is not None else 0

    def _summary(self) -> tuple[int, int, list[tuple[str, int, str]]]:
        core = self._here()
        return (core.summary() if core is not None else None) or self._told

    @property
    def finished(self) -> int:
        """Number of producers that finished."""
        return self._summary()[0]

    @property
    def lost(self) -> list[LostProducer]:
        """The producers that ended without finishing."""
        return [LostProducer(*lost) for lost in self._summary()[2]]

    def close(self) -> None:
        """Wait for processes that still write, and return the tree to a single writer.

        Raises:
            InvalidError: producers of this process are still open.
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


@public
class Producer(Entries):
    """Writes entries of one producer, like a :class:`WritableTree`. A context manager.

    If the block fails, entries that were not passed on are lost, and the merger warns.
    """

    def __init__(self, core: _core.TreeProducer, layout: Layout | NtupleLayout) -> None:
        self._core = core
        self._layout = layout  # type: ignore[assignment]
        self._entries: int | None = None

    @property
    def num_entries(self) -> int:
        """Number of entries of this producer."""
        return self._core.entries if self._entries is None else self._entries

    def __len__(self) -> int:
        return self.num_entries

    def __bool__(self) -> bool:
        return True

    def _check_open(self) -> None:
        if self._entries is not None:
            raise InvalidError("the producer was closed")

    def flush(self) -> None:
        """Pass on all collected entries."""
        self._check_open()
        self._core.flush()

    def close(self) -> None:
        """Pass on all collected entries and close; return when they are in the tree."""
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
