"""How branches become arrays, by uproot's names for it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UnsupportedError

if TYPE_CHECKING:
    from ..reading.branch import Branch

_FLAT = re.compile(r"^(?P<extents>(?:\d+ \* )*)(?P<number>bool|u?int(?:8|16|32|64)|float(?:32|64))$")


class Interpretation:
    """How the values of a branch become an array. Sapwood reads by the descriptions in the file; this only names it."""

    def __init__(self, typename: str, column_type: str) -> None:
        #: C++ type of a value.
        self.typename = typename
        #: Type of an entry in the array.
        self.column_type = column_type

    @property
    def cache_key(self) -> str:
        """Its text."""
        return repr(self)

    def awkward_form(self, file: Any = None, **_: Any) -> Any:
        """Return the form of the awkward array."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.typename!r})"


class _OfBranch(Interpretation):
    """The interpretation of a branch, which gives the form without reading a basket."""

    def __init__(self, branch: Branch, typename: str, column_type: str) -> None:
        super().__init__(typename, column_type)
        self._branch = branch

    def awkward_form(self, file: Any = None, **_: Any) -> Any:
        """Return the form of the awkward array; no basket is read."""
        return self._branch.array(entry_start=0, entry_stop=0, library="ak").layout.form


class AsDtype(_OfBranch):
    """Numbers, or arrays of a fixed size."""

    def __init__(self, branch: Branch, typename: str, column_type: str) -> None:
        super().__init__(branch, typename, column_type)
        match = _FLAT.match(column_type)
        assert match is not None
        inner = tuple(int(n) for n in match["extents"].split(" * ") if n)
        dtype = np.dtype(match["number"])
        #: Type of a number in the file.
        self.from_dtype = np.dtype((dtype.newbyteorder(">"), inner) if inner else dtype.newbyteorder(">"))
        #: Type of a number in the array.
        self.to_dtype = np.dtype((dtype, inner) if inner else dtype)

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """Type of a number in the array."""
        return self.to_dtype

    @property
    def inner_shape(self) -> tuple[int, ...]:
        """Extents of a value."""
        return self.to_dtype.shape

    def __repr__(self) -> str:
        if self.to_dtype.shape:
            base, shape = self.from_dtype.base, self.from_dtype.shape
            return f"AsDtype(\"('{base.str}', {shape})\")"
        return f"AsDtype({self.from_dtype.str!r})"


class AsJagged(_OfBranch):
    """A list of numbers in each entry."""

    def __init__(self, branch: Branch, typename: str, column_type: str) -> None:
        super().__init__(branch, typename, column_type)
        #: The interpretation of an item.
        self.content = AsDtype(branch, typename.removesuffix("[]"), column_type.removeprefix("var * "))

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """Lists are objects of numpy."""
        return np.dtype(object)

    def __repr__(self) -> str:
        return f"AsJagged({self.content!r})"


class AsStrings(_OfBranch):
    """Text."""

    def __repr__(self) -> str:
        return "AsStrings()"


class AsObjects(_OfBranch):
    """Values of a class or a collection."""

    def __repr__(self) -> str:
        return f"AsObjects({self.typename!r})"


class AsGrouped(_OfBranch):
    """A branch whose sub-branches hold the values."""

    @property
    def subbranches(self) -> dict[str, Any]:
        """The interpretations of the sub-branches by name."""
        return {branch.name: interpretation_of(branch) for branch in self._branch.branches}

    def __repr__(self) -> str:
        return f"AsGrouped({self._branch!r})"


class UnknownInterpretation(Interpretation):
    """A branch that cannot be read."""

    def __init__(self, typename: str, reason: str) -> None:
        super().__init__(typename, "")
        #: Why it cannot be read.
        self.reason = reason

    def __repr__(self) -> str:
        return f"UnknownInterpretation({self.reason!r})"


def interpretation_of(branch: Branch) -> Interpretation:
    """The interpretation of a branch."""
    try:
        kind = branch.column_type
    except UnsupportedError as e:
        return (
            AsGrouped(branch, branch.typename, "")
            if branch.branches
            else UnknownInterpretation(branch.typename, str(e))
        )
    if branch.reads_as_group():
        return AsGrouped(branch, branch.typename, "")
    if _FLAT.match(kind):
        return AsDtype(branch, branch.typename, kind)
    if kind.startswith("var * ") and _FLAT.match(kind.removeprefix("var * ")) and branch.typename.endswith("]"):
        return AsJagged(branch, branch.typename, kind)
    if kind == "string":
        return AsStrings(branch, branch.typename, kind)
    return AsObjects(branch, branch.typename, kind)
