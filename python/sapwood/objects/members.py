"""Members of objects, by their C++ names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..arguments.checks import string
from ..errors import KeyInFileError
from .unread import Unread

if TYPE_CHECKING:
    from typing_extensions import Self

    from .origin import Origin


class HasMembers:
    """An object with a class, members, and members of base classes."""

    #: The C++ class.
    classname: str = ""

    _bases: tuple[Any, ...] = ()
    _members: dict[str, Any]
    _origin: Origin | None = None

    @property
    def file(self) -> Origin | None:
        """Where the object was read (``.file_path``); None for parts of other objects. No file is kept open."""
        return self._origin

    def __enter__(self) -> Self:
        """An object is complete once it has been read: a ``with`` block around it closes nothing."""
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def close(self) -> None:
        """Do nothing: an object keeps no file open."""

    @property
    def members(self) -> dict[str, Any]:
        """Members of the class, without those of its base classes."""
        return dict(self._members)

    @property
    def all_members(self) -> dict[str, Any]:
        """Members of the class and all its base classes."""
        out: dict[str, Any] = {}
        for base in self._bases:
            if isinstance(base, HasMembers):
                out.update(base.all_members)
        out.update(self._members)
        return out

    def member(self, name: str, all: bool = True, none_if_missing: bool = False) -> Any:
        """Return a member by its C++ name.

        Args:
            name: C++ name of the member, for example ``"fTitle"``.
            all: include members of base classes.
            none_if_missing: return None instead of raising an exception.

        Raises:
            KeyInFileError: (a KeyError) the class has no such member.
        """
        string(name, "name")
        if name in self._members:
            return self._members[name]
        if all:
            for base in self._bases:
                if isinstance(base, HasMembers) and base.has_member(name):
                    return base.member(name)
        # it may be in a base class that cannot be read
        for base in self._bases if all else ():
            if isinstance(base, Unread):
                raise base.error()
        if none_if_missing:
            return None
        names = ", ".join(self.all_members if all else self._members)
        raise KeyInFileError(f"{self.classname} has no member {name}; its members are {names or 'none'}")

    def tojson(self) -> Any:
        """Return the object in ROOT's JSON form, made of dicts, lists, numbers and text."""
        out: dict[str, Any] = {}
        for base in self._bases:
            part = base.tojson() if isinstance(base, HasMembers) else None
            if isinstance(part, dict):
                out.update(part)
            elif isinstance(part, list):
                # a class of numbers: a TH1F is a TArrayF
                out["fArray"] = part
        out.update({name: as_json(value) for name, value in self._members.items()})
        return {**out, "_typename": self.classname}

    def has_member(self, name: str, all: bool = True) -> bool:
        """Whether the class has this member."""
        if name in self._members:
            return True
        return all and any(isinstance(b, HasMembers) and b.has_member(name) for b in self._bases)


def as_json(value: Any) -> Any:
    """A member in ROOT's JSON form.

    Raises:
        UnsupportedError: it cannot be read.
    """
    if isinstance(value, Unread):
        raise value.error()
    if isinstance(value, HasMembers):
        return value.tojson()
    if isinstance(value, dict):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    # numpy's numbers and arrays
    return as_json(value.tolist()) if hasattr(value, "tolist") and hasattr(value, "dtype") else value
