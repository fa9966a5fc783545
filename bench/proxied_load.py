"""Cases of a caching proxy under load: fifty clients at once on one cold file, whole cached files, and the memory that
two hundred slow clients use."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys

import measure
from case import Bound, Case
from cases import PEERS, drawn
from proxied import COLUMNS, OURS, link, over
from wan import SPOKEN

#: Entries of the file for many clients: 40 MB.
ENTRIES = 220_000
CROWD = "crowd.root"
BRANCHES = "MET_pt,Muon_pt,nMuon"
#: Clients of each of five programs.
EACH = 10
WHOLE = "nano.root"
#: For nginx's cache: with smaller slices, eight clients need more open files than a process may have.
SLICES = "1m"
#: Concurrent clients that read a whole file.
AT_ONCE = (1, 8)
SLOW, SLOW_SECONDS = 200, 15


def crowd_data(sapwood, folder):
    """The file for many clients, alone in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / CROWD
    if not path.exists():
        part = path.with_suffix(".part")
        words = [sapwood, "sample", part, "--entries", str(ENTRIES)]
        subprocess.run(words, check=True, stdin=subprocess.DEVNULL, capture_output=True)
        part.rename(path)
    return folder


class Crowd:
    """Fifty clients and their expected results."""

    def __init__(self, tools, path):
        self.tools, self.path = tools, path
        self.digest = hashlib.sha256(path.read_bytes()).hexdigest()
        self.expected = {}
        for name, (call, words, keys) in self.programs(path, False).items():
            result = call(words).result
            self.expected[name] = {key: result[key] for key in keys}

    def programs(self, target, web):
        """Call, command line and expected values, of programs that read branches."""
        read = [PEERS / "read.py"]
        draw = [self.tools.sapwood, "draw", f"{target}:Events", "Muon_pt", "Muon_pt>20", "--json"]
        macro = self.tools.macro("readall.C", target, "Events", BRANCHES, 1, -1, False, -1, 0, web)
        return {
            "ROOT": (measure.run, macro, ("entries", "value_bytes")),
            "uproot": (
                measure.run,
                [self.tools.peers, *read, "uproot", target, "Events", "all", BRANCHES],
                ("entries", "checks"),
            ),
            "Sapwood": (drawn, [*draw, "--local-cache", "off"], ("histogram",)),
        }

    def clients(self, urls):
        """Fifty clients, in mixed order, of a proxy with one protocol or both: in the latter case each program that
        supports both uses both."""
        found = []
        for number in range(EACH):
            spoken = list(urls)[number % len(urls)]
            url = str(urls[spoken])
            copiers = {"curl": ("http", "curl -sSf"), "xrdcp": ("xrootd", "xrdcp -s")}
            if "xrootd" not in urls:
                copiers["wget"] = ("http", "wget -q -O -")
                del copiers["xrdcp"]
            for name, (protocol, words) in copiers.items():
                if protocol not in urls:
                    protocol, name, words = "xrootd", "xrdcp", "xrdcp -s"
                end = " -" if name == "xrdcp" else ""
                script = f'set -o pipefail; {words} "$0"{end} | sha256sum'
                words = ["bash", "-c", script, urls[protocol]]
                found.append({"name": name, "words": words, "expect": self.digest})
            for name, (_, words, _) in self.programs(url, spoken == "http").items():
                found.append({"name": f"{name}, {spoken}", "words": words, "expect": self.expected[name]})
        return [client | {"words": [str(word) for word in client["words"]]} for client in found]


def crowd(scratch, site):
    """Fifty clients at once on one file that is not cached."""
    place, file = site.place, scratch / "crowd.json"
    people = Crowd(place.tools, place.data / CROWD)

    def run(proxy):
        def call():
            proxy.empty()
            urls = {name: address + CROWD for name, address in proxy.urls.items()}
            file.write_text(json.dumps(people.clients(urls)))
            found = place.logged(measure.run, [place.tools.python, PEERS / "crowd.py", file])
            for name, why in found.result["failures"]:
                print(f"    {proxy.title}: {name} failed: {why}", file=sys.stderr)
            return found

        return call

    def files(run):
        return run.wire["bytes"] / people.path.stat().st_size

    def failed(run):
        return len(run.result["failures"])

    return Case(
        name=f"proxied-crowd-{place.protocol}",
        title=f"{5 * EACH} clients at once on one cold file of {people.path.stat().st_size / 1e6:.0f} MB, origin over "
        f"{SPOKEN[place.protocol]}",
        contenders={title: run(proxy) for title, proxy in site.proxies.items()},
        bounds=[
            Bound("files taken from the origin", 1.02, lambda outcome: outcome.median(OURS, files)),
            Bound("clients that failed", 0, lambda outcome: outcome.median(OURS, failed)),
        ],
        columns={
            "files from the origin": files,
            "failed": failed,
            **COLUMNS,
        },
        note=f"{link(place)}. {EACH} each of curl (wget for XRootD's protocol where a proxy does not speak it), xrdcp, "
        "ROOT, uproot and Sapwood. A proxy that speaks both protocols serves both.",
        compared=False,
    )


def whole(tools, data, scratch, origins, proxies):
    """Whole cached files, on this machine: curl or xrdcp."""
    ((protocol, origin),) = origins.items()
    file = scratch / "whole.json"
    size = (data / WHOLE).stat().st_size

    def run(url, count):
        words = ["curl", "-sSf", "-o", "/dev/null"] if protocol == "http" else ["xrdcp", "-s", "-f"]
        words += [url] if protocol == "http" else [url, "/dev/null"]

        def call():
            file.write_text(json.dumps([{"name": words[0], "words": words, "expect": ""}] * count))
            found = measure.run([tools.python, PEERS / "crowd.py", file])
            if found.result["failures"]:
                raise measure.Failed(str(found.result["failures"][0]))
            found.result["MB"] = count * size / 1e6
            return found

        return call

    def held(proxy, count):
        call = run(proxy.url(WHOLE, protocol), count)

        def filled():
            if proxy not in filled_:
                filled_.append(proxy)
                run(proxy.url(WHOLE, protocol), 1)()
            return call()

        return filled

    filled_, found = [], {}
    own = origin.program
    for count in AT_ONCE:
        clients = f"{count} client{'s' * (count > 1)}"
        found[f"{own}, {clients}"] = run(origin.url(WHOLE), count)
        for title, proxy in proxies.items():
            title = "nginx proxy_cache" if title == "nginx" else title
            found[f"{title}, {clients}"] = held(proxy, count)
    limit = 1 / 0.8 if protocol == "http" else 1.0
    return Case(
        name=f"proxied-whole-{protocol}",
        title=f"A whole file ({size / 1e6:.0f} MB) that is held, over {SPOKEN[protocol]}, on one machine",
        contenders=found,
        bounds=[
            over(f"{OURS}, {n} client{'s' * (n > 1)}", f"{own}, {n} client{'s' * (n > 1)}", limit) for n in AT_ONCE
        ],
        columns={"MB/s": lambda run: run.result["MB"] / run.seconds},
        note=f"`{'curl -o' if protocol == 'http' else 'xrdcp -f URL'} /dev/null`; `{own}` has the file itself.",
        compared=False,
    )


def memory(tools, data, _scratch, _origins, proxies):
    """Resident memory of each proxy while slow clients read at random positions."""

    def run(proxy):
        def call():
            proxy.empty()
            urls = proxy.urls if len(proxy.urls) == 1 or proxy.title == OURS else {"xrootd": proxy.urls["xrootd"]}
            words = [tools.python, PEERS / "slow_clients.py", data / WHOLE, SLOW_SECONDS]
            for url in urls.values():
                words += [SLOW // len(urls), url + WHOLE]
            found = measure.run(words)
            found.result["resident"], found.result["most"] = proxy.resident()
            return found

        return call

    def most(run):
        return run.result["most"]

    return Case(
        name="proxied-memory",
        title=f"{SLOW} slow clients at once that read 4 MB here and there in a file of 511 MB",
        contenders={title: run(proxy) for title, proxy in proxies.items()},
        bounds=[
            Bound("most memory", 300, lambda outcome: outcome.median(OURS, most), "MB"),
            Bound("clients that failed", 0, lambda outcome: outcome.median(OURS, lambda run: run.result["failed"])),
        ],
        columns={
            "MB resident at the end": lambda run: run.result["resident"],
            "MB resident at most": most,
            "MB/s": lambda run: run.result["bytes"] / 1e6 / run.seconds,
            "failed": lambda run: run.result["failed"],
        },
        note=f"{SLOW_SECONDS} s on one machine. `sapwood proxy` has half of the clients over each protocol, nginx all "
        "over HTTP, XCache all over its own. What nginx holds in memory is the system's page cache.",
        compared=False,
    )
