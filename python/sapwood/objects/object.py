"""Objects of any class as data: what :meth:`Directory.__getitem__` gives for all that is no tree and no directory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from ..errors import KeyInFileError, UnsupportedError


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


class Listed(Object, Sequence):
    """TList, TObjArray, TClonesArray and their kin, and collections of the C++ library: a sequence of their items."""

    @property
    def options(self) -> list[str]:
        """The options that a TList's items were added with."""
        return self.member("options", none_if_missing=True) or [""] * len(self)

    def __len__(self) -> int:
        content = self._get()
        return 0 if content is None else len(content)

    def __getitem__(self, where):
        """An item by its place; the first one of a name."""
        if isinstance(where, str):
            for item in self:
                if not isinstance(item, Unread) and getattr(item, "name", item) == where:
                    return item
            raise KeyInFileError(f"no item {where} in this {self.classname}")
        return self._get()[where] if len(self) else [][where]

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


class Array(Object):
    """TArray and its kin: an array of numpy with members beside."""

    def __array__(self, dtype=None, copy=None):
        return np.array(self._get(), dtype=dtype) if copy else np.asarray(self._get(), dtype=dtype)

    def __len__(self) -> int:
        return len(self._get())

    def __getitem__(self, where):
        return self._get()[where]

    def __iter__(self):
        return iter(self._get())


class ObjString(str):
    """A TObjString: text with a class."""

    #: The C++ class.
    classname = "TObjString"
    #: TObject's number: the bin, for the label of an axis.
    unique_id = 0

    @property
    def members(self) -> dict[str, Any]:
        """The text as ROOT names it."""
        return {"fString": str(self)}

    all_members = members

    def member(self, name: str, all: bool = True, none_if_missing: bool = False) -> Any:
        """See :meth:`Object.member`."""
        if name == "fString":
            return str(self)
        if none_if_missing:
            return None
        raise KeyInFileError(f"TObjString has no member {name}; it has fString")

    def has_member(self, name: str, all: bool = True) -> bool:
        """Whether there is such a member."""
        return name == "fString"


#: Modules and names of Python classes by the C++ class that they are for; templates without arguments.
_KINDS = {
    "TList": ("object", "Listed"),
    "THashList": ("object", "Listed"),
    "TSortedList": ("object", "Listed"),
    "TObjArray": ("object", "Listed"),
    "TClonesArray": ("object", "Listed"),
    "TRefArray": ("object", "Listed"),
    "TCollection": ("object", "Listed"),
    "TSeqCollection": ("object", "Listed"),
    "THashTable": ("object", "Listed"),
    "RooLinkedList": ("object", "Listed"),
    "TOrdCollection": ("object", "Listed"),
    "vector": ("object", "Listed"),
    "list": ("object", "Listed"),
    "deque": ("object", "Listed"),
    "set": ("object", "Listed"),
    "multiset": ("object", "Listed"),
    "unordered_set": ("object", "Listed"),
    "TMap": ("object", "Mapped"),
    "map": ("object", "Mapped"),
    "multimap": ("object", "Mapped"),
    "unordered_map": ("object", "Mapped"),
    "TArrayC": ("object", "Array"),
    "TArrayS": ("object", "Array"),
    "TArrayI": ("object", "Array"),
    "TArrayL": ("object", "Array"),
    "TArrayL64": ("object", "Array"),
    "TArrayF": ("object", "Array"),
    "TArrayD": ("object", "Array"),
    "TH1": ("histogram", "TH1"),
    "TH2": ("histogram", "TH2"),
    "TH3": ("histogram", "TH3"),
    "TH2Poly": ("histogram", "TH2Poly"),
    "TProfile": ("profile", "TProfile"),
    "TProfile2D": ("profile", "TProfile2D"),
    "TProfile3D": ("profile", "TProfile3D"),
    "TAxis": ("axis", "TAxis"),
    "TGraph": ("graph", "TGraph"),
    "TGraphErrors": ("graph", "TGraphErrors"),
    "TGraphAsymmErrors": ("graph", "TGraphAsymmErrors"),
    "TEfficiency": ("efficiency", "TEfficiency"),
    "TMatrixT": ("matrix", "Matrix"),
    "TMatrixTSym": ("matrix", "Matrix"),
    "TVectorT": ("matrix", "Vector"),
    "TParameter": ("small", "Parameter"),
    "TDatime": ("small", "Datime"),
    "TEntryList": ("entry_list", "EntryList"),
    "TEventList": ("entry_list", "EntryList"),
}


def kind_of(classname: str, bases: Sequence[str]) -> type[Object]:
    """The Python class for a C++ class: that of itself or of the nearest of its bases."""
    for name in (classname, *bases):
        found = _KINDS.get(name.partition("<")[0].removeprefix("std::"))
        if found:
            module, kind = found
            return getattr(import_module(f".{module}", __package__), kind)
    return Object


class Factory:
    """What the core calls to build objects."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[str, ...], type[Object]] = {}

    def make(self, classname: str, bases: list[str]) -> Object:
        """An empty object."""
        key = (classname, *bases)
        kind = self._kinds.get(key)
        if kind is None:
            kind = self._kinds[key] = kind_of(classname, bases)
        made = kind()
        made.classname = classname
        made._members = {}
        return made

    def fill(self, made: Object, version: int, bases: list[Any], members: dict[str, Any], content: Any) -> None:
        """What it holds."""
        made._fill(version, bases, members, content)

    def text(self, data: bytes) -> str:
        """Text; bytes that are not UTF-8 are kept as lone surrogates, as in file names."""
        return data.decode("utf-8", "surrogateescape")

    def string(self, data: bytes, unique_id: int) -> ObjString:
        """A TObjString."""
        text = ObjString(self.text(data))
        text.unique_id = unique_id
        return text

    def array(self, buffer: Any, shape: list[int]) -> np.ndarray:
        """Numbers."""
        flat = np.asarray(buffer)
        return flat if len(shape) == 1 else flat.reshape(shape)

    def pairs(self, pairs: list[tuple[Any, Any]]) -> Any:
        """A dict; the list of pairs where keys occur twice or cannot be hashed."""
        try:
            out = dict(pairs)
        except TypeError:
            return pairs
        return out if len(out) == len(pairs) else pairs

    def refused(self, classname: str, why: str) -> Unread:
        """What cannot be read."""
        return Unread(classname, why)
