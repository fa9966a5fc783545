"""TParameter."""

from __future__ import annotations

from typing import Any

from .object import Object


class Parameter(Object):
    """A TParameter: a number with a name."""

    @property
    def value(self) -> Any:
        """The number."""
        return self.member("fVal")

    def __bool__(self) -> bool:
        return bool(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __repr__(self) -> str:
        return f"<{self.classname} {self.name!r}: {self.value!r}>"
