"""A file that is read chunk by chunk through a caching proxy, and what a session may receive of it."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import proxies

sys.path.insert(0, str(Path(__file__).parent / "peers"))
from chunks import Refused, opened

CHUNKS, SIZE = 100, 256 << 10
WHOLE = CHUNKS * SIZE
#: Seconds by which files are older than now.
BEFORE = 3600
WRONG, REFUSED, RIGHT = "wrong", "refused", "right"


@dataclass
class Subject:
    """A proxy, the protocol used with it, and the folder of its origin."""

    title: str
    proxy: proxies.Proxy
    protocol: str
    folder: Path
    count: int = 0

    def new(self):
        """A new name; returns the file's path and its address."""
        self.count += 1
        path = self.folder / f"f{self.count}"
        return path, self.proxy.url(path.name, self.protocol)


def constant(version):
    return bytes([version + 1]) * WHOLE


def put(path, content, version, *, in_place=False, now=False):
    """Changes the file's content: a new file under its name, or the same one overwritten. Its modification time is ten
    seconds later for each version; or with `now`, the current time."""
    if in_place:
        with path.open("r+b") as file:
            file.write(content)
        target = path
    else:
        target = path.with_suffix(".next")
        target.write_bytes(content)
    if not now:
        then = time.time() - BEFORE + 10 * version
        os.utime(target, (int(then), int(then)))
    if target != path:
        os.replace(target, path)


class Session:
    """The results of one session."""

    def __init__(self, url, truth=None):
        self.client, self.truth, self.first = opened(url), truth, None
        self.counts = Counter()

    def read(self, index):
        """Reads a chunk and checks it; returns whether it arrived."""
        return self.read_span(index * SIZE, SIZE)

    def read_span(self, start, size):
        try:
            data = self.client.read(start, size)
        except Refused:
            self.counts[REFUSED] += 1
            return False
        if self.truth is not None:
            right = data == self.truth[start : start + size]
        else:
            # one value, and the same in all chunks
            self.first = data[0] if self.first is None else self.first
            right = data.count(self.first) == size
        self.counts[RIGHT if right else WRONG] += 1
        return True

    def close(self):
        self.client.close()
        return self.counts


def read_all(url, truth=None, at=None):
    """All chunks in one session; `at` has the actions before some of them. A failed open counts as refused."""
    counts = Counter()
    try:
        session = Session(url, truth)
    except (Refused, OSError):
        return Counter({REFUSED: CHUNKS})
    for index in range(CHUNKS):
        if at and index in at:
            at[index]()
        session.read(index)
    counts.update(session.close())
    return counts
