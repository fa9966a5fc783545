"""Objects of any class as data: what :meth:`Directory.__getitem__` gives for all that is no tree and no directory."""

from __future__ import annotations

from typing import Any

from ..errors import KeyInFileError, UnsupportedError
from ..public import public


@public
class Object:
    """An object as described by the file: its class, base classes, and members by name.

    A member is a number, text (``str``), a numpy array, a list, a dict (std::map), another :class:`Object`, None (a
    null pointer) or an :class:`Unread`, which says why it cannot be read. Objects that the file points to several times
    are one object here.
    """

    #: The C++ class.
    classname: str = ""
    #: Its version as it was written.
    class_version: int = 0

    _bases: tuple[Any, ...] = ()
    _members: dict[str, Any]
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

    @property
    def members(self) -> dict[str, Any]:
        """Members of the class, without those of its base classes."""
        return dict(self._members)

    @property
    def all_members(self) -> dict[str, Any]:
        """Members of the class and all its base classes."""
        out: dict[str, Any] = {}
        for base in self._bases:
            if isinstance(base, Object):
                out.update(base.all_members)
        out.update(self._members)
        return out

    def member(self, name: str, all: bool = True, none_if_missing: bool = False) -> Any:
        """Return a member by its C++ name.

        Args:
            name: as the class has it, ``"fTitle"``.
            all: include members of base classes.
            none_if_missing: return None instead of raising an exception.

        Raises:
            KeyInFileError: (a KeyError) the class has no such member.
        """
        if name in self._members:
            return self._members[name]
        if all:
            for base in self._bases:
                if isinstance(base, Object) and base.has_member(name):
                    return base.member(name)
        # it may be in a base that was not read
        for base in self._bases if all else ():
            if isinstance(base, Unread):
                raise base.error()
        if none_if_missing:
            return None
        names = ", ".join(self.all_members if all else self._members)
        raise KeyInFileError(f"{self.classname} has no member {name}; it has {names or 'none'}")

    def has_member(self, name: str, all: bool = True) -> bool:
        """Whether there is such a member."""
        if name in self._members:
            return True
        return all and any(isinstance(b, Object) and b.has_member(name) for b in self._bases)

    def base(self, *classnames: str) -> list[Object]:
        """Return the objects of base classes with one of these names, at any depth; without names, of all."""
        out = []
        for base in self._bases:
            if isinstance(base, Object):
                if not classnames or base.classname in classnames:
                    out.append(base)
                out.extend(base.base(*classnames))
        return out

    def is_instance(self, classname: str) -> bool:
        """Whether it is of this C++ class or derives from it."""
        return self.classname == classname or any(
            isinstance(b, Object) and b.is_instance(classname) for b in self._bases
        )

    @property
    def name(self) -> str | None:
        """Its name, where it has one."""
        return self.member("fName", none_if_missing=True)

    @property
    def title(self) -> str | None:
        """Its title, where it has one."""
        return self.member("fTitle", none_if_missing=True)

    def _get(self) -> Any:
        """What it holds beside members: that of the first base that has any."""
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
        """Its name as it is printed, where it has one that can be read."""
        try:
            name = self.name
        except UnsupportedError:
            return ""
        return f" {name!r}" if isinstance(name, str) and name else ""

    def __repr__(self) -> str:
        return f"<{self.classname}{self._shown_name()} (version {self.class_version})>"


class UnreadError(UnsupportedError, AttributeError):
    """A part of an object is used that cannot be read."""


class Unread:
    """In place of a part of an object that cannot be read: it can be looked at, and whatever uses it as a value raises
    an :class:`UnsupportedError` with the reason."""

    def __init__(self, classname: str, why: str) -> None:
        #: Its class, where it is known.
        self.classname = classname
        #: The reason.
        self.why = why

    def __repr__(self) -> str:
        return f"<Unread {self.classname}: {self.why}>"

    def error(self) -> UnreadError:
        """For whoever needs the value."""
        return UnreadError(f"{self.classname or 'a part of the object'} is not read: {self.why}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            # Python itself looks for these
            raise AttributeError(name)
        raise self.error()

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise self.error()

    __len__ = __iter__ = __getitem__ = __contains__ = __call__ = __array__ = _refuse
    __int__ = __float__ = __index__ = __complex__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __and__ = __rand__ = __or__ = _refuse
    __ror__ = __neg__ = __pos__ = __abs__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
