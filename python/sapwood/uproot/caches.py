"""uproot's caches, for scripts that make one: as ``object_cache`` or ``array_cache`` they have no effect here."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, MutableMapping
from typing import Any

from .sizes import decimal_bytes


class LRUCache(MutableMapping[Any, Any]):
    """A dict that keeps what was used last: as many values as the limit says, all with None."""

    def __init__(self, limit: int | None) -> None:
        #: Number of values, at most.
        self.limit = limit
        self._kept: OrderedDict[Any, Any] = OrderedDict()

    @classmethod
    def sizeof(cls, value: Any) -> int:
        """What a value counts."""
        return 1

    @property
    def current(self) -> int:
        """What the values count together."""
        return sum(map(self.sizeof, self._kept.values()))

    def __getitem__(self, key: Any) -> Any:
        value = self._kept[key]
        self._kept.move_to_end(key)
        return value

    def __setitem__(self, key: Any, value: Any) -> None:
        self._kept[key] = value
        self._kept.move_to_end(key)
        current = self.current
        while self.limit is not None and current > self.limit and self._kept:
            _, dropped = self._kept.popitem(last=False)
            current -= self.sizeof(dropped)

    def __delitem__(self, key: Any) -> None:
        del self._kept[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)


class LRUArrayCache(LRUCache):
    """The same for arrays, limited in bytes: a number, or text such as ``"100 MB"``."""

    def __init__(self, limit_bytes: int | str | None) -> None:
        super().__init__(decimal_bytes(limit_bytes) if isinstance(limit_bytes, str) else limit_bytes)

    @classmethod
    def sizeof(cls, value: Any) -> int:
        """Bytes of an array."""
        return int(getattr(value, "nbytes", 1))
