"""A tree of ten thousand branches written by many processes through a merger: producers.py PRODUCERS OUT

The same entries whatever the number of producers. The clock runs from the first process to the closed file; the values
were made before. The memory is that of the process that merges; the work is the CPU time of all processes, which is how
long it would take one after the other."""

import json
import multiprocessing
import os
import resource
import sys
import time

import numpy as np

import sapwood

BRANCHES, ENTRIES, PIECES = 10_000, 4000, 32
producers, out = int(sys.argv[1]), sys.argv[2]
random = np.random.default_rng(1)
STEP = ENTRIES // PIECES
values = [np.round(random.normal(size=STEP), 3).astype("f4") for _ in range(97)]
batch = {f"b{i}": values[i % 97] for i in range(BRANCHES)}


def work(merger, pieces):
    with merger.producer() as tree:
        for _ in range(pieces):
            tree.extend(batch)


def resident(what):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 / 1e6 for line in status if line.startswith(what))


def work_done():
    """CPU seconds of this process and of those that it waited for."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    with open("/proc/self/clear_refs", "w") as peaks:
        peaks.write("5")
    before, done, start = resident("VmRSS"), work_done(), time.perf_counter()
    types = dict.fromkeys(batch, "f4")
    with (
        sapwood.recreate(out) as file,
        file.mktree("t", types, auto_flush=1000).merger(patience=600) as merger,
    ):
        workers = [context.Process(target=work, args=(merger, PIECES // producers)) for _ in range(producers)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    spent, worked, added = time.perf_counter() - start, work_done() - done, resident("VmHWM") - before
    assert sapwood.open(out)["t"].num_entries == ENTRIES
    facts = {"seconds": spent, "entries": ENTRIES, "file_mb": os.path.getsize(out) / 1e6, "work": worked}
    print("RESULT", json.dumps(facts | {"added_mb": added}))
