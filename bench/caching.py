"""The local cache: the seed's query on a local file, on a remote one without the cache, filling it, and in later
sessions."""

from __future__ import annotations

import functools
import shutil

import lab
import measure
from case import Bound, Case
from cases import QUIRK, drawn
from wan import SPOKEN, WIRE

#: ms, Mbit/s: the seed's client G, whose round trips a second session should avoid.
LINK = lab.ROWS["G"]
#: Round trips of connecting and validating: HTTP, TCP and one request; XRootD, TCP and one flight.
TRIPS = 2


def local_cache(place):
    tools, name = place.tools, "chep_old.root"
    url, folder = place.url(name), place.data.parent / "local-cache"
    kept = ["--local-cache", str(folder)]

    def logged(*options):
        return place.logged(drawn, tools.draw(url, *options))

    def logged_local():
        run = drawn(tools.draw(place.data / name))
        run.wire = {"requests": 0, "bytes": 0}
        return run

    def filled():
        shutil.rmtree(folder, ignore_errors=True)
        return logged(*kept)

    def root(how, filled=False):
        """ROOT with one of its own caches; `filled`: with the cache left by an earlier session."""
        kept_by_root = place.data.parent / f"root-cache-{how}"

        def run():
            if not filled:
                shutil.rmtree(kept_by_root, ignore_errors=True)
                kept_by_root.mkdir()
            return place.logged(measure.run, tools.macro("cached.C", url, how, kept_by_root, place.web))

        return run

    contenders = {
        "local file": logged_local,
        "no local cache": logged,
        "filling": filled,
        "second session": lambda: logged(*kept),
        "offline": lambda: logged(*kept, "--offline"),
    }
    # not with TWebFile; it downloads megabyte by megabyte: half a minute
    whole = {
        "ROOT, CACHEREAD, first session": functools.cache(root("whole")),
        "ROOT, CACHEREAD, second session": root("whole", filled=True),
    }
    roots = {
        "ROOT, no cache on disk": root("none"),
        **({} if place.web else whole),
        "ROOT, Cache.Directory, first session": root("blocks"),
        "ROOT, Cache.Directory, second session": root("blocks", filled=True),
    }
    contenders |= tools.choose(roots)
    waits = TRIPS * place.network.rtt * 1e-3

    def beyond(which, waits=0.0):
        """Its time without waits, relative to that of the local file."""

        def value(outcome):
            far, near = outcome.median(which), outcome.median("local file")
            return far and near and (far - waits) / near

        return value

    def requests(outcome):
        return outcome.median("second session", lambda run: run.wire["requests"])

    return Case(
        name=f"local-cache-{place.protocol}",
        title=f"The seed's query over {SPOKEN[place.protocol]}, {place.link}: local cache",
        contenders=contenders,
        bounds=[
            Bound(
                f"second session less {TRIPS} round trips, over the local file", 1.05, beyond("second session", waits)
            ),
            Bound("offline over the local file", 1.05, beyond("offline")),
            Bound("filling over no local cache", 1.03, lambda outcome: outcome.ratio("filling", "no local cache")),
            Bound("requests of the second session", 1 if place.web else 2, requests),
        ],
        same={"entries": 0, "mean": 0},
        incomparable=tuple(roots),
        columns={"rows drawn": lambda run: run.result["entries"], **WIRE},
        note="What is not ROOT is Sapwood: the whole process; ROOT starts its clock after start-up. Folders are on the "
        "disk, and emptied before each filling. CACHEREAD (`TFile::SetCacheFileDir`) (XRootD only) downloads the whole "
        "file, one run of it here, and later does not ask the server whether it has changed; `Cache.Directory` is that "
        "of `TFile.AsyncPrefetching`. " + QUIRK,
        compared=False,
    )
