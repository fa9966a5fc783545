"""All cases by name, with their requirements and setup."""

from __future__ import annotations

import contextlib
import functools
import itertools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import caching
import cases
import connections
import far_ntuples
import federation
import lab
import ntuples
import proxied
import proxied_load
import rewrites
import simulate
import wan
from case import Case

HERE = Path(__file__).parent
OUT = HERE / "out"
LOCAL = {
    "every-branch": cases.every_branch,
    "numpy-arrays": cases.numpy_arrays,
    "wide-tree": cases.wide_tree,
    "many-branches": cases.many_branches,
    "write-tree": cases.write_tree,
    "write-ntuple": cases.write_ntuple,
    "convert": cases.convert,
    "producers": cases.producers,
    "draw-local": cases.draw_local,
    "five-of-1100": cases.nano,
    "unzip": cases.unzip,
    "selector": cases.selector,
    "start-up": cases.start_up,
}
#: What these write, and where, is prepared when they run.
REWRITES = {
    "merge-memory": lambda *where: rewrites.merge(*where, "memory"),
    "merge-disk": lambda *where: rewrites.merge(*where, "disk"),
    "merge-many": rewrites.merge_many,
    "merge-ntuples": rewrites.merge_ntuples,
    "optimize": rewrites.optimize,
    "scattered": rewrites.scattered,
}
#: The same for what is only read, from memory.
IN_MEMORY = {
    "ntuple-every-field": ntuples.every_field,
    "ntuple-five-fields": ntuples.five_fields,
    "convert-wide": ntuples.convert_wide,
}
FAR = ("cold-open", "prefetch", "work", "lost-link", "lossy", "demand", "local-cache", "http-versions")
#: The query on an ntuple for the clients of `--ntuple-rows`, or for these.
NTUPLE_ROWS, CLIENTS = "ntuple-rows", "F,G"
#: A caching proxy between clients and origin.
PROXIED = ("proxied-query", "proxied-uncached", "proxied-crowd", "proxied-whole", "proxied-memory")
#: The simulator beside what is measured: of the chosen clients and sizes of the tree cache; with a local cache, a
#: proxy, and many clients.
SIMULATED = ("simulate-rows", "simulate-cached", "simulate-proxy", "simulate-crowd", "simulate-scaling")
CASES = [*LOCAL, *REWRITES, *IN_MEMORY, *FAR, NTUPLE_ROWS, *PROXIED, *SIMULATED]
SERVERS = {"http": lab.Nginx, "xrootd": lab.XRootD}
#: Runs of milliseconds: repeating them costs nothing.
SHORT = ("start-up", "many-branches")
#: Prefixes of the names of runs of minutes that count requests: one run is enough.
LONG = ("scattered", "proxied-uncached", "proxied-crowd")


@dataclass
class Job:
    """A case that is set up when it runs."""

    name: str
    #: creates the case, once its requirements run; these are stopped with the stack
    make: Callable[[contextlib.ExitStack], Case]
    #: programs that must be installed
    programs: tuple[str, ...] = ()
    #: whether it needs the WAN lab
    lab: bool = False
    #: whether it needs a RAM file system
    ram: bool = False

    def repeat(self, usual):
        return max(usual, 10) if self.name in SHORT else 1 if self.name.startswith(LONG) else usual

    def missing(self):
        """Why it cannot be run here; None when it can."""
        if self.ram and (reason := rewrites.why_no_ram()):
            return reason
        if lacking := [program for program in self.programs if not lab.found(program)]:
            return f"needs {', '.join(lacking)}"
        return lab.why_no_lab() if self.lab else None


def jobs(options, tools):
    """The selected cases, in the order of the report."""
    protocols = chosen(options.protocols, SERVERS)

    def far(name, link, protocol, case, *more):
        def make(stack):
            network = stack.enter_context(lab.network(*link, scratch=OUT))
            server = stack.enter_context(SERVERS.get(protocol, lab.SecureNginx)(options.data, network))
            return case(wan.Place(tools, options.data, network, server, protocol), *more)

        # the floor, the time for the bytes alone, is measured with nginx
        return Job(name, make, tuple({"nginx", SERVERS.get(protocol, lab.SecureNginx).program}), lab=bool(link[0]))

    names = chosen(options.cases, CASES)
    for name in names:
        if name in LOCAL:
            yield Job(name, lambda _, case=LOCAL[name]: case(tools, options.data))
        elif name in REWRITES:
            ram = name not in ("merge-disk", "scattered")
            yield Job(name, lambda stack, case=REWRITES[name]: case(tools, options.data, stack), ram=ram)
        elif name in IN_MEMORY:
            yield Job(name, lambda stack, case=IN_MEMORY[name]: case(tools, options.data, stack), ram=True)
    if "cold-open" in names:
        yield far("cold-open", lab.ROWS["A"], "http", wan.cold_open)
    for protocol in protocols:
        if "prefetch" in names:
            for cache in ("100MB", "0"):
                yield far(f"prefetch-{protocol}-{cache}", wan.PREFETCH_LINK, protocol, wan.prefetch, cache)
        if "work" in names:
            for load in wan.WORKS:
                yield far(f"work-{protocol}-{load}", wan.WORK_LINK, protocol, wan.work, load)
        if "lost-link" in names:
            yield far(f"lost-link-{protocol}", wan.LOST_LINK, protocol, wan.lost_link)
        if "lossy" in names:
            yield far(f"lossy-{protocol}", connections.LOSSY, protocol, connections.lossy)
        if "local-cache" in names:
            yield far(f"local-cache-{protocol}", caching.LINK, protocol, caching.local_cache)
        if "demand" in names:
            yield far(f"demand-{protocol}", connections.DEMAND, protocol, connections.demand)
    if "http-versions" in names:
        for place, link in (("G", lab.ROWS["G"]), ("lossy", connections.LOSSY)):
            yield far(f"http-versions-{place}", link, "https", connections.versions)
    usual = CLIENTS if NTUPLE_ROWS in names else "none"
    for row in chosen(options.ntuple_rows or usual, lab.ROWS):
        for protocol in protocols:
            yield far(f"ntuple-{row}-{protocol}", lab.ROWS[row], protocol, far_ntuples.query, row)
    yield from proxied_jobs(options, tools, protocols, names)
    yield from simulated_jobs(options, tools, protocols, names)
    for row in chosen(options.rows, lab.ROWS):
        for protocol in protocols:
            for cache in chosen(options.cache, wan.CACHES):
                yield far(f"wan-{row}-{protocol}-{cache}", lab.ROWS[row], protocol, wan.seed_query, row, cache)


def proxied_jobs(options, tools, protocols, names):
    """The cases of a caching proxy."""
    data, programs = options.data, ("nginx", "xrootd")

    def at_a_site(name, case, protocol, folder, without=False):
        def make(stack):
            found = stack.enter_context(proxied.site(tools, folder(), protocol, OUT, without))
            return case(found)

        return Job(f"{name}-{protocol}", make, programs, lab=True)

    def here(name, case, *spoken):
        def make(stack):
            network = lab.network(0, 0, scratch=OUT)
            origins = {protocol: stack.enter_context(SERVERS[protocol](data, network)) for protocol in spoken}
            found = proxied.proxies_of(tools, origins, network, slices=proxied_load.SLICES)
            for proxy in found.values():
                stack.enter_context(proxy)
            return case(tools, data, OUT, origins, found)

        return Job(name, make, programs)

    for protocol in protocols:
        if "proxied-query" in names:
            yield at_a_site("proxied-query", proxied.query, protocol, lambda: data, without=True)
        if "proxied-uncached" in names:
            yield at_a_site("proxied-uncached", proxied.uncached, protocol, lambda: data)
        if "proxied-crowd" in names:
            folder = functools.partial(proxied_load.crowd_data, tools.sapwood, OUT / "crowd")
            yield at_a_site("proxied-crowd", functools.partial(proxied_load.crowd, OUT), protocol, folder)
        if "proxied-whole" in names:
            yield here(f"proxied-whole-{protocol}", proxied_load.whole, protocol)
    if "proxied-memory" in names:
        yield here("proxied-memory", proxied_load.memory, *SERVERS)


def simulated_jobs(options, tools, protocols, names):
    """The simulator beside what is measured."""

    def far(name, link, protocol, case, *more):
        def make(stack):
            network = stack.enter_context(lab.network(*link, scratch=OUT))
            server = stack.enter_context(SERVERS[protocol](options.data, network))
            place = wan.Place(tools, options.data, network, server, protocol)
            return case(place, stack, OUT, *more)

        return Job(f"{name}-{protocol}", make, ("nginx", SERVERS[protocol].program), lab=bool(link[0]))

    def at_a_site(row, cache, protocol, cold):
        def make(stack):
            site = stack.enter_context(proxied.site(tools, options.data, protocol, OUT, link=lab.ROWS[row]))
            return simulate.through_proxy(site, stack, OUT, row, cache, cold)

        how = "cold-proxy" if cold else "proxy"
        return Job(f"simulate-{how}-{row}-{cache}-{protocol}", make, ("nginx", "xrootd"), lab=True)

    for protocol in protocols:
        cells = list(itertools.product(chosen(options.rows, lab.ROWS), chosen(options.cache, wan.CACHES)))
        if "simulate-rows" in names:
            for row, cache in cells:
                yield far(f"simulate-{row}-{cache}", lab.ROWS[row], protocol, simulate.row, row, cache)
        if "simulate-cached" in names:
            for row, cache in cells:
                yield far(f"simulate-cached-{row}-{cache}", lab.ROWS[row], protocol, simulate.cached, row, cache)
        if "simulate-proxy" in names:
            # a proxy beside its origin saves nothing
            distant = [(row, cache) for row, cache in cells if lab.ROWS[row][0]]
            for (row, cache), cold in itertools.product(distant, (False, True)):
                yield at_a_site(row, cache, protocol, cold)
        if "simulate-crowd" in names:
            yield far("simulate-crowd", lab.ROWS[simulate.CROWD_ROW], protocol, simulate.crowd)
    if "simulate-scaling" in names:
        yield Job("simulate-scaling", lambda _: federation.scaling(tools, OUT))


def chosen(words, known):
    """The names in a comma-separated list, `all` or `none` of the known ones."""
    if words == "all":
        return list(known)
    names = [word for word in words.split(",") if word not in ("", "none")]
    for name in names:
        if name not in known:
            sys.exit(f"no {name}: there are {', '.join(known)}")
    return names
