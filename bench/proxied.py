"""Cases of a site with a caching proxy: the seed's query by several readers from a distant origin, through the proxy
with and without the data cached, and from a nearby server."""

from __future__ import annotations

import contextlib
import functools
import re
from dataclasses import dataclass, field, replace

import lab
import measure
import proxies
from case import Bound, Case
from cases import PEERS, QUIRK, drawn
from wan import CLOCKS, SPOKEN, Place

#: ms, Mbit/s: from the site's edge to the origin, and from the client to the edge.
SITE, LAN = (100, 1000), (0.3, 10_000)
FILE = "chep_old.root"
ORIGINS = {"http": lab.Nginx, "xrootd": lab.XRootD}
#: Proxies that sites run today, by the protocol of the origin.
PEER = {"http": proxies.NginxCache, "xrootd": proxies.XCache}
OURS, WITHOUT = "sapwood proxy", "sapwood proxy without prefetching"
#: Entries after which ROOT without a tree cache is stopped, twice, where it waits for the origin once for each basket.
SHORT = (1000, 6000)


@dataclass
class Site:
    """The origin and the servers near the client: `place` is the origin, `near` another server with the same files."""

    place: Place
    near: lab.Server
    proxies: dict[str, proxies.Proxy] = field(default_factory=dict)

    @property
    def peer(self):
        return next(iter(self.proxies))


@contextlib.contextmanager
def site(tools, data, protocol, scratch, without=False, link=SITE):
    """The lab of a site. `without`: also with a `sapwood proxy` that does not prefetch; `link`: from the site's edge to
    the origin (ms, Mbit/s)."""
    with contextlib.ExitStack() as stack:
        network = stack.enter_context(lab.network(*link, scratch=scratch, lan=LAN))
        origin = stack.enter_context(ORIGINS[protocol](data, network))
        near = stack.enter_context(ORIGINS[protocol](data, network.edge))
        found = proxies_of(tools, {protocol: origin}, network, without)
        for proxy in found.values():
            stack.enter_context(proxy)
        yield Site(Place(tools, data, network, origin, protocol), near, found)


def proxies_of(tools, origins, network, without=False, slices="128k"):
    """Proxies for the origins, by title; ours for the first one. `slices`: nginx's."""
    found = {PEER[protocol].title: PEER[protocol](origin, network) for protocol, origin in origins.items()}
    if "nginx" in found:
        found["nginx"].slices = slices
    origin = next(iter(origins.values()))
    found[OURS] = proxies.SapwoodProxy(origin, network, tools.sapwood)
    if without:
        found[WITHOUT] = proxies.SapwoodProxy(origin, network, tools.sapwood, proxies.NO_PREFETCHING)
    return found


def addresses(site, name=FILE):
    """Addresses of the file: on the origin itself, on the nearby server."""
    return {"direct": site.place.url(name), "near server": site.near.url(name)}


def through(site, name=FILE):
    """(title, proxy, address of the file) of each proxy."""
    return [(title, proxy, proxy.url(name, site.place.protocol)) for title, proxy in site.proxies.items()]


def readers(place):
    """Calls that read the query's branches at an address, by reader."""
    tools = place.tools
    return {
        "ROOT": lambda url: (measure.run, tools.macro("draw.C", url, -1, place.web)),
        "uproot": lambda url: (measure.run, [tools.peers, PEERS / "draw_uproot.py", url]),
        "Sapwood": lambda url: (drawn, tools.draw(url, "--local-cache", "off")),
    }


def logged(place, call, words, **how):
    """Runs a program at the client; `wire` records what the origin saw."""
    run = place.logged(call, words, **how)
    if place.web:
        run.wire |= spans(place.server.requests(), (place.data / FILE).stat().st_size)
    return run


def spans(requests, size):
    """Bytes of the file in the answers to some requests, and how many of them are distinct."""
    payload, asked = 0, []
    for request in requests:
        if request.method != "GET" or request.status not in (200, 206):
            continue
        found = re.findall(r"(\d*)-(\d*)", request.range) if request.status == 206 else [("0", "")]
        ranges = [bounds(first, last, size) for first, last in found]
        payload += min(request.bytes, sum(stop - start for start, stop in ranges))
        asked += ranges
    return {"payload": payload, "distinct": union(asked)}


def bounds(first, last, size):
    """Start and end of an HTTP range, of which one may be missing."""
    if not first:
        return max(0, size - int(last)), size
    return int(first), min(size, int(last) + 1) if last else size


def union(ranges):
    """How many distinct bytes some ranges cover."""
    total = reached = 0
    for start, stop in sorted(ranges):
        total += max(0, stop - max(start, reached))
        reached = max(reached, stop)
    return total


def once(call):
    """Reuses the result of the first run: for runs of minutes."""
    return functools.cache(call)


def from_empty(proxy, call):
    """A run with an empty cache."""

    def run():
        proxy.empty()
        return call()

    return run


def contenders(site, name, reader):
    """A reader's runs: remote, nearby, and through each proxy, first with an empty cache, then with a full one."""
    place = site.place

    def run(url):
        call, words = reader(url)
        return lambda: logged(place, call, words)

    found = {f"{name}, {where}": run(url) for where, url in addresses(site).items()}
    for title, proxy, url in through(site):
        if title == WITHOUT and name != "ROOT":
            continue
        cold = from_empty(proxy, run(url))
        # slice after slice, each with a wait for the origin: two minutes
        found[f"{name}, {title}, cold"] = once(cold) if title == "nginx" else cold
        if title != WITHOUT:
            found[f"{name}, {title}, warm"] = run(url)
    return found


def over(mine, other, limit):
    return Bound(f"{mine} over {other}", limit, lambda outcome: outcome.ratio(mine, other))


def origin_bytes(outcome, name, wanted="ROOT, direct"):
    """Bytes read from the origin in a run, relative to the distinct bytes that the reader requested. Over XRootD these
    are those of a direct run: ROOT requests hardly anything twice."""
    taken = outcome.median(name, lambda run: run.wire.get("payload", run.wire["bytes"]))
    distinct = outcome.median(wanted, lambda run: run.wire.get("distinct", run.wire["bytes"]))
    return taken / distinct if taken is not None and distinct else None


def bytes_bound(name, limit):
    return Bound(
        f"{name}: bytes from the origin over those asked for", limit, lambda outcome: origin_bytes(outcome, name)
    )


COLUMNS = {
    "requests at the origin": lambda run: run.wire["requests"],
    "MB from the origin": lambda run: run.wire["bytes"] / 1e6,
}


def link(place):
    lan, rate = place.network.lan
    return f"origin {place.network.rtt:g} ms away, {place.network.rate:g} Mbit/s; proxy {lan:g} ms, {rate:g} Mbit/s"


def query(site):
    """The seed's query by each reader with its own tree cache."""
    place, found = site.place, {}
    for name, reader in readers(place).items():
        found |= contenders(site, name, reader)
    return Case(
        name=f"proxied-query-{place.protocol}",
        title=f"The seed's query through proxies over {SPOKEN[place.protocol]}",
        contenders=place.tools.choose(found),
        bounds=[
            over(f"ROOT, {OURS}, cold", "ROOT, direct", 1.1),
            over(f"ROOT, {OURS}, warm", "ROOT, near server", 1.1),
            bytes_bound(f"ROOT, {WITHOUT}, cold", 1.02),
            bytes_bound(f"ROOT, {OURS}, cold", 1.5),
        ],
        same={"entries": 0, "mean": 1e-6},
        incomparable=tuple(name for name in found if name.startswith("ROOT")),
        columns=COLUMNS,
        note=f"{link(place)}. {CLOCKS}{QUIRK}" + " nginx, cold: one run." * place.web,
        compared=False,
        place={"table": "proxied", "protocol": place.protocol},
    )


def uncached(site):
    """The same with ROOT without a tree cache: it waits for each basket."""
    place, tools = site.place, site.place.tools
    name, urls = "ROOT without tree cache", addresses(site)

    def run(url, last=-1):
        words = tools.macro("draw.C", url, 0, place.web, last)
        return lambda: logged(place, measure.run, words, timeout=900)

    def near():
        run_ = run(urls["near server"])()
        # the number of requests; the origin had none
        near.requests = run_.result["reads"]
        return run_

    def direct():
        """Two short runs, from which the whole is extrapolated: every further request costs the same."""
        one, two = (run(urls["direct"], last)() for last in SHORT)
        reads = [part.result["reads"] for part in (one, two)]
        each = (two.seconds - one.seconds) / (reads[1] - reads[0])
        more = near.requests - reads[0]
        wire = {"requests": one.wire["requests"] + more, "bytes": None}
        return replace(two, seconds=one.seconds + more * each, wire=wire)

    found = {f"{name}, near server": near, f"{name}, direct": direct}
    for title, proxy, url in through(site):
        found[f"{name}, {title}, cold"] = from_empty(proxy, run(url))
        found[f"{name}, {title}, warm"] = run(url)
    mine = f"{name}, {OURS}, cold"
    return Case(
        name=f"proxied-uncached-{place.protocol}",
        title=f"The seed's query through proxies over {SPOKEN[place.protocol]}, by ROOT without a tree cache",
        contenders=tools.choose(found),
        bounds=[
            over(mine, f"{name}, direct", 1 / 40),
            over(f"{name}, {OURS}, warm", f"{name}, near server", 1.1),
        ],
        same={"entries": 0},
        incomparable=(f"{name}, direct",),
        columns=COLUMNS | {"MB from the origin": lambda run: run.wire["bytes"] and run.wire["bytes"] / 1e6},
        note=f"{link(place)}. Direct: extrapolated by requests from the first {SHORT[0]} and {SHORT[1]} entries, as "
        "the whole takes seven minutes. One run of each.",
        compared=False,
        place={"table": "proxied", "protocol": place.protocol},
    )
