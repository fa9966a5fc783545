"""TObjString."""

from __future__ import annotations

from typing import Any

from ..errors import KeyInFileError


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
