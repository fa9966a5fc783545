"""A tree or an ntuple from memory to a file with uproot or Sapwood: write.py MODULE IN TREE OUT [ntuple]

The clock runs from recreate to close; imports and reading the values are excluded. Both get the entries in batches of
20 000, and both use zlib 1. The memory is what writing added at its peak. The values are read by a separate process:
memory freed after reading here would be reused, and not be counted."""

import gc
import json
import multiprocessing
import os
import sys
import time

import awkward as ak
import numpy as np
import uproot

import sapwood

STEP = 20_000


def values(path, name):
    """Names of the branches' counters, and their values: numbers, or offsets and numbers."""
    tree = sapwood.open(path)[name]
    arrays = tree.arrays(library="ak")
    own = {c: tree[c].title.partition("[")[2].partition("]")[0] for c in arrays.fields if "[" in tree[c].title}
    columns = {}
    for branch in (b for b in arrays.fields if b not in own.values()):
        layout = arrays[branch].layout
        if layout.is_list:
            layout = layout.to_ListOffsetArray64(True)
            columns[branch] = np.asarray(layout.offsets.data), np.asarray(layout.content.data)
        else:
            columns[branch] = np.asarray(layout.data)
    return own, columns


def jagged(offsets, numbers):
    return ak.Array(ak.contents.ListOffsetArray(ak.index.Index64(offsets), ak.contents.NumpyArray(numbers)))


def resident(what):
    """MB of this process: current (VmRSS) or peak since the reset (VmHWM)."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 / 1e6 for line in status if line.startswith(what))


def main(module, path, name, out, kind="tree"):
    with multiprocessing.get_context("spawn").Pool(1) as reader:
        own, columns = reader.apply(values, (path, name))
    columns = {b: jagged(*c) if isinstance(c, tuple) else ak.Array(c) for b, c in columns.items()}
    entries = len(next(iter(columns.values())))
    batches = [{b: a[i : i + STEP] for b, a in columns.items()} for i in range(0, entries, STEP)]
    gc.collect()
    with open("/proc/self/clear_refs", "w") as peaks:
        peaks.write("5")
    before = resident("VmRSS")
    start = time.perf_counter()

    def counter_name(counted):
        return own.get(counted, "n" + counted)

    if kind == "ntuple" and module == "uproot":
        with uproot.recreate(out, compression=uproot.ZLIB(1)) as file:
            writing = file.mkrntuple(name, ak.Array(batches[0]))
            for batch in batches[1:]:
                writing.extend(ak.Array(batch))
    elif kind == "ntuple":
        with sapwood.recreate(out, compression="zlib:1") as file:
            writing = file.mkntuple(name, batches[0])
            for batch in batches:
                writing.extend(batch)
    elif module == "uproot":
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
    sums = {b: float(ak.sum(sapwood.open(out)[name][b].array())) for b in list(columns)[:3]}
    result = {"seconds": spent, "entries": entries, "file_mb": size / 1e6, "added_mb": added, "sums": sums}
    print("RESULT", json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:6])
