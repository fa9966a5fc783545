"""A tree from memory to a file with uproot or Sapwood: write.py MODULE IN TREE OUT

The clock runs from recreate to close; imports and reading the values are left out. Both get the entries in batches of
20 000, and both are given zlib 1. The memory is what writing added at its peak; an auto-flush unit is what the baskets
of a cluster have before compression."""

import gc
import json
import os
import sys
import time

import awkward as ak
import uproot

import sapwood

module, path, name, out = sys.argv[1:5]
tree = sapwood.open(path)[name]
arrays = tree.arrays(library="ak")
counters = {
    b for b in arrays.fields if tree[b].title.endswith("/I") and any(f"[{b}]" in tree[c].title for c in arrays.fields)
}
own = {c: tree[c].title.partition("[")[2].partition("]")[0] for c in arrays.fields if "[" in tree[c].title}
columns = {b: arrays[b] for b in arrays.fields if b not in counters}
del arrays
STEP = 20_000
entries = tree.num_entries
batches = [{b: a[i : i + STEP] for b, a in columns.items()} for i in range(0, entries, STEP)]


def resident(what):
    """MB of this process: what it has now (VmRSS) or had at most since the peak was reset (VmHWM)."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 / 1e6 for line in status if line.startswith(what))


gc.collect()
with open("/proc/self/clear_refs", "w") as peaks:
    peaks.write("5")
before = resident("VmRSS")
start = time.perf_counter()
counter_name = lambda counted: own.get(counted, "n" + counted)  # noqa: E731
if module == "uproot":
    types = {b: a.type.content if "var" in str(a.type) else str(a.type.content) for b, a in columns.items()}
    with uproot.recreate(out, compression=uproot.ZLIB(1)) as file:
        writing = file.mktree(name, types, counter_name=counter_name)
        for batch in batches:
            writing.extend(batch)
else:
    with sapwood.recreate(out, compression="zlib:1") as file:
        writing = file.mktree(name, batches[0], counter_name=counter_name)
        for batch in batches:
            writing.extend(batch)
spent = time.perf_counter() - start
added = resident("VmHWM") - before
size = os.path.getsize(out)
written = uproot.open(out)[name]
clusters = max(1, sum(b.num_baskets for b in written.branches) / len(written.branches))
cluster = written.member("fAutoFlush") if module == "sapwood" else entries / clusters
unit = written.uncompressed_bytes * cluster / entries / 1e6
sums = {b: float(ak.sum(sapwood.open(out)[name][b].array())) for b in list(columns)[:3]}
print(
    "RESULT",
    json.dumps(
        {
            "seconds": spent,
            "entries": entries,
            "file_mb": size / 1e6,
            "added_mb": added,
            "units": added / unit,
            "sums": sums,
        }
    ),
)
