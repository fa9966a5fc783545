"""Reads a tree over a network that may fail: the checksum of its values or the error, and what is left open.

python faulty.py URL TREE TIMEOUT
"""

import gc
import json
import sys
import time
import zlib
from pathlib import Path

import awkward as ak

import sapwood

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
from process import descriptors, threads  # counted as in the tests


def state():
    """Threads, connections and other open files of this process."""
    targets = list(descriptors())
    tables = (Path(f"/proc/self/net/{name}").read_text().splitlines()[1:] for name in ("tcp", "tcp6"))
    connections = {f"socket:[{line.split()[9]}]" for table in tables for line in table}
    sockets = [target for target in targets if target in connections]
    # some are queried from the kernel through a second descriptor
    return threads(), len(set(sockets)), len(targets) - len(sockets)


def main():
    url, tree, timeout = sys.argv[1], sys.argv[2], float(sys.argv[3])
    # threads that are created once and kept
    with sapwood.open(url, timeout=timeout) as file:
        for _ in file[tree].iterate(entry_stop=30_000, step_size=10_000, library="ak"):
            pass
    gc.collect()
    time.sleep(0.2)
    before = state()
    total, error, step = 0, None, None
    began = time.monotonic()
    try:
        with sapwood.open(url, timeout=timeout) as file:
            for step in file[tree].iterate(library="ak", step_size="20 MB"):
                for _, values in sorted(ak.to_buffers(step)[2].items()):
                    total = zlib.crc32(values, total)
    except sapwood.Error as raised:
        error = str(raised)
    seconds = time.monotonic() - began
    del step
    gc.collect()
    deadline = time.monotonic() + 15
    # time for what was stopped to end
    while True:
        after = state()
        if (after[0] <= before[0] and after[2] <= before[2]) or time.monotonic() > deadline:
            break
        time.sleep(0.1)
    print(
        json.dumps(
            {
                "sum": total if error is None else None,
                "error": error,
                "seconds": seconds,
                "threads": after[0] - before[0],
                "sockets": after[1],
                "files": after[2] - before[2],
            }
        )
    )


main()
