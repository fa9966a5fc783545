"""What requests cost where client and server share the cores and there is no distance, or hardly any: so much that the
model takes as long as the client."""

from __future__ import annotations

import functools
import statistics

import costs
import measure
from calibration import FILE, THREADS, TREE, VALID_NEAR, calibrated, decompression, lately, of_a_core
from cases import drawn, wanted
from proxied import LAN
from scenarios import scenario, simulated

#: What requests cost is corrected so often; each time a part of it turns out to pass beside the query's work.
CORRECTIONS = 6
#: The other branches, in a scenario.
OTHERS = {"branches": list(costs.OTHERS), "cut": ""}
#: Sizes of the tree cache with so many requests that what each costs decides; of one basket, and of several.
SMALL_CACHES = ("0", "64kB")


def server_nearby(site):
    """`sapwood serve` beside the client: it answers as the proxy does."""
    place = site.place
    return costs.Sapwood(place.tools.sapwood, place.protocol, place.data, place.network.edge)


def seconds_of_query(place, server, cache="auto"):
    """Seconds of the query from a server nearby."""
    options = ["--local-cache", "off", "--cache-size", cache]
    return drawn([*place.network.client, *place.tools.draw(server.url(FILE), *options)]).whole


def beside_a_server(site, reads, scratch, near=None, small=None):
    """What requests cost where `sapwood serve` answers, as the proxy does, and what a core does of the query beside it:
    the model takes as long as the client. Client, server and network share the machine's cores, so that less of them is
    left for the query than on a local file. `small`: a small tree cache, with which it is found what a request costs:
    one of several baskets costs more than one of a single basket, and than its bytes. `near`: seconds of the query, and
    of the query with that cache, if they are known."""
    place, (trip, rate) = site.place, LAN
    tools = place.tools
    of_requests = (tools.sapwood, place.data, FILE, place.protocol, scratch, True)
    found = lately(costs.of_requests, *of_requests, path=(place.protocol, "sapwood serve"))
    if near is None:
        sizes = ("auto", small) if small else ("auto",)
        with server_nearby(site) as server:
            rounds = [[seconds_of_query(place, server, size) for size in sizes] for _ in range(7)]
        near = list(map(statistics.median, zip(*rounds, strict=True)))
    path = reads | found | {"trip": trip * 1e-3, "rate": rate}
    found["decompression"] = path["decompression"] = as_slow_as(near[0], tools, path, place.protocol)
    if small:
        workload = f'protocol = "{place.protocol}"\ncache = "{small}"'
        found["per_request"] = of_each("per_request", near[1], tools, path, workload=workload)
    return found


def of_each(key, seconds, tools, reads, which=0, **terms):
    """Seconds of each request (`key`: per_request) or read of a local cache (seek), if the model takes so many for the
    query."""
    for _ in range(CORRECTIONS):
        modelled = simulated(tools, reads, scenario("near", reads, **terms), which=which)
        by = (seconds - modelled.seconds) / modelled.wire["requests"]
        reads = reads | {key: max(reads[key] + by, 1e-6)}
    return reads[key]


def left_while_bytes_come(reads, rate):
    """Seconds of the cores that the client's own work leaves of the time in which a byte comes; `rate`: Mbit/s."""
    return max(THREADS / (rate * 1e6 / 8) - 1 / reads["decompression"], 0)


def as_slow_as(seconds, tools, reads, protocol):
    """Bytes per second that a thread decompresses, if the model takes so many seconds for the query."""
    work = reads["here"] - reads["startup"]
    for _ in range(3):
        reads = reads | {"decompression": decompression(reads, work)}
        text = scenario("near", reads, workload=f'protocol = "{protocol}"')
        work += seconds - simulated(tools, reads, text).seconds
    return decompression(reads, work)


def others_of(place, reads):
    """What the simulator is given of the other branches: entries, bytes, and what a core does of them."""
    tools = place.tools
    chosen = wanted(tools.peers, place.data / FILE, TREE, ",".join(costs.OTHERS))
    file = {"seek": reads["seek"], "entries": chosen["entries"], "bytes": chosen["bytes"]}
    core = lately(of_a_core, tools.sapwood, place.data, file, [costs.SUM], None, path=("others",), valid=VALID_NEAR)
    return file | core


def beside_the_query(place, small):
    """What is run in turn with the query where there is no network: the query on the local file; other branches of that
    file, and from the server, with as many baskets in each request as a `small` tree cache holds and with many."""
    tools, path = place.tools, place.data / FILE
    ways = [tools.draw(path), *costs.ways_to_read(tools.sapwood, path, place.url(FILE), small)]
    return [functools.partial(measure.run, way, whole=True) for way in ways]


def without_network(place, scratch, small, rounds):
    """Of a server on the client's machine, as reading other branches than the query's shows it: what one process leaves
    of the cores is used by the other, so that a request takes less of the query's time than of both's. `rounds`: the
    runs of `beside_the_query`. What a request costs depends on its size: one of 17 ranges over HTTP costs half as much
    again as one of a single range."""
    tools = place.tools
    query, here, few, many = map(costs.median_of, rounds)
    reads = calibrated(place, scratch, fetched=False, requests=False)
    reads["decompression"] = decompression(reads, work_of(query, reads))
    others = reads | others_of(place, reads)
    others["decompression"] = decompression(others, work_of(here, others))
    found = {"cpu_per_request": 0, "cpu_per_range": 0, "per_request": 1e-6, "per_range": 0}

    def slower(read, cache):
        """By how much the client is slower than the model."""
        workload = f'protocol = "{place.protocol}"\ncache = "{cache}"'
        text = scenario("others", others | found, workload=workload, **OTHERS)
        return read.seconds - simulated(tools, others | found, text).seconds

    def corrected(key, by):
        found[key] = max(found[key] + by, 0)

    for _ in range(CORRECTIONS):
        corrected("cpu_per_range", slower(many, "auto") * THREADS / many.ranges)
        corrected("cpu_per_request", slower(few, small) / few.requests)
    return reads | found


def work_of(local, reads):
    """Seconds of work of a query on the local file, without the reads of that file."""
    return local.seconds - reads["startup"] - local.requests * reads["seek"] / THREADS


def with_local_cache(place, scratch, here, alone=None):
    """The same if the bytes come from the client's disk: the model takes as long as the query on the local file, `here`
    seconds. The formula leaves out that the last batch is analysed when nothing is left to decompress. `alone`: seconds
    of the query on the local file without a tree cache, if the client has none. A basket that is waited for costs more
    than reading it: threads hand it to each other."""
    reads = calibrated(place, scratch, fetched=False) | {"here": here}
    tools, protocol = place.tools, place.protocol
    free = dict.fromkeys(("cpu_per_request", "cpu_per_range", "per_range"), 0) | {"per_request": 1e-6}
    disk = reads | free | {"trip": 1e-6, "rate": 100_000}
    found = {"decompression": as_slow_as(here, tools, disk, protocol)}
    if alone is not None:
        terms = {"workload": f'protocol = "{protocol}"\ncache = "0"', "site": 'local_cache = "10 GB"'}
        # the second session is the longer one: the server is no further away than the disk, and as many requests bring
        # the baskets to the first one as the second one reads
        found["seek"] = of_each("seek", alone, tools, disk | found, which=-1, start=("1s", "20min"), **terms)
    return reads | found
