#!/usr/bin/env python3
"""Every branch of every tree of the largest files below some folders: Sapwood beside uproot and ROOT.

    largest.py DIR... [--files 12] [--repeat 5] [--threads N] [-o bench/out/largest.json] [--page PAGE]

Each reader has a process of its own for each file. It reads a small file first, so that its libraries are there, and
then the file some times over, from open to arrays. Compared are the shortest times: by then ROOT has made its
dictionaries and uproot its classes; the first time is given, too. ROOT goes through the entries with GetEntry, all
branches on. uproot makes arrays of every branch that it reads, Sapwood is set against it with the same ones, and
against ROOT with all that it reads. RNTuples are left out. `--page`: the table is also written there, between two
comments (docs/benchmarks.md). Needs ROOT, uproot and Sapwood in one Python.
Exit status 1 where Sapwood takes more than 1/3 of uproot's time or more than ROOT's."""

import argparse
import datetime
import gc
import json
import math
import subprocess
import sys
import time
import warnings
from pathlib import Path

from regions import with_region
from trees import newest

HERE = Path(__file__).resolve().parent
SMALL = HERE.parent / "tests" / "data" / "leaves.root"
#: Maximum ratio of Sapwood's time to another's.
BOUNDS = {"uproot": 1 / 3, "ROOT": 1.0}
#: A file whose reading has taken this many seconds is not read again.
ENOUGH = 10
PAIRS = (("uproot", "Sapwood, uproot's branches"), ("ROOT", "Sapwood"))
LOOP = "void every_entry(TTree* t) { for (Long64_t e = 0, n = t->GetEntries(); e < n; ++e) t->GetEntry(e); }"


def readable(module, path):
    """{tree: names of the branches without sub-branches that a reader can read}."""
    found = {}
    with module.open(path) as file:
        for key in newest(file.classnames(recursive=True)):
            try:
                tree = file[key]
            except Exception:
                continue
            found[key] = []
            for branch in map(tree.__getitem__, tree.keys(recursive=True)):
                if branch.branches:
                    continue
                try:
                    branch.array()
                    found[key].append(branch.name)
                except Exception:
                    continue
    return found


def root_reader():
    """A function that reads trees of a file, entry by entry."""
    import ROOT

    ROOT.gErrorIgnoreLevel = ROOT.kFatal
    ROOT.gInterpreter.Declare(LOOP)

    def read(path, names):
        file = ROOT.TFile.Open(path)
        for key in names:
            ROOT.every_entry(file.Get(key))
        file.Close()

    return read


def column_reader(open_file):
    """A function that reads the named branches of trees of a file into arrays, all branches of a tree together."""

    def read(path, names):
        with open_file(path) as file:
            for key, chosen in names.items():
                keep = set(chosen)
                file[key].arrays(filter_branch=lambda b, keep=keep: not b.branches and b.name in keep, how=dict)

    return read


def reader_of(name, threads):
    """The reading function of a reader."""
    if name == "ROOT":
        return root_reader()
    if name == "uproot":
        import uproot

        return column_reader(lambda path: uproot.open(path, array_cache=None, object_cache=None))
    import sapwood

    return column_reader(lambda path: sapwood.open(path, threads=threads or None))


def child(reader, threads, repeat):
    """Prints the seconds of each of several reads; the task comes from standard input."""
    files = json.load(sys.stdin)
    read = reader_of(reader, threads)
    read(*files["small"])
    times = []
    for _ in range(repeat):
        gc.collect()
        start = time.perf_counter()
        read(*files["large"])
        times.append(time.perf_counter() - start)
        if sum(times) > ENOUGH:
            break
    print("RESULT", json.dumps(times))


def timed(reader, small, large, options):
    """The times of one reader for one file; None if it fails."""
    words = [sys.executable, "-W", "ignore", __file__, "--child", reader, str(options.threads), str(options.repeat)]
    asked = json.dumps({"small": small, "large": large})
    done = subprocess.run(words, input=asked, capture_output=True, text=True, timeout=600)
    found = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    if done.returncode or not found:
        last = (done.stderr.strip().splitlines() or [""])[-1][:200]
        print(f"  {reader} does not get through {Path(large[0]).name}: {last}", file=sys.stderr)
        return None
    return json.loads(found[-1].removeprefix("RESULT "))


def largest(folders, number):
    """(path as given, path) of the largest files with readable branches, with what Sapwood and uproot read."""
    import uproot

    import sapwood

    files = sorted(((f, p) for f in folders for p in f.rglob("*.root")), key=lambda file: -file[1].stat().st_size)
    for folder, path in files:
        ours = readable(sapwood, path)
        if not any(ours.values()):
            continue
        yield str(path.relative_to(folder)), path, ours, readable(uproot, path)
        number -= 1
        if not number:
            return


def row_of(name, path, ours, theirs, small, options):
    """One file's times and ratios."""
    both = {key: [b for b in ours[key] if b in set(theirs[key])] for key in ours if key in theirs}
    row = {"file": name, "bytes": path.stat().st_size, "branches": sum(map(len, ours.values()))}
    row["uproot_branches"] = sum(map(len, both.values()))
    any_read = any(both.values())
    runs = {
        "uproot": timed("uproot", small, [str(path), both], options) if any_read else None,
        "Sapwood, uproot's branches": timed("Sapwood", small, [str(path), both], options) if any_read else None,
        "ROOT": timed("ROOT", small, [str(path), ours], options),
        "Sapwood": timed("Sapwood", small, [str(path), ours], options),
    }
    for other, own in PAIRS:
        if runs[other] and runs[own]:
            row[f"over {other}"] = min(runs[own]) / min(runs[other])
            row[f"over {other}, first"] = runs[own][0] / runs[other][0]
    return row | {"seconds": runs}


def table(rows, date):
    """The times as a section of a page."""
    lines = [
        "## Every branch of the largest files of the test corpus",
        "",
        f"Written by `bench/largest.py` on {date}: milliseconds from open to arrays (ROOT: to the last entry), the",
        "shortest of some readings in one process. Sapwood is set against uproot with the branches that uproot reads.",
        "",
        "| file | branches | uproot | Sapwood | ratio | ROOT | Sapwood | ratio |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        cells = [Path(row["file"]).name, str(row["branches"])]
        for other, own in PAIRS:
            times = [row["seconds"][name] for name in (other, own)]
            cells += [f"{min(t) * 1e3:.1f}" if t else "not read" for t in times]
            cells.append(f"{row[f'over {other}']:.2f}" if f"over {other}" in row else "")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dirs", nargs="+", type=Path)
    parser.add_argument("--files", type=int, default=12, help="how many of the largest")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", type=int, default=0, help="of Sapwood; 0: as it chooses")
    parser.add_argument("--page", type=Path, help="a page that has the table, too")
    parser.add_argument("-o", "--out", type=Path, default=HERE / "out" / "largest.json")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    import sapwood

    small = [str(SMALL), readable(sapwood, SMALL)]
    rows, missed = [], []
    print(f"{'uproot ms':>10} {'ours':>8} {'ratio':>6} | {'ROOT ms':>8} {'ours':>8} {'ratio':>6} | branches  file")
    for found in largest(options.dirs, options.files):
        row = row_of(*found, small, options)
        rows.append(row)
        line = []
        for other, own in PAIRS:
            times = [min(row["seconds"][n]) * 1e3 if row["seconds"][n] else math.nan for n in (other, own)]
            line.append("{:9.1f} {:8.1f} {:6.2f}".format(*times, row.get(f"over {other}", math.nan)))
            if row.get(f"over {other}", 0) > BOUNDS[other]:
                missed.append((other, row["file"]))
        print(*line, f"{row['branches']:8}  {row['file']}", sep=" | ", flush=True)
    for other in BOUNDS:
        ratios = [row[f"over {other}"] for row in rows if f"over {other}" in row]
        first = [row[f"over {other}, first"] for row in rows if f"over {other}, first" in row]
        if ratios:
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            early = math.exp(sum(map(math.log, first)) / len(first))
            most = max(ratios)
            print(f"over {other}: {len(ratios)} files, mean {mean:.2f} (first reading {early:.2f}), most {most:.2f}")
    options.out.parent.mkdir(exist_ok=True)
    options.out.write_text(json.dumps({"rows": rows, "missed": missed}, indent=1) + "\n")
    if options.page:
        options.page.write_text(with_region(options.page.read_text(), "largest", table(rows, datetime.date.today())))
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        main()
