"""Objects of any class as data: the result of :meth:`Directory.__getitem__` for all but trees and directories."""

from __future__ import annotations

from typing import Any

from ..errors import UnsupportedError
from ..public import public
from .members import HasMembers
from .unread import Unread


@public
class Object(HasMembers):
    """An object as described by the file: its class, base classes, and members by name.

    A member is a number, text (``str``), a numpy array, a list, a dict (std::map), another :class:`Object`, None (a
    null pointer) or an :class:`Unread`, which says why it cannot be read. Several pointers to one object in the file
    give the same Python object.
    """

    #: Version of the class in the file.
    class_version: int = 0

    _content: Any = None

    def _fill(self, version: int, bases: list[Any], members: dict[str, Any], content: Any) -> None:
        self.class_version = version
        self._bases = tuple(bases)
        self._members = members
        self._content = content

    @property
    def bases(self) -> list[Object]:
        """Objects of the base classes."""
        return list(self._bases)

    def base(self, *classnames: str) -> list[Object]:
        """Return the objects of base classes with one of these names, at any depth; without names, of all."""
        out = []
        for base in self._bases:
            if isinstance(base, Object):
                if not classnames or base.classname in classnames:
                    out.append(base)
                out.extend(base.base(*classnames))
        return out

    def is_instance(self, *classes: str | type) -> bool:
        """Whether the object is of one of these C++ classes or derived from it, or of one of these Python classes."""
        return (
            self.classname in classes
            or isinstance(self, tuple(c for c in classes if isinstance(c, type)))
            or any(isinstance(b, Object) and b.is_instance(*classes) for b in self._bases)
        )

    @property
    def name(self) -> str | None:
        """The name of the object, if it has one."""
        return self.member("fName", none_if_missing=True)

    @property
    def title(self) -> str | None:
        """The title of the object, if it has one."""
        return self.member("fTitle", none_if_missing=True)

    def _get(self) -> Any:
        """The content besides members: its own, or that of the first base class with content."""
        if self._content is not None:
            return self._content
        for base in self._bases:
            content = base._get() if isinstance(base, Object) else None
            if content is not None:
                return content
        for base in self._bases:
            if isinstance(base, Unread):
                raise base.error()
        return None

    def _shown_name(self) -> str:
        """The name for repr, if it has one that can be read."""
        try:
            name = self.name
        except UnsupportedError:
            return ""
        return f" {name!r}" if isinstance(name, str) and name else ""

    def __repr__(self) -> str:
        return f"<{self.classname}{self._shown_name()} (version {self.class_version})>"
