"""A tree of ten thousand branches written by many processes: producers.py PRODUCERS OUT [apart]

Through a merger; or, "apart", each into a separate file, which are merged afterwards. The same entries whatever the
number of producers. The clock runs from the first process to the closed file; the values are created before. The memory
is that of the merging process; the work is the CPU time of all processes, the time they would take in sequence."""

import json
import multiprocessing
import os
import resource
import sys
import time

import numpy as np

import sapwood

BRANCHES, ENTRIES, PIECES = 10_000, 4000, 32
producers, out, apart = int(sys.argv[1]), sys.argv[2], sys.argv[3:] == ["apart"]
random = np.random.default_rng(1)
STEP = ENTRIES // PIECES
values = [np.round(random.normal(size=STEP), 3).astype("f4") for _ in range(97)]
batch = {f"b{i}": values[i % 97] for i in range(BRANCHES)}


def work(merger, pieces):
    with merger.producer() as tree:
        for _ in range(pieces):
            tree.extend(batch)


def work_apart(path, pieces):
    with sapwood.recreate(path) as file:
        tree = file.mktree("t", dict.fromkeys(batch, "f4"), auto_flush=1000)
        for _ in range(pieces):
            tree.extend(batch)


def run(target, *arguments):
    """Runs all producers at the same time, each with its own arguments."""
    workers = [context.Process(target=target, args=one) for one in zip(*arguments, strict=True)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def resident(what):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 / 1e6 for line in status if line.startswith(what))


def work_done():
    """CPU seconds of this process and of its finished children."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    with open("/proc/self/clear_refs", "w") as peaks:
        peaks.write("5")
    before, done, start = resident("VmRSS"), work_done(), time.perf_counter()
    types, pieces, merging = dict.fromkeys(batch, "f4"), [PIECES // producers] * producers, None
    if apart:
        files = [f"{out}.{i}.root" for i in range(producers)]
        run(work_apart, files, pieces)
        produced = time.perf_counter()
        sapwood.merge(out, files, force=True)
        merging = time.perf_counter() - produced
        for file in files:
            os.remove(file)
    else:
        with (
            sapwood.recreate(out) as file,
            file.mktree("t", types, auto_flush=1000).merger(patience=600) as merger,
        ):
            run(work, [merger] * producers, pieces)
    spent, worked, added = time.perf_counter() - start, work_done() - done, resident("VmHWM") - before
    assert sapwood.open(out)["t"].num_entries == ENTRIES
    facts = {"seconds": spent, "entries": ENTRIES, "file_mb": os.path.getsize(out) / 1e6, "work": worked}
    if merging is not None:
        facts["merging"] = merging
    print("RESULT", json.dumps(facts | {"added_mb": added}))
