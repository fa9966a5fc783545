#!/usr/bin/env python3
"""Reads every branch of every tree below a directory with uproot and with a reader under test, and compares bit by bit.

    compare_corpus.py DIR [--reader sapwood] [--json OUT] [--timeout S] [--limit N]

A line per disagreement (UNSTABLE: uproot disagrees with itself, the branch counts as unread by it); at the end:
    files F, branches B: equal E, different D, refused R (uproot reads them), extra X (uproot cannot), crashed C
Exit status 0 when nothing differs and nothing crashed. Values are compared as flat leaf arrays and list lengths:
names and nesting conventions of records may differ; numbers, lengths, strings and their order may not.
Readers run in processes of their own, with a memory limit, so that a crash or a hang costs one file."""

import argparse
import hashlib
import importlib
import json
import os
import resource
import select
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TREE_CLASSES = ("TTree", "TNtuple", "TNtupleD")
MEMORY_LIMIT = 8 << 30
FILES_PER_WORKER = 40


def digest(array):
    """Hash of an array's values in the machine's byte order, with all NaNs alike."""
    import numpy as np

    array = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="), copy=False))
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    return hashlib.md5(array.tobytes()).hexdigest()[:12]


def leaves(layout, out):
    """Appends (kind, digest) for every list level and leaf below an awkward layout, in order."""
    import awkward as ak
    import numpy as np

    if layout.is_indexed or layout.is_option:
        if layout.is_option:
            out.append(("none", digest(np.asarray(ak.is_none(ak.Array(layout))).astype("u1"))))
        leaves(layout.project(), out)
    elif layout.parameter("__array__") in ("string", "bytestring"):
        packed = ak.to_packed(ak.without_parameters(ak.Array(layout)), highlevel=False)
        counts = np.asarray(ak.num(ak.Array(packed), axis=1)).astype("i8")
        text = np.asarray(packed.content.data)[: int(counts.sum())].astype("u1")
        out.append(("text", digest(counts) + digest(text)))
    elif layout.is_record:
        for content in layout.contents:
            leaves(content[: layout.length], out)
    elif layout.is_list or layout.is_regular:
        array = ak.Array(layout)
        counts = np.asarray(ak.num(ak.without_parameters(array), axis=1)).astype("i8")
        out.append(("list", digest(counts)))
        leaves(ak.to_packed(array, highlevel=False).content[: int(counts.sum())], out)
    elif layout.is_union:
        out.append(("union", digest(np.frombuffer(str(ak.to_list(layout)).encode(), "u1"))))
    elif layout.is_numpy:
        array = np.ascontiguousarray(layout.data)
        while array.ndim > 1:
            out.append(("list", digest(np.full(array.shape[0], array.shape[1], "i8"))))
            array = array.reshape((-1, *array.shape[2:]))
        # uproot gives char as int8 or uint8 depending on the class: one byte is one byte.
        kind = array.dtype.newbyteorder("=").str[1:].replace("b1", "u1").replace("i1", "u1")
        out.append((kind, digest(array.view("u1") if kind == "u1" else array)))
    else:
        out.append((type(layout).__name__, ""))


def newest_trees(classnames, kinds=TREE_CLASSES):
    """Keys of the trees among `classnames`, without older cycles of the same name."""
    trees = [key for key, name in classnames.items() if name in kinds]
    newest = {}
    for key in trees:
        path, _, cycle = key.rpartition(";")
        newest[path] = max(newest.get(path, 0), int(cycle))
    return [key for key in trees if newest[key.rpartition(";")[0]] == int(key.rpartition(";")[2])]


def read_branches(reader, path):
    """Yields (tree, branch, read, summary or reason) for every branch without sub-branches."""
    import awkward as ak

    file = reader.open(path)
    for key in newest_trees(file.classnames(recursive=True)):
        try:
            tree = file[key]
            names = tree.keys(recursive=True)
        except Exception as error:
            yield key, "", False, f"{type(error).__name__}: {error}"[:200]
            continue
        for name in names:
            try:
                branch = tree[name]
                if len(getattr(branch, "branches", ()) or ()) > 0:
                    continue
                array = branch.array(library="ak")
                out = []
                leaves(ak.to_layout(array), out)
                yield key, name, True, [len(array), out]
            # A Rust panic reaches Python as a BaseException: it is a crash, and must not be taken for a refusal.
            except Exception as error:
                yield key, name, False, (f"{type(error).__name__}: {error}".splitlines() or [""])[0][:200]


def work(module):
    """Reads paths from standard input; answers JSON lines, then one line `null` a path."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    reader = importlib.import_module(module)
    for line in sys.stdin:
        try:
            for row in read_branches(reader, line.rstrip("\n")):
                print(json.dumps(row), flush=True)
        except Exception as error:
            print(json.dumps(["", "", False, f"{type(error).__name__}: {error}"[:200]]), flush=True)
        print("null", flush=True)


class Worker:
    """A process that reads files with one module; restarted after a crash, a timeout or FILES_PER_WORKER files."""

    def __init__(self, module, timeout):
        self.module, self.timeout = module, timeout
        self.process, self.served, self.buffer = None, 0, b""

    def read(self, path):
        """({(tree, branch): (read, value)}, None or what ended the process)."""
        if self.process is None or self.served >= FILES_PER_WORKER:
            self.close()
            command = [sys.executable, __file__, "--worker", self.module]
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            self.served, self.buffer = 0, b""
        self.served += 1
        self.process.stdin.write(f"{path}\n".encode())
        self.process.stdin.flush()
        deadline, rows = time.monotonic() + self.timeout, {}
        while True:
            line = self.next_line(deadline)
            if line is None:
                fault = f"timeout after {self.timeout:g} s" if self.process.poll() is None else "process ended"
                self.process.kill()
                fault += f", exit status {self.process.wait()}"
                self.close()
                return rows, fault
            row = json.loads(line)
            if row is None:
                return rows, None
            rows[row[0], row[1]] = (row[2], row[3])

    def next_line(self, deadline):
        while b"\n" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                return None
            chunk = os.read(self.process.stdout.fileno(), 1 << 16)
            if not chunk:
                self.process.wait()
                return None
            self.buffer += chunk
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.stdout.close()
            self.process.wait()
            self.process = None


def compare(ours, theirs, count, log, differences, name):
    """Adds one file's outcome to `count`, a line per disagreement to `log`, both sides of those to `differences`."""
    for key in sorted(set(ours) | set(theirs)):
        own, reference = ours.get(key, (False, "missing")), theirs.get(key, (False, "missing"))
        if not own[0] and not reference[0]:
            continue
        count["branches"] += 1
        if own[0] and reference[0]:
            same = own[1] == reference[1]
            count["equal" if same else "different"] += 1
            if not same:
                differences.append((name, *key, own[1], reference[1]))
                log.append(("DIFFERENT", name, *key, f"{str(own[1])[:150]} uproot {str(reference[1])[:150]}"))
        elif reference[0]:
            count["refused"] += 1
            log.append(("REFUSED", name, *key, own[1]))
        else:
            count["extra"] += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dir", type=Path)
    parser.add_argument("--reader", default="sapwood")
    parser.add_argument("--json", help="also writes the summary and the log there")
    parser.add_argument("--timeout", type=float, default=60, help="seconds a file")
    parser.add_argument("--limit", type=int, default=0, help="only about N files, evenly spread")
    parser.add_argument("--quiet", action="store_true", help="the last line only")
    options = parser.parse_args()
    files = sorted(options.dir.rglob("*.root"))
    if options.limit:
        files = files[:: max(1, len(files) // options.limit)]
    count = dict.fromkeys(("files", "branches", "equal", "different", "refused", "extra", "crashed"), 0)
    log, differences = [], []
    workers = Worker(options.reader, options.timeout), Worker("uproot", options.timeout)
    with ThreadPoolExecutor(2) as pool:
        for file in files:
            (ours, fault), (theirs, _) = pool.map(lambda worker, file=file: worker.read(file), workers)
            name = str(file.relative_to(options.dir))
            disagreed = [
                key
                for key, (read, value) in theirs.items()
                if read and ours.get(key, (False,))[0] and ours[key][1] != value
            ]
            if disagreed:
                # uproot reads some branches of some files from memory that nobody filled: what it does not read
                # the same result twice is not a reference.
                again, _ = workers[1].read(file)
                for key in disagreed:
                    if again.get(key) != theirs[key]:
                        log.append(("UNSTABLE", name, *key, "uproot reads other values each time"))
                        theirs[key] = (False, "unstable")
            count["files"] += 1
            if fault is not None:
                count["crashed"] += 1
                log.append(("CRASH", name, "", "", fault))
            compare(ours, theirs, count, log, differences, name)
    for worker in workers:
        worker.close()
    if not options.quiet:
        for line in log:
            print(*line)
    if options.json:
        Path(options.json).write_text(json.dumps({"summary": count, "log": log, "differences": differences}, indent=0))
    summary = "files {files}, branches {branches}: equal {equal}, different {different}, "
    summary += "refused {refused} (uproot reads them), extra {extra} (uproot cannot), crashed {crashed}"
    print(summary.format(**count))
    sys.exit(1 if count["different"] or count["crashed"] else 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        work(sys.argv[2])
    else:
        main()
