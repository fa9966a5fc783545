"""The loop of chepselector.C with Sapwood and numba: select_numba.py FILE [threads]

The clock starts after compilation, as it does for ROOT."""

import json
import sys
import time

import numpy as np

import sapwood


@sapwood.selector(branches=["s0", "rawtr"], result=np.zeros(100, dtype=np.int64))
def loop(batch, result):
    for entry in batch:
        if entry.s0 > 10:
            for value in entry.rawtr:
                if value < 50:
                    result[int(value * 2)] += 1


path, how = sys.argv[1], {"executor": sys.argv[2]} if len(sys.argv) > 2 else {}
with sapwood.open(path) as file:
    file["h42"].process(loop, entry_stop=100)
start = time.perf_counter()
tree = sapwood.open(path)["h42"]
counts = tree.process(loop, **how)
seconds = time.perf_counter() - start
total = int(np.sum(counts * np.arange(1, 101)))
print("RESULT", json.dumps({"seconds": seconds, "entries": tree.num_entries, "checks": {"counts": total}}))
