"""What it costs to wait until new files are on the disk, which `--no-sync` and `sync=False` turn off.

    python bench/syncing.py [--folder FOLDER] [--page docs/benchmarks.md]

Files are written from Python, and eight of 100 MB merged by the command, into a folder on the disk; with and without in
turn, so that the disk's mood is shared. `cp` copies what is merged and waits for nothing.
"""

import argparse
import datetime
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from regions import with_region

import sapwood

#: Bytes of the files written, and how often.
SIZES = {"10 kB": (10_000, 31), "1 MB": (1_000_000, 21), "100 MB": (100_000_000, 7)}
MERGED, MERGES = 8, 9
COMMAND = Path(sys.executable).parent / "sapwood"


def write(path, x, sync):
    with sapwood.recreate(path, compression=None, sync=sync) as file:
        file["t"] = {"x": x}


def seconds(work, after):
    os.sync()
    began = time.perf_counter()
    work()
    spent = time.perf_counter() - began
    after()
    return spent


def least(works, times, after):
    """The minimum of each, measured alternately: other activity of the machine only adds time."""
    runs = [[seconds(work, after) for work in works] for _ in range(times)]
    return [min(column) for column in zip(*runs, strict=True)]


def rows(folder):
    out = folder / "out.root"
    for name, (size, times) in SIZES.items():
        x = np.random.default_rng(1).normal(size=size // 8)
        works = [lambda x=x, sync=sync: write(out, x, sync) for sync in (True, False)]
        yield f"written from Python, {name}", None, *least(works, times, out.unlink)
    inputs = [folder / f"in{i}.root" for i in range(MERGED)]
    for i, path in enumerate(inputs):
        write(path, np.random.default_rng(i).normal(size=100_000_000 // 8), False)
    merge = [COMMAND, "-q", "merge", "-f", out, *inputs]

    def copy():
        (folder / "copies").mkdir()
        subprocess.run(["cp", *inputs, folder / "copies"], check=True)

    def clean():
        out.unlink(missing_ok=True)
        shutil.rmtree(folder / "copies", ignore_errors=True)

    works = [lambda words=words: subprocess.run(words, check=True) for words in (merge, [*merge, "--no-sync"])]
    waiting, not_waiting, copied = least([*works, copy], MERGES, clean)
    yield f"merged, {MERGED} files of 100 MB", copied, waiting, not_waiting


def number(x):
    return "" if x is None else f"{x:.4f}" if x < 0.1 else f"{x:.3f}"


def table(found):
    about = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1] for line in about if "model name" in line), "")
    return "\n".join(
        [
            "## Waiting for the disk",
            "",
            "New files are synced before they take their name, and their folder after it; `--no-sync` and `sync=False`",
            "leave that out. What is written goes to the disk while more is made (`sync_file_range`), so that the sync",
            "at the end is short. The least of several runs in turn; the disk is that of a virtual machine.",
            "",
            f"{model.strip()}, {os.cpu_count()} cores, {platform.platform()}:",
            f"{datetime.date.today()} `bench/syncing.py`.",
            "",
            "| | `cp`, s | synced, s | not synced, s | difference, s |",
            "| --- | ---: | ---: | ---: | ---: |",
            *(f"| {what} | {number(cp)} | {number(a)} | {number(b)} | {number(a - b)} |" for what, cp, a, b in found),
        ]
    )


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--folder", type=Path, default=Path(__file__).parent / "out", help="where it is written")
    options.add_argument("--page", type=Path, help="whose table is written anew")
    given = options.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        found = []
        for row in rows(Path(folder)):
            print(*row, flush=True)
            found.append(row)
    if given.page:
        given.page.write_text(with_region(given.page.read_text(), "syncing", table(found)))


if __name__ == "__main__":
    main()
