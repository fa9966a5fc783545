"""The files of a chain, and the entries of each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..arguments.checks import thread_count
from ..arguments.paths import Where
from ..arguments.sizes import optional_seconds, size_in_bytes
from ..errors import InvalidError

if TYPE_CHECKING:
    from ..reading.entry_selection import Place
    from ..reading.friends import Friend


class ChainFiles:
    """Several files, each with a tree, and friends of all of them."""

    def __init__(self, files: list[tuple[str, str | None]], options: dict[str, Any], skip_bad: bool) -> None:
        if not files:
            raise InvalidError("no files given")
        self._files = files
        self._options = options
        self._skip_bad = skip_bad
        self._counted: list[Place] | None = None
        self._friends: list[Friend] = []
        self._given_aliases: dict[str, str] = {}

    @property
    def files(self) -> list[tuple[str, str | None]]:
        """The files in order, with tree names where given."""
        return list(self._files)

    def _chained(self) -> list[tuple[str, str | None]]:
        """The files, as an argument where several files are given."""
        return self.files

    @property
    def num_entries(self) -> int:
        """Number of entries of all files; opens each file once."""
        places = self._places
        return places[-1].last if places else 0

    @property
    def _places(self) -> list[Place]:
        """The trees with their entries; the first use opens each file once."""
        if self._counted is None:
            from .. import _core
            from ..reading.entry_selection import Place

            cache, timeout, threads = self._core_options()
            counted = _core.chain_places(self._files, cache, timeout, threads, self._skip_bad)
            self._counted = [Place(*each) for each in counted]
        return self._counted

    def add_friend(
        self,
        tree: str,
        files: Where | Iterable[Where],
        alias: str | None = None,
        index: str | Iterable[str] | None = None,
    ) -> None:
        """Read the branches of another tree with those of this chain, like ``TChain::AddFriend``; see
        :meth:`Tree.add_friend`. Its entries are counted through all files of the chain."""
        from ..reading.friends import friend_from

        self._friends = [*self._friends, friend_from(tree, files, alias, index)]

    def __len__(self) -> int:
        return self.num_entries

    def __bool__(self) -> bool:
        return True

    def _core_options(self) -> tuple[int | None, float | None, int]:
        cache = self._options["cache_size"]
        return (
            None if cache is None else size_in_bytes(cache, "cache_size"),
            optional_seconds(self._options["timeout"], "timeout"),
            thread_count(self._options["threads"]),
        )
