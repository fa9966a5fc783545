"""Cases about the value of connections: many on a lossy path, one kept free for small reads, HTTP/1.1 or HTTP/2."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from pathlib import Path

import measure
from case import Bound, Case
from cases import PEERS
from wan import SPOKEN, WIRE

#: ms, Mbit/s, packet loss (fraction).
LOSSY = (100, 100, 0.001)
#: The first entries of 152 branches: 58 MB.
LOSSY_ENTRIES = 80_000
#: The same number of bytes over plain TCP.
LOSSY_BYTES = 58_000_000
PLAIN_PORT = 31999
DEMAND = (100, 100)
EXAMPLE = Path(__file__).parent.parent / "target" / "release" / "examples" / "demand"
#: Number of connections for HTTP/1.1, as Sapwood opens to distant servers; and for HTTP/2.
MANY, FEW = 11, (1, 4)


@contextlib.contextmanager
def plain_server(network):
    words = [*network.server, sys.executable, PEERS / "streams.py", "serve", network.address, PLAIN_PORT]
    process = subprocess.Popen(list(map(str, words)), start_new_session=True)
    try:
        time.sleep(0.5)
        yield
    finally:
        process.kill()
        process.wait()


def lossy(place):
    """One connection and eight on a path with packet loss, compared with plain TCP connections."""
    words = [
        place.tools.sapwood,
        "perf",
        f"{place.url('chep_new.root')}:h42",
        "--entries",
        f":{LOSSY_ENTRIES}",
        "--json",
    ]
    words += ["--connections"]

    def read(count):
        return lambda: place.logged(measure.run, [*words, count], whole=True)

    def plain(count):
        client = [*place.network.client, place.tools.python, PEERS / "streams.py", "fetch", place.network.address]

        def run():
            with plain_server(place.network):
                return measure.run([*client, PLAIN_PORT, LOSSY_BYTES, count])

        return run

    contenders = {
        "Sapwood, one connection": read(1),
        "Sapwood, eight connections": read(8),
        "Plain TCP, one connection": plain(1),
        "Plain TCP, eight connections": plain(8),
    }

    def share(outcome):
        return outcome.ratio("Sapwood, eight connections", "Sapwood, one connection")

    return Case(
        name=f"lossy-{place.protocol}",
        title=f"58 MB of 152 branches over {SPOKEN[place.protocol]}, {place.link}: one connection and eight",
        contenders=contenders,
        bounds=[Bound("time over eight connections, of that over one", 1 / 4, share)],
        columns={"MB/s": lambda run: LOSSY_BYTES / 1e6 / run.seconds, **on_the_wire()},
        note="Plain TCP: as many bytes in pieces of 256 kB, of which each connection is asked for the next ones as it "
        "brings them. Losses come by chance: runs differ.",
        compared=False,
    )


def on_the_wire():
    """Columns from the server's log, for runs that used the server."""
    return {title: lambda run, get=get: get(run) if run.wire else None for title, get in WIRE.items()}


def demand(place):
    """A read of 100 bytes while 8 MB of prefetching are in flight."""
    if not EXAMPLE.exists():
        raise RuntimeError("needs cargo build --release -p sapwood-source --example demand")
    url = place.url("chep_new.root")

    def late(run):
        return (run.result["seconds"] - run.result["alone"]) / run.result["round_trip"]

    return Case(
        name=f"demand-{place.protocol}",
        title=f"100 bytes over {SPOKEN[place.protocol]}, {place.link}, while 8 MB are on their way",
        contenders=place.tools.choose({"Sapwood": lambda: measure.run([*place.network.client, EXAMPLE, url])}),
        bounds=[
            Bound("round trips that the 8 MB cost the small read", 1.3, lambda outcome: outcome.median("Sapwood", late))
        ],
        columns={
            "alone, ms": lambda run: run.result["alone"] * 1e3,
            "late by, round trips": late,
        },
        note="The time is the longest of four: begun with the large read, and after 16 kB, 1 MB and 4 MB of it.",
    )


def versions(place):
    """The seed's ranges over TLS with HTTP/1.1 and HTTP/2."""
    ranges = place.server.run / "ranges.json"
    script = [place.tools.peers, PEERS / "ranges.py", place.data / "chep_old.root", MANY]
    ranges.write_text(json.dumps(measure.run(script, whole=True).result))
    address, port = place.server.address.split(":")
    words = [*place.network.client, sys.executable, PEERS / "versions.py"]

    def fetch(version, count):
        return lambda: measure.run([*words, version, count, address, port, "/chep_old.root", ranges])

    name = "HTTP/{}, {} connection{}"
    contenders = {name.format("1.1", MANY, "s"): fetch(1, MANY)}
    contenders |= {name.format(2, n, "s" * (n > 1)): fetch(2, n) for n in FEW}
    return Case(
        name=f"http-versions-{'lossy' if place.network.loss else 'G'}",
        title=f"The ranges of the seed's query over TLS, {place.link}, by version of HTTP",
        contenders=contenders,
        same={"bytes": 0},
        note="A plain client in Python, the same for all; the first two requests one after the other, then the rest.",
        compared=False,
    )
