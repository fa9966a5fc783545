"""Members of trees and branches by their C++ names, from the object in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..objects.object import Object


class HasStoredMembers:
    """A tree or branch whose C++ members can be looked up. The object is read when first asked."""

    @property
    def classname(self) -> str:
        """C++ class."""
        raise NotImplementedError

    def _stored(self) -> Object:
        """The object in the file."""
        raise NotImplementedError

    @property
    def members(self) -> dict[str, Any]:
        """Members of the C++ class, without those of its base classes."""
        return self._stored().members

    @property
    def all_members(self) -> dict[str, Any]:
        """Members of the C++ class and all its base classes."""
        return self._stored().all_members

    def member(self, name: str, all: bool = True, none_if_missing: bool = False) -> Any:
        """Return a member by its C++ name (``"fAutoFlush"``); see :meth:`sapwood.Object.member`.

        Raises:
            KeyInFileError: (a KeyError) the class has no such member.
        """
        return self._stored().member(name, all, none_if_missing)

    def has_member(self, name: str, all: bool = True) -> bool:
        """Whether the C++ class has this member."""
        return self._stored().has_member(name, all)

    def is_instance(self, *classes: str | type) -> bool:
        """Whether it is of one of these C++ classes or derived from it, or of one of these Python classes."""
        # no object stands for an ntuple: it is of its own class only
        named = any(name == self.classname for name in classes)
        if named or isinstance(self, tuple(c for c in classes if isinstance(c, type))):
            return True
        return self.classname != "ROOT::RNTuple" and self._stored().is_instance(*classes)

    @property
    def class_version(self) -> int:
        """Version of the C++ class in the file."""
        return self._stored().class_version
