"""A tree read and processed: work.py FILE TREE MICROSECONDS, the time of work for every entry.

The clock runs from open to the last entry; imports are excluded."""

import importlib
import json
import sys
import time

import sapwood

# Everything that arrays need is imported before the clock starts.
importlib.import_module("awkward")
path, name, load = sys.argv[1], sys.argv[2], float(sys.argv[3]) * 1e-6
start = time.perf_counter()
tree, entries, worked = sapwood.open(path)[name], 0, 0.0
for arrays in tree.iterate(step_size="10 MB", library="ak"):
    entries += len(arrays)
    begun = time.perf_counter()
    end = begun + len(arrays) * load
    while time.perf_counter() < end:
        pass
    worked += time.perf_counter() - begun
spent = time.perf_counter() - start
print("RESULT", json.dumps({"seconds": spent, "entries": entries, "worked": worked}))
