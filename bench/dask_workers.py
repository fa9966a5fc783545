"""Sapwood and uproot on Dask: one machine with two workers, and many small files over HTTP.

    python bench/dask_workers.py [--files 8] [--entries 500000] [--small 1000] [--delay 20ms]

Needs dask-awkward, distributed and uproot. Prints the wall times of the best of three runs, and their ratios beside
what is aimed at.
"""

from __future__ import annotations

import argparse
import itertools
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import sapwood


def write(path: Path, entries: int, seed: int, columns: int = 20) -> str:
    """A file of columns of numbers, of which a benchmark reads two."""
    random = np.random.default_rng(seed)
    with sapwood.recreate(path, compression="zstd:3") as f:
        f["t"] = {f"x{i}": random.normal(size=entries).astype("f4") for i in range(columns)}
    return str(path)


#: A number that no run had before. Two runs of the same expression have the same keys, and a cluster that still holds
#: the first one's results does not compute them again.
another = itertools.count(1)


def best(function: Callable[[], object], runs: int = 3) -> float:
    """Seconds of the fastest run."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def two_workers(files: list[str], client: object) -> dict[str, float]:
    """A sum of two columns on two workers, and in one process."""
    import awkward as ak
    import uproot

    named = [f + ":t" for f in files]

    def total(array: object) -> float:
        return float(client.compute(ak.sum(array.x1[array.x2 > next(another) * 1e-9])).result())  # type: ignore[attr-defined]

    def threads() -> None:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda f: sapwood.open(f).arrays(["x1"], "x2 > 0"), named))

    chain = sapwood.chain(named)
    return {
        "two threads in one process": best(threads),
        "sapwood.dask": best(lambda: total(sapwood.dask(named, open_files=False))),
        "uproot.dask": best(lambda: total(uproot.dask(named, open_files=False))),
        "draw, scheduler=client": best(lambda: chain.draw("x1", "x2>0", (100, -5, 5), scheduler=client)),
        "draw in one process": best(lambda: chain.draw("x1", "x2>0", (100, -5, 5))),
    }


def small_files(folder: Path, number: int, delay: str, client: object) -> dict[str, float]:
    """Many files over HTTP."""
    import awkward as ak
    import uproot

    first = write(folder / "small0.root", 12_000, 0)
    for i in range(1, number):
        shutil.copy(first, folder / f"small{i}.root")
    server = subprocess.Popen(
        [sys.executable, "-m", "sapwood", "serve", str(folder), "--delay", delay, "--port", "0"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert server.stdout is not None
        line = next(text for text in server.stdout if "http://" in text)
        base = line[line.index("http://") :].split()[0].rstrip("/")
        named = [f"{base}/small{i}.root:t" for i in range(number)]

        def total(array: object) -> None:
            client.compute(ak.sum(array.x1) + next(another)).result()  # type: ignore[attr-defined]

        return {
            f"{number} files, sapwood.dask": best(lambda: total(sapwood.dask(named, open_files=False)), 1),
            f"{number} files, uproot.dask": best(lambda: total(uproot.dask(named, open_files=False)), 1),
        }
    finally:
        server.terminate()
        server.wait()


def main() -> None:
    """Run all and print a table."""
    from distributed import Client, LocalCluster

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=8)
    parser.add_argument("--entries", type=int, default=500_000)
    parser.add_argument("--small", type=int, default=1000)
    parser.add_argument("--delay", default="20ms")
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as name,
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        folder = Path(name)
        files = [write(folder / f"{i}.root", given.entries, i) for i in range(given.files)]
        rows = two_workers(files, client)
        (folder / "small").mkdir()
        rows |= small_files(folder / "small", given.small, given.delay, client)
        for what, seconds in rows.items():
            print(f"{what:40} {seconds:8.2f} s")
        small = f"{given.small} files, "
        for ours, theirs, aim in (
            ("sapwood.dask", "two threads in one process", 1.15),
            ("sapwood.dask", "uproot.dask", 1 / 3),
            (f"{small}sapwood.dask", f"{small}uproot.dask", 1 / 5),
        ):
            ratio = rows[ours] / rows[theirs]
            print(f"{ours} / {theirs}: {ratio:.2f}, at most {aim:.2f}: {'reached' if ratio <= aim else 'MISSED'}")


if __name__ == "__main__":
    main()
