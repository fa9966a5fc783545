"""ROOT files put together record by record, whole in all that a test does not want otherwise: header, directory, list
of keys, class descriptions and free list fit what is added. Payloads come from other files (`payload`) or are new."""

from __future__ import annotations

import lzma
import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path

BEGIN = 100
# Bytes of a block's payload and of what it unpacks to: three bytes of size.
BLOCK = 0xFFFFFF


def text(value):
    """A TString."""
    raw = value.encode() if isinstance(value, str) else value
    return (bytes([len(raw)]) if len(raw) < 255 else b"\xff" + struct.pack(">I", len(raw))) + raw


def counted(version, body):
    """An object: byte count, version, members."""
    return struct.pack(">IH", 0x40000000 | (len(body) + 2), version) + body


def tobject(bits=0x02000000):
    return struct.pack(">HII", 1, 0, bits)


def named(name, title=""):
    return counted(1, tobject() + text(name) + text(title))


def block(tag, packed, size):
    """One block: tag and method, two sizes, what was packed."""
    return tag + struct.pack("<I", len(packed))[:3] + struct.pack("<I", size)[:3] + packed


def squeezed(data, codec="zlib"):
    """Data as ROOT compresses them: a chain of blocks."""
    out = b""
    for at in range(0, len(data), BLOCK):
        part = bytes(data[at : at + BLOCK])
        out += squeezed_block(part, codec)
    return out


def squeezed_block(part, codec):
    if codec == "zlib":
        return block(b"ZL\x08", zlib.compress(part, 9), len(part))
    if codec == "lzma":
        return block(b"XZ\x00", lzma.compress(part, lzma.FORMAT_XZ, lzma.CHECK_CRC32), len(part))
    raise ValueError(codec)


def zeros(size, front=b"", codec="zlib"):
    """As `squeezed` of `front` and zeros behind it, `size` bytes in all; without taking so much memory."""
    whole = squeezed_block(bytes(BLOCK), codec)
    out, left = squeezed_block(front.ljust(min(BLOCK, size), b"\0"), codec), size - min(BLOCK, size)
    out += whole * (left // BLOCK)
    return out + (squeezed_block(bytes(left % BLOCK), codec) if left % BLOCK else b"")


@dataclass
class Packed:
    """A payload as stored, and the length that its key says it has."""

    stored: bytes
    size: int


@dataclass
class Record:
    kind: str
    name: str
    title: str
    payload: bytes | Packed
    listed: bool = True
    cycle: int = 1
    # what a basket's label has behind the common part
    more: bytes = b""
    at: int = 0
    said: dict = field(default_factory=dict)

    def key(self):
        """The label, where the record is now; `said` has what it states wrongly (nbytes, objlen, keylen, seek)."""
        stored = self.payload.stored if isinstance(self.payload, Packed) else self.payload
        size = self.payload.size if isinstance(self.payload, Packed) else len(stored)
        tail = text(self.kind) + text(self.name) + text(self.title) + self.more
        length = 26 + len(tail)
        said = {"nbytes": length + len(stored), "objlen": size, "keylen": length, "seek": self.at} | self.said
        head = struct.pack(
            ">iHiIHHII", said["nbytes"], 4, said["objlen"], 0, said["keylen"], self.cycle, said["seek"], BEGIN
        )
        return head + tail

    def bytes(self):
        return self.key() + (self.payload.stored if isinstance(self.payload, Packed) else self.payload)


class WholeFile:
    """A file of records; `info` is the payload of the class descriptions."""

    def __init__(self, info=None, version=63200):
        self.records, self.info, self.version = [], info, version

    def add(self, kind, name, payload, title="", **more):
        self.records.append(Record(kind, name, title, payload, **more))
        return self.records[-1]

    def place(self):
        """Gives each record its place, in their order, behind the root directory; where the file's own parts begin."""
        at = BEGIN + len(self.root(0, 0))
        for record in self.records:
            record.at = at
            at += len(record.bytes())
        return at

    def root(self, keys, nbytes_keys):
        name = text("whole.root") + text("")
        directory = (
            struct.pack(">HIIiiIII", 5, 0, 0, nbytes_keys, 0, BEGIN, 0, keys)
            + struct.pack(">H", 1)
            + bytes(16)
            + bytes(12)
        )
        record = Record("TFile", "whole.root", "", name + directory, at=BEGIN)
        names = len(record.key()) + len(name)
        directory = directory[:14] + struct.pack(">i", names) + directory[18:]
        record.payload = name + directory
        self.names = names
        return record.bytes()

    def write(self, path):
        at = self.place()
        body = b"".join(r.bytes() for r in self.records)
        info_at = info_len = 0
        if self.info is not None:
            info = Record("TList", "StreamerInfo", "Doubly linked list", self.info, at=at).bytes()
            info_at, info_len = at, len(info)
            body, at = body + info, at + len(info)
        listed = [r for r in self.records if r.listed]
        payload = struct.pack(">i", len(listed)) + b"".join(r.key() for r in listed)
        keys = Record("TFile", "whole.root", "", payload, at=at).bytes()
        keys_at, body, at = at, body + keys, at + len(keys)
        free = Record("TFile", "whole.root", "", struct.pack(">HII", 1, 0, 2000000000), at=at)
        end = at + len(free.bytes())
        free.payload = struct.pack(">HII", 1, end, 2000000000)
        root = self.root(keys_at, len(keys))
        head = b"root" + struct.pack(
            ">iIIIIiiBIII", self.version, BEGIN, end, at, len(free.bytes()), 1, self.names, 4, 0, info_at, info_len
        )
        head += struct.pack(">H", 1) + bytes(16)
        Path(path).write_bytes(head.ljust(BEGIN, b"\0") + root + body + free.bytes())
        return Path(path)


def records(path):
    """All records of a whole file: class, name, title, position, key's length, payload unpacked where it is zlib."""
    data = Path(path).read_bytes()
    at, end, out = struct.unpack(">I", data[8:12])[0], struct.unpack(">I", data[12:16])[0], []
    while at < end:
        nbytes, version, size, _, keylen, _ = struct.unpack(">iHiIHH", data[at : at + 18])
        if nbytes <= 0:
            at += -nbytes
            continue
        big = version > 1000
        c, words = at + (34 if big else 26), []
        for _ in range(3):
            n = data[c]
            words.append(data[c + 1 : c + 1 + n].decode())
            c += 1 + n
        out.append((*words, at, keylen, data[c : at + keylen], data[at + keylen : at + nbytes], size))
        at += nbytes
    return out


def payload(path, name):
    """The payload of an object in a file that was written without compression."""
    (found,) = (r for r in records(path) if r[1] == name and r[0] not in ("TFile", "TBasket"))
    assert len(found[6]) == found[7]
    return found[6]


def pointer(kind, body):
    """An object behind a pointer, its class named in full."""
    tag = b"\xff\xff\xff\xff" + kind.encode() + b"\0" + body
    return struct.pack(">I", 0x40000000 | len(tag)) + tag


def element(name, type_name, code, size, kind="TStreamerBasicType", title="", counter=b"", dimensions=()):
    """A member in a description; `counter` is what its kind has behind the common part."""
    length = 1
    for n in dimensions:
        length *= n
    lengths = (*dimensions, *[0] * (5 - len(dimensions)))
    array = (length if dimensions else 0, len(dimensions), *lengths)
    common = named(name, title) + struct.pack(">9i", code, size, *array) + text(type_name)
    return pointer(kind, counted(2, counted(4, common) + counter))


def array_of(items):
    return counted(3, tobject() + text("") + struct.pack(">ii", len(items), 0) + b"".join(items))


def description(name, version, elements, checksum=None):
    """A TStreamerInfo."""
    checksum = version if checksum is None else checksum
    return pointer(
        "TStreamerInfo",
        counted(9, named(name) + struct.pack(">Ii", checksum, version) + pointer("TObjArray", array_of(elements))),
    )


def list_of(items):
    """A TList of what `pointer` made."""
    return counted(5, tobject() + text("") + struct.pack(">i", len(items)) + b"".join(i + b"\0" for i in items))


def with_descriptions(info, more):
    """The class descriptions of another file, and more."""
    count = struct.unpack(">I", info[:4])[0] & 0x3FFFFFFF
    assert count + 4 == len(info)
    at = 6 + 10 + 1
    (n,) = struct.unpack(">i", info[at : at + 4])
    return counted(
        5, info[6:at] + struct.pack(">i", n + len(more)) + info[at + 4 :] + b"".join(m + b"\0" for m in more)
    )
