"""What the header of a file says: version, compression, identifier, dates."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import CorruptError
from .raw_bytes import read_bytes

if TYPE_CHECKING:
    import uuid

    from .. import ReadOnlyFile

_SMALL = struct.Struct(">4siiiiiiiBiiiH16s")
_BIG = struct.Struct(">4siiqqiiiBiqiH16s")
#: Version of the directory, and the dates of its creation and last change.
_DIRECTORY = struct.Struct(">hII")


@dataclass(frozen=True)
class Header:
    """The header of a file, with ROOT's names; see ``TFile`` in ROOT's documentation."""

    fVersion: int
    fBEGIN: int
    fEND: int
    fSeekFree: int
    fNbytesFree: int
    nfree: int
    fNbytesName: int
    fUnits: int
    fCompress: int
    fSeekInfo: int
    fNbytesInfo: int
    fUUID: bytes
    #: Dates of the top directory, as ROOT packs them.
    fDatimeC: int
    fDatimeM: int

    @property
    def uuid(self) -> uuid.UUID:
        """The identifier of the file."""
        import uuid

        return uuid.UUID(bytes=self.fUUID)


def read_header(file: ReadOnlyFile) -> Header:
    """Read the header of a file, and the dates that follow it.

    Raises:
        CorruptError: the file does not begin as a ROOT file does.
    """
    first = read_bytes(file, 0, min(512, file.size))
    if len(first) < _BIG.size or first[:4] != b"root":
        raise CorruptError(f"{file.file_path} does not begin with the header of a ROOT file", file=file.file_path)
    version = struct.unpack_from(">i", first, 4)[0]
    _, _, *fields, _, identifier = (_BIG if version >= 1_000_000 else _SMALL).unpack_from(first)
    place = fields[0] + fields[5]
    if not 0 <= place <= file.size - _DIRECTORY.size:
        raise CorruptError(f"{file.file_path}: its header has a directory at byte {place}", file=file.file_path)
    if place + _DIRECTORY.size <= len(first):
        dates = first[place : place + _DIRECTORY.size]
    else:
        dates = read_bytes(file, place, place + _DIRECTORY.size)
    _, created, modified = _DIRECTORY.unpack(dates)
    return Header(*[version, *fields, identifier, created, modified])
