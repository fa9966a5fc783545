#!/usr/bin/env python3
"""Sapwood beside ROOT and uproot, on the same work in one run: prints ratios, writes bench/out/bench.json.

bench/run.py                        every case (makes 1 GB of data with ROOT once; about half an hour)
bench/run.py --cases none --rows G --repeat 5       only client G of the WAN table, five times
bench/run.py --cases none --rows all --cache all    the seed's tables whole: hours
bench/run.py --cases none --rows none --ntuple-rows G       the query on an ntuple, and beside it on the tree
bench/run.py --cases every-branch,draw-local --rows none

What was measured is kept when the run is truncated (Ctrl-C, SIGTERM); report.py --merge joins several runs.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import os
import platform
import signal
import subprocess
import sys
from pathlib import Path

import cases
import lab
import measure
import report as report_of
import wan
from case import Outcome
from jobs import CASES, CLIENTS, OUT, SERVERS, chosen, jobs

MAKERS = {
    "chep_old.root": ("mkchep.C", 0),
    "chep_new.root": ("mkchep.C", 1),
    "pre.root": ("mkpre.C",),
    "nano.root": ("mknano.C",),
    "many.root": ("mkmany.C",),
    "scattered.root": ("../layout/scattered.C", 200, 3900),
}
#: Requirements of a single case are not prepared for the others.
ONLY_FOR = {"scattered.root": "scattered", "many.root": "many-branches"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=OUT / "data", help="where the trees are, or will be written")
    parser.add_argument(
        "--rows", default="F,G", help=f"clients of the WAN table, of {','.join(lab.ROWS)}; all; or none"
    )
    parser.add_argument("--ntuple-rows", help=f"clients of the case ntuple-rows ({CLIENTS}); all; or none")
    parser.add_argument("--cache", default="auto", help=f"sizes of its tree cache, of {','.join(wan.CACHES)}; or all")
    parser.add_argument("--protocols", default=",".join(SERVERS), help="over which the cases with a network are run")
    parser.add_argument("--cases", default=",".join(CASES), help="some of the default's; or none")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each, of which the median counts")
    parser.add_argument("--only", default="ROOT,uproot,Sapwood", help="contenders")
    parser.add_argument("--cold-memory", action="store_true", help="do not touch 1 GB of memory before every start")
    parser.add_argument("--peers", type=Path, default=Path(sys.executable), help="a Python with ROOT and uproot")
    parser.add_argument("--sapwood", type=Path, default=Path(sys.executable).parent / "sapwood", help="the command")
    parser.add_argument("--json", type=Path, default=OUT / "bench.json", help="where the figures go")
    return parser.parse_args()


def main():
    options = arguments()
    options.json.parent.mkdir(parents=True, exist_ok=True)
    if options.cold_memory:
        measure.warm_bytes = 0
    # terminated from outside: the results so far are kept, and the network is removed
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    tools = cases.Tools(options.peers, cases.sapwood_python(), options.sapwood, tuple(options.only.split(",")))
    make_data(options.data, tools, chosen(options.cases, CASES))
    report = {"machine": machine(options), "cases": [], "skipped": {}}
    outcomes = []
    try:
        for job in jobs(options, tools):
            if reason := job.missing():
                report["skipped"][job.name] = reason
                print(f"{job.name} skipped: {reason}")
                continue
            with contextlib.ExitStack() as stack:
                try:
                    case = job.make(stack)
                except (RuntimeError, measure.Failed, subprocess.CalledProcessError) as error:
                    report["skipped"][job.name] = str(error)
                    print(f"{job.name} could not be set up: {error}")
                    continue
                outcomes.append(Outcome(case))
                measured(outcomes[-1], job.repeat(options.repeat))
            keep(options.json, report, outcomes)
    finally:
        keep(options.json, report, outcomes)
        print(f"figures written to {options.json}")
    faults = [difference for outcome in outcomes for difference in outcome.differences()]
    sys.exit("values differ: " + "; ".join(faults) if faults else 0)


def keep(path, report, outcomes):
    """Writes the results so far; an existing file is never half-written."""
    report["cases"] = [outcome.as_json() for outcome in outcomes if any(outcome.runs.values()) or outcome.failures]
    part = path.with_suffix(".part")
    part.write_text(json.dumps(report, indent=1))
    part.replace(path)


def make_data(folder, tools, names):
    """Writes the missing trees, with ROOT."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (macro, *more) in MAKERS.items():
        if (folder / name).exists() or (name in ONLY_FOR and ONLY_FOR[name] not in names):
            continue
        print(f"making {name} with ROOT")
        # Under another name until it is complete.
        part = folder / f"part-{name}"
        words = list(map(str, tools.macro(macro, part, *more)))
        subprocess.run(
            words, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        part.rename(folder / name)


def measured(outcome, repeat):
    """Runs a case and prints its table."""
    print(f"\n{outcome.case.title}")
    outcome.measure(repeat, lambda line: print(line, file=sys.stderr, flush=True))
    for line in table(outcome.as_json()):
        print(line)


def table(case):
    """Lines of a case as text."""
    titles = report_of.column_titles(case)
    yield f"  {'':26}{'seconds':>10}{'Sapwood is':>14}" + "".join(f"{title:>29}" for title in titles)
    for name, row, ratio, columns in report_of.lines(case):
        if row is None:
            yield f"  {name:26}{report_of.missing(case['rows'][name]):>10}"
            continue
        texts = "".join(f"{text:>29}" for text in columns)
        yield f"  {name:26}{row['median']:>10.4f}{ratio and ratio + ' of it':>14}{texts}"
    if case["floor"]:
        what, seconds, ratio = report_of.floor(case)
        yield f"  {'floor':26}{seconds:>10.4f}{ratio and ratio + ' of it':>14}   ({what})"
    for bound in case["bounds"]:
        if bound["value"] is not None:
            verdict = "met" if bound["value"] <= bound["limit"] else "MISSED"
            limit, value = (f"{bound[key]:.3g} {bound['unit']}".rstrip() for key in ("limit", "value"))
            yield f"  target: {bound['text']} at most {limit}: {value} {verdict}"
    for difference in case["differences"]:
        yield f"  VALUES DIFFER: {difference}"


def machine(options):
    """The environment of the measurements."""
    model = platform.processor()
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), model)
    script = 'import ROOT, uproot; print("RESULT", __import__("json").dumps([ROOT.__version__, uproot.__version__]))'
    try:
        versions = measure.run([options.peers, "-W", "ignore", "-c", script], whole=True).result
    except measure.Failed:
        # Sapwood alone can be measured without them
        versions = ["not there", "not there"]
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "cpu": model,
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "system": platform.platform(),
        "root": versions[0],
        "uproot": versions[1],
        "repeat": options.repeat,
        "warmed": measure.warm_bytes,
        "command": command(),
    }


def command():
    """The command line without the paths of this machine."""
    words, paths = sys.argv[1:], ("--data", "--peers", "--sapwood", "--json")
    kept = [word for i, word in enumerate(words) if word not in paths and (i == 0 or words[i - 1] not in paths)]
    return " ".join(["bench/run.py", *kept])


if __name__ == "__main__":
    main()
