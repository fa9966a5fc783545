"""TDatime."""

from __future__ import annotations

from datetime import datetime

from .object import Object


class Datime(Object):
    """A TDatime."""

    def to_datetime(self) -> datetime:
        """Date and time without a time zone: ROOT does not store one."""
        packed = self.member("fDatime")
        return datetime(
            (packed >> 26) + 1995,
            packed >> 22 & 15,
            packed >> 17 & 31,
            packed >> 12 & 31,
            packed >> 6 & 63,
            packed & 63,
        )
