"""What requests cost where client and server share the cores and there is no distance, or hardly any: so much that the
model takes as long as the client."""

from __future__ import annotations

import statistics
from collections import defaultdict, deque

import costs
from calibration import FILE, THREADS, TREE, calibrated, decompression, lately, of_a_core
from cases import drawn, wanted
from proxied import LAN
from scenarios import scenario, simulated
from wan import CACHES

#: Bytes of a tree cache whose requests are measured as they are: they are many, and what each costs counts.
SMALL = 1_000_000
#: A request's cost is corrected so often; a part of it passes beside the query's work, so that each time some is left.
ROUNDS = 6
#: What was found without a network, by protocol and tree cache. These runs take a tenth of a second, the slow ones half
#: as long again.
RECENT = defaultdict(lambda: deque(maxlen=5))


def server_nearby(site):
    """`sapwood serve` beside the client: it answers as the proxy does."""
    place = site.place
    return costs.Sapwood(place.tools.sapwood, place.protocol, place.data, place.network.edge)


def seconds_of_query(place, server):
    """Seconds of the query from a server nearby."""
    return drawn([*place.network.client, *place.tools.draw(server.url(FILE), "--local-cache", "off")]).whole


def beside_a_server(site, reads, scratch, near=None):
    """What requests cost where `sapwood serve` answers, as the proxy does, and what a core does of the query beside it:
    the model takes as long as the client, `near` seconds. Client, server and network share the machine's cores, so that
    less of them is left for the query than on a local file."""
    place, (trip, rate) = site.place, LAN
    tools = place.tools
    of_requests = (tools.sapwood, place.data, FILE, place.protocol, scratch, True)
    found = lately(costs.of_requests, *of_requests, path=(place.protocol, "sapwood serve"))
    if near is None:
        with server_nearby(site) as server:
            near = statistics.median(seconds_of_query(place, server) for _ in range(7))
    path = reads | found | {"trip": trip * 1e-3, "rate": rate}
    return found | {"decompression": as_slow_as(near, tools, path, place.protocol)}


def as_slow_as(seconds, tools, reads, protocol):
    """Bytes per second that a thread decompresses, if the model takes so many seconds for the query."""
    work = reads["here"] - reads["startup"]
    for _ in range(3):
        reads = reads | {"decompression": decompression(reads, work)}
        text = scenario("near", reads, workload=f'protocol = "{protocol}"')
        work += seconds - simulated(tools, reads, text).seconds
    return decompression(reads, work)


def without_network(place, reads, scratch, small):
    """Of a server on the client's machine, as reading other branches than the query's shows it: what one process leaves
    of the cores is used by the other, so that a request takes less of the query's time than of both's. `small`: a tree
    cache whose requests are like those of the query, if these are small, as the first kB of a request take longest."""
    tools, path = place.tools, place.data / FILE
    chosen = wanted(tools.peers, path, TREE, ",".join(costs.OTHERS))
    file = {"seek": reads["seek"], "entries": chosen["entries"], "bytes": chosen["bytes"]}
    core = of_a_core(tools.sapwood, place.data, file, query=[costs.SUM], nothing=None)
    here, few, many = costs.read(tools.sapwood, path, place.url(FILE), small)
    # these three were measured in turn: the machine's speed changes
    core["decompression"] = decompression(file | core, here.seconds - core["startup"])
    reads = reads | core
    found = {"cpu_per_request": reads["cpu_per_request"], "cpu_per_range": 0, "per_request": 1e-6, "per_range": 0}

    def slower(read, cache):
        """By how much the client is slower than the model."""
        workload = f'protocol = "{place.protocol}"\ncache = "{cache}"'
        text = scenario("others", reads | found, workload=workload, branches=list(costs.OTHERS), cut="")
        return read.seconds - simulated(tools, reads | found, text).seconds

    def corrected(key, by):
        found[key] = max(found[key] + by, 0)

    for _ in range(ROUNDS):
        corrected("cpu_per_range", slower(many, "auto") * THREADS / many.ranges)
        corrected("cpu_per_request", slower(few, small) / few.requests)
    recent = RECENT[place.protocol, small]
    recent.append(found)
    return {key: statistics.median(each[key] for each in recent) for key in found}


def told(place, scratch, cache="auto"):
    """What the simulator is given of a place from which the query's bytes come, for a tree cache of this size."""
    reads = calibrated(place, scratch)
    if place.network.rtt:
        return reads
    small = cache if 0 < CACHES[cache] <= SMALL else "0"
    return reads | lately(without_network, place, reads, scratch, small, path=(place.protocol, small))


def with_local_cache(place, scratch, here):
    """The same if the bytes come from the client's disk: the model takes as long as the query on the local file, `here`
    seconds. The formula leaves out that the last batch is analysed when nothing is left to decompress."""
    reads = calibrated(place, scratch, fetched=False) | {"here": here}
    free = dict.fromkeys(("cpu_per_request", "cpu_per_range", "per_range"), 0) | {"per_request": 1e-6}
    disk = reads | free | {"trip": 1e-6, "rate": 100_000}
    return reads | {"decompression": as_slow_as(here, place.tools, disk, place.protocol)}
