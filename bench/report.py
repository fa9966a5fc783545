#!/usr/bin/env python3
"""Turns bench/out/bench.json into docs/benchmarks.md: report.py [JSON [MARKDOWN]]."""

from __future__ import annotations

import json
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main():
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "out" / "bench.json"
    target = Path(sys.argv[2]) if len(sys.argv) > 2 else HERE.parent / "docs" / "benchmarks.md"
    report = json.loads(source.read_text())
    target.parent.mkdir(exist_ok=True)
    target.write_text("\n".join(page(report)) + "\n")
    print(f"{target} written")


def page(report):
    """Lines of the page."""
    machine = report["machine"]
    yield "# Benchmarks"
    yield ""
    yield "Written by `bench/report.py` from what `make bench` measured; not edited by hand."
    yield ""
    yield (
        f"{machine['date']}, {machine['cpu']}, {machine['cores']} cores, {machine['system']}; ROOT {machine['root']}, "
        f"uproot {machine['uproot']}. Programs take turns; the median of {machine['repeat']} runs counts "
        f"(`{machine['command']}`)."
    )
    yield ""
    yield from targets(report["cases"])
    for case in report["cases"]:
        yield from section(case)
    if report["skipped"]:
        yield "## Not measured"
        yield ""
        for name, reason in report["skipped"].items():
            yield f"- {name}: {reason}"
        yield ""


def targets(cases):
    """The table of what was aimed at."""
    rows = [(case, bound) for case in cases for bound in case["bounds"] if bound["value"] is not None]
    if not rows:
        return
    yield "## Targets"
    yield ""
    yield "| work | target | measured | |"
    yield "| --- | --- | ---: | --- |"
    for case, bound in rows:
        verdict = "met" if bound["value"] <= bound["limit"] else "**missed**"
        limit = f"{bound['text']}: at most {bound['limit']:.3g} {bound['unit']}".rstrip()
        yield f"| {case['title']} | {limit} | {bound['value']:.3g} {bound['unit']} | {verdict} |"
    yield ""


def section(case):
    """A case: its contenders, its floor, remarks."""
    yield f"## {case['title']}"
    yield ""
    rows = case["rows"]
    titles = list(next(iter(rows.values()))["columns"]) if rows else []
    ours = rows.get("Sapwood", {}).get("median")
    yield "| | seconds | min - max | Sapwood's time over it | CPU s |" + "".join(f" {title} |" for title in titles)
    yield "| --- | ---: | ---: | ---: | ---: |" + " ---: |" * len(titles)
    for name, row in rows.items():
        if row["median"] is None:
            yield f"| {name} | failed | | | |" + " |" * len(titles)
            continue
        spread = f"{min(row['seconds']):.3g} - {max(row['seconds']):.3g}"
        ratio = f"{ours / row['median']:.2f}" if ours and name != "Sapwood" else ""
        columns = "".join(f" {number(value)} |" for value in row["columns"].values())
        yield f"| {name} | {row['median']:.3g} | {spread} | {ratio} | {row['cpu']:.3g} |{columns}"
    if case["floor"]:
        what, seconds = case["floor"]
        ratio = f"{ours / seconds:.2f}" if ours else ""
        yield f"| floor: {what} | {seconds:.3g} | | {ratio} | |" + " |" * len(titles)
    yield ""
    if case["note"]:
        yield case["note"]
        yield ""
    for name, row in rows.items():
        if row["failure"]:
            yield f"{name} failed: `{row['failure'].splitlines()[0][:200]}`"
            yield ""
    for difference in case["differences"]:
        yield f"**Values differ**: {difference}"
        yield ""


def number(value):
    if value is None:
        return ""
    return f"{value:.0f}" if value == round(value) else f"{value:.4g}"


if __name__ == "__main__":
    main()
