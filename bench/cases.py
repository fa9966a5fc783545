"""The cases without a network: the same work for ROOT, uproot and Sapwood."""

from __future__ import annotations

import functools
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import measure
from case import Bound, Case

HERE = Path(__file__).parent
PEERS = HERE / "peers"
QUERY = ["rawtr>>h(100,0,40)", "E33>5"]
# Observed with 6.40 and counted entry by entry: 237 of the query's rows.
QUIRK = (
    "ROOT's histogram is not compared: in entries where the selection's branch has a single element and the drawn one "
    "several, TTree::Draw goes over all of them with a weight of NaN, so it counts 237 rows more and its bins are NaN."
)
NANO_BRANCHES = "nMuon,Muon_pt,nJet,Jet_pt,MET_0"


@dataclass
class Tools:
    """The programs: Python with ROOT and uproot, its `root` command, Sapwood's Python and command."""

    peers: Path
    python: Path
    sapwood: Path
    only: tuple[str, ...] = ("ROOT", "uproot", "Sapwood")

    @property
    def root(self):
        return self.peers.parent / "root"

    def choose(self, contenders):
        """Those contenders whose first word was selected."""
        return {name: call for name, call in contenders.items() if name.split()[0].rstrip(",") in self.only}

    def macro(self, name, *arguments):
        """Command line for a ROOT macro of peers/."""
        quoted = ", ".join(f'"{word}"' if isinstance(word, (str, Path)) else str(word).lower() for word in arguments)
        return [self.root, "-l", "-b", "-q", f"{PEERS / name}({quoted})"]

    def draw(self, target, *options):
        """Command line for the seed's query with the sapwood command."""
        return [self.sapwood, "draw", f"{target}:h42", *QUERY, "--json", *options]


def drawn(words):
    """The sapwood command as a whole process; its histogram in the peers' format."""
    run = measure.run(words, whole=True)
    histogram = run.result["histogram"]
    run.result |= {"entries": histogram["entries"], "mean": histogram["mean"]}
    return run


@functools.cache
def wanted(python, path, tree, branches):
    """Compressed bytes and baskets of some branches, the tree's entries, and the bytes of its metadata (the tree's
    header and the file's classes), according to uproot."""
    script = "import json, sys, uproot; f = uproot.open(sys.argv[1]); t = f[sys.argv[2]]; "
    script += "b = [t[name] for name in sys.argv[3].split(',')]; "
    script += "print('RESULT', json.dumps({'bytes': sum(int(x.member('fZipBytes')) for x in b), "
    script += "'baskets': sum(x.num_baskets for x in b), 'entries': t.num_entries, "
    script += "'described': int(f.key(sys.argv[2]).fNbytes + f.file.fNbytesInfo)}))"
    return measure.run([python, "-c", script, path, tree, branches], whole=True).result


def peak(run):
    """Peak memory in MB: before the values were checked, if the program reports it."""
    return run.result.get("peak_mb", run.peak_mb)


def faster(contender, other, limit):
    """A bound on a contender's time relative to another's."""
    return Bound(f"time over {other}'s", limit, lambda outcome: outcome.ratio(contender, other))


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


def numpy_arrays(tools, data):
    path = data / "chep_new.root"

    def read(python, module, *branches):
        return lambda: measure.run([python, PEERS / "read.py", module, path, "h42", "numpy", *branches])

    contenders = {
        "uproot": read(tools.peers, "uproot"),
        "Sapwood": read(tools.python, "sapwood"),
        "uproot, one branch of lists": read(tools.peers, "uproot", "rawtr"),
        "Sapwood, one branch of lists": read(tools.python, "sapwood", "rawtr"),
    }
    one = "one branch of lists"
    return Case(
        name="numpy-arrays",
        title='The tree of 152 branches, 25 of them lists, as numpy arrays (`library="np"`), local',
        contenders=tools.choose(contenders),
        bounds=[faster("Sapwood", "uproot", 0.5), faster(f"Sapwood, {one}", f"uproot, {one}", 0.5)],
        columns={"peak MB": peak, "MB of values": lambda run: run.result["value_bytes"] / 1e6},
        compared=False,
        note="The array of a list branch has a numpy array in each entry: 7 million of them.",
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
            Bound(
                "memory that writing added, in auto-flush units of 30 MB",
                3,
                lambda outcome: outcome.median("Sapwood", lambda run: run.result["added_mb"] / 30),
            ),
        ],
        same={"entries": 0},
        columns={"file MB": size, "MB added by writing": lambda run: run.result.get("added_mb")},
        note="An auto-flush unit is what ROOT counts until it flushes: 30 MB in the file, 80 MB in memory here.",
    )


def write_ntuple(tools, data):
    path, out = data / "chep_new.root", data / "written.root"
    words = [PEERS / "write.py"]
    contenders = {
        "ROOT": lambda: measure.run(tools.macro("writentuple.C", path, "h42", out)),
        "uproot": lambda: measure.run([tools.python, *words, "uproot", path, "h42", out, "ntuple"]),
        "Sapwood": lambda: measure.run([tools.python, *words, "sapwood", path, "h42", out, "ntuple"]),
    }

    def size(run):
        return run.result["file_mb"]

    return Case(
        name="write-ntuple",
        title="The same, without counters, to an ntuple, zlib 1",
        contenders=tools.choose(contenders),
        bounds=[
            faster("Sapwood", "ROOT", 1 / 3),
            faster("Sapwood", "uproot", 1 / 5),
            Bound("size over ROOT's", 1.03, lambda outcome: outcome.ratio("Sapwood", "ROOT", size)),
        ],
        same={"entries": 0},
        columns={"file MB": size, "MB added by writing": lambda run: run.result.get("added_mb")},
    )


def convert(tools, data):
    path, out = data / "chep_new.root", data / "converted.root"

    def importer():
        out.unlink(missing_ok=True)
        return measure.run(tools.macro("convert.C", path, "h42", out, 505))

    def ours(*options):
        def run():
            run = measure.run([tools.sapwood, "-q", "convert", "-f", *options, f"{path}:h42", out], whole=True)
            run.result = {"file_mb": out.stat().st_size / 1e6}
            return run

        return run

    contenders = {
        "ROOT RNTupleImporter": importer,
        "Sapwood": ours(),
        "Sapwood, no verifying": ours("--no-verify"),
    }
    return Case(
        name="convert",
        title="The tree of 152 branches (140 MB, zlib) to an ntuple, zstd 5",
        contenders=tools.choose(contenders),
        bounds=[faster("Sapwood", "ROOT RNTupleImporter", 1 / 3)],
        columns={"peak MB": peak, "file MB": lambda run: run.result["file_mb"]},
        note="Sapwood reads the ntuple back and compares every value before the file gets its name; ROOT does not.",
    )


def producers(tools, data):
    out = data / "produced.root"

    def write(number, *how):
        return lambda: measure.run([tools.python, PEERS / "producers.py", number, out, *how], 300)

    contenders = {
        "Sapwood, one producer": write(1),
        "Sapwood, 16 producers": write(16),
        "Sapwood, 16 files merged afterwards": write(16, "apart"),
    }
    one, many, apart = contenders

    def added(outcome, name):
        return outcome.median(name, lambda run: run.result["added_mb"])

    return Case(
        name="producers",
        title="A tree of 10 000 branches (160 MB) from producers in processes of their own, zlib 1",
        contenders=tools.choose(contenders),
        bounds=[
            faster(many, one, 1.0),
            # the seed's: 160 s of 320
            faster(many, apart, 0.5),
            Bound(
                "time over the work of all processes",
                1.1 / min(16, os.cpu_count() or 1),
                lambda o: o.median(many, lambda run: run.result["seconds"] / run.result["work"]),
            ),
            Bound("memory of the merger beyond that with one", 40, lambda o: added(o, many) - added(o, one), "MB"),
        ],
        same={"entries": 0},
        columns={
            "MB added by writing": lambda run: run.result["added_mb"],
            "seconds of merging": lambda run: run.result.get("merging"),
        },
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


def many_branches(tools, data):
    where = data / "many.root", "T", data / "pre.root"
    contenders = {
        "ROOT": lambda: measure.run(tools.macro("open.C", *where)),
        "uproot": lambda: measure.run([tools.peers, PEERS / "open.py", "uproot", *where], 900),
        "Sapwood": lambda: measure.run([tools.python, PEERS / "open.py", "sapwood", *where]),
    }
    return Case(
        name="many-branches",
        title="A tree of 20 000 branches opened and its branches listed, local; another one was opened before",
        contenders=tools.choose(contenders),
        bounds=[faster("Sapwood", "ROOT", 0.25)],
        same={"branches": 0, "letters": 0},
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


def selector(tools, data):
    """A loop over two branches, compiled: ROOT's TSelector and numba."""
    path = data / "chep_new.root"
    script = PEERS / "select_numba.py"
    contenders = {
        "ROOT": lambda: measure.run(tools.macro("select.C", path, data / "aclic")),
        "Sapwood": lambda: measure.run([tools.python, script, path]),
        "Sapwood, threads": lambda: measure.run([tools.python, script, path, "threads"]),
    }
    return Case(
        name="selector",
        title="A compiled selector over 2 of 152 branches, local",
        contenders=tools.choose(contenders),
        bounds=[faster("Sapwood", "ROOT", 1 / 4)],
        same={"entries": 0, "checks": 0},
        note="ROOT compiles with ACLiC, Sapwood with numba; the clocks start after that.",
    )


def unzip(tools, data):
    """Scaling of reads from one thread to two."""
    path = data / "chep_new.root"

    def read(threads):
        words = [tools.sapwood, "perf", f"{path}:h42", "--threads", threads, "--json"]
        return lambda: measure.run(words, whole=True)

    contenders = {
        "Sapwood, one thread": read(1),
        "Sapwood": read(2),
        "ROOT, one thread": lambda: measure.run(tools.macro("readall.C", path, "h42")),
        "ROOT, two threads": lambda: measure.run(tools.macro("readall.C", path, "h42", "", 2)),
    }
    alone = "Sapwood, one thread"
    return Case(
        name="unzip",
        title="Every branch of a tree of 152 (140 MB, zlib), local, with one thread and with two",
        contenders=tools.choose(contenders),
        bounds=[
            Bound("time on two threads over one's", 1 / 1.8, lambda outcome: outcome.ratio("Sapwood", alone)),
            Bound(
                "CPU time on two threads over one's",
                1.1,
                lambda outcome: outcome.ratio("Sapwood", alone, lambda run: run.cpu),
            ),
        ],
        note="`sapwood perf`, the whole process; ROOT starts its clock after start-up.",
        compared=False,
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


def sapwood_python():
    """The current Python, which has Sapwood."""
    return Path(sys.executable)
