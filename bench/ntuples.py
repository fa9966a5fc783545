"""Reading an ntuple of 1 GB that is in memory: all fields, and five; and a tree of many branches converted."""

from __future__ import annotations

import shutil
import subprocess

import measure
from case import Bound, Case
from cases import NANO_BRANCHES, PEERS, faster, peak
from rewrites import RAM, file_mb, scratch

FIVE = NANO_BRANCHES.split(",")
NOTE = "The NanoAOD-like tree of 1100 branches, converted by Sapwood and merged with itself; cores: 2."


def made(tools, data, stack):
    """The ntuple in a RAM file system; removed at the end."""
    folder = stack.enter_context(scratch(RAM))
    one, path = data / "nano-ntuple.root", folder / "nano.root"
    if not one.exists():
        print("making nano-ntuple.root with Sapwood")
        part = data / "part-nano-ntuple.root"
        words = [tools.sapwood, "-q", "convert", "-f", f"{data / 'nano.root'}:Events", part]
        subprocess.run(list(map(str, words)), check=True, stdin=subprocess.DEVNULL)
        part.rename(one)
    # about 1 GB
    times = max(1, round(1e9 / one.stat().st_size))
    words = [tools.sapwood, "-q", "merge", "-f", path, *[one] * times]
    subprocess.run(list(map(str, words)), check=True, stdin=subprocess.DEVNULL)
    return path


def size(path):
    return f"{path.stat().st_size / 1e6:.0f} MB"


def fastest(outcome, names):
    """The smallest of the medians of those that ran."""
    times = [time for name in names if (time := outcome.median(name)) is not None]
    return min(times, default=None)


def below(names, limit):
    """A bound on Sapwood's time relative to the fastest of several ways."""

    def value(outcome):
        mine, theirs = outcome.median("Sapwood"), fastest(outcome, names)
        return mine / theirs if mine is not None and theirs else None

    return Bound(f"time over the fastest of {', '.join(names)}", limit, value)


def every_field(tools, data, stack):
    path = made(tools, data, stack)

    def macro(*more):
        return lambda: measure.run(tools.macro("readntuple.C", path, "Events", "", *more))

    def python(program, module, how):
        return lambda: measure.run([program, PEERS / "read.py", module, path, "Events", how], 1800)

    contenders = {
        "ROOT, views": macro(1),
        "ROOT, views, 2 threads": macro(2),
        "ROOT, entries, 2 threads": macro(2, "entries"),
        "uproot": python(tools.peers, "uproot", "iterate:500 MB"),
        "Sapwood": python(tools.python, "sapwood", "iterate"),
    }
    return Case(
        name="ntuple-every-field",
        title=f"Every field of a NanoAOD-like ntuple of 1100 ({size(path)}, zstd) in memory",
        contenders=tools.choose(contenders),
        bounds=[
            below([name for name in contenders if name.startswith("ROOT")], 1 / 3),
            faster("Sapwood", "uproot", 1 / 5),
        ],
        same={"entries": 0},
        columns={"peak MB": peak},
        note=f"{NOTE} Steps of 50 MB in Sapwood, of 500 MB in uproot, which decompresses whole clusters for each.",
    )


def five_fields(tools, data, stack):
    path = made(tools, data, stack)

    def macro(*more):
        return lambda: measure.run(tools.macro("readntuple.C", path, "Events", NANO_BRANCHES, *more), whole=True)

    chosen = [word for name in FIVE for word in ("-b", name)]

    def python(program, module):
        words = [program, PEERS / "read.py", module, path, "Events", "all", NANO_BRANCHES]
        return lambda: measure.run(words, whole=True)

    contenders = {
        "ROOT, views": macro(1),
        "ROOT, RDataFrame": macro(2, "frame"),
        "uproot": python(tools.peers, "uproot"),
        "Sapwood": lambda: measure.run([tools.sapwood, "perf", f"{path}:Events", *chosen, "--json"], whole=True),
        "Sapwood in Python": python(tools.python, "sapwood"),
    }
    return Case(
        name="ntuple-five-fields",
        title=f"Five fields of the same ntuple ({size(path)}), whole process from start to exit",
        contenders=tools.choose(contenders),
        bounds=[
            below([name for name in contenders if name.startswith("ROOT")], 1 / 4),
            faster("Sapwood", "uproot", 1 / 4),
        ],
        same={"entries": 0, "checks": 1e-6},
        incomparable=("Sapwood",),
        columns={"peak MB": peak},
        note=f"{NOTE} Sapwood is `sapwood perf`; in Python half of the time is importing awkward.",
    )


def convert_wide(tools, data, stack):
    """The memory and time of converting a tree of 1100 branches."""
    folder = stack.enter_context(scratch(RAM))
    source, out = folder / "in.root", folder / "out.root"
    shutil.copyfile(data / "nano.root", source)

    def written(call):
        def run():
            out.unlink(missing_ok=True)
            run = call()
            run.result["file_mb"] = out.stat().st_size / 1e6
            return run

        return run

    ours = [tools.sapwood, "-q", "convert", "-f", f"{source}:Events", out]
    contenders = {
        "ROOT RNTupleImporter": lambda: measure.run(tools.macro("convert.C", source, "Events", out, 505), 1800),
        "Sapwood": lambda: measure.run(ours, whole=True),
        "Sapwood, no verifying": lambda: measure.run([*ours, "--no-verify"], whole=True),
    }
    return Case(
        name="convert-wide",
        title="A NanoAOD-like tree of 1100 branches (511 MB, zstd) to an ntuple, zstd 5, in memory",
        contenders=tools.choose({name: written(call) for name, call in contenders.items()}),
        bounds=[
            faster("Sapwood", "ROOT RNTupleImporter", 1 / 3),
            Bound("peak memory", 250, lambda outcome: outcome.median("Sapwood", peak), "MB"),
        ],
        columns={"peak MB": peak, "file MB": file_mb},
        note="Sapwood reads the ntuple back and compares every value before the file gets its name; ROOT does not.",
    )
