#!/usr/bin/env python3
"""Damages small files a little and reads them: nothing may crash, hang, use unbounded memory, or return wrong values.

    mutate.py DIR... [--count 10000] [--seed 1] [--largest 200000] [--keep FOLDER] [--json OUT]

Each mutation is one of: bits flipped, bytes zeroed, cut out, put in, the file truncated, a length or position field
(of a key, the header, a byte count) exchanged. A mutated file is read in full by a process with a memory limit and a
time limit. What comes out for each branch is the same values, an error, or other values; other values are *told* where
a warning said that the file is damaged, *excused* where every byte changed lies in values that nothing in the format
protects (payloads that are not compressed, or without a checksum), and *silent* otherwise.

A line for each crash, hang and silent difference, with the seed that makes it again (`--only SEED`); at the end:
    mutations N: unharmed U, refused R, told T, excused E, silent S, crashed C, hung H
Exit status 0 when there is no silent difference, crash or hang."""

import argparse
import hashlib
import json
import os
import random
import resource
import select
import struct
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

#: What a reader may take beyond its libraries.
MEMORY = 2 << 30
#: Seconds of a processor for one small file, a hundred times what they take; and seconds in which there may be none.
PATIENCE, STANDSTILL = 20, 300
MOST_BRANCHES = 300
#: Codecs whose blocks have a checksum of what is in them; ROOT's Zstandard has none, nor has its first deflate.
CHECKED = (b"ZL", b"XZ", b"L4")
#: Ntuples: the class of the object in the directory, and that of the records with pages and metadata. All of it has
#: checksums.
NTUPLE, BLOB = "ROOT::RNTuple", "RBlob"

#: What lengths and positions become.
EXTREMES = (0, 1, 2, 0x7FFFFFFF, 0xFFFFFFFF, 0x40000000, 0x3FFFFFFF, 0x80000000)


def values_of(path):
    """{"tree/branch": digest of its values, or its error}, and whether a warning came."""
    import awkward as ak
    from compare_corpus import TREE_CLASSES, newest_trees

    import sapwood

    out = {}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            file = sapwood.open(path, threads=1)
            trees = newest_trees(file.classnames(recursive=True), (*TREE_CLASSES, NTUPLE))
        except Exception as error:
            return {"": "!" + type(error).__name__}, False
        for key in trees:
            try:
                tree = file[key]
                names = tree.keys(recursive=True)
            except Exception as error:
                out[key] = "!" + type(error).__name__
                continue
            for name in names:
                try:
                    branch = tree[name]
                    if branch.branches:
                        continue
                    form, length, buffers = ak.to_buffers(branch.array(library="ak"))
                    text = hashlib.md5(f"{form.type} {length}".encode())
                    for part in sorted(buffers):
                        text.update(buffers[part].tobytes())
                    out[f"{key}/{name}"] = text.hexdigest()
                except Exception as error:
                    out[f"{key}/{name}"] = "!" + type(error).__name__
    return out, bool(said)


def work():
    """Reads paths from standard input; answers a JSON line each."""
    import awkward  # noqa: F401

    import sapwood  # noqa: F401

    taken = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY, taken + MEMORY))
    print("READY", flush=True)
    for line in sys.stdin:
        print(json.dumps(values_of(line.rstrip("\n"))), flush=True)


class Reader:
    """A process that reads files, restarted when it crashes or hangs."""

    def __init__(self):
        self.process = None

    def read(self, path):
        """(values by branch, whether it warned), or a word for how the process ended."""
        if self.process is None:
            words = [sys.executable, "-W", "ignore", __file__, "--worker"]
            self.process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
            # the memory of loading the libraries does not count
            if self.process.stdout.readline() != "READY\n":
                raise SystemExit("the reader does not start")
        self.process.stdin.write(f"{path}\n")
        self.process.stdin.flush()
        begin, deadline = self.spent(), time.monotonic() + STANDSTILL
        while not select.select([self.process.stdout], [], [], PATIENCE)[0]:
            # on a busy machine a process may wait for long without having done anything
            if self.spent() - begin > PATIENCE or time.monotonic() > deadline:
                self.close()
                return "hung"
        line = self.process.stdout.readline()
        if not line:
            self.close()
            return "crashed"
        return json.loads(line)

    def spent(self):
        """Seconds of a processor that the process has taken."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self):
        """Ends the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None


def records(data):
    """(begin, end of the label, end, whether a checksum guards the payload, branch of a basket) of each record."""
    if data[:4] != b"root" or len(data) < 64:
        return
    at = struct.unpack_from(">i", data, 8)[0]
    while 0 < at + 26 < len(data):
        nbytes, version, length, _, label = struct.unpack_from(">iHiIH", data, at)
        if nbytes == 0:
            return
        end = min(at + abs(nbytes), len(data))
        if nbytes > 0:
            words = data[at + (34 if version > 1000 else 26) : at + label]
            name = words[9 : 9 + words[8]].decode("latin-1") if words[:8] == b"\x07TBasket" and len(words) > 8 else ""
            is_ntuple = words[: words[0] + 1][1:] in (NTUPLE.encode(), BLOB.encode()) if words else False
            checked = is_ntuple or (nbytes - label < length and bytes(data[at + label : at + label + 2]) in CHECKED)
            yield at, at + label, end, checked, name
        at += abs(nbytes)


def excused(spans, changed, branch):
    """Whether nothing could tell: all that changed, in a branch's own baskets and elsewhere, is in payloads
    without a checksum."""
    own = branch.rpartition("/")[2].split("[")[0]

    def free(begin, end):
        for first, payload, last, checked, name in spans:
            touched = begin < last and end > first and (not name or name.split("[")[0] == own)
            if touched and (checked or max(begin, first) < payload):
                return False
        return bool(spans) and begin >= spans[0][0]

    return all(free(begin, end) for begin, end in changed)


def changes(before, after):
    """The bytes that are others, as (begin, end); None where what follows has moved."""
    if len(before) != len(after):
        return None
    return [(i, i + 1) for i, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]


def mutate(data, rng, spans):
    """The damaged bytes, and what was done."""
    data = bytearray(data)
    kind = rng.choice(["flip", "flip", "zero", "cut", "insert", "short", "length", "length", "count"])
    at = rng.randrange(len(data))
    if rng.random() < 0.3 and spans:
        # labels are a small part of a file and most of what it is read by
        first, payload, *_ = rng.choice(spans)
        at = rng.randrange(first, max(first + 1, min(payload, len(data))))
    if kind == "flip":
        n = rng.choice([1, 1, 1, 4])
        places = [min(len(data) - 1, at + rng.randrange(8)) for _ in range(n)]
        for place in places:
            data[place] ^= 1 << rng.randrange(8)
        return data, f"{n} bits at {at}"
    if kind == "zero":
        n = min(rng.choice([1, 4, 16, 100, 1000]), len(data) - at)
        data[at : at + n] = bytes(n)
        return data, f"{n} bytes zeroed at {at}"
    if kind == "cut":
        n = rng.choice([1, 3, 8, 100])
        del data[at : at + n]
        return data, f"{n} bytes cut out at {at}"
    if kind == "insert":
        n = rng.choice([1, 3, 8, 100])
        data[at:at] = rng.randbytes(n)
        return data, f"{n} bytes put in at {at}"
    if kind == "short":
        del data[at:]
        return data, f"truncated at {at}"
    value = rng.choice([*EXTREMES, len(data), rng.getrandbits(32)])
    if kind == "length" and spans:
        # the fields of a label: length, version, length of the object, time, length of the label, cycle, positions
        first = rng.choice(spans)[0]
        at = first + rng.choice([0, 6, 14, 18, 22])
    elif kind == "length":
        at = rng.choice([8, 12, 16, 20, 24, 28])
    at = max(0, min(at, len(data) - 4))
    struct.pack_into(">I", data, at, value)
    return data, f"{value:#x} written at {at}"


def others_of(before, after):
    """The branches whose values are other ones, without any error."""
    read = {k: v for k, v in after.items() if not v.startswith("!")}
    return [k for k, v in read.items() if not before.get(k, "!").startswith("!") and before[k] != v]


def judge(before, answer, spans, data, damaged):
    """One word for what came of a mutation, and the branches it is about."""
    if isinstance(answer, str):
        return answer, []
    after, warned = answer
    others = others_of(before, after)
    if not others:
        return ("unharmed" if all(after.get(k) == v for k, v in before.items()) else "refused"), []
    if warned:
        return "told", others
    changed = changes(data, damaged)
    lies = [k for k in others if changed is None or not excused(spans, changed, k)]
    return ("silent", lies) if lies else ("excused", others)


def inputs(folders, largest):
    """Small files that have trees: (path, bytes, values)."""
    reader, chosen = Reader(), []
    for folder in folders:
        for path in sorted(Path(folder).rglob("*.root")):
            if not 300 < path.stat().st_size <= largest:
                continue
            answer = reader.read(path)
            if isinstance(answer, str):
                continue
            read = sum(not v.startswith("!") for v in answer[0].values())
            # beyond, one file takes the time of many
            if 0 < read <= MOST_BRANCHES:
                chosen.append((path, path.read_bytes(), answer[0]))
    reader.close()
    return chosen


def run(chosen, count, seed, keep=None, say=print):
    """Mutates `count` times; how often what came of it, and what is wrong."""
    tally, wrong, reader = Counter(), [], Reader()
    with tempfile.TemporaryDirectory(prefix="sapwood-mutate-") as folder:
        path = Path(folder) / "mutated.root"
        for number in range(seed, seed + count):
            rng = random.Random(number)
            name, data, before = rng.choice(chosen)
            spans = list(records(data))
            damaged, what = mutate(data, rng, spans)
            path.write_bytes(damaged)
            word, others = judge(before, reader.read(path), spans, data, damaged)
            tally[word] += 1
            if word in ("silent", "crashed", "hung"):
                wrong.append((word, number, str(name), what, others[:3]))
                say(*wrong[-1], flush=True)
                if keep:
                    (Path(keep) / f"{word}-{number}.root").write_bytes(damaged)
    reader.close()
    return tally, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dirs", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1, help="the first of the seeds")
    parser.add_argument("--only", type=int, help="one seed")
    parser.add_argument("--largest", type=int, default=200_000, help="bytes of the files taken")
    parser.add_argument("--keep", type=Path, help="where to leave the files that were read wrongly")
    parser.add_argument("--json", type=Path, help="also writes the result there")
    options = parser.parse_args()
    chosen = inputs(options.dirs, options.largest)
    seed, count = (options.seed, options.count) if options.only is None else (options.only, 1)
    tally, wrong = run(chosen, count, seed, options.keep)
    if options.json:
        options.json.write_text(json.dumps({"files": len(chosen), "tally": tally, "wrong": wrong}, indent=0))
    words = ("unharmed", "refused", "told", "excused", "silent", "crashed", "hung")
    print(f"files {len(chosen)}, mutations {count}: " + ", ".join(f"{word} {tally[word]}" for word in words))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        work()
    else:
        main()
