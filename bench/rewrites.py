"""The cases that create files from files: merging and optimising."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import measure
from case import Bound, Case
from cases import faster, peak

#: a RAM file system, where only computing counts
RAM = Path("/dev/shm")
#: Files of 140 MB to merge, and the space for them and the result, in bytes.
FILES, ROOM = 8, 3_000_000_000
SMALL_FILES = 500
#: Six of the 200 collections of the scattered tree, 300 of its 10 000 branches: about 3 % of its bytes.
FEW = ",".join(f"c{c:03}_*" for c in range(20, 200, 33))
SCATTERED = "CollectionTree"


def why_no_ram():
    """Why there is no RAM file system with enough space; None if there is one."""
    if not RAM.is_dir():
        return f"needs a RAM file system in {RAM}"
    free = shutil.disk_usage(RAM).free
    return None if free > ROOM else f"needs {ROOM / 1e9:.0f} GB of room in {RAM}, which has {free / 1e9:.1f} GB"


@contextlib.contextmanager
def scratch(parent):
    """A subfolder that is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="sapwood-bench-", dir=parent) as folder:
        yield Path(folder)


def hadd(tools):
    """ROOT's hadd: on the path, or in the wheel."""
    inside = tools.peers.parent.parent.glob("lib/python3*/site-packages/ROOT/bin/hadd")
    return shutil.which("hadd", path=str(tools.peers.parent)) or next(inside, "hadd")


def described(tools, path, tree):
    """Entries and size of the output, according to uproot."""
    script = "import json, os, sys, uproot; "
    script += "print('RESULT', json.dumps({'entries': uproot.open(sys.argv[1])[sys.argv[2]].num_entries, "
    script += "'file_mb': os.path.getsize(sys.argv[1]) / 1e6}))"
    return measure.run([tools.peers, "-c", script, path, tree], whole=True).result


def file_mb(run):
    return run.result.get("file_mb")


def writing(tools, words, out, tree):
    """A contender: a program that writes `out`, which does not exist before and is checked after the clock stops."""

    def call():
        out.unlink(missing_ok=True)
        run = measure.run(words, whole=True)
        run.result = described(tools, out, tree)
        out.unlink()
        return run

    return call


def merging(tools, inputs, out, tree):
    """Merging with ROOT and Sapwood, and copying the same bytes."""

    def copy():
        folder = out.parent / "copies"
        folder.mkdir()
        try:
            return measure.run(["cp", *inputs, folder], whole=True)
        finally:
            shutil.rmtree(folder)

    ours = [tools.sapwood, "-q", "merge", "-f", out, *inputs]
    chosen = tools.choose(
        {
            "ROOT hadd -ff": writing(tools, [hadd(tools), "-v", "0", "-ff", out, *inputs], out, tree),
            "Sapwood": writing(tools, ours, out, tree),
            # like all others, which do not wait for the disk
            "Sapwood --no-sync": writing(tools, [*ours, "--no-sync"], out, tree),
        }
    )
    return {"cp": copy, **chosen}


def merge(tools, data, stack, where):
    """Eight files of 140 MB into one, in memory or on the data disk."""
    folder = stack.enter_context(scratch(RAM if where == "memory" else data))
    inputs = [folder / f"in{i}.root" for i in range(FILES)]
    for path in inputs:
        shutil.copyfile(data / "chep_new.root", path)
    os.sync()
    place, limit = ("a RAM file system", 1.5) if where == "memory" else ("the disk", 1.25)
    return Case(
        name=f"merge-{where}",
        title=f"Merging eight files of 140 MB on {place}",
        contenders=merging(tools, inputs, folder / "out.root", "h42"),
        bounds=[
            faster("Sapwood", "ROOT hadd -ff", 1.0),
            faster("Sapwood --no-sync", "cp", limit),
            Bound("peak memory", 100, lambda outcome: outcome.median("Sapwood", peak), "MB"),
        ],
        same={"entries": 0},
        columns={"peak MB": peak, "file MB": file_mb},
        note="`cp` copies the eight files. Every program's whole time; the result is removed before each run. Only "
        "Sapwood without `--no-sync` waits until the result is on the disk.",
    )


def merge_many(tools, data, stack):
    """Five hundred small files into one."""
    folder = stack.enter_context(scratch(RAM))
    first = folder / "in000.root"
    measure.run([tools.sapwood, "sample", first, "--entries", "5000"], whole=True)
    inputs = [first, *(folder / f"in{i:03}.root" for i in range(1, SMALL_FILES))]
    for path in inputs[1:]:
        path.hardlink_to(first)
    size = first.stat().st_size / 1e6
    return Case(
        name="merge-many",
        title=f"Merging {SMALL_FILES} files of {size:.2g} MB on a RAM file system",
        contenders=merging(tools, inputs, folder / "out.root", "Events"),
        bounds=[
            faster("Sapwood", "ROOT hadd -ff", 1.0),
            Bound("peak memory", 100, lambda outcome: outcome.median("Sapwood", peak), "MB"),
        ],
        same={"entries": 0},
        columns={"peak MB": peak, "file MB": file_mb},
    )


#: Writes an ntuple of about 140 MB: numbers and lists of numbers with few equal bits.
WRITE_NTUPLE = """
import sys
import numpy as np
import sapwood
random = np.random.default_rng(1)
fields = {f"f{i:02}": "f4" for i in range(20)} | {f"d{i}": "f8" for i in range(5)} | {"hits": "var * f4", "id": "u4"}
with sapwood.recreate(sys.argv[1], compression="zstd:5") as file:
    ntuple = file.mkntuple("Events", fields)
    for _ in range(12):
        n = 100_000
        batch = {name: random.normal(size=n).astype(kind) for name, kind in fields.items() if kind in ("f4", "f8")}
        lengths = random.poisson(4, n)
        items = random.normal(size=int(lengths.sum())).astype("f4")
        hits = np.split(items, np.cumsum(lengths)[:-1])
        ntuple.extend(batch | {"hits": [h.tolist() for h in hits], "id": np.arange(n, dtype="u4")})
"""


def merge_ntuples(tools, data, stack):
    """Eight files with an ntuple of 140 MB into one."""
    folder = stack.enter_context(scratch(RAM))
    inputs = [folder / f"in{i}.root" for i in range(FILES)]
    subprocess.run([sys.executable, "-c", WRITE_NTUPLE, inputs[0]], check=True)
    for path in inputs[1:]:
        shutil.copyfile(inputs[0], path)
    size = inputs[0].stat().st_size / 1e6
    return Case(
        name="merge-ntuples",
        title=f"Merging {FILES} files with an ntuple of {size:.0f} MB on a RAM file system",
        contenders=merging(tools, inputs, folder / "out.root", "Events"),
        bounds=[
            faster("Sapwood", "ROOT hadd -ff", 1.0),
            faster("Sapwood --no-sync", "cp", 1.5),
            Bound("peak memory", 100, lambda outcome: outcome.median("Sapwood", peak), "MB"),
        ],
        same={"entries": 0},
        columns={"peak MB": peak, "file MB": file_mb},
        note="`cp` copies the eight files. Pages are copied, with their checksums verified.",
    )


def optimize(tools, data, stack):
    """The scattered tree of 152 branches, optimised."""
    folder, source = stack.enter_context(scratch(RAM)), data / "chep_old.root"
    out = folder / "out.root"
    ours = [tools.sapwood, "-q", "optimize", "-f", source, out]
    contenders = {
        "ROOT hadd -O": writing(tools, [hadd(tools), "-v", "0", "-O", "-f101", out, source], out, "h42"),
        "Sapwood": writing(tools, ours, out, "h42"),
        "Sapwood, no verifying": writing(tools, [*ours, "--no-verify"], out, "h42"),
    }
    return Case(
        name="optimize",
        title="A tree of 152 branches without flushing (148 MB) laid out anew, zlib 1",
        contenders=tools.choose(contenders),
        bounds=[faster("Sapwood", "ROOT hadd -O", 1.0)],
        same={"entries": 0},
        columns={"peak MB": peak, "file MB": file_mb},
        note="Sapwood compares every entry with the input before the file gets its name; `hadd` does not.",
    )


def scattered(tools, data, stack):
    """The seed's ATLAS case: ten thousand branches, optimised; ROOT counts its reads before and after."""
    old = data / "scattered.root"
    new = stack.enter_context(scratch(data)) / "optimized.root"

    def laid_out():
        new.unlink(missing_ok=True)
        run = measure.run([tools.sapwood, "-q", "optimize", old, new], whole=True)
        run.result = described(tools, new, SCATTERED)
        return run

    def counted(path, branches, cache):
        return lambda: measure.run(tools.macro("stats.C", path, SCATTERED, branches, cache), 1800)

    contenders = {"Sapwood": laid_out}
    for when, path in (("before", old), ("after", new)):
        contenders[f"{when}: all branches, no cache"] = counted(path, "", 0)
        contenders[f"{when}: all branches"] = counted(path, "", -1)
        contenders[f"{when}: 300 branches, no cache"] = counted(path, FEW, 0)
        contenders[f"{when}: 300 branches"] = counted(path, FEW, -1)

    def reads(run):
        return run.result.get("reads")

    def share(before, after):
        return lambda outcome: outcome.ratio(f"after: {after}", f"before: {before}", reads)

    def same(what):
        bytes_ = [f"{when}: {what}" for when in ("before", "after")]
        return lambda outcome: abs(1 - (outcome.ratio(*bytes_, lambda run: run.result.get("value_bytes")) or 0))

    return Case(
        name="scattered",
        title=f"Ten thousand branches, scattered baskets, never flushed ({old.stat().st_size / 1e6:.0f} MB): "
        "`sapwood optimize`, and ROOT's own count of its reads",
        contenders=contenders,
        compared=False,
        bounds=[
            Bound(
                "reads of all branches, as ROOT reads them now, over those without a cache before",
                0.01,
                share("all branches, no cache", "all branches"),
            ),
            Bound(
                "reads of all branches over those before, both with ROOT's cache",
                0.01,
                share("all branches", "all branches"),
            ),
            Bound(
                "reads of 300 branches over those before, both with ROOT's cache",
                0.1,
                share("300 branches", "300 branches"),
            ),
            Bound("difference of the bytes of values that ROOT found", 0, same("all branches")),
        ],
        columns={
            "peak MB": peak,
            "reads": reads,
            "MB read": lambda run: run.result.get("mb"),
            "of that not needed": lambda run: run.result.get("extra_mb"),
            "file MB": file_mb,
        },
        note="The first row is `sapwood optimize`, every entry compared. The others are ROOT reading entry by entry "
        "from the local disk, counted by `TTreePerfStats`; with ROOT's own cache where nothing else is said (45 MB for "
        "a tree that was never flushed). 300 branches: six collections of fifty, as an analysis uses them, 3 % of the "
        "bytes. In 2010 such a file of ATLAS cost 1.3 million reads without a cache, and 3186 for 33 MB of 1100 MB.",
    )
