"""The cases over a network: the seed's query by client, protocol and cache; prefetching; work on every entry."""

from __future__ import annotations

import functools
import re
import threading
from dataclasses import dataclass
from pathlib import Path

import lab
import measure
from case import Bound, Case
from cases import PEERS, QUIRK, Tools, drawn, faster, peak, wanted

SPOKEN = {"http": "HTTP", "xrootd": "XRootD"}
#: Sizes of the tree cache, in bytes; -1: each program's own choice.
CACHES = {"0": 0, "64kB": 64_000, "10MB": 10_000_000, "30MB": 30_000_000, "200MB": 200_000_000, "auto": -1}
#: Seconds. Longer runs are limited to the entries of a shorter time, the same for every program.
PATIENCE, SHORTER = 60, 20
#: Where prefetching is measured: the seed's client D. Basket by basket only the first one of each branch is read.
PREFETCH_LINK, FIRST = lab.ROWS["D"], 50
#: ms, Mbit/s; and microseconds of work on each of 283 813 entries: about half, all and twice the transfer time of its
#: bytes.
WORK_LINK, WORKS = (100, 100), (20, 40, 80)
#: ms, Mbit/s; seconds after the first request after which the network goes down, and for how long.
LOST_LINK, BEFORE, AWAY = (22, 100), 4, (5, 30)
CLOCKS = "Sapwood's time is the whole process; ROOT and uproot start their clock after start-up and imports. "


@dataclass
class Place:
    """A server at the end of a network, with the benchmark's trees, and the queries for it."""

    tools: Tools
    data: Path
    network: object
    server: object
    protocol: str

    def url(self, name):
        return self.server.url(name)

    @property
    def web(self):
        """Whether ROOT must use its TWebFile, which requests many ranges at once."""
        return self.protocol == "http"

    def logged(self, call, words, **how):
        """Runs a program at the client; `wire` records what the server saw of it."""
        self.server.forget()
        run = call([*self.network.client, *words], **how)
        run.wire = self.server.wire()
        return run

    @property
    def link(self):
        if not self.network.rtt:
            return "on the server itself"
        lost = f", {self.network.loss:.1%} of packets lost" if self.network.loss else ""
        return f"{self.network.rtt:g} ms, {self.network.rate:g} Mbit/s{lost}"

    def seconds(self, size, requests=0):
        """The minimum time for bytes and consecutive requests."""
        rate = self.network.rate * 1e6
        return requests * self.network.rtt * 1e-3 + (size * 8 / rate if rate else 0)

    def fetch(self, name, size):
        """Measured: this many bytes of a file as one range over one HTTP connection."""
        words = [*self.network.client, self.tools.python, PEERS / "fetch.py"]
        if self.web:
            return measure.run([*words, self.url(name), size]).seconds
        with lab.Nginx(self.data, self.network) as plain:
            return measure.run([*words, plain.url(name), size]).seconds


WIRE = {
    "requests": lambda run: run.wire["requests"],
    "MB at the server": lambda run: run.wire["bytes"] / 1e6,
}


def over_root(what, key):
    """Sapwood requests no more than ROOT with the same cache."""
    return Bound(what, 1.0, lambda outcome: outcome.ratio("Sapwood", "ROOT", lambda run: run.wire[key]))


def part_of_query(place, cache):
    """The branches of the seed's query, and how many entries are read with a tree cache of this size: not all where
    that would take minutes."""
    size = CACHES[cache]
    chosen = wanted(place.tools.peers, place.data / "chep_old.root", "h42", "rawtr,E33")
    requests = 0 if size < 0 else chosen["baskets"] if size == 0 else chosen["bytes"] / size
    expected = place.seconds(chosen["bytes"], requests)
    whole = expected <= PATIENCE
    return chosen, chosen["entries"] if whole else int(chosen["entries"] * SHORTER / expected)


def seed_query(place, row, cache):
    """Draw("rawtr","E33>5") on the scattered tree, as one cell of the seed's tables."""
    tools, size = place.tools, CACHES[cache]
    chosen, last = part_of_query(place, cache)
    cut = last < chosen["entries"]
    url, most = place.url("chep_old.root"), last if cut else -1
    ours = ["--cache-size", cache, *(["--entries", f":{last}"] if cut else [])]
    contenders = {
        "ROOT": lambda: place.logged(measure.run, tools.macro("draw.C", url, size, place.web, most)),
        "uproot": lambda: place.logged(measure.run, [tools.peers, PEERS / "draw_uproot.py", url]),
        "Sapwood": lambda: place.logged(drawn, tools.draw(url, *ours)),
    }
    if cache != "auto":
        # it has no cache of a configurable size
        del contenders["uproot"]
    due = chosen["bytes"] * last / chosen["entries"]
    rate = place.seconds(due)
    floor = ("the wanted bytes at full rate", rate) if rate else None
    if cache == "auto" and rate:
        floor = ("the wanted bytes as one range over one connection", place.fetch("chep_old.root", chosen["bytes"]))
    return Case(
        name=f"wan-{row}-{place.protocol}-{cache}",
        title=f"Draw over {SPOKEN[place.protocol]}, {place.link} (client {row}), cache {cache}",
        contenders=tools.choose(contenders),
        floor=floor,
        bounds=seed_bounds(row, cache, floor, rate, 0 if cut else due + chosen["described"]),
        same={"entries": 0, "mean": 1e-6},
        incomparable=("ROOT",),
        columns={"rows drawn": lambda run: run.result["entries"], **WIRE},
        note=CLOCKS + QUIRK,
        place={
            "table": "wan",
            "row": row,
            "link": place.link,
            "protocol": place.protocol,
            "cache": cache,
            "entries": [last, chosen["entries"]],
        },
    )


def seed_bounds(row, cache, floor, rate, size):
    """The target in one cell; `rate` is bytes/bandwidth, `size` the bytes of branches and descriptions, 0 where the
    read is truncated."""
    bounds = [
        over_root("requests at the server over ROOT's with the same cache", "requests"),
        over_root("bytes at the server over ROOT's with the same cache", "bytes"),
    ]
    if size:
        of = functools.partial(share, size=size)
        bounds.append(Bound("bytes at the server over those of the branches and the tree's description", 1.02, of))
    if cache != "auto":
        return bounds
    if limit := {"E": 0.6, "G": 0.5}.get(row):
        bounds.append(faster("Sapwood", "ROOT", limit))
    # measured in the same run: including TCP and IP headers
    if limit := {"F": 1.05, "G": 1.3}.get(row):
        bounds.append(Bound("time over that of the bytes alone", limit, functools.partial(over, seconds=floor[1])))
    if row == "F":
        bounds.append(Bound("time over bytes/bandwidth", 1.05, functools.partial(over, seconds=rate)))
    return bounds


def over(outcome, seconds):
    median = outcome.median("Sapwood")
    return median and median / seconds


def share(outcome, size):
    sent = outcome.median("Sapwood", lambda run: run.wire["bytes"])
    return sent and sent / size


def prefetch(place, cache):
    """Every entry of every branch of the wide tree, with and without ROOT's asynchronous prefetching."""
    url, tools = place.url("pre.root"), place.tools
    last = FIRST if cache == "0" else -1
    size = {"0": 0, "100MB": 100_000_000}[cache]

    def root(ahead):
        macro = tools.macro("readall.C", url, "T", "", 1, size, ahead, last, 0, place.web)
        return lambda: place.logged(measure.run, macro)

    ours = [tools.sapwood, "perf", f"{url}:T", "--cache-size", cache, "--json"]
    ours += ["--entries", f":{last}"] if last >= 0 else []
    contenders = {
        "ROOT standard": root(False),
        "ROOT asynchronous": root(True),
        "Sapwood": lambda: place.logged(measure.run, ours, whole=True),
    }

    def ratio(key):
        return lambda outcome: outcome.ratio("Sapwood", "ROOT standard", lambda run: run.wire[key])

    part = "" if last < 0 else f", its first {last} entries"
    return Case(
        name=f"prefetch-{place.protocol}-{cache}",
        title=f"Prefetching: 2000 arrays (185 MB) over {SPOKEN[place.protocol]}, {place.link}, cache {cache}{part}",
        contenders=tools.choose(contenders),
        bounds=[
            faster("Sapwood", "ROOT standard", 1.0),
            faster("Sapwood", "ROOT asynchronous", 1.0),
            Bound("requests over ROOT's (standard)", 1.0, ratio("requests")),
            Bound("bytes over ROOT's (standard)", 1.1, ratio("bytes")),
        ],
        same={"entries": 0},
        columns={"peak MB": peak, **WIRE},
        note="Basket by basket the whole tree would take minutes: only the first basket of each branch is read. "
        * (last >= 0)
        + "ROOT's `TFile.AsyncPrefetching` is what the benchmark of 2013 compared; Sapwood fetches ahead always (but "
        "for cache 0) and is `sapwood perf`, the whole process.",
    )


def work(place, load):
    """A tree of 142 MB read while every entry costs work (microseconds), compared with reading or working alone."""
    url, tools, local = place.url("chep_new.root"), place.tools, place.data / "chep_new.root"
    script = [tools.python, PEERS / "work.py"]
    far = [url, "h42"]

    def root(ahead):
        macro = tools.macro("readall.C", *far, "", 1, -1, ahead, -1, load, place.web)
        return lambda: place.logged(measure.run, macro, timeout=900)

    contenders = {
        "Sapwood, reading alone": lambda: place.logged(measure.run, [*script, *far, 0]),
        "Sapwood, working alone": lambda: place.logged(measure.run, [*script, local, "h42", load]),
        "Sapwood": lambda: place.logged(measure.run, [*script, *far, load]),
        "ROOT": root(False),
        "ROOT asynchronous": root(True),
    }

    def overlap(outcome):
        alone = [outcome.median(f"Sapwood, {what} alone") for what in ("reading", "working")]
        median = outcome.median("Sapwood")
        return median / max(alone) if median and all(alone) else None

    return Case(
        name=f"work-{place.protocol}-{load}",
        title=f"Every branch of 152 (140 MB) over {SPOKEN[place.protocol]}, {place.link}, "
        f"and {load} µs of work on every entry",
        contenders=tools.choose(contenders),
        bounds=[Bound("time over the longer of reading alone and working alone", 1.15, overlap)],
        same={"entries": 0},
        columns={"peak MB": peak, **WIRE},
        note="Working alone: the same program on the local file.",
    )


def lost_link(place):
    """A tree of 140 MB read while the network is down for some time."""
    words = [place.tools.sapwood, "perf", f"{place.url('chep_new.root')}:h42", "--json"]

    def read(away=0):
        def disturb():
            # the time before the program's first request is not limited
            while not place.server.wire()["requests"]:
                if gone.is_set():
                    return
            if gone.wait(BEFORE):
                return
            place.network.toggle()
            gone.wait(away)
            place.network.toggle()

        gone = threading.Event()
        helper = threading.Thread(target=disturb)
        place.server.forget()
        try:
            if away:
                helper.start()
            return place.logged(measure.run, words, whole=True)
        finally:
            gone.set()
            if away:
                helper.join()

    names = {away: f"Sapwood, {away} s without network" for away in AWAY}

    def longer(away):
        def value(outcome):
            with_it, without = outcome.median(names[away]), outcome.median("Sapwood")
            return with_it - without - away if with_it and without else None

        return Bound(f"seconds that {away} s without network cost beyond themselves", 3, value, "s")

    return Case(
        name=f"lost-link-{place.protocol}",
        title=f"Every branch of 152 (140 MB) over {SPOKEN[place.protocol]}, {place.link}, and a network that goes away",
        contenders=place.tools.choose({"Sapwood": read, **{names[s]: functools.partial(read, s) for s in AWAY}}),
        bounds=[longer(away) for away in AWAY],
        columns=WIRE,
        note=f"Nothing goes either way, without a word to anybody, from {BEFORE} s after the first request on.",
        compared=False,
    )


def cold_open(place):
    """Requests on a cold HTTP open up to the one with a wanted basket, from nginx's log."""
    tools, path, url = place.tools, place.data / "chep_new.root", place.url("chep_new.root")
    script = "import sys, json, uproot; m = uproot.open(sys.argv[1])['h42']['rawtr'].member; n = m('fWriteBasket'); "
    script += "print('RESULT', json.dumps([[int(a), int(a) + int(b)] for a, b in "
    script += "zip(m('fBasketSeek')[:n], m('fBasketBytes')[:n])]))"
    baskets = measure.run([tools.peers, "-c", script, path], whole=True).result

    def logged(call, words):
        run = place.logged(call, words)
        run.wire["first"] = first_basket(place.server.requests(), baskets)
        return run

    def first(run):
        return run.wire["first"]

    contenders = {
        "ROOT": lambda: logged(measure.run, tools.macro("draw.C", url, -1, True)),
        "uproot": lambda: logged(measure.run, [tools.peers, PEERS / "draw_uproot.py", url]),
        "Sapwood": lambda: logged(drawn, tools.draw(url)),
    }
    return Case(
        name="cold-open",
        title="A cold open over HTTP: which request is the first that asks for a basket of the drawn branch",
        contenders=tools.choose(contenders),
        bounds=[Bound("first basket request", 3, lambda outcome: outcome.median("Sapwood", first))],
        same={"entries": 0, "mean": 1e-6},
        incomparable=("ROOT",),
        columns={"request of the first basket": first, **WIRE},
    )


def first_basket(requests, baskets):
    """Number (from 1) of the first request with a range that contains a whole basket."""
    for number, request in enumerate(requests, 1):
        if request.status == 200 and not request.range and request.method == "GET":
            return number
        for first, last in re.findall(r"(\d+)-(\d+)", request.range):
            if any(int(first) <= start and stop <= int(last) + 1 for start, stop in baskets):
                return number
    return None
