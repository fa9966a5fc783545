"""Compress the files of a wheel again with zopfli: the same Deflate, 2 to 3 % smaller, and slower to make.

Usage: ``python packaging/wheel/shrink.py WHEEL...``
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import zopfli.zlib

#: Smaller files are kept as they are: there is nothing to gain.
LEAST = 4096


def deflated(content: bytes) -> bytes:
    """The content as Deflate alone, without zlib's header and checksum."""
    return zopfli.zlib.compress(content, numiterations=5, blocksplittingmax=60)[2:-4]


class _Packed:
    """In place of zlib's compressor in a zip file: gives what was compressed before."""

    def __init__(self, packed: bytes) -> None:
        self._packed = packed

    def compress(self, _: bytes) -> bytes:
        return b""

    def flush(self) -> bytes:
        return self._packed


def shrink(wheel: Path) -> tuple[int, int]:
    """Compress a wheel again; its sizes before and after. It is replaced only if all files are the same."""
    before, new = wheel.stat().st_size, wheel.with_suffix(".shrunk")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for info in old.infolist():
            content = old.read(info)
            with out.open(info, "w") as stream:
                if info.compress_type == zipfile.ZIP_DEFLATED and len(content) >= LEAST:
                    stream._compressor = _Packed(deflated(content))
                stream.write(content)
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(new) as made:
        if made.testzip() is not None or any(made.read(name) != old.read(name) for name in old.namelist()):
            raise SystemExit(f"{wheel.name}: the compressed files differ")
    new.replace(wheel)
    return before, wheel.stat().st_size


def main(wheels: list[str]) -> None:
    for wheel in map(Path, wheels):
        before, after = shrink(wheel)
        print(f"{wheel.name}: {before / 1e6:.2f} MB, now {after / 1e6:.2f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
