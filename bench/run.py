#!/usr/bin/env python3
"""Sapwood beside ROOT and uproot, on the same work in one run: prints ratios, writes bench/out/bench.json.

bench/run.py                        everything (makes 1 GB of data with ROOT once; about a quarter of an hour)
bench/run.py --rows G --repeat 5    only client G of the WAN table, five times
bench/run.py --cases every-branch,draw-local
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import cases
import lab
from case import Outcome
from report import number

HERE = Path(__file__).parent
OUT = HERE / "out"
MAKERS = {
    "chep_old.root": ("mkchep.C", 0),
    "chep_new.root": ("mkchep.C", 1),
    "pre.root": ("mkpre.C",),
    "nano.root": ("mknano.C",),
}
LOCAL = {
    "every-branch": cases.every_branch,
    "wide-tree": cases.wide_tree,
    "write-tree": cases.write_tree,
    "draw-local": cases.draw_local,
    "five-of-1100": cases.nano,
    "start-up": cases.start_up,
}
CASES = [*LOCAL, "cold-open"]
SERVERS = {"http": lab.Nginx, "xrootd": lab.XRootD}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=OUT / "data", help="where the trees are, or will be written")
    parser.add_argument("--rows", default="F,G", help=f"clients of the WAN table, of {','.join(lab.ROWS)}; or none")
    parser.add_argument("--protocols", default=",".join(SERVERS), help="over which the WAN table is run")
    parser.add_argument("--cases", default=",".join(CASES), help="some of the default's; or none")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each, of which the median counts")
    parser.add_argument("--only", default="ROOT,uproot,Sapwood", help="contenders")
    parser.add_argument(
        "--root-cache", type=int, default=-1, help="bytes of ROOT's TTreeCache over the WAN; -1: its own"
    )
    parser.add_argument("--peers", type=Path, default=Path(sys.executable), help="a Python with ROOT and uproot")
    parser.add_argument("--sapwood", type=Path, default=Path(sys.executable).parent / "sapwood", help="the command")
    parser.add_argument("--json", type=Path, default=OUT / "bench.json", help="where the figures go")
    return parser.parse_args()


def main():
    options = arguments()
    options.json.parent.mkdir(parents=True, exist_ok=True)
    tools = cases.Tools(options.peers, cases.sapwood_python(), options.sapwood, tuple(options.only.split(",")))
    make_data(options.data, tools)
    outcomes, skipped = [], {}
    for name in chosen(options.cases, CASES):
        if name != "cold-open":
            # Runs of milliseconds: more of them cost nothing.
            repeat = max(options.repeat, 10) if name == "start-up" else options.repeat
            outcomes.append(measured(LOCAL[name](tools, options.data), repeat))
        elif not lab.found("nginx"):
            skipped[name] = "needs nginx"
        else:
            with lab.Nginx(options.data) as nginx:
                outcomes.append(measured(cases.cold_open(tools, options.data, nginx), options.repeat))
    for row in chosen(options.rows, lab.ROWS):
        if reason := lab.why_no_lab():
            skipped[f"wan-{row}"] = reason
            continue
        for protocol in chosen(options.protocols, SERVERS):
            program = {"http": "nginx"}.get(protocol, protocol)
            if not lab.found(program):
                skipped[f"wan-{row}-{protocol}"] = f"needs {program}"
                continue
            with lab.Wan(*lab.ROWS[row], OUT) as wan, SERVERS[protocol](options.data, wan) as server:
                case = cases.seed_query(tools, options.data, row, wan, server, options.root_cache, protocol)
                outcomes.append(measured(case, options.repeat))
    for name, reason in skipped.items():
        print(f"{name} skipped: {reason}")
    report = {"machine": machine(options), "cases": [outcome.as_json() for outcome in outcomes], "skipped": skipped}
    options.json.write_text(json.dumps(report, indent=1))
    print(f"figures written to {options.json}")
    faults = [difference for outcome in outcomes for difference in outcome.differences()]
    sys.exit("values differ: " + "; ".join(faults) if faults else 0)


def chosen(words, known):
    names = [word for word in words.split(",") if word not in ("", "none")]
    for name in names:
        if name not in known:
            sys.exit(f"no case {name}: there are {', '.join(known)}")
    return names


def make_data(folder, tools):
    """Writes the trees that are missing, with ROOT."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (macro, *more) in MAKERS.items():
        if (folder / name).exists():
            continue
        print(f"making {name} with ROOT")
        # Under another name until it is whole.
        part = folder / f"part-{name}"
        words = list(map(str, tools.macro(macro, part, *more)))
        subprocess.run(
            words, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        part.rename(folder / name)


def measured(case, repeat):
    """Runs a case and prints its table."""
    print(f"\n{case.title}")
    outcome = Outcome(case)
    outcome.measure(repeat, lambda line: print(line, file=sys.stderr, flush=True))
    for line in table(outcome.as_json()):
        print(line)
    return outcome


def table(case):
    """Lines of a case as text."""
    titles = list(next(iter(case["rows"].values()))["columns"]) if case["rows"] else []
    ours = case["rows"].get("Sapwood", {}).get("median")
    yield f"  {'':18}{'seconds':>10}{'Sapwood is':>14}" + "".join(f"{title:>29}" for title in titles)
    for name, row in case["rows"].items():
        if row["median"] is None:
            yield f"  {name:18}{'failed':>10}"
            continue
        ratio = f"{ours / row['median']:.2f} of it" if ours and name != "Sapwood" else ""
        more = "".join(f"{number(value):>29}" for value in row["columns"].values())
        yield f"  {name:18}{row['median']:>10.4f}{ratio:>14}{more}"
    if case["floor"]:
        what, seconds = case["floor"]
        ratio = f"{ours / seconds:.2f} of it" if ours else ""
        yield f"  {'floor':18}{seconds:>10.4f}{ratio:>14}   ({what})"
    for bound in case["bounds"]:
        if bound["value"] is not None:
            verdict = "met" if bound["value"] <= bound["limit"] else "MISSED"
            limit, value = (f"{bound[key]:.3g} {bound['unit']}".rstrip() for key in ("limit", "value"))
            yield f"  target: {bound['text']} at most {limit}: {value} {verdict}"
    for difference in case["differences"]:
        yield f"  VALUES DIFFER: {difference}"


def machine(options):
    """What the figures were measured on and with."""
    model = platform.processor()
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), model)
    script = 'import ROOT, uproot; print("RESULT", __import__("json").dumps([ROOT.__version__, uproot.__version__]))'
    versions = cases.measure.run([options.peers, "-W", "ignore", "-c", script], whole=True).result
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "cpu": model,
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "system": platform.platform(),
        "root": versions[0],
        "uproot": versions[1],
        "repeat": options.repeat,
        "command": f"bench/run.py --cases {options.cases} --rows {options.rows} --repeat {options.repeat}",
    }


if __name__ == "__main__":
    main()
