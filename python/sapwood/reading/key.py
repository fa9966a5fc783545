"""The key of an object: what a directory knows of it."""

from __future__ import annotations

from dataclasses import dataclass

from ..public import public


@public
@dataclass(frozen=True)
class Key:
    """The key of an object, with ROOT's names. Returned by :meth:`Directory.key`."""

    fName: str
    fTitle: str
    fClassName: str
    fCycle: int
    #: Bytes of the object in the file, with its key.
    fNbytes: int
    #: Bytes of the object after decompression.
    fObjlen: int

    @property
    def name(self) -> str:
        """Name of the object."""
        return self.fName

    @property
    def classname(self) -> str:
        """C++ class of the object."""
        return self.fClassName
