#!/usr/bin/env python3
"""Turns the figures of bench/run.py into docs/benchmarks.md and its pictures.

bench/report.py                          bench/out/bench.json
bench/report.py --merge a.json b.json    several runs in one page: of a case that several have the last one counts
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import tables
from regions import kept

HERE = Path(__file__).parent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = HERE / "out" / "bench.json"
    parser.add_argument("source", nargs="?", type=Path, default=default, help="figures of one run")
    parser.add_argument("--merge", nargs="+", type=Path, help="figures of several runs, instead")
    parser.add_argument("--out", type=Path, default=HERE.parent / "docs" / "benchmarks.md", help="the page")
    options = parser.parse_args()
    report = merged([json.loads(path.read_text()) for path in options.merge or [options.source]])
    options.out.parent.mkdir(exist_ok=True)
    pictures = {}
    options.out.write_text("\n".join(page(report, pictures)) + "\n" + kept(options.out))
    for name, picture in pictures.items():
        (options.out.parent / name).write_text(picture)
    print(", ".join([str(options.out), *pictures]), "written")


def merged(reports):
    """Several runs as one; cases keep the place that they had first."""
    cases, skipped, machines = {}, {}, []
    for report in reports:
        machines += [machine for machine in report.get("machines", [report.get("machine")]) if machine not in machines]
        cases |= {case["name"]: case for case in report["cases"]}
        skipped |= report["skipped"]
    skipped = {name: why for name, why in skipped.items() if name not in cases}
    return {"machines": machines, "cases": list(cases.values()), "skipped": skipped}


def page(report, pictures):
    """Lines of the page; its pictures are added to `pictures`."""
    yield "# Benchmarks"
    yield ""
    yield "Written by `bench/report.py` from what `make bench` measured; not edited by hand."
    yield ""
    for line in provenance(report["machines"]):
        yield line
        yield ""
    yield (
        "Programs take turns; medians count. Before every start 1 GB of memory is touched and freed, for every program "
        "alike: the host of a virtual machine takes back what is free within seconds, and whoever is measured next "
        "would pay for getting it again (`--cold-memory` leaves that out)."
    )
    yield ""
    yield from targets(report["cases"])
    in_tables = [case["name"] for case in tables.of_table(report["cases"])]
    for case in report["cases"]:
        if case["name"] not in in_tables:
            yield from section(case)
    yield from tables.sections(report["cases"], pictures)
    if report["skipped"]:
        yield "## Not measured"
        yield ""
        for name, reason in report["skipped"].items():
            yield f"- {name}: {reason}"
        yield ""


def provenance(machines):
    """What was measured on what: a paragraph for each machine, with all the runs on it."""
    runs = {}
    for m in machines:
        about = f"{m['cpu']}, {m['cores']} cores, {m['system']}; ROOT {m['root']}, uproot {m['uproot']}"
        cold = "" if m.get("warmed") else " (memory as it was found)"
        runs.setdefault(about, []).append(f"{m['date']} `{m['command']}`{cold}")
    for about, commands in runs.items():
        yield f"{about}: {'; '.join(commands)}."


def targets(cases):
    """The table of what was aimed at."""
    in_tables = [case["name"] for case in tables.of_table(cases)]
    rows = [
        (case["title"], bound["text"], bound["value"], bound["limit"], bound["unit"])
        for case in cases
        if case["name"] not in in_tables
        for bound in case["bounds"]
        if bound["value"] is not None
    ]
    rows += tables.targets(cases)
    if not rows:
        return
    yield "## Targets"
    yield ""
    yield "| work | target | measured | |"
    yield "| --- | --- | ---: | --- |"
    for title, text, value, limit, unit in rows:
        verdict = "met" if value <= limit else "**missed**"
        aim = f"{text}: at most {limit:.3g} {unit}".rstrip()
        yield f"| {title} | {aim} | {value:.3g} {unit} | {verdict} |"
    yield ""


def section(case):
    """A case: its contenders, its floor, remarks."""
    yield f"## {case['title']}"
    yield ""
    titles = column_titles(case)
    yield "| | seconds | min - max | Sapwood's time over it | CPU s |" + "".join(f" {title} |" for title in titles)
    yield "| --- | ---: | ---: | ---: | ---: |" + " ---: |" * len(titles)
    for name, row, ratio, columns in lines(case):
        if row is None:
            yield f"| {name} | {missing(case['rows'][name])} | | | |" + " |" * len(titles)
            continue
        spread = f"{min(row['seconds']):.3g} - {max(row['seconds']):.3g}"
        texts = "".join(f" {text} |" for text in columns)
        yield f"| {name} | {row['median']:.3g} | {spread} | {ratio} | {row['cpu']:.3g} |{texts}"
    if case["floor"]:
        what, seconds, ratio = floor(case)
        yield f"| floor: {what} | {seconds:.3g} | | {ratio} | |" + " |" * len(titles)
    yield ""
    if case["note"]:
        yield case["note"]
        yield ""
    for name, row in case["rows"].items():
        if row["failure"]:
            yield f"{name} failed: `{row['failure'].splitlines()[0][:200]}`"
            yield ""
    for difference in case["differences"]:
        yield f"**Values differ**: {difference}"
        yield ""


def column_titles(case):
    return list(next(iter(case["rows"].values()))["columns"]) if case["rows"] else []


def over(case, seconds):
    """Sapwood's time over another, as text; nothing where there is none to compare."""
    ours = case["rows"].get("Sapwood", {}).get("median")
    return f"{ours / seconds:.2f}" if ours and case.get("compared", True) else ""


def lines(case):
    """What a table says of each contender: name, row (None where it failed), Sapwood's time over its own, columns."""
    for name, row in case["rows"].items():
        if row["median"] is None:
            yield name, None, "", []
        else:
            ratio = over(case, row["median"]) if name != "Sapwood" else ""
            yield name, row, ratio, [number(value) for value in row["columns"].values()]


def missing(row):
    """Why a contender has no time: it failed, or the run was truncated before its turn."""
    return "failed" if row["failure"] else "not run"


def floor(case):
    what, seconds = case["floor"]
    return what, seconds, over(case, seconds)


def number(value):
    if value is None:
        return ""
    return f"{value:.0f}" if value == round(value) else f"{value:.4g}"


if __name__ == "__main__":
    main()
