"""How branches become arrays, by uproot's names for it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InvalidError, UnsupportedError

if TYPE_CHECKING:
    from ..reading.branch import Branch

_FLAT = re.compile(r"^(?P<extents>(?:\d+ \* )*)(?P<number>bool|u?int(?:8|16|32|64)|float(?:32|64))$")
_VECTOR = re.compile(r"^(?:std::)?(?:vector|RVec)<[^<>]*>$")


class Interpretation:
    """How the values of a branch become an array. Sapwood reads by the descriptions in the file; this names it.

    One that was made by hand can be given to ``array`` and ``arrays``; see :func:`sapwood.uproot.reinterpret.read`."""

    #: The branch to which it belongs; None for one that was made by hand.
    _branch: Branch | None = None

    def __init__(self, typename: str = "", column_type: str = "") -> None:
        #: C++ type of a value.
        self.typename = typename
        #: Type of an entry in the array.
        self.column_type = column_type

    def _of(self, branch: Branch, typename: str, column_type: str) -> Any:
        self._branch, self.typename, self.column_type = branch, typename, column_type
        return self

    @property
    def cache_key(self) -> str:
        """Its text."""
        return repr(self)

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """Type of numpy's array: Python objects, unless the values are numbers."""
        return np.dtype(object)

    def awkward_form(self, file: Any = None, **_: Any) -> Any:
        """Return the form of the awkward array; no basket is read."""
        if self._branch is None:
            raise InvalidError(f"{self!r} has no branch: only the interpretation of a branch knows its form")
        return self._branch.array(entry_start=0, entry_stop=0, library="ak").layout.form

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.typename!r})"


class AsDtype(Interpretation):
    """Numbers, or arrays of a fixed size.

    Args:
        from_dtype: type of the numbers in the file, big-endian such as ``">f8"``.
        to_dtype: type of the numbers in the array; None for the same type in the order of this machine.
    """

    def __init__(self, from_dtype: Any, to_dtype: Any = None) -> None:
        self.from_dtype = np.dtype(from_dtype)
        self.to_dtype = self.from_dtype.newbyteorder("=") if to_dtype is None else np.dtype(to_dtype)
        super().__init__(self.to_dtype.base.name, self.to_dtype.base.name)

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """Type of a number in the array."""
        return self.to_dtype

    @property
    def itemsize(self) -> int:
        """Bytes of a value in the file."""
        return self.from_dtype.itemsize

    @property
    def inner_shape(self) -> tuple[int, ...]:
        """Extents of a value."""
        return self.to_dtype.shape

    def awkward_form(self, file: Any = None, **_: Any) -> Any:
        """Return the form of the awkward array; no basket is read."""
        if self._branch is not None:
            return super().awkward_form(file)
        import awkward as ak

        return ak.from_numpy(np.empty(0, self.to_dtype), regulararray=True).layout.form

    def inplace(self, array: np.ndarray) -> AsDtypeInPlace:
        """Return an interpretation that fills this array, which must have room for all entries that are read."""
        return AsDtypeInPlace(array, self.from_dtype)

    def __repr__(self) -> str:
        to = "" if self.to_dtype == self.from_dtype.newbyteorder("=") else f", {str(self.to_dtype)!r}"
        return f"AsDtype({str(self.from_dtype)!r}{to})"


class AsDtypeInPlace(AsDtype):
    """Numbers that are read into an array of the caller; the array that is returned is a view of it."""

    def __init__(self, array: np.ndarray, from_dtype: Any) -> None:
        if not isinstance(array, np.ndarray):
            raise InvalidError(f"inplace needs a numpy array to fill, not {array!r}")
        super().__init__(from_dtype, np.dtype((array.dtype, array.shape[1:])))
        #: The array to fill.
        self.to_fill = array

    def __repr__(self) -> str:
        return f"AsDtypeInPlace({self.to_fill.shape}, {str(self.from_dtype)!r})"


class AsJagged(Interpretation):
    """A list of numbers in each entry.

    Args:
        content: the interpretation of the numbers.
        header_bytes: bytes before the numbers of each entry.
    """

    def __init__(self, content: Any, header_bytes: int = 0) -> None:
        #: The interpretation of an item.
        self.content = content if isinstance(content, Interpretation) else AsDtype(content)
        self.header_bytes = header_bytes
        super().__init__(f"{self.content.typename}[]", f"var * {self.content.column_type}")

    def __repr__(self) -> str:
        header = f", header_bytes={self.header_bytes}" if self.header_bytes else ""
        return f"AsJagged({self.content!r}{header})"


class AsStrings(Interpretation):
    """Text.

    Args:
        header_bytes: bytes before each text.
    """

    def __init__(self, header_bytes: int = 0) -> None:
        super().__init__("std::string", "string")
        self.header_bytes = header_bytes

    def __repr__(self) -> str:
        return f"AsStrings(header_bytes={self.header_bytes})" if self.header_bytes else "AsStrings()"


class AsObjects(Interpretation):
    """Values of a class or a collection.

    Args:
        model: uproot's name of the class or collection, such as ``AsVector(True, AsString(False))``.
    """

    def __init__(self, model: str) -> None:
        super().__init__(model)
        self._model = model

    def __repr__(self) -> str:
        return f"AsObjects({self._model})"


class AsStridedObjects(AsObjects):
    """Values of a class whose members are numbers alone."""

    def __repr__(self) -> str:
        return f"AsStridedObjects({self._model})"


class AsGrouped(Interpretation):
    """A branch whose sub-branches hold the values."""

    _branch: Branch

    def __init__(self, branch: Branch, typename: str, column_type: str = "") -> None:
        super().__init__(typename, column_type)
        self._branch = branch

    @property
    def branch(self) -> Branch:
        """The branch."""
        return self._branch

    @property
    def subbranches(self) -> dict[str, Any]:
        """The interpretations of the sub-branches by name."""
        return {branch.name: interpretation_of(branch) for branch in self._branch.branches}

    def __repr__(self) -> str:
        return f"AsGroup({self._branch!r}, {self.subbranches!r})"


class UnknownInterpretation(Interpretation):
    """A branch that cannot be read."""

    def __init__(self, typename: str, reason: str) -> None:
        super().__init__(typename, "")
        #: Why it cannot be read.
        self.reason = reason

    def __repr__(self) -> str:
        return f"<UnknownInterpretation {self.reason!r}>"


def interpretation_of(branch: Branch) -> Interpretation:
    """The interpretation of a branch."""
    try:
        if branch.reads_as_group():
            return AsGrouped(branch, branch.typename)
        kind = branch.column_type
    except UnsupportedError as e:
        typename = branch.typename
        return AsGrouped(branch, typename) if branch.branches else UnknownInterpretation(typename, str(e))
    if branch.typename == "unknown":
        return UnknownInterpretation("unknown", "none of the rules matched")
    return _by_type(branch, kind)._of(branch, branch.typename, kind)


def _by_type(branch: Branch, kind: str) -> Interpretation:
    from .model_names import is_member, model_of, strided_item, strided_model

    if _FLAT.match(kind):
        return AsDtype(_big_endian(kind))
    item = kind.removeprefix("var * ")
    if item != kind and _FLAT.match(item):
        if branch.typename.partition("[")[0] != branch.typename:
            counted = branch.classname == "TBranchElement" and 40 < branch.member("fStreamerType") < 60
            return AsJagged(AsDtype(_big_endian(item)), 1 if counted else 0)
        if _VECTOR.match(branch.typename):
            return AsJagged(AsDtype(_big_endian(item)), 10)
    if kind == "string":
        return AsStrings(6 if "std::string" in branch.typename and is_member(branch) else 0)
    if (strided := strided_model(branch, kind)) is not None:
        return AsStridedObjects(strided)
    if (strided := strided_item(branch, kind)) is not None:
        return AsJagged(AsStridedObjects(strided), 10)
    return AsObjects(model_of(branch))


def _big_endian(kind: str) -> np.dtype[Any]:
    match = _FLAT.match(kind)
    assert match is not None
    dtype, inner = np.dtype(match["number"]).newbyteorder(">"), [int(n) for n in match["extents"].split(" * ") if n]
    return np.dtype((dtype, tuple(inner))) if inner else dtype
