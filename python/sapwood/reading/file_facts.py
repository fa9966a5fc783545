"""What the header of a file tells, by uproot's names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import uuid
    from datetime import datetime

    from .. import ReadOnlyFile
    from .header import Header


def date_of(packed: int) -> datetime | None:
    """A date of ROOT's, packed in 32 bits; None for what is not a date."""
    from datetime import datetime

    try:
        return datetime(
            (packed >> 26) + 1995,
            packed >> 22 & 15,
            packed >> 17 & 31,
            packed >> 12 & 31,
            packed >> 6 & 63,
            packed & 63,
        )
    except ValueError:
        return None


class FileFacts:
    """Attributes of a file that are read from its header when first asked."""

    _head: Header | None = None

    def _as_file(self) -> ReadOnlyFile:
        raise NotImplementedError

    @property
    def _header(self) -> Header:
        if self._head is None:
            from .header import read_header

            self._head = read_header(self._as_file())
        return self._head

    @property
    def root_directory(self) -> ReadOnlyFile:
        """The top directory: the file itself."""
        return self._as_file()

    @property
    def uuid(self) -> uuid.UUID:
        """The identifier that ROOT gave the file when it was created."""
        return self._header.uuid

    @property
    def hex_uuid(self) -> str:
        """:attr:`uuid` as text."""
        return str(self._header.uuid)

    @property
    def compression(self) -> int:
        """ROOT's setting for new objects: 100 times the algorithm plus the level."""
        return self._header.fCompress

    @property
    def root_version_tuple(self) -> tuple[int, int, int]:
        """The version of ROOT that wrote the file."""
        version = self._header.fVersion % 1_000_000
        return version // 10000, version // 100 % 100, version % 100

    @property
    def root_version(self) -> str:
        """The version of ROOT that wrote the file, as text."""
        return "{}.{:02d}/{:02d}".format(*self.root_version_tuple)

    @property
    def is_64bit(self) -> bool:
        """Whether positions in the file have 8 bytes."""
        return self._header.fVersion >= 1_000_000

    @property
    def created_on(self) -> datetime | None:
        """When the file was created; ROOT stores no time zone."""
        return date_of(self._header.fDatimeC)

    @property
    def modified_on(self) -> datetime | None:
        """When the list of its objects was changed last; ROOT stores no time zone."""
        return date_of(self._header.fDatimeM)

    @property
    def fVersion(self) -> int:
        """ROOT's member of this name: the version, and 1000000 for large files."""
        return self._header.fVersion

    @property
    def fBEGIN(self) -> int:
        """ROOT's member of this name: the first byte of the first record."""
        return self._header.fBEGIN

    @property
    def fEND(self) -> int:
        """ROOT's member of this name: the end of the file."""
        return self._header.fEND

    @property
    def fSeekFree(self) -> int:
        """ROOT's member of this name: the list of free space."""
        return self._header.fSeekFree

    @property
    def fNbytesFree(self) -> int:
        """ROOT's member of this name: bytes of the list of free space."""
        return self._header.fNbytesFree

    @property
    def nfree(self) -> int:
        """ROOT's member of this name: the number of free spaces."""
        return self._header.nfree

    @property
    def fNbytesName(self) -> int:
        """ROOT's member of this name: bytes before the top directory's record."""
        return self._header.fNbytesName

    @property
    def fUnits(self) -> int:
        """ROOT's member of this name: bytes of a position in the file."""
        return self._header.fUnits

    @property
    def fCompress(self) -> int:
        """ROOT's member of this name: see :attr:`compression`."""
        return self._header.fCompress

    @property
    def fSeekInfo(self) -> int:
        """ROOT's member of this name: the class descriptions."""
        return self._header.fSeekInfo

    @property
    def fNbytesInfo(self) -> int:
        """ROOT's member of this name: bytes of the class descriptions."""
        return self._header.fNbytesInfo

    @property
    def fUUID(self) -> bytes:
        """ROOT's member of this name: the 16 bytes of :attr:`uuid`."""
        return self._header.fUUID
