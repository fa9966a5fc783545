"""Columns read when they are used, together with those that were used together before."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..errors import Error

if TYPE_CHECKING:
    from .. import Branch

#: Ranges of entries of the same event model from which is learned: the latest ones that used a branch.
_REMEMBERED = 4
#: Event models that are remembered, the latest ones.
_MODELS = 64


class _History:
    """Which branches were used in the same range of entries, by event model, in this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._used: dict[str, deque[set[str]]] = {}

    def begin(self, model: str) -> set[str]:
        """The set that records what is used in a new range of entries."""
        used: set[str] = set()
        with self._lock:
            latest = self._used.pop(model, None)
            if latest is None:
                latest = deque(maxlen=4 * _REMEMBERED)
            self._used[model] = latest
            while len(self._used) > _MODELS:
                del self._used[next(iter(self._used))]
            latest.append(used)
        return used

    def companions(self, model: str, path: str, now: set[str]) -> set[str]:
        """The branches that at least half of the latest ranges used, of those that used this branch."""
        with self._lock:
            past = [set(used) for used in self._used.get(model, ()) if used is not now and path in used]
        past = past[-_REMEMBERED:]
        count: dict[str, int] = {}
        for used in past:
            for name in used:
                count[name] = count.get(name, 0) + 1
        return {name for name, times in count.items() if 2 * times >= len(past) and name != path}

    def note(self, used: set[str], path: str) -> None:
        """Record a use."""
        with self._lock:
            used.add(path)


_history = _History()


class TouchedColumns:
    """The columns of a range of entries. Each is read once, when it is used first.

    With it those are read that were used together with it in earlier ranges of the same event model, in one scan: over
    a network this is one round trip in place of one for each column.
    """

    def __init__(self, first: int, last: int, model: str) -> None:
        #: Names the event model: what is used together in one range is expected in others of the same model.
        self.model = model
        self.first, self.last = first, last
        self._lock = threading.RLock()
        self._used: set[str] | None = None
        self._held: dict[str, Any] = {}

    def array(self, branch: Branch) -> Any:
        """The values of a branch as an awkward array."""
        with self._lock:
            used = self._used
            if used is None:
                used = self._used = _history.begin(self.model)
            made = self._held.get(branch.path)
            if made is None:
                made = self._read(branch, _history.companions(self.model, branch.path, used))
            _history.note(used, branch.path)
            return made

    def fetch(self, branches: Iterable[Branch]) -> None:
        """Read branches now, in one scan; what cannot be read is left for its first use."""
        with self._lock:
            together = [b for b in branches if b.path not in self._held and self._joins(b)]
            if together:
                try:
                    self._scan(together)
                except Error:
                    # the error of a branch belongs to its use
                    return

    def __reduce__(self) -> Any:
        # the values are read again where this is used
        return TouchedColumns, (self.first, self.last, self.model)

    def release(self) -> None:
        """Forget the values."""
        with self._lock:
            self._held.clear()

    def _read(self, branch: Branch, companions: set[str]) -> Any:
        if not self._joins(branch):
            made = branch.array(entry_start=self.first, entry_stop=self.last, library="ak")
            self._held[branch.path] = made
            return made
        tree = branch.tree
        others = [tree._branch(tree._by_path[path]) for path in sorted(companions) if path in tree._by_path]
        others = [b for b in others if b.path not in self._held and self._joins(b)]
        try:
            self._scan([branch, *others])
        except Error:
            if not others:
                raise
            # a branch that was not asked for does not make this one fail
            self._scan([branch])
        return self._held[branch.path]

    def _joins(self, branch: Branch) -> bool:
        """Whether one scan reads the branch with others: it has values of its own for all of the entries."""
        from ..errors import UnsupportedError

        try:
            return bool(branch.column_type) and branch.num_entries >= self.last and not branch.reads_as_group()
        except UnsupportedError:
            return False

    def _scan(self, branches: list[Branch]) -> None:
        from ..columns.libraries import library
        from .arrays import Wanted, _steps

        tree, ak = branches[0].tree, library("ak")
        wanted = Wanted(sorted({b.number for b in branches}), self.first, self.last)
        ((_, _, columns, _),) = _steps(tree, wanted, ("all", 0), None)
        for branch in branches:
            self._held[branch.path] = ak.array(columns[branch.number], branch.name)
