"""Collections of ROOT and of the C++ library, and arrays with a class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import KeyInFileError, UnsupportedError
from .members import as_json
from .numbers import Numbers
from .object import Object
from .unread import Unread


class Listed(Object, Sequence):
    """TList, TObjArray, TClonesArray and similar classes, and collections of the C++ library: a sequence of items."""

    @property
    def options(self) -> list[str]:
        """The options with which items were added to a TList."""
        return self.member("options", none_if_missing=True) or [""] * len(self)

    def __len__(self) -> int:
        content = self._get()
        return 0 if content is None else len(content)

    def __getitem__(self, where):
        """An item by index, or the first item with a name."""
        if isinstance(where, str):
            for item in self:
                if not isinstance(item, Unread) and getattr(item, "name", item) == where:
                    return item
            raise KeyInFileError(f"no item {where} in this {self.classname}")
        return self._get()[where] if len(self) else [][where]

    def tolist(self) -> list[Any]:
        """The items as a list."""
        content = self._get()
        return content.tolist() if isinstance(content, np.ndarray) else list(content or [])

    def tojson(self) -> Any:
        """Return the items in ROOT's JSON form."""
        items = [as_json(item) for item in self]
        if not self.classname.startswith("T"):
            return items
        made = {"_typename": self.classname, "name": self.name or self.classname, "arr": items}
        return {**made, "opt": list(self.options)} if "List" in self.classname else made

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        try:
            return f"<{self.classname}{self._shown_name()} of {len(self)} items>"
        except UnsupportedError as e:
            return f"<{self.classname}{self._shown_name()}: {e}>"


class Mapped(Object, Mapping):
    """TMap, and maps of the C++ library."""

    def __getitem__(self, where: Any) -> Any:
        return (self._get() or {})[where]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._get() or {})

    def __len__(self) -> int:
        return len(self._get() or {})

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        return f"<{self.classname} of {len(self)} pairs>"


class Array(Numbers):
    """TArrayF and other classes of TArray."""

    def tojson(self) -> Any:
        """Return the numbers in ROOT's JSON form: as a list."""
        return self.to_numpy().tolist()

    def to_numpy(self) -> np.ndarray:
        """The numbers."""
        return self._get()
