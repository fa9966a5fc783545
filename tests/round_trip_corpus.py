#!/usr/bin/env python3
"""Reads trees with Sapwood, writes them with Sapwood, reads what was written with Sapwood, uproot, ROOT, and compares.

    round_trip_corpus.py DIR [--limit N] [--entries N] [--branches N] [--json OUT] [--quiet]

A line per fault; at the end:
    files F, trees T, branches B: written W, refused R; other values by Sapwood S, uproot U, ROOT O; ROOT's words M
Exit status 0 when nothing differs and ROOT said nothing. ROOT is asked about all branches but classes,
of which it has no dictionaries; without uproot or ROOT that part is left out."""

import argparse
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import awkward as ak
from compare_corpus import leaves, newest_trees

import sapwood

HERE = Path(__file__).parent
CPP = {
    "int8_t": "char", "uint8_t": "unsigned char", "int16_t": "short", "uint16_t": "unsigned short",
    "int32_t": "int", "uint32_t": "unsigned int", "int64_t": "Long64_t", "uint64_t": "ULong64_t",
}  # fmt: skip


def facts(array):
    """What is compared of an array."""
    out = []
    leaves(ak.to_layout(array), out)
    return [len(array), out]


def parts(name, array):
    """The branches that an array becomes when it is written: a record has one for each field, a list of records of
    numbers, too."""
    layout = ak.to_layout(array)
    items = layout.content if layout.is_list and not layout.is_regular else layout
    numbers = items.is_record and all(c.is_numpy and c.data.ndim == 1 for c in items.contents)
    whole = items.is_record and items.is_tuple
    if whole or not (layout.is_record or numbers):
        return [(name, array)]
    pairs = [parts(f"{name}_{field}", array[field]) for field in ak.fields(array)]
    return [pair for inner in pairs for pair in inner]


def columns(tree, options):
    """(branch's name in its file, values) of all that can be read."""
    every = tree.keys(recursive=True)
    maps = {name for name in every if tree[name].typename.startswith("std::map<") and len(tree[name].branches) == 2}
    names = [name for name in every if name in maps or not (tree[name].branches or name.rpartition("/")[0] in maps)]
    step = max(1, len(names) // options.branches) if options.branches else 1
    for name in names[::step]:
        try:
            halves = tree[name].branches if name in maps else [tree[name]]
            arrays = [half.array(library="ak", entry_stop=options.entries or None) for half in halves]
        except sapwood.Error:
            continue
        array = ak.zip(tuple(arrays), depth_limit=2) if name in maps else arrays[0]
        if tree[name].typename.startswith("std::unordered_map<"):
            # in the order of nothing; ROOT reads what is written as std::map in the order of the keys
            array = ak.Array([sorted(pairs) for pairs in array.to_list()])
        yield name, ak.to_packed(array)


def writable(name, array, folder):
    """None, or why the writer refuses this branch."""
    try:
        with sapwood.recreate(folder / "trial.root") as file:
            file.mktree("trial", {name: array}).extend({name: array[:1]})
    except sapwood.Error as e:
        return str(e).splitlines()[0]
    return None


def write(path, out, options, count, log, folder):
    """Writes the trees of a file; what is expected of each branch, by tree and name."""
    expected = {}
    source = sapwood.open(path)
    with sapwood.recreate(out, compression=options.compression) as file:
        for number, key in enumerate(newest_trees(source.classnames(recursive=True))):
            data = {}
            try:
                tree = source[key]
            except sapwood.Error:
                continue
            for i, (name, array) in enumerate(columns(tree, options)):
                count["branches"] += 1
                why = writable(f"b{i}", array, folder)
                if why is not None:
                    count["refused"] += 1
                    log.append(("REFUSED", str(path), key, name, why))
                    continue
                data[f"b{i}"] = array
            if not data:
                continue
            count["trees"] += 1
            count["written"] += len(data)
            new = file.mktree(f"t{number}", data, auto_flush=options.auto_flush)
            entries = len(next(iter(data.values())))
            # in uneven batches, so that baskets and clusters do not end with them
            for start in range(0, entries, 333):
                new.extend({name: array[start : start + 333] for name, array in data.items()})
            expected[f"t{number}"] = {n: facts(a) for name, array in data.items() for n, a in parts(name, array)}
    return expected


def read(reader, path, expected):
    """Yields (tree, branch, what is wrong) of what a reader finds otherwise."""
    # uproot keeps classes by name from file to file by default
    file = reader.open(path) if reader is sapwood else reader.open(path, custom_classes=dict(reader.classes))
    for name, branches in expected.items():
        tree = file[name]
        for branch, wanted in branches.items():
            # uproot takes the headers of such objects for numbers, in files of ROOT's own as well
            if "AsJagged(AsStridedObjects" in str(getattr(tree[branch], "interpretation", "")):
                continue
            try:
                got = found(tree[branch])
            except Exception as e:
                # maps of strings or classes, some of them empty, are more than uproot knows; it says so
                if reader is not sapwood and "map<" in str(tree[branch].typename):
                    continue
                yield name, branch, f"{type(e).__name__}: {e}".splitlines()[0][:200]
                continue
            if got != wanted:
                yield name, branch, f"{got} instead of {wanted}"[:300]


def found(branch):
    """The facts of a branch; of a collection that was split, those of its members behind its counts."""
    if not branch.branches:
        return facts(branch.array(library="ak"))
    members = [found(member) for member in branch.branches]
    return [members[0][0], members[0][1][:1] + [fact for _, inner in members for fact in inner[1:]]]


def by_root(files, log):
    """Compares with what ROOT reads, in a process of its own: faults, and words that it said."""
    words = [sys.executable, "-W", "ignore", HERE / "oracle" / "dump_leaves.py"]
    trees = (sapwood.open(path)[tree] for path, expected in files for tree in expected)
    kinds = {tree[branch].typename for tree in trees for branch in tree.keys(recursive=True)}
    kinds = {re.sub(r"\bu?int\d+_t\b", lambda found: CPP[found[0]], k) for k in kinds if re.fullmatch(r"[\w:<>, ]+", k)}
    questions = "\n".join([json.dumps(sorted(kinds)), *(str(path) for path, _ in files)])
    done = subprocess.run(words, input=questions, capture_output=True, text=True, timeout=3000)
    answers = {}
    for line in done.stdout.splitlines():
        if line.startswith("ANSWER "):
            path, tree, branch, got = json.loads(line[7:])
            answers[path, tree, branch] = got
    faults = asked = 0
    for path, expected in files:
        for tree, branches in expected.items():
            for branch, wanted in branches.items():
                got = answers.get((str(path), tree, branch), "nothing")
                if got is None:
                    continue
                asked += 1
                if got != json.loads(json.dumps(flat(wanted))) and got != json.loads(json.dumps(wanted)):
                    faults += 1
                    log.append(("ROOT", str(path), tree, branch, f"{got} instead of {wanted}"[:300]))
    said = [line for line in done.stderr.splitlines() if line.strip()]
    log.extend(("SAID", "", "", "", line) for line in said[:20])
    if done.returncode:
        said.append(f"exit status {done.returncode}")
        log.append(("SAID", "", "", "", said[-1]))
    return faults, asked, len(said)


def flat(wanted):
    """The same where fixed arrays are one run of numbers, as leaves have them: the levels of lists but the first are
    left out, and that one too where all its lists have one length."""
    return [wanted[0], [wanted[1][-1]]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dir", type=Path)
    parser.add_argument("--limit", type=int, default=0, help="only about N files, evenly spread")
    parser.add_argument("--entries", type=int, default=0, help="only the first N entries of a tree")
    parser.add_argument("--branches", type=int, default=0, help="only about N branches of a tree, evenly spread")
    parser.add_argument("--compression", default="zlib:1")
    parser.add_argument("--auto-flush", type=int, default=500, help="entries of a cluster")
    parser.add_argument("--json", help="also writes the summary and the log there")
    parser.add_argument("--quiet", action="store_true", help="the last line only")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sources = sorted(options.dir.rglob("*.root"))
    if options.limit:
        sources = sources[:: max(1, len(sources) // options.limit)]
    names = "files", "trees", "branches", "written", "refused", "sapwood", "uproot", "root", "asked", "said"
    count, log, files = dict.fromkeys(names, 0), [], []
    readers = {"sapwood": sapwood}
    if importlib.util.find_spec("uproot") is not None:
        readers["uproot"] = importlib.import_module("uproot")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for i, source in enumerate(sources):
            out = folder / f"{i}.root"
            try:
                expected = write(source, out, options, count, log, folder)
            except sapwood.Error as e:
                log.append(("UNREAD", str(source), "", "", str(e).splitlines()[0]))
                continue
            count["files"] += 1
            for reader, module in readers.items():
                for fault in read(module, out, expected):
                    count[reader] += 1
                    log.append((reader.upper(), str(source), *fault))
            files.append((out, expected))
        if files and importlib.util.find_spec("ROOT") is not None:
            count["root"], count["asked"], count["said"] = by_root(files, log)
    if not options.quiet:
        for line in log:
            print(*line)
    if options.json:
        Path(options.json).write_text(json.dumps({"summary": count, "log": log}, indent=0))
    summary = (
        "files {files}, trees {trees}, branches {branches}: written {written}, refused {refused}; other values by "
    )
    summary += "Sapwood {sapwood}, uproot {uproot}, ROOT {root} (asked about {asked}); ROOT's words {said}"
    print(summary.format(**count), "" if len(readers) > 1 else "(uproot is not installed)")
    sys.exit(1 if count["sapwood"] or count["uproot"] or count["root"] or count["said"] else 0)


if __name__ == "__main__":
    main()
