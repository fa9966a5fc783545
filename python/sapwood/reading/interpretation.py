"""How branches become columns."""

from __future__ import annotations

from dataclasses import dataclass

from ..public import public


@public
@dataclass(frozen=True)
class Interpretation:
    """How a branch's values become a column."""

    #: C++ type of a value.
    typename: str
    #: Type of an entry in the column.
    column_type: str

    def __str__(self) -> str:
        return self.column_type
