"""Files, trees and branches as coffea uses them."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ..arguments.paths import split
from ..errors import UnsupportedError
from ..reading.file import Options
from ..reading.file_objects import reader_of
from ..reading.tree import Tree
from ..uproot.file import ReadOnlyDirectory, ReadOnlyFile
from ..uproot.functions import _OWN
from ..uproot.read import TBranch, TTree
from ..uproot_registration import register
from .interpretations import interpretation_of

if TYPE_CHECKING:
    from ..uproot.interpretations import Interpretation


def open(path: Any, **options: Any) -> Any:
    """Open a file, or an object in it, for coffea; takes the options of ``uproot.open`` and of :func:`sapwood.open`.

    Options of uproot that set how its sources read have no effect.
    """
    register()
    if isinstance(path, Tree):
        return as_events(path)
    own = {name: value for name, value in options.items() if name in _OWN}
    where, name = reader_of(path) or split(path)
    # coffea asks for a tree next: opening fetches the bytes where its header usually is, too
    file = File(where, Options.checked(**own))
    return file if name is None else file[name]


class Source:
    """Counters of what was read of a file, by uproot's names."""

    def __init__(self, io: dict[str, float]) -> None:
        #: Bytes, requests, and ranges of bytes that were requested.
        self.num_requested_bytes = int(io["bytes_fetched"])
        self.num_requests = int(io["requests"])
        self.num_requested_chunks = int(io["ranges"])

    @property
    def performance_counters(self) -> Any:
        """The same as uproot's object for reports."""
        from uproot.source.chunk import SourcePerformanceCounters

        return SourcePerformanceCounters(self.num_requested_bytes, self.num_requests, self.num_requested_chunks)


class Branch(TBranch):
    """A branch whose interpretation has the form that coffea builds events from."""

    @property
    def interpretation(self) -> Interpretation:  # type: ignore[override]
        """How its values become an array."""
        if self._interpretation is None:
            self._interpretation = interpretation_of(self)
        return self._interpretation

    _interpretation: Interpretation | None = None

    def array(self, interpretation: Any = None, *args: Any, **options: Any) -> Any:
        """Read the values; takes the arguments of :meth:`sapwood.Branch.array`, and :attr:`interpretation`."""
        if interpretation is self._interpretation:
            interpretation = None
        return super().array(interpretation, *args, **options)

    @property
    def is_map(self) -> bool:
        """Whether it is a split map: keys and values are its sub-branches."""
        return len(self._children) == 2 and [b.name.rpartition(".")[2] for b in self.branches] == ["first", "second"]

    def reads_as_group(self) -> bool:
        """Whether its values are those of its sub-branches; as in uproot, also for a split map."""
        return super().reads_as_group() or self.is_map


class Events(TTree):
    """A tree of events."""

    _branch_class = Branch

    @property
    def source(self) -> Source:
        """What was read of the file so far."""
        return Source(self.file.io())


class Folder(ReadOnlyDirectory):
    """A directory of a file."""


class File(ReadOnlyFile):
    """An open file and its top directory."""

    _directory_class = Folder

    @property
    def _tree_class(self) -> type[Tree]:
        return Events

    @property
    def source(self) -> Source:
        """What was read so far."""
        return Source(self.io())

    def __reduce__(self) -> Any:
        _, given = super().__reduce__()
        return functools.partial(_reopened, options=self._options), given


def _reopened(path: Any, options: Options) -> File:
    where, _ = reader_of(path) or split(path)
    return File(where, options)


def as_events(tree: Tree) -> Events:
    """A tree of any of Sapwood's files as coffea uses it."""
    if isinstance(tree, Events):
        return tree
    if not isinstance(tree, Tree):
        raise UnsupportedError(f"{tree!r} is not a tree: coffea's events are made from trees")
    made = Events(tree._file, tree._own_core, tree._cycle)
    made._cache_size = tree._cache_size
    made._given_aliases = tree._given_aliases
    if tree._friends:
        made._set_friends(tree._friends, tree._first_entry)
    return made
