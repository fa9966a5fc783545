#!/usr/bin/env python3
"""Appends the first entries of each tree of real files to itself, and compares old and new entries by three readers.

    append_corpus.py DIR [--limit N] [--bytes N] [--entries N] [--no-root] [--quiet]

A line per tree that is refused or comes out otherwise; at the end:
    files F, trees T: appended A, refused R; other values by Sapwood S, uproot U, ROOT O (of N leaves)
Exit status 0 when no value differs. What another reader does not read of the
original, or reads wrongly, is not asked of it."""

import argparse
import importlib.util
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import awkward as ak
from compare_corpus import leaves, newest_trees

import sapwood

HERE = Path(__file__).parent
NAMES = "files", "trees", "appended", "refused", "sapwood", "uproot", "root", "asked"


def same(one, two):
    """Whether two arrays hold the same, bit by bit where they hold numbers."""
    return ak.array_equal(one, two, equal_nan=True, dtype_exact=False) or one.to_list() == two.to_list()


def facts(array):
    """The numbers and lengths of an array, whatever its types are called."""
    out = []
    leaves(ak.to_layout(array), out)
    return out


def differences(reader, old, new, key, count):
    """The branches that a reader finds otherwise."""
    open_file = (
        (lambda p: reader.open(p, custom_classes=dict(reader.classes))) if reader is not sapwood else reader.open
    )
    one, two = open_file(str(old))[key], open_file(str(new))[key]
    for name in one.keys(recursive=True):
        if one[name].branches:
            continue
        try:
            before = one[name].array(library="ak")
            if reader is not sapwood and facts(before) != facts(sapwood.open(old)[key][name].array(library="ak")):
                continue
        except Exception:
            continue
        try:
            after = two[name].array(library="ak")
            good = same(after[: len(before)], before) and same(after[len(before) :], before[:count])
        except Exception as e:
            yield f"{name}: {type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}"[:250]
            continue
        if not good:
            yield name


def append(new, key, entries):
    """Appends the first entries of a tree to itself: how many they were."""
    tree = sapwood.open(new)[key]
    count = min(entries, tree.num_entries)
    with sapwood.update(new) as file:
        writer = file[key]
        writer.extend(given(tree, count))
    return count


def given(tree, count):
    """All columns of a tree in its first entries, under the names that it has for them."""
    names = [name for name in tree.keys(recursive=True) if not tree[name].branches]
    return {name: tree[name].array(library="ak", entry_stop=count) for name in names}


def check(old, folder, options, count, log):
    """Appends to each tree of a file and compares."""
    source = sapwood.open(old)
    for key in newest_trees(source.classnames(recursive=True)):
        try:
            if not source[key].num_entries:
                continue
        except sapwood.Error:
            continue
        count["trees"] += 1
        new = folder / "new.root"
        shutil.copy(old, new)
        try:
            n = append(new, key, options.entries)
        except (sapwood.Error, ValueError, TypeError) as e:
            count["refused"] += 1
            log.append(("REFUSED", str(old), key, str(e).splitlines()[0][:300]))
            continue
        count["appended"] += 1
        readers = {"sapwood": sapwood}
        if importlib.util.find_spec("uproot") is not None:
            readers["uproot"] = importlib.import_module("uproot")
        for reader, module in readers.items():
            for fault in differences(module, old, new, key, n):
                count[reader] += 1
                log.append((reader.upper(), str(old), key, fault))
        if options.root and importlib.util.find_spec("ROOT") is not None:
            asked, faults = by_root(old, new, folder, key, n)
            count["asked"] += asked
            count["root"] += len(faults)
            log.extend(("ROOT", str(old), key, leaf) for leaf in faults)


def by_root(old, new, folder, key, entries):
    """How many leaves ROOT was asked for, and what it finds otherwise; in a process of its own."""
    plain = folder / "plain.root"
    plain.unlink(missing_ok=True)
    try:
        sapwood.optimize(old, plain)
    except sapwood.Error:
        return 0, []
    words = [sys.executable, "-W", "ignore", HERE / "oracle" / "appended_leaves.py", old, plain, new, key, str(entries)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600)
    said = [line.partition(" ") for line in done.stdout.splitlines()]
    if "READ" not in [word for word, _, _ in said]:
        return 0, []
    asked = [int(rest) for word, _, rest in said if word == "ASKED"]
    faults = [rest for word, _, rest in said if word == "LEAF"]
    if not asked:
        faults.append("ROOT did not get through it, but through the old one")
    return sum(asked), faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dir", type=Path)
    parser.add_argument("--limit", type=int, default=0, help="only about N files, evenly spread")
    parser.add_argument("--bytes", type=int, default=1_000_000, help="only files of at most so many bytes")
    parser.add_argument("--entries", type=int, default=17, help="entries that are appended")
    parser.add_argument("--no-root", dest="root", action="store_false", help="do not ask ROOT")
    parser.add_argument("--quiet", action="store_true", help="the last line only")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    files = sorted(path for path in options.dir.rglob("*.root") if path.stat().st_size <= options.bytes)
    if options.limit:
        files = files[:: max(1, len(files) // options.limit)]
    count, log = dict.fromkeys(NAMES, 0), []
    with tempfile.TemporaryDirectory() as name:
        for path in files:
            count["files"] += 1
            try:
                check(path, Path(name), options, count, log)
            except sapwood.Error as e:
                log.append(("UNREAD", str(path), "", str(e).splitlines()[0]))
    if not options.quiet:
        for line in log:
            print(*line)
    summary = "files {files}, trees {trees}: appended {appended}, refused {refused}; other values by "
    print((summary + "Sapwood {sapwood}, uproot {uproot}, ROOT {root} (of {asked} leaves)").format(**count))
    sys.exit(1 if count["sapwood"] or count["uproot"] or count["root"] else 0)


if __name__ == "__main__":
    main()
