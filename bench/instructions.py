#!/usr/bin/env python3
"""Instructions per value: Sapwood beside uproot and ROOT, counted by valgrind's callgrind.

    instructions.py [-o bench/out/instructions.json] [--entries N] [--readers sapwood,uproot,root] [--page PAGE]

Reads a tree that ROOT writes first (bench/instructions/ten.C, not compressed): a float, vector<float>,
vector<vector<float>>, a struct of ten members, a vector of them. Each branch is read to warm up; then counted is what
reading none of its entries takes, and what reading all of them takes: the difference is what the values cost, without
what a call costs. Counted are the user-space instructions of all threads between two marks (a library of a few lines,
made by cc). Reading is from a local file, so what is counted is the way from bytes to arrays (ROOT: to objects, entry
by entry). ROOT reads in a compiled program (bench/instructions/fill.cpp), a process per branch, in which nothing but
the reading is instrumented: its interpreter would take hours to start otherwise.
`--page`: the table is also written there, between two comments (docs/benchmarks.md).
Needs valgrind, compilers for C and C++ and ROOT (for the file and its own row)."""

import argparse
import ctypes
import gc
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from regions import with_region

HERE = Path(__file__).resolve().parent
BRANCHES = ("float", "vector", "nested", "struct", "structs")
#: The C++ types of the branches, and the readers, as in the table.
TYPES = {
    "float": "float",
    "vector": "vector&lt;float&gt;",
    "nested": "vector&lt;vector&lt;float&gt;&gt;",
    "struct": "struct of ten",
    "structs": "vector of structs of ten",
}
NAMES = {"sapwood": "Sapwood", "uproot": "uproot", "root": "ROOT"}
#: Keeps memset and memcpy from using the processor's string instructions, of which callgrind counts every byte.
NO_STRINGS = "glibc.cpu.hwcaps=-ERMS,-FSRM"
#: Prints what compiling for ROOT requires: its headers, its libraries, its C++ version.
ROOT_IS = """
import ROOT
ROOT.gInterpreter.Declare("const long standard = __cplusplus;")
print(ROOT.gROOT.GetIncludeDir(), ROOT.gROOT.GetSharedLibDir(), ROOT.standard)
"""
MARKS = """
#include <valgrind/callgrind.h>
void end(const char* name) { CALLGRIND_DUMP_STATS_AT(name); }
"""


def values(entries):
    """Number of numbers in each branch."""
    count = dict.fromkeys(BRANCHES, 0)
    for entry in range(entries):
        count["float"] += 1
        count["vector"] += entry % 10
        count["nested"] += (entry % 4) * (entry % 6)
        count["struct"] += 10
        count["structs"] += 10 * (entry % 4)
    return count


def reader(name, path):
    """A function that reads one branch in full."""
    if name == "uproot":
        import uproot

        file = uproot.open(path, array_cache=None)
        return lambda branch, stop: file["t"][branch].array(entry_stop=stop)
    import sapwood

    file = sapwood.open(path, threads=1)
    tree = file["t"]
    return lambda branch, stop: tree[branch].array(entry_stop=stop)


def child(name, path, folder, entries):
    """Reads every branch once, then none of it and all of it between marks."""
    marks = ctypes.CDLL(str(folder / "marks.so"))
    read = reader(name, path)
    # a garbage collection would be attributed to the reader being measured
    gc.disable()
    for branch in BRANCHES:
        try:
            read(branch, entries)
            read(branch, 0)
        except Exception as error:
            # uproot does not read structs that are written member by member
            print(f"{name} does not read {branch}: {error}".splitlines()[0], file=sys.stderr)
            continue
        for mark, stop in ((f"none of {branch}", 0), (branch, entries)):
            # a dump also resets the counters: everything before is in a separate dump
            marks.end(b"between")
            read(branch, stop)
            marks.end(mark.encode())


def callgrind(out, *words, cwd=None):
    """Runs a program under callgrind, which dumps into files beginning with `out`."""
    call = ["valgrind", "--tool=callgrind", "--cache-sim=no", f"--callgrind-out-file={out}", *words]
    env = os.environ | {"GLIBC_TUNABLES": NO_STRINGS}
    done = subprocess.run(
        list(map(str, call)), capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=cwd, env=env
    )
    if done.returncode:
        raise SystemExit(f"{out.name}: {done.stderr[-2000:]}")


def run_root(path, folder):
    """ROOT reads each branch in a separate process."""
    told = subprocess.run([sys.executable, "-W", "ignore", "-c", ROOT_IS], capture_output=True, text=True, check=True)
    include, libraries, standard = told.stdout.split()
    words = ["c++", "-O2", f"-std=c++{int(standard) // 100 % 100}", "-I", include, HERE / "instructions" / "fill.cpp"]
    # the dictionary is needed, though the program does not call it
    words += ["-o", folder / "fill", "-Wl,--no-as-needed", folder / "ten_C.so", "-L", libraries]
    words += ["-lTree", "-lRIO", "-lCore", f"-Wl,-rpath,{libraries}"]
    subprocess.run(list(map(str, words)), check=True)
    for branch in BRANCHES:
        callgrind(folder / f"root.out.{branch}", "--instr-atstart=no", folder / "fill", path, branch, cwd=folder)


def count(name, path, folder, entries):
    """Instructions for the values of each branch, from the dumps."""
    if name == "root":
        run_root(path, folder)
    else:
        words = [sys.executable, "-W", "ignore", __file__, "--child", name, path, folder, entries]
        callgrind(folder / f"{name}.out", *words)
    found = {}
    for dump in folder.glob(f"{name}.out*"):
        text = dump.read_text(errors="replace")
        marks = [f"{none}{b}" for b in BRANCHES for none in ("", "none of ")]
        branch = next((m for m in marks if f"desc: Trigger: Client Request: {m}\n" in text), None)
        totals = [line for line in text.splitlines() if line.startswith(("summary:", "totals:"))]
        if branch and totals:
            found[branch] = int(totals[-1].split()[1])
    return {b: found[b] - found[f"none of {b}"] for b in BRANCHES if b in found}


def table(result):
    """The figures as a section of a page."""
    rows = result["instructions_per_value"]
    lines = [
        f"## Instructions per value, reading a local file of {result['entries']} entries without compression",
        "",
        "Written by `bench/instructions.py`: what reading all entries takes, less what reading none takes, counted by",
        "callgrind over all threads, divided by the numbers in the branch. ROOT fills its objects entry by entry.",
        "",
        f"| | {' | '.join(TYPES[branch] for branch in BRANCHES)} |",
        f"| --- | {' | '.join('---:' for _ in BRANCHES)} |",
    ]
    for name, row in rows.items():
        lines.append(f"| {NAMES[name]} | {' | '.join(str(row.get(b, 'not read')) for b in BRANCHES)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--out", type=Path, default=HERE / "out" / "instructions.json")
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--page", type=Path, help="a page that has the table, too")
    parser.add_argument("--readers", default="sapwood,uproot,root")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sapwood-instructions-") as name:
        folder = Path(name)
        (folder / "marks.c").write_text(MARKS)
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", folder / "marks.so", folder / "marks.c"], check=True)
        for source in ("ten.C", "ten.h"):
            shutil.copy(HERE / "instructions" / source, folder)
        path = folder / "ten.root"
        root = Path(sys.executable).parent / "root"
        call = f'ten.C+("{path}",{options.entries})'
        subprocess.run([root, "-l", "-b", "-q", call], cwd=folder, capture_output=True, stdin=subprocess.DEVNULL)
        number = values(options.entries)
        result = {"entries": options.entries, "values": number, "instructions_per_value": {}}
        for one in options.readers.split(","):
            counted = count(one, path, folder, options.entries)
            row = {branch: round(n / number[branch], 2) for branch, n in sorted(counted.items())}
            result["instructions_per_value"][one] = row
            print(f"{one:8}", *(f"{branch} {row.get(branch, '-')}" for branch in BRANCHES), flush=True)
    options.out.parent.mkdir(exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1) + "\n")
    if options.page:
        options.page.write_text(with_region(options.page.read_text(), "instructions", table(result)))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]), int(sys.argv[5]))
    else:
        main()
