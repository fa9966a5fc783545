"""The floor of reading a tree: decompressing all its baskets with libdeflate, in seconds of one core. inflate.py FILE

Walks the file record by record, without any tree: all compressed TBasket records are decompressed."""

import json
import sys
import time
import zlib
from pathlib import Path

try:
    from deflate import zlib_decompress

    def inflate(block, size):
        return zlib_decompress(block, size)

    library = "libdeflate"
except ImportError:
    library = "zlib"

    def inflate(block, size):
        return zlib.decompress(block, bufsize=size)


def records(data):
    """(position, bytes of the record, bytes of its key, size of its content, class) of every record."""
    big = int.from_bytes(data[4:8], "big") >= 1_000_000
    at = int.from_bytes(data[8:12], "big")
    end = int.from_bytes(data[12:20] if big else data[12:16], "big")
    while at < end:
        size = int.from_bytes(data[at : at + 4], "big", signed=True)
        if size <= 0:
            at += -size or end
            continue
        wide = int.from_bytes(data[at + 4 : at + 6], "big") > 1000
        name = at + (34 if wide else 26)
        content, key = int.from_bytes(data[at + 6 : at + 10], "big"), int.from_bytes(data[at + 14 : at + 16], "big")
        yield at, size, key, content, bytes(data[name + 1 : name + 1 + data[name]])
        at += size


def blocks(data):
    """(first byte, byte after the last, decompressed size) of every zlib block of every basket."""
    for at, size, key, content, name in records(data):
        if name != b"TBasket" or size - key >= content:
            continue
        block, end = at + key, at + size
        while block < end:
            packed = int.from_bytes(data[block + 3 : block + 6], "little")
            if data[block : block + 2] != b"ZL":
                sys.exit(f"{data[block : block + 2]!r} blocks are not handled: zlib only")
            yield block + 9, block + 9 + packed, int.from_bytes(data[block + 6 : block + 9], "little")
            block += 9 + packed


data = memoryview(Path(sys.argv[1]).read_bytes())
places = list(blocks(data))
start = time.process_time()
total = sum(len(inflate(data[first:last], size)) for first, last, size in places)
seconds = time.process_time() - start
print("RESULT", json.dumps({"seconds": seconds, "blocks": len(places), "value_bytes": total, "library": library}))
