"""The simulator beside what was measured: the seed's query from each client of the WAN table, with a local cache,
through a proxy, and by 20 clients at once.

Simulated is a scenario of `sapwood simulate` with the file's own baskets. It is given what the path itself does (round
trip and time of a request, measured with a bare client in the same lab), how long the query on the local file takes,
and how much of the client's cores the lab itself takes; everything else is the model. Compared are time, requests, and
bytes of the file."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import re
import shutil
import signal
import statistics
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import costs
import lab
import proxied
import wan
from calibration import BRANCHES, FILE, TREE, VALID_NEAR, calibrated, lately
from case import Bound, Case
from cases import drawn, wanted
from fits import (
    SMALL_CACHES,
    beside_a_server,
    beside_the_query,
    left_while_bytes_come,
    seconds_of_query,
    server_nearby,
    with_local_cache,
    without_network,
)
from measure import Measured
from proxied import LAN
from scenarios import from_the_proxy, over_links, scenario, simulated

#: Parts of the measured time by which the simulated one may differ; with many clients.
CLOSE, CLOSE_TOGETHER = 0.15, 0.20
#: Seconds; of runs that take less, so many are made, and the median one counts: the same work takes up to twice as long
#: a moment later, as the machine's cores are shared with others.
BRIEF, BRIEF_RUNS = 0.8, 9
#: Seconds; the same through a proxy with nothing in it, which is restarted before each run.
BRIEF_THROUGH_PROXY = 8.0
#: Runs where there is no network, of many small requests to a proxy nearby, and of many small reads: thousands of them
#: without a pause take half as long again if the machine puts the threads or processes concerned on different cores.
ALONE_RUNS = 25
#: Bytes of the file's beginning come along with some requests, by which versions are compared: this part of all.
BESIDE = 1e-3
#: Clients behind one link: the seed's client D, of which each reads the query's branches.
CROWD = 20
CROWD_ROW = "D"
#: Sessions through a proxy: one that finds nothing in it, one when the proxy has to ask the origin again, and one soon
#: after it.
SESSIONS = ("1s", "1200s", "1204s")


def file_bytes(server, run, size):
    """Bytes of the file among those that the server sent to a run, without headers."""
    if isinstance(server, lab.Nginx):
        return sum(asked(request, number, size) for number, request in enumerate(server.requests()))
    io = run.result.get("io", {})
    fetched, ranges = io.get("bytes_fetched", 0), io.get("ranges", 0)
    if ranges > 1.5 * io.get("requests", 1):
        # a vector read has 16 bytes before each element
        return fetched - 16 * ranges
    # a read of one range has a checksum of 4 bytes for each 4 KiB begun
    return fetched - 4 * ranges * math.ceil(fetched / max(ranges, 1) / 4096)


def asked(request, number, size):
    """Bytes that a request asked for, but for the file's beginning, which comes along to be compared."""
    found = re.findall(r"(\d*)-(\d*)", request.range)
    if number and len(found) > 1 and found[0] == ("0", "511"):
        found = found[1:]
    ranges = [proxied.bounds(first, last, size) for first, last in found]
    return sum(stop - start for start, stop in ranges)


def off(outcome, key=None):
    """The part by which the simulated value differs from the measured one: of requests and bytes from the nearest of
    the runs, where these differ."""
    runs, of = outcome.runs["measured"], (lambda run: run.wire[key]) if key else (lambda run: run.seconds)
    model = outcome.median("simulated", of)
    if not runs or model is None:
        return None
    if key is None:
        return abs(model / statistics.median(map(of, runs)) - 1)
    counts = [wire[key] for run in runs for wire in run.wire.get("of all", [run.wire])]
    low, high = min(counts), max(counts)
    return max(low - model, model - high, 0) / max(low, 1)


def bounds(close):
    return [
        Bound("difference of the simulated time", close, off),
        Bound("difference of the requests", 0.0, lambda outcome: off(outcome, "requests")),
        Bound("difference of the bytes of the file", BESIDE, lambda outcome: off(outcome, "bytes")),
    ]


COLUMNS = {"requests": lambda run: run.wire["requests"], "MB of the file": lambda run: run.wire["bytes"] / 1e6}
NOTE = (
    "Simulated: the scenario is given the round trip and the time of a request as a bare client measures them, the "
    "time of the query on the local file (without a tree cache, too, if a local cache is read without one), without a "
    "network what requests for other branches cost, for proxies the time of the query from a server beside the client, "
    "and the cores that the lab takes. "
    f"Where a run takes less than {BRIEF} s (through a proxy with nothing in it, {BRIEF_THROUGH_PROXY:g} s), each "
    f"measured one is the median of {BRIEF_RUNS}; without a network, of small requests to a proxy, and of single "
    f"baskets from a local cache, of {ALONE_RUNS}."
)


def case(name, title, contenders, close=CLOSE, place=None):
    return Case(
        name=name,
        title=title,
        contenders=contenders,
        bounds=bounds(close),
        columns=COLUMNS,
        note=NOTE,
        compared=False,
        place=place or {},
    )


def cell(kind, how, place, letter, cache, contenders):
    """A case of one client, one protocol and one size of the tree cache."""
    spoken = wan.SPOKEN[place.protocol]
    name = "-".join(filter(None, ("simulate", kind, letter, place.protocol, cache)))
    return case(
        name,
        f"Simulated and measured: client {letter} ({place.link}){how}, {spoken}, cache {cache}",
        contenders,
        place={"table": "simulated", "kind": kind, "row": letter, "protocol": place.protocol, "cache": cache},
    )


def part(place, cache):
    """The query with a tree cache of this size: options, and a workload. Both read the same entries, which are this
    share of all."""
    chosen, last = wan.part_of_query(place, cache)
    limit = ["--entries", f":{last}"] if last < chosen["entries"] else []
    share = last / chosen["entries"]
    workload = f'cache = "{cache}"\nprotocol = "{place.protocol}"\nentries = {share!r}'
    return ["--cache-size", cache, *limit], workload, share


def measured(place, *options):
    """A run of the query at the client, and what the server saw of it."""
    url, size = place.url(FILE), (place.data / FILE).stat().st_size
    run = place.logged(drawn, place.tools.draw(url, *options))
    run.wire["bytes"] = file_bytes(place.server, run, size)
    return run


def usual(call, brief=BRIEF):
    """A run as it usually is: the median one of several brief runs."""
    runs = [call()]
    while len(runs) < BRIEF_RUNS and runs[0].seconds < brief:
        runs.append(call())
    return middle(runs)


def in_turn(call, *references, count=BRIEF_RUNS):
    """The same, and what is measured in turn with it, by reference: the machine was as fast."""
    rounds = [(call(), *(reference() for reference in references)) for _ in range(count)]
    runs, *found = zip(*rounds, strict=True)
    return middle(runs), *found


def middle(runs):
    """The median run, with what the server saw of all."""
    found = sorted(runs, key=lambda run: run.seconds)[len(runs) // 2]
    found.wire = found.wire | {"of all": [run.wire for run in runs]}
    return found


def row(place, stack, scratch, letter, cache):
    """One cell of the WAN table."""
    options, workload, _ = part(place, cache)
    options += ["--local-cache", "off"]
    call = functools.partial(measured, place, *options)
    small, rounds = cache if cache in SMALL_CACHES else "64kB", []

    def alone():
        if place.network.rtt:
            return usual(call)
        run, *rounds[:] = in_turn(call, *beside_the_query(place, small), count=ALONE_RUNS)
        return run

    def model():
        reads = without_network(place, scratch, small, rounds) if rounds else calibrated(place, scratch)
        return simulated(place.tools, reads, scenario(letter, reads, workload=workload))

    return cell("", "", place, letter, cache, {"measured": alone, "simulated": model})


def cached(place, stack, scratch, letter, cache):
    """The second session with a local cache: the file is compared with its server, and read from the disk."""
    tools = place.tools
    kept = place.data.parent / "local-cache-simulated"
    shutil.rmtree(kept, ignore_errors=True)
    options, workload, _ = part(place, cache)
    options += ["--local-cache", str(kept)]
    drawn([*place.network.client, *tools.draw(place.url(FILE), *options)])
    sizes = ("auto", "0") if cache == "0" else ("auto",)
    local, here = [tools.draw(place.data / FILE, "--cache-size", size) for size in sizes], []

    def second():
        of_the_file = [lambda words=words: drawn(words).whole for words in local]
        count = ALONE_RUNS if cache == "0" else BRIEF_RUNS
        run, *seconds = in_turn(lambda: measured(place, *options), *of_the_file, count=count)
        here[:] = map(statistics.median, seconds)
        return run

    def modelled():
        reads = with_local_cache(place, scratch, *here)

        def model(*start):
            text = scenario(letter, reads, workload=workload, site='local_cache = "10 GB"', start=start)
            return simulated(tools, reads, text)

        return after(model("1s"), model("1s", "20min"))

    runs = {"measured": second, "simulated": modelled}
    found = cell("cached", ", second session with a local cache", place, letter, cache, runs)
    # no bytes but those by which versions are compared
    found.bounds = found.bounds[:2]
    return found


def after(before, run):
    """The last session of a run: the shortest one, with the requests and bytes that those before it did not need."""
    run.wire = {key: run.wire[key] - before.wire[key] for key in run.wire}
    return run


def through_proxy(site, stack, scratch, letter, cache, cold=False):
    """The query through a proxy at the site: one that has the file's parts already, or one that has nothing."""
    place = site.place
    tools, proxy = place.tools, site.proxies[proxied.OURS]
    url = proxy.url(FILE, place.protocol)
    options, workload, share = part(place, cache)
    words = tools.draw(url, *options, "--local-cache", "off")
    drawn([*place.network.client, *words])
    near = f'lan = "{LAN[0]}ms"\nlan_bandwidth = "{LAN[1] / 1e3:g} Gbit/s"'

    def run():
        done = place.logged(drawn, words)
        io = done.result["io"]
        done.wire = {"requests": io["requests"], "bytes": io["bytes_wanted"]}
        return done

    def soon():
        # the proxy may have asked the origin long ago
        run()
        return run()

    nearby = []

    def work(server, address):
        """CPU seconds of a server beside the client for a byte."""
        entries = wanted(tools.peers, place.data / FILE, TREE, ",".join(BRANCHES))["entries"]
        call = costs.query_of(place, address, entries, rate=LAN[1])
        return lambda: costs.per_byte([server.process.pid], call, 1)

    def soon_in_turn():
        work(proxy, url)()
        # it has the data on its disk, not in its memory
        proxy.kill(signal.SIGTERM)
        proxy.start_again()
        with server_nearby(site) as server:
            works = work(proxy, url), work(server, server.url(FILE))
            references, count = [lambda: seconds_of_query(place, server), *works], BRIEF_RUNS
            if cache in SMALL_CACHES:
                references.append(lambda: seconds_of_query(place, server, cache))
                count = ALONE_RUNS
            done, *found = in_turn(soon, *references, count=count)
        seconds, of_proxy, of_server, *small = map(statistics.median, found)
        nearby[:] = seconds, max(of_proxy - of_server, 0), small
        return done

    def beside():
        reads = calibrated(place, scratch, fetched=False, requests=False)
        path = (place.network.rtt, place.network.rate, place.protocol)
        if cold:
            small = cache if cache in SMALL_CACHES else None
            words = (site, reads, scratch, None, small)
            reads |= lately(beside_a_server, *words, path=(place.protocol, small), valid=VALID_NEAR)
            more = lately(costs.of_the_proxy, place, proxy, FILE, reads["entries"], path=path)
            if cache != "0":
                # bridge and proxy work before the bytes are here; without a tree cache each basket waits for all of it
                more = max(more - left_while_bytes_come(reads, place.network.rate), 0)
        else:
            seconds, more, small = nearby
            reads |= beside_a_server(site, reads, scratch, (seconds, *small), cache if small else None)
        reads["decompression"] = 1 / (1 / reads["decompression"] + more)
        return reads

    def model(reads, sessions, counted):
        start, has = SESSIONS[:sessions], 'proxy = "10 GB"'
        text = scenario(letter, reads, workload=workload, site=has, lan=near, start=start, server="any")
        return simulated(tools, reads, text, counted=counted)

    def third():
        reads = beside()
        return after(*(model(reads, sessions, from_the_proxy) for sessions in (2, 3)))

    empty = proxied.from_empty(proxy, run)
    first = {"measured": lambda: usual(empty, BRIEF_THROUGH_PROXY), "simulated": lambda: model(beside(), 1, over_links)}
    if cold:
        found = cell("cold-proxy", " through a proxy with nothing in it", place, letter, cache, first)
        # the proxy fetches ahead of the client: what it asks of the origin is not what the client asks
        found.bounds = found.bounds[:1]
        return found
    runs = {"measured": soon_in_turn, "simulated": third}
    found = cell("proxy", " through a proxy with the data", place, letter, cache, runs)
    # the client does not count baskets that came when the file was opened, as many for a part of the query as for all
    found.bounds[-1] = dataclasses.replace(found.bounds[-1], limit=BESIDE / share)
    return found


def crowd(place, stack, scratch):
    """Many clients at once behind one link: the time until the last one is done."""
    tools = place.tools
    reads = calibrated(place, scratch)
    url, size = place.url(FILE), (place.data / FILE).stat().st_size
    words = list(map(str, [*place.network.client, *tools.draw(url, "--local-cache", "off")]))

    def together():
        place.server.forget()
        start = time.perf_counter()
        quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "check": True}
        with ThreadPoolExecutor(CROWD) as pool:
            done = list(pool.map(lambda _: json.loads(subprocess.run(words, **quiet).stdout), range(CROWD)))
        seconds = time.perf_counter() - start
        run = Measured(seconds, seconds, 0.0, 0.0, words, {}, place.server.wire())
        run.wire["bytes"] = CROWD * file_bytes(None, Measured(0, 0, 0, 0, [], done[0]), size)
        return run

    workload = f'protocol = "{place.protocol}"'
    text = scenario(CROWD_ROW, reads, workload=workload, start=("1s",) * CROWD)
    found = case(
        f"simulate-crowd-{place.protocol}",
        f"Simulated and measured: {CROWD} clients at once behind one link ({place.link}), {wan.SPOKEN[place.protocol]}",
        {"measured": together, "simulated": lambda: simulated(tools, reads, text, which=-1)},
        close=CLOSE_TOGETHER,
    )
    # each client decides by what it sees of the path: their requests differ from run to run
    found.bounds = found.bounds[:1]
    return found
