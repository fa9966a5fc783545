"""How draws and Dask collections scale with the number of workers, on one machine with many cores.

    python bench/dask_scaling.py [--workers 1,2,4,8] [--files 64] [--entries 1000000] [--part 0.15] [--json FILE]

With --part, each process gets this part of a core, so that a machine of few cores stands for one of more, slower ones:
one core for each worker, and one for the client with the scheduler. Workers have one thread each. Prints the wall time
of the best of three runs, and the efficiency: the time with one worker, divided by that with n workers and by n. Needs
dask-awkward and distributed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import shutil
import tempfile
from pathlib import Path

from dask_workers import another, best, write
from slow_cores import slow_cores

import sapwood

#: The least efficiency at eight workers that is aimed at.
AIM = 0.8
DISTINCT = 4


def dataset(folder: Path, files: int, entries: int) -> list[str]:
    """Files with a tree of 20 columns; some are copies, each with bytes of its own."""
    distinct = [write(folder / f"{i}.root", entries, i) for i in range(min(DISTINCT, files))]
    for i in range(len(distinct), files):
        shutil.copyfile(distinct[i % len(distinct)], folder / f"{i}.root")
    return [f"{folder}/{i}.root:t" for i in range(files)]


def timed(files: list[str], workers: int, part: float | None) -> dict[str, float]:
    """Seconds of a draw and of a sum on so many workers."""
    import awkward as ak
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(workers)
        chain = sapwood.chain(files)

        def total() -> float:
            array = sapwood.dask(files, open_files=False)
            return float(client.compute(ak.sum(array.x1[array.x2 > next(another) * 1e-9])).result())

        def draw() -> object:
            return chain.draw("sqrt(x1*x1+x2*x2+x3*x3)", "x4>-1 && x5>-1", (100, 0, 5), scheduler=client)

        for warm in (total, draw):
            warm()
        processes = [os.getpid(), *client.run(os.getpid).values()]
        with slow_cores(processes, part) if part else contextlib.nullcontext():
            return {"sapwood.dask, sum": best(total), "draw, scheduler=client": best(draw)}


def threads(files: list[str], numbers: list[int]) -> dict[int, float]:
    """Seconds to read all columns of one file into arrays, by number of threads."""
    return {
        n: best(lambda n=n: sapwood.open(files[0].removesuffix(":t"), threads=n)["t"].arrays(library="np"))
        for n in numbers
    }


def main() -> None:
    """Run all and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", default="1,2,4,8")
    parser.add_argument("--files", type=int, default=64)
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--part", type=float)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    numbers = [int(n) for n in given.workers.split(",")]
    ram = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=ram) as name:
        files = dataset(Path(name), given.files, given.entries)
        rows = {n: timed(files, n, given.part) for n in numbers}
        read = {} if given.part else threads(files, numbers)
    for what in rows[numbers[0]]:
        for n in numbers:
            efficiency = rows[numbers[0]][what] * numbers[0] / rows[n][what] / n
            print(f"{what:28} {n:3} workers {rows[n][what]:8.2f} s  efficiency {efficiency:.2f}", flush=True)
    for n, seconds in read.items():
        print(f"{'arrays() of one file':28} {n:3} threads {seconds:8.2f} s  efficiency {read[1] / seconds / n:.2f}")
    print(f"aim: efficiency {AIM} at 8 workers; {os.cpu_count()} cores, {platform.machine()}")
    if given.part:
        print(f"each worker, and the client with the scheduler, had {given.part} of a core")
    if given.json:
        given.json.write_text(json.dumps({"workers": rows, "threads": read, "cores": os.cpu_count()}, indent=1))


if __name__ == "__main__":
    main()
