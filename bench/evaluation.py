#!/usr/bin/env python3
"""Instructions per row and operations per second of expressions: Sapwood beside numexpr, awkward and ROOT.

    evaluation.py --example target/release/examples/evaluation [--rows N] [--page PAGE] [-o bench/out/evaluation.json]

The values are floats in memory; what is counted is the expression and the selection. numexpr and awkward evaluate the
condition, the expression, and take the values that pass, on one thread; ROOT's TTreeFormula goes over the entries of a
tree that is not compressed, and so reads its branches, too (bench/instructions/formula.cpp). Instructions are those of
user space, counted by valgrind's callgrind: for Sapwood the difference of two numbers of rounds, for the others what is
done between two marks. Operations per second are those of Sapwood: operators and function calls times entries, over the
CPU time of the process less that of a process with fewer rounds, on one core; the fastest of five.
Needs valgrind, compilers for C and C++, numexpr, awkward and ROOT.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

from instructions import MARKS, ROOT_IS, callgrind
from regions import with_region

HERE = Path(__file__).resolve().parent
ENTRIES = 1 << 20
#: Expression, cut, and how many operations they are.
EXPRESSIONS = (
    ("px", "", 0),
    ("px*2", "", 1),
    ("px+py", "", 1),
    ("px*px+py*py", "", 3),
    ("sqrt(px*px+py*py)", "", 4),
    ("abs(eta)", "", 1),
    ("px>0", "", 1),
    ("px+py+pt+eta", "", 3),
    ("px", "pt>20", 1),
    ("px", "pt>20 && abs(eta)<2.4", 4),
    ("sqrt(px*px+py*py)", "pt>20 && abs(eta)<2.4", 8),
)
NAMES = {"px": (80.0, -40.0), "py": (80.0, -40.0), "pt": (60.0, 0.0), "eta": (8.0, -4.0)}


def columns(rows):
    import numpy as np

    rng = np.random.default_rng(1)
    return {name: (rng.random(rows) * scale + low).astype("f4") for name, (scale, low) in NAMES.items()}


def evaluator(name, rows):
    """A function that evaluates an expression and a cut."""
    import numpy as np

    arrays = columns(rows)
    if name == "numexpr":
        import numexpr

        numexpr.set_num_threads(1)

        def evaluate(expression, cut):
            values = numexpr.evaluate(expression, arrays)
            return values[numexpr.evaluate(cut.replace("&&", "&").replace("pt>20", "(pt>20)").replace(
                "abs(eta)<2.4", "(abs(eta)<2.4)"), arrays)] if cut else values  # fmt: skip

        return evaluate
    import awkward as ak

    names = {key: ak.Array(value) for key, value in arrays.items()} | {"sqrt": np.sqrt, "abs": abs}
    whole = {"pt>20 && abs(eta)<2.4": "(pt>20) & (abs(eta)<2.4)"}

    def evaluate(expression, cut):
        values = eval(expression, names)
        return values[eval(whole.get(cut, cut), names)] if cut else values

    return evaluate


def child(name, folder, rows):
    """Evaluates each twice, the second time between marks."""
    marks = ctypes.CDLL(str(folder / "marks.so"))
    evaluate = evaluator(name, rows)
    gc.disable()
    for i, (expression, cut, _) in enumerate(EXPRESSIONS):
        evaluate(expression, cut)
        marks.end(b"between")
        evaluate(expression, cut)
        marks.end(f"number {i}.".encode())


def total(text):
    return int([line for line in text.splitlines() if line.startswith(("summary:", "totals:"))][-1].split()[1])


def of_python(name, folder, rows):
    words = [sys.executable, "-W", "ignore", __file__, "--child", name, folder, rows]
    callgrind(folder / f"{name}.out", *words)
    texts = [dump.read_text(errors="replace") for dump in folder.glob(f"{name}.out*")]
    found = []
    for i in range(len(EXPRESSIONS)):
        (text,) = [t for t in texts if f"desc: Trigger: Client Request: number {i}.\n" in t]
        found.append(total(text) / rows)
    return found


def of_example(example, folder):
    found = []
    for i, (expression, cut, _) in enumerate(EXPRESSIONS):
        counts = []
        for rounds in (1, 3):
            out = folder / f"ours.{i}.{rounds}"
            callgrind(out, example, expression, cut, rounds)
            counts.append(total(out.read_text(errors="replace")))
        found.append((counts[1] - counts[0]) / (2 * ENTRIES))
    return found


def of_root(folder, rows):
    """Compiled; its file has the same columns."""
    path = folder / "columns.root"
    import sapwood

    with sapwood.recreate(path, compression=None) as file:
        file["t"] = columns(rows)
    told = subprocess.run([sys.executable, "-W", "ignore", "-c", ROOT_IS], capture_output=True, text=True, check=True)
    include, libraries, standard = told.stdout.split()
    words = ["c++", "-O2", f"-std=c++{int(standard) // 100 % 100}", "-I", include, HERE / "instructions/formula.cpp"]
    words += ["-o", folder / "formula", "-L", libraries, "-lTreePlayer", "-lTree", "-lHist", "-lRIO", "-lCore"]
    subprocess.run(
        [*map(str, words), f"-Wl,-rpath,{libraries}", "-Wl,--unresolved-symbols=ignore-in-shared-libs"], check=True
    )
    found = []
    for i, (expression, cut, _) in enumerate(EXPRESSIONS):
        out = folder / f"root.{i}"
        callgrind(out, "--instr-atstart=no", folder / "formula", path, expression, cut, cwd=folder)
        texts = [dump.read_text(errors="replace") for dump in folder.glob(f"root.{i}*")]
        (text,) = [t for t in texts if "desc: Trigger: Client Request: rows\n" in t]
        found.append(total(text) / rows)
    return found


def cpu(words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(list(map(str, words)), check=True, stdout=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def speed(example, expression, cut, operations):
    """Millions of operations per second."""
    few, many = 20, 220
    seconds = min(cpu([example, expression, cut, many]) for _ in range(5))
    seconds -= min(cpu([example, expression, cut, few]) for _ in range(5))
    return operations * (many - few) * ENTRIES / seconds / 1e6


def page(result):
    lines = [
        "## Expressions over floats in memory: instructions per row, and operations per second",
        "",
        f"{result['date']}, {result['machine']}, `bench/evaluation.py`. Instructions are those of user space;",
        "millions of operations (operators and function calls) per second are those of Sapwood on one core. ROOT's",
        "TTreeFormula reads the branches, too.",
        "",
        "| expression | cut | Sapwood | numexpr | awkward | ROOT | million operations per second |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in result["rows"]:
        counts = " | ".join(
            f"{row[name]:.1f}" if row.get(name) else "" for name in ("ours", "numexpr", "awkward", "root")
        )
        rate = f"{row['speed']:.0f}" if row["speed"] else ""
        cut = f"`{row['cut']}`" if row["cut"] else ""
        lines.append(f"| `{row['expression']}` | {cut} | {counts} | {rate} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--example", type=Path, required=True, help="crates/sapwood-query/examples/evaluation.rs, built"
    )
    parser.add_argument("--rows", type=int, default=1 << 17)
    parser.add_argument("--page", type=Path, help="a page that has the table, too")
    parser.add_argument("-o", "--out", type=Path, default=HERE / "out" / "evaluation.json")
    options = parser.parse_args()
    example = options.example.resolve()
    with tempfile.TemporaryDirectory(prefix="sapwood-evaluation-") as name:
        folder = Path(name)
        (folder / "marks.c").write_text(MARKS)
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", folder / "marks.so", folder / "marks.c"], check=True)
        counts = {"ours": of_example(example, folder)}
        counts["numexpr"] = of_python("numexpr", folder, options.rows)
        counts["awkward"] = of_python("awkward", folder, options.rows)
        counts["root"] = of_root(folder, options.rows // 4)
    rows = []
    for i, (expression, cut, operations) in enumerate(EXPRESSIONS):
        row = {"expression": expression, "cut": cut, "operations": operations}
        row |= {name: round(count[i], 1) for name, count in counts.items()}
        row["speed"] = round(speed(example, expression, cut, operations), 1) if operations else None
        rows.append(row)
        print(row, flush=True)
    machine = f"{platform.machine()}, {os.cpu_count()} cores"
    result = {"date": str(date.today()), "machine": machine, "rows": rows}
    options.out.parent.mkdir(exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1) + "\n")
    if options.page:
        options.page.write_text(with_region(options.page.read_text(), "evaluation", page(result)))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
    else:
        main()
