"""A machine of many slow cores on one of few: each process gets a part of a core, by the kernel's control groups.

What is left out: cores that share caches and memory, and threads beside a process's first one, which would have cores
of their own. Needs root and Linux."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
#: Microseconds after which the part of each process begins again: short beside what is measured.
PERIOD = 10_000


@contextmanager
def slow_cores(processes: list[int], part: float) -> Iterator[None]:
    """Each of these processes gets this part of a core at most."""
    unified = (ROOT / "cgroup.controllers").exists()
    parent, quota = (ROOT, "cpu.max") if unified else (ROOT / "cpu", "cpu.cfs_quota_us")
    if unified:
        (parent / "cgroup.subtree_control").write_text("+cpu")
    groups = [parent / f"slow-core-{os.getpid()}-{process}" for process in processes]
    try:
        for group, process in zip(groups, processes, strict=True):
            group.mkdir()
            share = round(part * PERIOD)
            if unified:
                (group / quota).write_text(f"{share} {PERIOD}")
            else:
                (group / "cpu.cfs_period_us").write_text(str(PERIOD))
                (group / quota).write_text(str(share))
            (group / "cgroup.procs").write_text(str(process))
        yield
    finally:
        for group in filter(Path.exists, groups):
            for process in (group / "cgroup.procs").read_text().split():
                (parent / "cgroup.procs").write_text(process)
            group.rmdir()
