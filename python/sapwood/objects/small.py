"""Small classes with a meaning of their own."""

from __future__ import annotations

from datetime import datetime
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


class Datime(Object):
    """A TDatime."""

    def to_datetime(self) -> datetime:
        """Date and time, without a zone: ROOT keeps none."""
        packed = self.member("fDatime")
        return datetime(
            (packed >> 26) + 1995,
            packed >> 22 & 15,
            packed >> 17 & 31,
            packed >> 12 & 31,
            packed >> 6 & 63,
            packed & 63,
        )
