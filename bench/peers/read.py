"""Columns into memory with uproot or Sapwood: read.py MODULE FILE TREE all|numpy|iterate[:STEP] [BRANCH,...]

The clock runs from open to arrays; imports, and the sums for comparing readers, are excluded."""

import importlib
import json
import resource
import sys
import time

start = time.perf_counter()
module = importlib.import_module(sys.argv[1])
# Readers import it at different times: here it is imported before the clock starts.
importlib.import_module("awkward")
imported = time.perf_counter()
path, name, how = sys.argv[2:5]
names = sys.argv[5].split(",") if len(sys.argv) > 5 else None
tree = module.open(path)[name]
checks, value_bytes, entries, spent = {}, 0, 0, 0.0


def check(arrays):
    """Adds a step's sums of every column, so that readers can be compared."""
    import awkward as ak
    import numpy as np

    total = 0
    for field in arrays.fields:
        flat = ak.to_numpy(ak.flatten(arrays[field], axis=None))
        checks[field] = checks.get(field, 0.0) + float(np.sum(flat, dtype="f8"))
        total += flat.nbytes
    return total


def check_numpy(arrays):
    """The same for arrays of numpy, of which those of lists have an array in each entry."""
    import numpy as np

    total = 0
    for field, values in arrays.items():
        flat = np.concatenate(values) if values.dtype == object else values
        checks[field] = float(np.sum(flat, dtype="f8"))
        total += flat.nbytes
    return total


if how == "numpy":
    arrays = tree.arrays(names, library="np")
    spent = time.perf_counter() - imported
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    entries, value_bytes = len(next(iter(arrays.values()))), check_numpy(arrays)
elif how == "all":
    arrays = tree.arrays(names, library="ak")
    spent = time.perf_counter() - imported
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    entries, value_bytes = len(arrays), check(arrays)
else:
    # The clock is stopped while a step is checked.
    step = how.partition(":")[2] or "50 MB"
    steps, mark = tree.iterate(names, step_size=step, library="ak"), imported
    for arrays in steps:
        spent += time.perf_counter() - mark
        entries += len(arrays)
        # One column per step: the check must not be what fills the memory.
        value_bytes += check(arrays[arrays.fields[:1]])
        del arrays
        mark = time.perf_counter()
    spent += time.perf_counter() - mark
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
result = {
    "seconds": spent,
    "import_seconds": imported - start,
    "entries": entries,
    "value_bytes": value_bytes,
    "peak_mb": peak / 1e3,
    "checks": {field: repr(total) for field, total in sorted(checks.items())[:5]},
}
print("RESULT", json.dumps(result))
