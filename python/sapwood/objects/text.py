"""TObjString."""

from __future__ import annotations

from typing import Any

from .members import HasMembers


class ObjString(str, HasMembers):
    """A TObjString: text with a class."""

    #: The C++ class.
    classname = "TObjString"
    #: The unique id of TObject: for the label of an axis the number of its bin.
    unique_id = 0

    @property
    def _members(self) -> dict[str, Any]:  # type: ignore[override]
        return {"fString": str(self)}
