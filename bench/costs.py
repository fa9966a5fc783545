"""What a request costs, as the simulator is given it: how long it takes where there is no network, and how long cores
work on it.

A bare client measures what each range of a request adds. What else a request takes is seen when Sapwood reads other
branches than those of the query that is simulated, with a basket in each request and with many. In the lab the server's
processes and the client's have the same cores: the simulated client works for both."""

from __future__ import annotations

import functools
import statistics
import sys
from pathlib import Path
from typing import NamedTuple

import lab
import measure

HERE = Path(__file__).parent
SERVERS = {"http": lab.Nginx, "xrootd": lab.XRootD}
#: Ranges of a bare client's request of several; how many requests.
RANGES, REQUESTS = 64, 2000
#: Branches with about as many baskets as the query's, and of about the same size; a query of them.
OTHERS = ("v3", "v9", "v15", "v21")
SUM = f"{'+'.join(OTHERS)}>>h(10,0,100)"
#: Of these, entries that take about a second at 1 Mbit/s.
ENTRIES_PER_MBIT = 2500


class Sapwood(lab.Announced):
    """`sapwood serve`: it serves as the proxy does."""

    usual_port = 31087

    def __init__(self, sapwood, protocol, folder, network):
        super().__init__(folder, network)
        self.program, self.protocol = sapwood, protocol

    def command(self):
        other = f"{self.network.address}:0"
        http, root = (self.address, other) if self.protocol == "http" else (other, self.address)
        return [self.program, "serve", self.folder, "--listen-http", http, "--listen-root", root, "--json"]

    def url(self, name):
        return self.urls[self.protocol] + name


def of_the_bridge(place, name, entries):
    """CPU seconds of the lab's bridge for a byte that it passes to the client of a place. It has the client's cores,
    too, and comes before it: so much less of them is left for the client."""
    return per_byte([place.network.bridge], query_of(place, place.server.url(name), entries))


def of_the_proxy(place, proxy, name, entries):
    """CPU seconds of the lab's bridge and of a proxy for a byte, more if it has to fetch it than if it has it."""
    call, found = query_of(place, proxy.url(name, place.protocol), entries), []
    for _ in range(3):
        # it may be another process then
        proxy.empty()
        processes = [place.network.bridge, proxy.process.pid]
        fetched, kept = (per_byte(processes, call, 1) for _ in range(2))
        found.append(fetched - kept)
    return max(statistics.median(found), 0)


def query_of(place, url, entries, rate=None):
    """Reads the other branches at an address; of these, so many entries as a slow path brings in a few seconds. `rate`:
    Mbit/s, if not those of the place's path."""
    some = min(entries, int(ENTRIES_PER_MBIT * (rate or place.network.rate)))
    words = [*place.network.client, place.tools.sapwood, "draw", f"{url}:h42", SUM]
    return lambda: measure.run([*words, "--json", "--local-cache", "off", "--entries", f":{some}"], whole=True)


def per_byte(processes, call, repeat=5):
    """CPU seconds of some processes for each byte that a client fetches."""
    found = []
    for _ in range(repeat):
        before = sum(map(cpu_of, processes))
        run = call()
        found.append((sum(map(cpu_of, processes)) - before) / run.result["io"]["bytes_fetched"])
    return statistics.median(found)


def bare(network, server, name, protocol, ranges=1, requests=500):
    """What a bare client sees of a server: seconds of connecting and of a request; see peers/bare.py."""
    address, port = server.address.rsplit(":", 1)
    words = [sys.executable, HERE / "peers" / "bare.py", protocol, address, port, "/" + name, ranges, requests]
    return measure.run([*network.client, *words]).result


def of_requests(sapwood, data, name, protocol, scratch, ours=False):
    """In seconds: work of a core for a request and each of its ranges (`cpu_per_request`, `cpu_per_range`), and what
    passes beside it (`per_request`, `per_range`). `ours`: of `sapwood serve`."""
    startup = min(measure.run([sapwood, "--version"], whole=True).whole for _ in range(5))
    make = functools.partial(Sapwood, sapwood, protocol) if ours else SERVERS[protocol]
    with lab.network(0, 0, scratch=scratch) as network, make(data, network) as server:
        times, of_server = [], []
        for ranges in (1, RANGES):
            before = cpu_of(server.process.pid)
            found = bare(network, server, name, protocol, ranges, REQUESTS)
            times.append(found["request"])
            of_server.append((cpu_of(server.process.pid) - before) / found["requests"])
        local, one, many = read(sapwood, data / name, server.url(name))
    server_range = max(of_server[1] - of_server[0], 0) / (RANGES - 1)
    client_request, client_range = divided(local, one, many)
    work = max(of_server[0], 0) + client_request + client_range
    return {
        "cpu_per_request": work - server_range - client_range,
        "cpu_per_range": server_range + client_range,
        # one after the other; a basket is decompressed while the next one is on its way
        "per_request": max((one.seconds - startup) / one.requests - work, 1e-6),
        "per_range": max((times[1] - times[0]) / (RANGES - 1) - server_range, 0),
    }


class Read(NamedTuple):
    """Reading the other branches: medians of some runs."""

    #: of the whole process, and of the cores
    seconds: float
    cpu: float
    requests: float
    ranges: float


def ways_to_read(sapwood, path, url, small):
    """Command lines that read the other branches: of the local file, and from a server with as many baskets in each
    request as a `small` tree cache holds (one, if there is no cache), and with many."""
    far = [sapwood, "draw", f"{url}:h42", SUM, "--json", "--local-cache", "off", "--cache-size"]
    return [[sapwood, "draw", f"{path}:h42", SUM, "--json"], [*far, small], [*far, "auto"]]


def read(sapwood, path, url):
    """Reads the other branches: of the local file, and from a server with a basket in each request and with many."""
    ways = ways_to_read(sapwood, path, url, "0")
    # in turn: the machine's speed changes
    rounds = [[measure.run(way, whole=True) for way in ways] for _ in range(7)]
    return [median_of(runs) for runs in zip(*rounds, strict=True)]


def median_of(runs):
    io = [run.result["io"] for run in runs]
    counts = (statistics.median(each[key] for each in io) for key in ("requests", "ranges"))
    return Read(statistics.median(run.whole for run in runs), statistics.median(run.cpu for run in runs), *counts)


def divided(local, one, many):
    """CPU seconds of the client for a request and for a range, from runs with a range in each request and with many."""
    extra = [max(far.cpu - local.cpu, 0) for far in (one, many)]
    of_range = extra[1] * one.requests - extra[0] * many.requests
    of_range = max(of_range / (many.ranges * one.requests - one.ranges * many.requests), 0)
    return max(extra[0] - of_range * one.ranges, 0) / one.requests, of_range


def cpu_of(process):
    """CPU seconds of a process and its children so far, with all threads."""
    total, ours = 0, {process}
    processes = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                processes[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    while more := {pid for pid, parent in processes.items() if parent in ours} - ours:
        ours |= more
    for pid in ours:
        for task in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            try:
                total += int(task.read_text().split()[0])
            except OSError:
                continue
    return total / 1e9
