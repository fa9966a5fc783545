"""Changes of an origin or of a caching proxy's data, and the results for clients: each scene counts the wrong, refused
and right chunks."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import Counter

import numpy as np
from torn_session import CHUNKS, REFUSED, WHOLE, WRONG, Refused, Session, constant, put, read_all

#: Seconds after which all proxies have queried the origin again.
STALE = 6
FLIPS = 1000


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
    # at once: the old version and the new one are both right, but not a mixture
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
    """Opens again after a refusal, like a program that retries."""
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
    """The whole file in one read, during which it is replaced."""
    counts = Counter()
    for attempt in range(8):
        path, url = subject.new()
        put(path, constant(0), 0)
        timer = threading.Timer(0.01 * attempt, put, (path, constant(1), 1))
        try:
            session = Session(url)
            timer.start()
            session.read_span(0, WHOLE)
            counts.update(session.close())
        except (Refused, OSError):
            counts[REFUSED] += 1
        timer.join()
    return counts


def many_at_once(subject):
    """Eight clients, in consecutive sessions, on a file that is replaced all the time."""
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
    """Two ROOT files with the same layout and size, and different values."""
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
    """Another file with the same layout, size and time replaces it."""
    path, url = subject.new()
    old, new = twins(subject.folder)
    put(path, old, 0)
    read_all(url)
    put(path, new, 0)
    time.sleep(STALE)
    return read_all(url, new)


def noise(subject, change, restart):
    """A cached file; its cache is damaged, while the proxy runs or is stopped; it is read again."""
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


def killed(subject):
    """Killed twenty times while a client fills its cache, and read from the remaining cache."""
    path, _ = subject.new()
    content = np.random.default_rng(subject.count).bytes(WHOLE)
    put(path, content, 0)
    counts, chance = Counter(), random.Random(1)
    for _ in range(20):
        subject.proxy.empty()
        timer = threading.Timer(chance.uniform(0, 0.1), subject.proxy.kill)
        timer.start()
        counts[WRONG] += read_all(subject.proxy.url(path.name, subject.protocol), content)[WRONG]
        timer.join()
        subject.proxy.start_again()
        counts.update(read_all(subject.proxy.url(path.name, subject.protocol), content))
    return counts


def anywhere(subject):
    """Six clients at once that read spans of any size at any position."""
    path, url = subject.new()
    content = np.random.default_rng(subject.count).bytes(WHOLE)
    put(path, content, 0)
    counts = []

    def client(number):
        chance, session = random.Random(number), Session(url, content)
        for _ in range(100):
            start = chance.randrange(WHOLE)
            size = chance.choice([1, 100, 4096, 65536, chance.randrange(1, 3 << 20)])
            session.read_span(start, min(size, WHOLE - start))
        counts.append(session.close())

    threads = [threading.Thread(target=client, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts, Counter())


def flip(folder):
    """Flips bytes at several positions, in all recently written files."""
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
    "6 clients, spans of any size and place": anywhere,
    "killed 20 times while it is filled": killed,
    "another ROOT file of the same layout, size and time": one_layout,
    f"{FLIPS} flipped bytes in what it holds, running": lambda subject: noise(subject, flip, False),
    f"{FLIPS} flipped bytes in what it holds, restarted": lambda subject: noise(subject, flip, True),
    "every file of what it holds cut to half, restarted": lambda subject: noise(subject, halve, True),
}
