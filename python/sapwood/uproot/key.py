"""The key of an object with uproot's methods, where Sapwood's own has attributes."""

from __future__ import annotations

from ..reading.key import Key


class ReadOnlyKey(Key):
    """The key of an object, with ROOT's names. Returned by ``Directory.key``."""

    def name(self, cycle: bool = False) -> str:  # type: ignore[override]
        """Return the name of the object, with its cycle if asked for."""
        return f"{self.fName};{self.fCycle}" if cycle else self.fName

    def title(self) -> str:
        """Return the title of the object."""
        return self.fTitle

    def classname(self) -> str:  # type: ignore[override]
        """Return the C++ class of the object."""
        return self.fClassName

    @property
    def data_uncompressed_bytes(self) -> int:
        """Bytes of the object after decompression."""
        return self.fObjlen
