"""The cases: the same work for ROOT, uproot and Sapwood."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import measure
from case import Bound, Case

HERE = Path(__file__).parent
PEERS = HERE / "peers"
QUERY = ["rawtr>>h(100,0,40)", "E33>5"]
# Seen with 6.40 and counted entry by entry: 237 of the query's rows.
QUIRK = (
    "ROOT's histogram is not compared: in entries where the selection's branch has a single element and the drawn one "
    "several, TTree::Draw goes over all of them with a weight of NaN, so it counts 237 rows more and its bins are NaN."
)
NANO_BRANCHES = "nMuon,Muon_pt,nJet,Jet_pt,MET_0"


@dataclass
class Tools:
    """The programs: Python with ROOT and uproot, the `root` command beside it, Sapwood's Python and command."""

    peers: Path
    python: Path
    sapwood: Path
    only: tuple[str, ...] = ("ROOT", "uproot", "Sapwood")

    @property
    def root(self):
        return self.peers.parent / "root"

    def choose(self, contenders):
        """Those contenders whose first word was asked for."""
        return {name: call for name, call in contenders.items() if name.split()[0] in self.only}

    def macro(self, name, *arguments):
        """Words that run a ROOT macro of peers/."""
        quoted = ", ".join(f'"{word}"' if isinstance(word, (str, Path)) else str(word).lower() for word in arguments)
        return [self.root, "-l", "-b", "-q", f"{PEERS / name}({quoted})"]

    def draw(self, target, *options):
        """Words that run the seed's query with the sapwood command."""
        return [self.sapwood, "draw", f"{target}:h42", *QUERY, "--json", *options]


def drawn(words):
    """The sapwood command as a whole process; its histogram in the peers' words."""
    run = measure.run(words, whole=True)
    histogram = run.result["histogram"]
    run.result |= {"entries": histogram["entries"], "mean": histogram["mean"]}
    return run


def wanted_bytes(tools, path, tree, branches):
    """Compressed bytes of some branches, as uproot knows them."""
    script = "import sys, uproot; t = uproot.open(sys.argv[1])[sys.argv[2]]; "
    script += 'print("RESULT", sum(int(t[b].member("fZipBytes")) for b in sys.argv[3].split(",")))'
    return measure.run([tools.peers, "-c", script, path, tree, branches], whole=True).result


def peak(run):
    """Peak memory in MB: before the values were checked, where the program says so."""
    return run.result.get("peak_mb", run.peak_mb)


def faster(contender, other, limit):
    """A bound on a contender's time over another's."""
    return Bound(f"time over {other}'s", limit, lambda outcome: outcome.ratio(contender, other))


def seed_query(tools, data, row, wan, server, cache, protocol="http"):
    """Draw("rawtr","E33>5") on the scattered tree through the WAN lab, over HTTP or XRootD."""
    url = server.url("chep_old.root")
    spoken = {"http": "HTTP", "xrootd": "XRootD"}[protocol]

    def logged(call, words):
        server.forget()
        run = call([*wan.client, *words])
        run.wire = server.wire()
        return run

    contenders = {
        "ROOT": lambda: logged(measure.run, tools.macro("draw.C", url, cache, protocol == "http")),
        "uproot": lambda: logged(measure.run, [tools.peers, PEERS / "draw_uproot.py", url]),
        "Sapwood": lambda: logged(drawn, tools.draw(url)),
    }
    floor = wanted_bytes(tools, data / "chep_old.root", "h42", "rawtr,E33") * 8 / (wan.rate * 1e6)
    bounds = []
    if row == "G":
        bounds = [faster("Sapwood", "ROOT", 0.5), faster("Sapwood", "uproot", 1.0)]
    if row == "F":
        bounds = [
            Bound("time over bytes/bandwidth", 1.1, lambda outcome: (outcome.median("Sapwood") or 0) / floor or None)
        ]
    return Case(
        name=f"wan-{row}" + ("" if protocol == "http" else f"-{protocol}"),
        title=f"Draw over {spoken}, {wan.rtt:g} ms, {wan.rate:g} Mbit/s (client {row})",
        contenders=tools.choose(contenders),
        floor=("the wanted bytes at full rate", floor),
        bounds=bounds,
        same={"entries": 0, "mean": 1e-6},
        incomparable=("ROOT",),
        columns={
            "rows drawn": lambda run: run.result["entries"],
            "requests": lambda run: run.wire["requests"],
            "MB at the server": lambda run: run.wire["bytes"] / 1e6,
        },
        note="Sapwood's time is the whole process; ROOT and uproot start their clock after start-up and imports. "
        + QUIRK,
    )


def every_branch(tools, data):
    path = data / "chep_new.root"
    floor = measure.run([tools.peers, PEERS / "inflate.py", path])
    contenders = {
        "ROOT": lambda: measure.run(tools.macro("readall.C", path, "h42")),
        "ROOT (2 threads)": lambda: measure.run(tools.macro("readall.C", path, "h42", "", 2)),
        "uproot": lambda: measure.run([tools.peers, PEERS / "read.py", "uproot", path, "h42", "all"]),
        "Sapwood": lambda: measure.run([tools.python, PEERS / "read.py", "sapwood", path, "h42", "all"]),
    }
    return Case(
        name="every-branch",
        title="Every branch of a tree of 152 (140 MB, zlib), local",
        contenders=tools.choose(contenders),
        floor=(f"inflation on one core, {floor.result['library']}", floor.seconds),
        bounds=[faster("Sapwood", "ROOT", 0.2), faster("Sapwood", "uproot", 0.2)],
        same={"entries": 0, "value_bytes": 0, "checks": 1e-12},
        columns={"peak MB": peak},
    )


def write_tree(tools, data):
    path, out = data / "chep_new.root", data / "written.root"
    words = [PEERS / "write.py"]
    contenders = {
        "ROOT": lambda: measure.run(tools.macro("writeall.C", path, "h42", out)),
        "uproot": lambda: measure.run([tools.python, *words, "uproot", path, "h42", out]),
        "Sapwood": lambda: measure.run([tools.python, *words, "sapwood", path, "h42", out]),
    }

    def size(run):
        return run.result["file_mb"]

    return Case(
        name="write-tree",
        title="A tree of 152 branches (302 MB of numbers and arrays) from memory to a file, zlib 1",
        contenders=tools.choose(contenders),
        bounds=[
            faster("Sapwood", "ROOT", 1 / 4),
            faster("Sapwood", "uproot", 1 / 5),
            Bound("size over ROOT's", 1.02, lambda outcome: outcome.ratio("Sapwood", "ROOT", size)),
        ],
        same={"entries": 0},
        columns={"file MB": size, "MB added by writing": lambda run: run.result.get("added_mb")},
    )


def wide_tree(tools, data):
    path = data / "pre.root"
    contenders = {
        "ROOT": lambda: measure.run(tools.macro("readall.C", path, "T")),
        "uproot": lambda: measure.run([tools.peers, PEERS / "read.py", "uproot", path, "T", "iterate"], 900),
        "Sapwood": lambda: measure.run([tools.python, PEERS / "read.py", "sapwood", path, "T", "iterate"]),
    }
    return Case(
        name="wide-tree",
        title="Every branch of a tree of 2000 arrays (185 MB, zlib), in steps of 50 MB, local",
        contenders=tools.choose(contenders),
        bounds=[
            faster("Sapwood", "ROOT", 1 / 3),
            Bound("peak memory", 250, lambda outcome: outcome.median("Sapwood", peak), "MB"),
        ],
        same={"entries": 0},
        columns={"peak MB": peak},
    )


def draw_local(tools, data):
    path = data / "chep_new.root"
    contenders = {
        "ROOT": lambda: measure.run(tools.macro("draw.C", path), whole=True),
        "uproot": lambda: measure.run([tools.peers, PEERS / "draw_uproot.py", path], whole=True),
        "Sapwood": lambda: drawn(tools.draw(path)),
    }
    return Case(
        name="draw-local",
        title="Draw on a local file, whole process from start to exit",
        contenders=tools.choose(contenders),
        bounds=[faster("Sapwood", "ROOT", 0.25)],
        same={"entries": 0, "mean": 1e-6},
        incomparable=("ROOT",),
        columns={"rows drawn": lambda run: run.result["entries"]},
        note=QUIRK,
    )


def nano(tools, data):
    path = data / "nano.root"
    read = PEERS / "read.py"
    contenders = {
        "ROOT": lambda: measure.run(tools.macro("readall.C", path, "Events", NANO_BRANCHES)),
        "uproot": lambda: measure.run([tools.peers, read, "uproot", path, "Events", "all", NANO_BRANCHES]),
        "Sapwood": lambda: measure.run([tools.python, read, "sapwood", path, "Events", "all", NANO_BRANCHES]),
    }
    return Case(
        name="five-of-1100",
        title="Five branches of a NanoAOD-like tree of 1100 (511 MB, zstd), local",
        contenders=tools.choose(contenders),
        same={"entries": 0, "value_bytes": 0, "checks": 1e-12},
    )


def start_up(tools, data):
    script = "import time; t = time.perf_counter(); import sapwood; s = time.perf_counter() - t; "
    script += 'import json; print("RESULT", json.dumps({"seconds": s}))'
    uproot = script.replace("import sapwood", "import uproot")
    contenders = {
        "Sapwood ls": lambda: measure.run([tools.sapwood, "ls", data / "chep_new.root"], whole=True),
        "Sapwood import": lambda: measure.run([tools.python, "-c", script]),
        "uproot import": lambda: measure.run([tools.peers, "-c", uproot]),
    }
    return Case(
        name="start-up",
        title="`sapwood ls` on a local file (whole process), and `import sapwood`",
        contenders=tools.choose(contenders),
        bounds=[
            Bound("`sapwood ls`", 0.020, lambda outcome: outcome.median("Sapwood ls"), "s"),
            Bound("`import sapwood`", 0.150, lambda outcome: outcome.median("Sapwood import"), "s"),
        ],
    )


def cold_open(tools, data, nginx):
    """Requests on a cold HTTP open up to the one that holds a wanted basket, from nginx's log."""
    url = nginx.url("chep_new.root")
    script = "import sys, json, uproot; m = uproot.open(sys.argv[1])['h42']['rawtr'].member; n = m('fWriteBasket'); "
    script += "print('RESULT', json.dumps([[int(a), int(a) + int(b)] for a, b in "
    script += "zip(m('fBasketSeek')[:n], m('fBasketBytes')[:n])]))"
    baskets = measure.run([tools.peers, "-c", script, data / "chep_new.root"], whole=True).result

    def logged(call, words):
        nginx.forget()
        run = call(words)
        run.wire = {"first": first_basket(nginx.requests(), baskets), **nginx.wire()}
        return run

    contenders = {
        "ROOT": lambda: logged(measure.run, tools.macro("draw.C", url, -1, True)),
        "uproot": lambda: logged(measure.run, [tools.peers, PEERS / "draw_uproot.py", url]),
        "Sapwood": lambda: logged(drawn, tools.draw(url)),
    }
    return Case(
        name="cold-open",
        title="A cold open over HTTP: which request is the first that asks for a basket of the drawn branch",
        contenders=tools.choose(contenders),
        bounds=[
            Bound("first basket request", 3, lambda outcome: outcome.median("Sapwood", lambda run: run.wire["first"]))
        ],
        same={"entries": 0, "mean": 1e-6},
        incomparable=("ROOT",),
        columns={
            "request of the first basket": lambda run: run.wire["first"],
            "requests": lambda run: run.wire["requests"],
            "MB at the server": lambda run: run.wire["bytes"] / 1e6,
        },
    )


def first_basket(requests, baskets):
    """Number (from 1) of the first request with a range that holds a whole basket."""
    for number, request in enumerate(requests, 1):
        if request.status == 200 and not request.range and request.method == "GET":
            return number
        for first, last in re.findall(r"(\d+)-(\d+)", request.range):
            if any(int(first) <= start and stop <= int(last) + 1 for start, stop in baskets):
                return number
    return None


def sapwood_python():
    """This Python, which has Sapwood."""
    return Path(sys.executable)
