#!/usr/bin/env python3
"""TTree::Draw in a warm session: Sapwood beside ROOT, expression by expression.

    draws.py [-o bench/out/draws.json] [--data bench/out/data] [--entries N] [--repeat N] [--page PAGE]

Both run in this process, in turn. Each has opened the files and has drawn the expression once; then the clock runs
over drawing it again, into a histogram with given bins where the expression says so. Times are CPU seconds of the
process (user and system), the fastest of the repeats: Sapwood unzips on all cores where it may, ROOT's Draw does not.
The number of rows has to be the same. Each reads from the page cache.
`--page`: the tables are also written there, between two comments.
Needs ROOT, and the data of bench/run.py (`make bench`)."""

from __future__ import annotations

import argparse
import json
import platform
import re
import sys
import time
from datetime import date
from pathlib import Path

from regions import with_region

HERE = Path(__file__).resolve().parent

#: (file, tree, expression, cut, option)
DRAWS = (
    ("chep_new.root", "h42", "s0", "", ""),
    ("chep_new.root", "h42", "s0>>h(100,0,1)", "", ""),
    ("chep_new.root", "h42", "E33", "", ""),
    ("chep_new.root", "h42", "E33", "E33>5", ""),
    ("chep_new.root", "h42", "E33>>h(100,0,40)", "", ""),
    ("chep_new.root", "h42", "nE33", "E33[0]>5", ""),
    ("chep_new.root", "h42", "E33[0]-E33[1]", "nE33>1", ""),
    ("chep_new.root", "h42", "Sum$(E33)", "", ""),
    ("chep_new.root", "h42", "Max$(E33)", "Length$(E33)>3", ""),
    ("chep_new.root", "h42", "sqrt(s0*s0+s1*s1)", "s2>0.5", ""),
    ("chep_new.root", "h42", "TMath::Exp(-s0)*sin(s1)", "", ""),
    ("chep_new.root", "h42", "s0:s1", "", ""),
    ("chep_new.root", "h42", "s0:s1>>h(40,0,1,40,0,1)", "", ""),
    ("chep_new.root", "h42", "s0:s1:s2>>h(10,0,1,10,0,1,10,0,1)", "", ""),
    ("chep_new.root", "h42", "s0:s1>>h(40,0,1)", "", "prof"),
    ("chep_new.root", "h42", "E33*2:E33>>h(40,0,40,40,0,40)", "", ""),
    ("chep_new.root", "h42", "s0+s1+s2+s3+s4+s5+s6+s7", "", ""),
    ("nano.root", "Events", "MET_0", "", ""),
    ("nano.root", "Events", "Muon_pt", "nMuon>=2", ""),
    ("nano.root", "Events", "Muon_pt*cos(Muon_phi)", "abs(Muon_eta)<1", ""),
    ("nano.root", "Events", "Muon_pt[0]+Muon_pt[1]", "nMuon>1 && HLT_path3", ""),
    ("nano.root", "Events", "event%10", "", ""),
    ("nano.root", "Events", "Iteration$", "Muon_pt>10", ""),
)
#: Of these the second may take 1.5 times as long as the first: the same branches, one variable and several.
SEVERAL = (
    ("s0+s1>>h(80,0,2)", "", "s0:s1>>h(40,0,1,40,0,1)", ""),
    ("s0+s1>>h(80,0,2)", "", "s0:s1>>h(40,0,1)", "prof"),
    ("E33+E33*2>>h(40,0,120)", "", "E33*2:E33>>h(40,0,40,40,0,40)", ""),
)
#: Ten expressions over one tree, one after the other and together.
TOGETHER = tuple(f"E33*{i}>>h{i}(100,0,{40 * i})" for i in range(1, 11))


def timed(work):
    """CPU seconds, and what the work gives."""
    begin = time.process_time()
    result = work()
    return time.process_time() - begin, result


def fastest(repeat, **contenders):
    """The fewest CPU seconds of each contender; each runs once before the clock does, and then in turn."""
    results = {name: work() for name, work in contenders.items()}
    seconds = dict.fromkeys(contenders, float("inf"))
    for _ in range(repeat):
        for name, work in contenders.items():
            spent, results[name] = timed(work)
            seconds[name] = min(seconds[name], spent)
    return seconds, results


class Files:
    """The trees, open in both."""

    def __init__(self, data, entries):
        self.data, self.entries, self.root, self.ours = data, entries, {}, {}

    def both(self, file, name):
        import ROOT

        import sapwood

        if file not in self.root:
            opened = ROOT.TFile.Open(str(self.data / file))
            tree = opened.Get(name)
            tree.SetEstimate(1_000_000)
            self.root[file] = (opened, tree)
            self.ours[file] = sapwood.open(f"{self.data / file}:{name}", threads=1)
        return self.root[file][1], self.ours[file]


def root_rows(tree, draw, entries):
    expression, cut, option = draw
    import ROOT

    ROOT.gROOT.Delete("h*")
    return tree.Draw(expression, cut, f"{option} goff", entries)


def our_rows(tree, draw, entries):
    expression, cut, option = draw
    return tree.draw(expression, cut, option=option, entry_stop=entries)


def rows_of(drawn):
    """Rows that were filled, where all weights are 1."""
    values = drawn.view(flow=True)
    names = values.dtype.names or ()
    # profiles keep sums of weights, histograms values
    field = next((name for name in ("sum_of_weights", "value") if name in names), None)
    return round((values[field] if field else values).sum())


def measure(options):
    import ROOT

    ROOT.gROOT.SetBatch(True)
    files = Files(options.data, options.entries)
    table = []
    for file, name, *draw in DRAWS:
        theirs, ours = files.both(file, name)
        entries = min(options.entries, theirs.GetEntries())
        seconds, results = fastest(
            options.repeat,
            root=lambda t=theirs, d=draw, n=entries: root_rows(t, d, n),
            sapwood=lambda t=ours, d=draw, n=entries: our_rows(t, d, n),
        )
        rows = rows_of(results["sapwood"])
        if rows != results["root"]:
            sys.exit(f"{file}: {draw}: ROOT has {results['root']} rows, Sapwood {rows}")
        table.append({"file": file, "draw": draw, "rows": rows, **seconds})
        say(f"{draw[0]}  {draw[1]}", seconds, "root")
    several = []
    _, ours = files.both("chep_new.root", "h42")
    for one, its, more, option in SEVERAL:
        seconds, _ = fastest(
            options.repeat,
            one=lambda d=(one, its, ""): our_rows(ours, d, options.entries),
            sapwood=lambda d=(more, "", option): our_rows(ours, d, options.entries),
        )
        several.append({"single": one, "several": more, "option": option, **seconds})
        say(f"{more} {option}  over  {one}", seconds, "one")
    seconds, _ = fastest(
        options.repeat,
        apart=lambda: [our_rows(ours, (one, "", ""), options.entries) for one in TOGETHER],
        sapwood=lambda: ours.draw(draws=list(TOGETHER), entry_stop=options.entries),
    )
    say("ten together  over  apart", seconds, "apart")
    return {"draws": table, "several": several, "together": seconds}


def say(what, seconds, base):
    theirs, ours = seconds[base], seconds["sapwood"]
    print(f"{what:60} {theirs:8.4f} {ours:8.4f}  {ours / theirs:.2f}", flush=True)


def page(result):
    """Tables in Markdown."""
    yield "## TTree::Draw in a warm session"
    yield ""
    yield f"Measured on {result['date']}: {result['machine']}, ROOT {result['root']};"
    yield f"`{result['command']}`. CPU milliseconds, the fastest of several; each has drawn the expression before."
    yield ""
    yield "| Expression | Cut, option | Rows | ROOT, ms | Sapwood, ms | Sapwood / ROOT |"
    yield "|---|---|---:|---:|---:|---:|"
    for row in result["draws"]:
        expression, cut, option = row["draw"]
        words = " ".join(f"`{text}`" for text in (cut, option) if text)
        theirs, ours = row["root"] * 1e3, row["sapwood"] * 1e3
        yield f"| `{expression}` | {words} | {row['rows']} | {theirs:.1f} | {ours:.1f} | {ours / theirs:.2f} |"
    yield ""
    yield "| Several variables | One variable, same branches | Ratio (at most 1.5) |"
    yield "|---|---|---:|"
    for row in result["several"]:
        option = f" `{row['option']}`" if row["option"] else ""
        yield f"| `{row['several']}`{option} | `{row['single']}` | {row['sapwood'] / row['one']:.2f} |"
    together = result["together"]
    yield ""
    yield f"Ten expressions drawn together take {together['sapwood'] / together['apart']:.2f} of ten draws."


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--out", type=Path, default=HERE / "out" / "draws.json", help="where the figures go")
    parser.add_argument("--data", type=Path, default=HERE / "out" / "data", help="where the trees are")
    parser.add_argument("--entries", type=int, default=1 << 62, help="entries to draw, at most")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each, of which the fastest counts")
    parser.add_argument("--page", type=Path, help="page to write the tables to as well")
    options = parser.parse_args()
    result = measure(options)
    import ROOT

    processor = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    result |= {
        "date": date.today().isoformat(),
        "machine": f"{processor.group(1) if processor else platform.machine()}, one thread",
        "root": str(ROOT.gROOT.GetVersion()),
        "command": "python bench/draws.py",
    }
    options.out.parent.mkdir(exist_ok=True, parents=True)
    options.out.write_text(json.dumps(result, indent=1) + "\n")
    if options.page:
        options.page.write_text(with_region(options.page.read_text(), "draws", "\n".join(page(result))))


if __name__ == "__main__":
    main()
