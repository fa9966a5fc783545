"""One basket of a branch, as stored in the file."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import CorruptError, UnsupportedError, require
from ..public import public
from .raw_bytes import read_bytes

if TYPE_CHECKING:
    from .. import Branch

_SMALL = struct.Struct(">ihiIhhii")
_BIG = struct.Struct(">ihiIhhqq")
#: Version, buffer size, size of an entry, number of entries, end of the values (with the key).
_OF_BASKET = struct.Struct(">hiiii")


@public
@dataclass(frozen=True)
class BasketKey:
    """The key of a basket, with ROOT's names."""

    fNbytes: int
    fVersion: int
    fObjlen: int
    fDatime: int
    fKeylen: int
    fCycle: int
    fSeekKey: int
    fSeekPdir: int

    @property
    def is_64bit(self) -> bool:
        """Whether positions have 8 bytes."""
        return self.fVersion > 1000

    @property
    def data_uncompressed_bytes(self) -> int:
        """Size of the values after decompression."""
        return self.fObjlen

    @property
    def data_compressed_bytes(self) -> int:
        """Size of the values in the file."""
        return self.fNbytes - self.fKeylen


@public
class Basket:
    """A basket: its bytes after decompression, and where its entries begin. Returned by :meth:`Branch.basket`."""

    def __init__(self, branch: Branch, number: int) -> None:
        #: The branch.
        self.branch = branch
        #: Its number in the branch.
        self.basket_num = number
        #: Its key; None if it is stored in the tree's header.
        self.key: BasketKey | None = None
        #: The first byte of each entry, and the end; None if all entries have the same size.
        self.byte_offsets: np.ndarray | None = None
        if not branch.basket_compressed_bytes(number):
            self.num_entries, self.data, self.byte_offsets = _from_values(branch, number)
            return
        self.key, head = _key(branch, number)
        sizes = _OF_BASKET.unpack_from(head, self.key.fKeylen - _OF_BASKET.size - 1)
        _, _, _, self.num_entries, end = sizes
        border = end - self.key.fKeylen
        contents = head[self.key.fKeylen :]
        if self.key.fObjlen != len(contents):
            contents = decompress(contents, self.key.fObjlen, branch.file.file_path)
        if not 0 <= border <= len(contents):
            raise CorruptError(f"{branch.file.file_path}: basket {number} of {branch.path} ends outside of its values")
        #: The values, as bytes.
        self.data = np.frombuffer(contents, np.uint8)[:border]
        rest = contents[border:]
        if len(rest) >= 4:
            starts = np.frombuffer(rest[: len(rest) // 4 * 4], ">i4")[1 : self.num_entries + 1]
            self.byte_offsets = np.append(starts, end).astype(np.int32) - self.key.fKeylen

    @property
    def entry_start_stop(self) -> tuple[int, int]:
        """First entry and end (exclusive)."""
        return self.branch.basket_entry_start_stop(self.basket_num)

    @property
    def uncompressed_bytes(self) -> int:
        """Size after decompression."""
        return len(self.data) if self.key is None else self.key.fObjlen

    @property
    def compressed_bytes(self) -> int:
        """Size in the file, without the key; that of the values if it is stored in the tree's header."""
        return len(self.data) if self.key is None else self.key.data_compressed_bytes

    def array(self, interpretation: None = None, library: str = "ak") -> Any:
        """Return the values of its entries."""
        start, stop = self.entry_start_stop
        return self.branch.array(interpretation, start, stop, library=library)

    def __repr__(self) -> str:
        return f"<Basket {self.basket_num} of {self.branch.path!r}, {self.num_entries} entries>"


def _from_values(branch: Branch, number: int) -> tuple[int, np.ndarray, np.ndarray | None]:
    """Entries, bytes and offsets of a basket that is stored in the tree's header, from its values.

    Raises:
        UnsupportedError: they are not numbers or lists of numbers.
    """
    start, stop = branch.basket_entry_start_stop(number)
    values = branch.array(entry_start=start, entry_stop=stop, library="np")
    lists = values.dtype == object and branch.typename.endswith("]") and branch.column_type.startswith("var * ")
    offsets = None
    if lists and len(values):
        flat = np.concatenate(list(values))
        sizes = np.asarray([len(items) for items in values]) * flat.dtype.itemsize
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        values = flat
    if values.dtype.kind not in "biuf":
        raise UnsupportedError(
            f"{branch.file.file_path}: basket {number} of {branch.path} is in the tree's header; read its entries with "
            "array"
        )
    stored = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder(">"))
    return stop - start, np.frombuffer(stored.tobytes(), np.uint8), offsets


def basket_key(branch: Branch, number: int) -> BasketKey:
    """The key of a basket."""
    return _key(branch, number)[0]


def _key(branch: Branch, number: int) -> tuple[BasketKey, bytes]:
    """The key of a basket, and all bytes of the basket, beginning with the key."""
    size = branch.basket_compressed_bytes(number)
    seek = branch._told["basket_seek"][number] if number < len(branch._told["basket_seek"]) else 0
    where = f"basket {number} of {branch.path}"
    if not size or not seek:
        raise UnsupportedError(f"{branch.file.file_path}: {where} is in the tree's header; read its entries with array")
    data = read_bytes(branch.file, seek, seek + size)
    if len(data) < _BIG.size:
        raise CorruptError(f"{branch.file.file_path}: {where} has only {size} bytes", file=branch.file.file_path)
    key = BasketKey(*_SMALL.unpack_from(data))
    if key.is_64bit:
        key = BasketKey(*_BIG.unpack_from(data))
    if not _SMALL.size + _OF_BASKET.size < key.fKeylen <= len(data):
        raise CorruptError(f"{branch.file.file_path}: {where} has an invalid key", file=branch.file.file_path)
    return key, data


def decompress(data: bytes, size: int, file: str) -> bytes:
    """The contents of ROOT's compressed blocks, each with a header of 9 bytes.

    Raises:
        CorruptError: the blocks do not give `size` bytes.
    """
    out: list[bytes] = []
    place = done = 0
    while done < size:
        if place + 9 > len(data):
            raise CorruptError(f"{file}: a compressed block is cut off", file=file)
        method = data[place : place + 2]
        packed = int.from_bytes(data[place + 3 : place + 6], "little")
        plain = int.from_bytes(data[place + 6 : place + 9], "little")
        try:
            part = _inflate(method, data[place + 9 : place + 9 + packed], plain)
        except (ImportError, UnsupportedError):
            raise
        except Exception as e:
            raise CorruptError(f"{file}: a compressed block cannot be decompressed: {e}", file=file) from e
        if len(part) != plain or not plain:
            raise CorruptError(f"{file}: a compressed block has {len(part)} bytes, not {plain}", file=file)
        out.append(part)
        place, done = place + 9 + packed, done + plain
    if done != size:
        raise CorruptError(f"{file}: a basket has {done} bytes, not {size}", file=file)
    return b"".join(out)


def _inflate(method: bytes, data: bytes, size: int) -> bytes:
    if method == b"ZL":
        import zlib

        return zlib.decompressobj().decompress(data, size)
    if method == b"XZ":
        import lzma

        return lzma.LZMADecompressor().decompress(data, size)
    if method == b"L4":
        # 8 bytes of checksum come first
        return bytes(require("cramjam", "a basket's bytes (LZ4)").lz4.decompress_block(data[8:], output_len=size))
    if method == b"ZS":
        made = require("cramjam", "a basket's bytes (zstd)").zstd.decompress(data)
        return bytes(made)
    raise UnsupportedError(f"compression {method!r} is not supported by Branch.basket; read its entries with array")
