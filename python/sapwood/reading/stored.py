"""Members of trees and branches by their C++ names, from the object in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..objects.object import Object


class HasStoredMembers:
    """A tree or branch whose C++ members can be looked up. The object is read when first asked."""

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

    @property
    def class_version(self) -> int:
        """Version of the C++ class in the file."""
        return self._stored().class_version
