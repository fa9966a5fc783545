"""Values of collections and classes with ``library="np"``, as uproot gives them: sequences, mappings and objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import KeyInFileError

if TYPE_CHECKING:
    from ..reading.branch import Branch


class STLVector(Sequence):
    """A vector or another sequence of the C++ library."""

    def __init__(self, items: Sequence[Any]) -> None:
        self._items = list(items)

    def __getitem__(self, where: Any) -> Any:
        return STLVector(self._items[where]) if isinstance(where, slice) else self._items[where]

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (STLVector, list, tuple)):
            return self._items == list(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def tolist(self) -> list[Any]:
        """The items, and items in them, as lists."""
        return [_plain(item) for item in self._items]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._items} at {id(self):#014x}>"


class STLMap(Mapping):
    """A map of the C++ library."""

    def __init__(self, keys: Sequence[Any], values: Sequence[Any]) -> None:
        self._pairs = dict(zip(keys, values, strict=True))

    def __getitem__(self, key: Any) -> Any:
        return self._pairs[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._pairs)

    def __len__(self) -> int:
        return len(self._pairs)

    def tolist(self) -> dict[Any, Any]:
        """A dict with lists in place of sequences."""
        return {key: _plain(value) for key, value in self._pairs.items()}

    def __repr__(self) -> str:
        return f"<STLMap {self._pairs} at {id(self):#014x}>"


class ObjectValue:
    """A value of a class: its members by C++ name, also as attributes."""

    def __init__(self, classname: str, members: dict[str, Any]) -> None:
        #: C++ class.
        self.classname = classname
        #: Members of the class and its base classes.
        self.members = members

    @property
    def all_members(self) -> dict[str, Any]:
        """Members of the class and its base classes."""
        return self.members

    def has_member(self, name: str, all: bool = True) -> bool:
        """Whether the class has this member."""
        return name in self.members

    def member(self, name: str, all: bool = True, none_if_missing: bool = False) -> Any:
        """Return a member by its C++ name.

        Raises:
            KeyInFileError: (a KeyError) the class has no such member.
        """
        if name in self.members:
            return self.members[name]
        if none_if_missing:
            return None
        raise KeyInFileError(f"{self.classname} has no member {name}; its members are {', '.join(self.members)}")

    def tojson(self) -> dict[str, Any]:
        """Return the members in ROOT's JSON form."""
        return {**{name: _plain(value) for name, value in self.members.items()}, "_typename": self.classname}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self.__dict__.get("members", {}):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self.members[name]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectValue) and _plain(self) == _plain(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{self.classname} {self.members} at {id(self):#014x}>"


def _plain(value: Any) -> Any:
    if isinstance(value, ObjectValue):
        return value.tojson()
    return value.tolist() if hasattr(value, "tolist") else value


def as_uproot(branch: Branch, made: Any) -> Any:
    """numpy's arrays of a branch with objects as uproot has them: numbers and lists of numbers stay arrays."""
    if not isinstance(made, np.ndarray) or isinstance(made, np.ma.MaskedArray):
        return made
    typename = branch.typename
    if made.dtype.names is None and made.dtype != object:
        return made
    if made.dtype.names is not None and typename.startswith("struct {"):
        # several leaves in one branch: a structured array, as in uproot
        return made
    out = np.empty(len(made), dtype=object)
    is_map = "map<" in typename.partition("<")[0] + "<"
    for i, value in enumerate(made):
        out[i] = _top(value, typename, is_map)
    return out


def _top(value: Any, typename: str, is_map: bool) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.names is None and value.dtype != object:
        return value
    return _converted(value, typename, is_map)


def _converted(value: Any, typename: str, is_map: bool = False) -> Any:
    if isinstance(value, np.void):
        names = value.dtype.names or ()
        return ObjectValue(typename, {name: _converted(value[name], name) for name in names})
    if not isinstance(value, np.ndarray):
        return value
    if is_map and value.dtype.names is not None and len(value.dtype.names) == 2:
        keys, values = ([_converted(v, typename) for v in value[name]] for name in value.dtype.names)
        return STLMap([key.item() if isinstance(key, np.generic) else key for key in keys], values)
    if value.dtype.names is None and value.dtype != object and value.ndim > 0 and not is_map:
        return value
    return STLVector([_converted(item, _item(typename)) for item in value])


def _item(typename: str) -> str:
    """The type of the items of a collection."""
    inside = typename.partition("<")[2]
    return inside.rpartition(">")[0].strip() if inside else typename.removesuffix("[]")
