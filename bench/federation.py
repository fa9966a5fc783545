"""The simulator's cost: a month of a federation of sites, and of one ten times as large."""

from __future__ import annotations

from pathlib import Path

import measure
from case import Bound, Case

#: The standard scenario: sites, jobs, files, days; and one ten times as large.
STANDARD, TEN_TIMES = (100, 10_000, 1_000_000, 30), (1000, 100_000, 10_000_000, 30)


def federation(sites, jobs, files, days):
    """A federation with this many sites, jobs at the same time (one for each core), files, for so many days."""
    cores, datasets = jobs // sites, files // 1000
    # a task has ten jobs of five and a half hours: as many as keep four fifths of the cores busy
    tasks = round(jobs * 0.8 * 24 / 5.6 / 10)
    return f"""
title = "{sites} sites, {jobs} cores, {files} files"
duration = "{days}d"
check_jobs = 0
[[site]]
name = "origin"
count = {max(sites // 20, 2)}
[[site]]
name = "site"
count = {sites}
cores = {cores}
disk = "200 TB"
proxy = "50 TB"
[[link]]
from = "origin-1"
to = "site-*"
rtt = "20ms"
bandwidth = "100 Gbit/s"
[[link]]
from = "origin-1"
to = "origin-*"
rtt = "5ms"
bandwidth = "400 Gbit/s"
[[dataset]]
name = "d"
count = {datasets}
files = 1000
site = "origin-*"
file_size = "2 GB"
entries = 1_000_000
clusters = 40
[[workload]]
name = "analysis"
site = "site-*"
tasks_per_day = {tasks}
files = 100
files_per_job = 10
share = 0.2
cpu_per_entry = "2ms"
[[policy]]
kind = "pull"
"""


def scaling(tools, scratch):
    """CPU seconds and memory of a month of a federation, and of one ten times as large."""
    folder = Path(scratch) / "simulate"
    folder.mkdir(parents=True, exist_ok=True)

    def run(size):
        path = folder / f"federation-{size[0]}.toml"
        path.write_text(federation(*size))
        return lambda: measure.run([tools.sapwood, "simulate", path, "--json"], timeout=7200, whole=True)

    names = [f"{sites} sites, {jobs} cores, {files} files" for sites, jobs, files, _ in (STANDARD, TEN_TIMES)]
    cpu = lambda name: lambda outcome: outcome.median(name, lambda run: run.cpu)  # noqa: E731
    return Case(
        name="simulate-scaling",
        title="A month of a federation simulated, and of one ten times as large",
        contenders=dict(zip(names, map(run, (STANDARD, TEN_TIMES)), strict=True)),
        bounds=[
            Bound("CPU seconds", 1200, cpu(names[0]), "s"),
            Bound("peak memory", 4000, lambda outcome: outcome.median(names[0], lambda run: run.peak_mb), "MB"),
            Bound(
                "CPU seconds of the larger one over those of the smaller",
                12,
                lambda outcome: outcome.ratio(names[1], names[0], lambda run: run.cpu),
            ),
        ],
        columns={
            "jobs": lambda run: run.result["policies"][0]["jobs"],
            "peak MB": lambda run: run.peak_mb,
        },
        note="CPU seconds count, so that other work on the machine does not.",
        compared=False,
    )
