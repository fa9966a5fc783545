"""What the machine, the lab and the file are like, as the simulator is told: the round trip, what requests cost, what a
core does of the seed's query."""

from __future__ import annotations

import functools
import math
import os
import statistics
import subprocess
import time
from pathlib import Path

import costs
from cases import QUERY, drawn, wanted

FILE, TREE, BRANCHES = "chep_old.root", "h42", ["rawtr", "E33"]
#: The query if nothing passes its cut.
NOTHING = [QUERY[0], "E33>1e30"]
#: Threads of the client, one for each core of the machine.
THREADS = 2
#: The machine's speed changes: a measurement of it is used again for so many seconds; where no bytes come from afar, so
#: that nothing but the machine counts, for fewer.
VALID, VALID_NEAR = 90, 20
#: When each was made, and its result.
MEASUREMENTS = {}


def calibrated(place, scratch, fetched=True, requests=True):
    """What the simulator is given: the path, what requests cost (unless the caller finds that out), a core, the file.
    `fetched`: the bytes come over the path."""
    tools, network = place.tools, place.network
    file = of_the_file(tools.sapwood, tools.peers, place.data, scratch)
    machine, found = (tools.sapwood, place.data), {}
    if requests:
        found = lately(costs.of_requests, *machine, FILE, place.protocol, scratch, path=(place.protocol,))
    core = lately(of_a_core, *machine, file, valid=VALID if fetched and network.rtt else VALID_NEAR)
    # loopback: no distance, and more than a core can use
    reads = {**file, **found, **core, "rate": 10_000, "trip": 1e-6}
    if network.rtt:
        path = (network.rtt, network.rate, place.protocol)
        bare = lately(costs.bare, network, place.server, FILE, place.protocol, path=path)
        reads["rate"], reads["trip"] = network.rate, bare["trip"]
        if fetched:
            bridge = lately(costs.of_the_bridge, place, FILE, file["entries"], path=path)
            reads["decompression"] = 1 / (1 / reads["decompression"] + bridge)
    return reads


def lately(function, *arguments, path=(), valid=VALID):
    """The result of a measurement; the last one of the same path, if it is not older than so many seconds."""
    now = time.monotonic()
    made, result = MEASUREMENTS.get((function, path), (-math.inf, None))
    if now - made > valid:
        result = function(*arguments)
        MEASUREMENTS[function, path] = now, result
    return result


@functools.cache
def of_the_file(sapwood, peers, data, scratch):
    """The file's profile, the entries and bytes of the query, and reading a few kB of the file."""
    folder = Path(scratch) / "simulate"
    folder.mkdir(parents=True, exist_ok=True)
    profile = folder / "chep.json"
    words = [sapwood, "simulate", "--profile", f"{data / FILE}:{TREE}", "-o", profile]
    subprocess.run(list(map(str, words)), check=True, stdout=subprocess.DEVNULL)
    chosen = wanted(peers, data / FILE, TREE, ",".join(BRANCHES))
    found = {key: chosen[key] for key in ("entries", "bytes")}
    return {"profile": profile, **found, "seek": of_a_read(data / FILE)}


def of_a_core(sapwood, data, file, query=QUERY, nothing=NOTHING):
    """A query on the local file, and of its first entry: what the client does before and after it reads. With one
    thread it is seen what is neither read nor decompressed: the analysis of an entry, and of that the evaluation of the
    cut (`nothing`: the query if nothing passes). Its threads do not divide the work evenly: what each decompresses
    makes the model as fast on the local file as the client is."""

    def draw(query, *options):
        return drawn([sapwood, "draw", f"{data / FILE}:{TREE}", *query, "--json", *options])

    startup = min(draw(query, "--entries", ":1").whole for _ in range(5))

    def analysis(query):
        runs = [draw(query, "--threads", "1") for _ in range(9)]
        io = [run.result["io"] for run in runs]
        rest = [run.whole - each["unzip_seconds"] - each["decode_seconds"] for run, each in zip(runs, io, strict=True)]
        return max(min(rest) - startup - io[0]["requests"] * file["seek"], 0) / file["entries"]

    evaluation, both = analysis(nothing) if nothing else 0, analysis(query)
    here = statistics.median(draw(query).whole for _ in range(9))
    found = {"startup": startup, "evaluation": evaluation, "analysis": max(both - evaluation, 0), "here": here}
    return found | {"decompression": decompression(file | found, here - startup)}


def decompression(reads, work):
    """Bytes per second that a thread decompresses, if the threads work for so long and share all work evenly."""
    analysis = (reads["evaluation"] + reads["analysis"]) * reads["entries"]
    return reads["bytes"] / max(work * THREADS - analysis, 1e-3)


def of_a_read(path):
    """The time of reading a basket from anywhere in a file, in seconds: of one that was just written."""
    size, basket, places, times = path.stat().st_size, 3600, 1000, []
    with path.open("rb") as file:
        for i in range(2 * places):
            start = time.perf_counter()
            os.pread(file.fileno(), basket, i % places * 7919 * 4096 % (size - basket))
            times.append(time.perf_counter() - start)
    # the first time only the disk may have had it
    return statistics.median(times[places:])
