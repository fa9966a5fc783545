#!/usr/bin/env python3
"""What comes out of a caching proxy when the origin changes, or when bytes of what it holds are flipped: counted.

    python bench/torn.py [--sapwood COMMAND] [--only 'sapwood proxy'] [--json FILE] [--page docs/benchmarks.md]

Plain clients read a file chunk by chunk. In a session, which is one open file of the XRootD protocol or one ETag of
HTTP, all chunks have to be of one version of the file, or refused. Ends with status 1 if `sapwood proxy` gave a wrong
one.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import lab
import numpy as np
import proxies
from regions import with_region

sys.path.insert(0, str(Path(__file__).parent / "peers"))
from chunks import Refused, opened

CHUNKS, SIZE = 100, 256 << 10
WHOLE = CHUNKS * SIZE
#: Seconds after which all proxies that ask again do so, and what time files had before.
STALE, BEFORE = 6, 3600
FLIPS = 1000
WRONG, REFUSED, RIGHT = "wrong", "refused", "right"


@dataclass
class Subject:
    """A proxy, the protocol in which it is asked, and the folder of its origin."""

    title: str
    proxy: proxies.Proxy
    protocol: str
    folder: Path
    count: int = 0

    def new(self):
        """A name that was not used before; the file's path and its address."""
        self.count += 1
        path = self.folder / f"f{self.count}"
        return path, self.proxy.url(path.name, self.protocol)


def constant(version):
    return bytes([version + 1]) * WHOLE


def put(path, content, version, *, in_place=False, now=False):
    """The file gets another content: a new file under its name, or the same one written to. Its time of change is ten
    seconds later for each version; or with `now`, as it happens."""
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
    """What one session gets."""

    def __init__(self, url, truth=None):
        self.client, self.truth, self.first = opened(url), truth, None
        self.counts = Counter()

    def read(self, index, size=SIZE):
        """Reads a chunk and judges it."""
        try:
            data = self.client.read(index * SIZE, size)
        except Refused:
            self.counts[REFUSED] += 1
            return False
        if self.truth is not None:
            right = data == self.truth[index * SIZE : index * SIZE + size]
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
    """All chunks in one session; `at` has what happens before some of them. What could not be opened is refused."""
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


def between_sessions(subject):
    path, url = subject.new()
    put(path, constant(0), 0)
    read_all(url)
    put(path, constant(1), 1)
    time.sleep(STALE)
    return read_all(url, constant(1))


def half_read_before(subject):
    path, url = subject.new()
    put(path, constant(0), 0)
    session = Session(url)
    for index in range(0, CHUNKS, 2):
        session.read(index)
    session.close()
    put(path, constant(1), 1)
    # at once: the old version and the new one are both right, but not some of each
    return read_all(url)


def replaced(subject):
    path, url = subject.new()
    put(path, constant(0), 0)
    return read_all(url, at={25: lambda: put(path, constant(1), 1)})


def overwritten(subject):
    path, url = subject.new()
    put(path, constant(0), 0)
    return read_all(url, at={25: lambda: put(path, constant(1), 1, in_place=True)})


def every_tenth(subject):
    """Opened again where it is refused, as a program does that tries again."""
    path, url = subject.new()
    put(path, constant(0), 0)
    counts, session = Counter(), Session(url)
    for index in range(CHUNKS):
        if index % 10 == 9:
            put(path, constant(index // 10 + 1), index // 10 + 1)
        if not session.read(index):
            counts.update(session.close())
            try:
                session = Session(url)
            except (Refused, OSError):
                counts[REFUSED] += 1
    counts.update(session.close())
    return counts


def one_read(subject):
    """All of the file in one read, during which it is replaced."""
    counts = Counter()
    for attempt in range(8):
        path, url = subject.new()
        put(path, constant(0), 0)
        timer = threading.Timer(0.01 * attempt, put, (path, constant(1), 1))
        try:
            session = Session(url)
            timer.start()
            session.read(0, WHOLE)
            counts.update(session.close())
        except (Refused, OSError):
            counts[REFUSED] += 1
        timer.join()
    return counts


def many_at_once(subject):
    """Eight clients, in sessions one after the other, of a file that is replaced all the time."""
    path, url = subject.new()
    put(path, constant(0), 0, now=True)
    counts, over = [], threading.Event()

    def client():
        while not over.is_set():
            counts.append(read_all(url))

    def writer():
        version = 0
        while not over.wait(0.3):
            version = (version + 1) % 200
            put(path, constant(version), version, now=True)

    threads = [threading.Thread(target=client) for _ in range(8)] + [threading.Thread(target=writer)]
    for thread in threads:
        thread.start()
    time.sleep(8)
    over.set()
    for thread in threads:
        thread.join()
    return sum(counts, Counter())


def twins(folder):
    """Two ROOT files of one layout and one size, with other values."""
    import sapwood

    found = []
    for seed in (1, 2):
        path = folder / "twin"
        with sapwood.recreate(path, compression=None) as file:
            file["t"] = {"x": np.random.default_rng(seed).normal(size=WHOLE // 8)}
        found.append(path.read_bytes())
        path.unlink()
    assert len(found[0]) == len(found[1]) > WHOLE
    return found


def one_layout(subject):
    """Another file of the same layout, size and time takes the name."""
    path, url = subject.new()
    old, new = twins(subject.folder)
    put(path, old, 0)
    read_all(url)
    put(path, new, 0)
    time.sleep(STALE)
    return read_all(url, new)


def noise(subject, change, restart):
    """A file that is held; what it is held in is changed, while the proxy runs or is stopped; it is read again."""
    path, url = subject.new()
    content = np.random.default_rng(subject.count).bytes(WHOLE)
    put(path, content, 0)
    before = read_all(url, content)
    time.sleep(1)
    if restart:
        subject.proxy.kill(signal.SIGTERM)
    change(subject.proxy.held)
    if restart:
        subject.proxy.start_again()
    counts = read_all(subject.proxy.url(path.name, subject.protocol), content)
    counts[WRONG] += before[WRONG]
    return counts


def flip(folder):
    """Flips bytes here and there, in all files that were written last."""
    chance = random.Random(1)
    files = [path for path in folder.rglob("*") if path.is_file() and path.stat().st_size > 0]
    sizes = [path.stat().st_size for path in files]
    for path in chance.choices(files, sizes, k=FLIPS):
        with path.open("r+b") as file:
            place = chance.randrange(path.stat().st_size)
            file.seek(place)
            byte = file.read(1)[0] ^ (1 << chance.randrange(8))
            file.seek(place)
            file.write(bytes([byte]))


def halve(folder):
    for path in folder.rglob("*"):
        if path.is_file():
            os.truncate(path, path.stat().st_size // 2)


SCENES = {
    "replaced between two sessions": between_sessions,
    "half of it read, then replaced and read at once": half_read_before,
    "replaced within a session": replaced,
    "overwritten in place within a session": overwritten,
    "replaced every 10 chunks, opened again when refused": every_tenth,
    "replaced during one read of all (8 times)": one_read,
    "8 clients, replaced every 0.3 s": many_at_once,
    "another ROOT file of the same layout, size and time": one_layout,
    f"{FLIPS} flipped bytes in what it holds, running": lambda subject: noise(subject, flip, False),
    f"{FLIPS} flipped bytes in what it holds, restarted": lambda subject: noise(subject, flip, True),
    "every file of what it holds cut to half, restarted": lambda subject: noise(subject, halve, True),
}


def subjects(folder, network, sapwood):
    """Each proxy that is asked over each of its protocols, with its origin; context managers."""
    web, root = lab.Nginx(folder, network), lab.XRootD(folder, network)
    for origin, protocol, make in (
        (root, "xrootd", lambda: proxies.XCache(root, network)),
        (web, "http", lambda: proxies.NginxCache(web, network)),
        (root, "xrootd", lambda: proxies.SapwoodProxy(root, network, sapwood)),
        (web, "http", lambda: proxies.SapwoodProxy(web, network, sapwood)),
        (root, "http", lambda: proxies.SapwoodProxy(root, network, sapwood)),
        (web, "xrootd", lambda: proxies.SapwoodProxy(web, network, sapwood)),
    ):
        spoken = {"http": "HTTP", "xrootd": "XRootD"}
        proxy_title = make().title
        title = proxy_title
        if proxy_title == "sapwood proxy":
            title += f", {spoken[protocol]} from {spoken['http' if origin is web else 'xrootd']}"
        yield title, origin, protocol, make


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sapwood", type=Path, default=Path(sys.executable).parent / "sapwood", help="the command")
    parser.add_argument("--only", default="", help="proxies whose title has this")
    parser.add_argument("--scene", default="", help="only where this is in the name")
    parser.add_argument("--json", type=Path, help="the counts as JSON")
    parser.add_argument("--page", type=Path, help="docs/benchmarks.md: its part on wrong bytes is written anew")
    options = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory(prefix="sapwood-torn-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        network = lab.network(0, 0, scratch=folder)
        for title, origin, protocol, make in subjects(folder, network, options.sapwood):
            if options.only not in title:
                continue
            with origin, make() as proxy:
                subject = Subject(title, proxy, protocol, folder)
                for scene, run in SCENES.items():
                    if options.scene not in scene:
                        continue
                    counts = run(subject)
                    found.setdefault(scene, {})[title] = dict(counts)
                    print(f"{title}: {scene}: " + ", ".join(f"{n} {what}" for what, n in counts.items()), flush=True)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))
    if options.page:
        options.page.write_text(with_region(options.page.read_text(), "torn", table(found)))
    wrong = sum(counts.get(WRONG, 0) for row in found.values() for title, counts in row.items() if "sapwood" in title)
    sys.exit(f"{wrong} wrong chunks from sapwood proxy" if wrong else 0)


def table(found):
    """The counts for a page."""
    titles = list(dict.fromkeys(title for row in found.values() for title in row))
    lines = [
        "## Wrong bytes",
        "",
        f"`bench/torn.py`: chunks of {SIZE >> 10} KiB of a file of {CHUNKS}, read one by one by plain clients through "
        "a proxy. Wrong (of another version than the chunks before, or of none) / refused.",
        "",
        "| |" + "".join(f" {title} |" for title in titles),
        "| --- |" + " ---: |" * len(titles),
    ]
    for scene, row in found.items():
        cells = [row.get(title) for title in titles]
        texts = ["" if c is None else f"{c.get(WRONG, 0)} / {c.get(REFUSED, 0)}" for c in cells]
        lines.append(f"| {scene} |" + "".join(f" {text} |" for text in texts))
    return "\n".join(lines)


if __name__ == "__main__":
    main()
