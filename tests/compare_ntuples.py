#!/usr/bin/env python3
"""Reads every field of every ntuple below a directory with Sapwood and compares with uproot, ROOT and expected values.

    compare_ntuples.py DIR [--without-root] [--entries 1000] [--timeout S] [--json OUT]

Expected values are a file NAME.json beside NAME.root, as in ROOT's collection of files to validate readers. uproot
reads all entries, ROOT (by ntuple_values.C) the first ones. Numbers are compared as numbers: a `double` that is
stored as `Real32` is float64 here and float32 in uproot. A line per disagreement; at the end:
    ntuples N, fields F: uproot U, ROOT R, expected J compared; different D, refused R (another reads them), crashed C
Exit status 0 when nothing differs, is refused or crashed."""

import argparse
import json
import math
import re
import resource
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
MEMORY_LIMIT = 8 << 30
KIND = "ROOT::RNTuple"
WHOLE = re.compile(r"std::u?int\d+_t")


def as_numbers(layout, **_):
    """Numbers as the widest of their kind, so that digests compare values and not types."""
    import awkward as ak
    import numpy as np

    if not layout.is_numpy:
        return None
    data = np.asarray(layout.data)
    wide = {"f": np.float64, "u": np.uint64, "i": np.int64, "b": np.int64}.get(data.dtype.kind)
    if wide is None or layout.parameter("__array__") is not None:
        return layout
    return ak.contents.NumpyArray(data.astype(wide).view(np.int64) if wide is np.uint64 else data.astype(wide))


def as_single(layout, **_):
    """Real numbers in single precision."""
    import awkward as ak
    import numpy as np

    if layout.is_numpy and np.asarray(layout.data).dtype.kind == "f":
        return ak.contents.NumpyArray(np.asarray(layout.data).astype(np.float32))
    return as_numbers(layout)


def read(module, path, entries):
    """A line for each row, and then null."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    for row in rows_of(module, path, entries):
        print(json.dumps(row), flush=True)
    print("null", flush=True)


def rows_of(module, path, entries):
    """A row for each field: ntuple, name, whether it was read, [length, digests] or the reason, first values, type,
    sum, digests in single precision."""
    import importlib

    import awkward as ak
    from compare_corpus import leaves

    file = importlib.import_module(module).open(path)
    for key, kind in sorted(file.classnames(recursive=True).items()):
        if kind != KIND:
            continue
        try:
            ntuple = file[key]
            names = list(ntuple.keys(recursive=True))
        except Exception as error:
            yield [key, "", False, f"{type(error).__name__}: {error}"[:200], None, ""]
            continue
        top = set(ntuple.keys(recursive=False)) if entries else set()
        yield [key, "", True, [ntuple.num_entries, names], None, ""]
        for name in names:
            try:
                array = ntuple[name].array(library="ak")
                out, rough = [], []
                leaves(ak.to_layout(ak.transform(as_numbers, array)), out)
                leaves(ak.to_layout(ak.transform(as_single, array)), rough)
                first = plain(ak.to_list(array[:entries])) if name in top else None
                kind = ntuple[name].typename
                total = int(ak.sum(array)) if WHOLE.fullmatch(kind) else None
                yield [key, name, True, [len(array), out], first, kind, total, rough]
            except Exception as error:
                yield [key, name, False, f"{type(error).__name__}: {error}"[:200], None, ""]


def in_order(value):
    """Lists of lists, in all depths, as the lists of their sorted items."""
    return sorted(map(in_order, value), key=str) if isinstance(value, list) else value


def plain(value):
    """Records and tuples as lists of their values; bytes as numbers."""
    if isinstance(value, dict):
        return [plain(v) for v in value.values()]
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return list(value) if isinstance(value, bytes) else value


def members(record):
    """The values of a record as its own members and then those of base classes, the last base first."""
    own = [v for k, v in record.items() if not k.startswith(":_")]
    bases = [members(v) for k, v in record.items() if k.startswith(":_")]
    return own + [value for base in reversed(bases) for value in base]


def same(ours, theirs):
    """Whether a value is the one that ROOT, or a file of expected values, describes."""
    if theirs == "?":
        # what the macro cannot show: variants
        return True
    if ours is None or theirs is None:
        return ours is theirs
    if isinstance(theirs, dict):
        if isinstance(ours, list) and same(ours, members(theirs)):
            return True
        # a map: its items are pairs
        return isinstance(ours, list) and same(ours, [[k, v] for k, v in theirs.items()])
    if isinstance(theirs, list):
        return isinstance(ours, list) and len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(theirs, str):
        if isinstance(ours, str):
            return ours == theirs
        if isinstance(ours, list):
            # a bitset, whose first bit is the last digit
            return "".join(str(int(b)) for b in reversed(ours)) == theirs
        number = float.fromhex(theirs) if "x" in theirs or theirs.strip("-") in ("inf", "nan") else float(theirs)
        return ours == number or (math.isnan(ours) and math.isnan(number))
    return isinstance(ours, int | float) and ours == theirs


def worker(module, path, entries, timeout):
    """({(ntuple, field): row}, None or what ended the process)."""
    words = [sys.executable, __file__, "--worker", module, str(path), str(entries)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return {}, f"timeout after {timeout:g} s"
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    if not rows or rows[-1] is not None:
        return {(r[0], r[1]): r[2:] for r in rows if r}, f"exit status {done.returncode}: {done.stderr[-200:]}"
    return {(r[0], r[1]): r[2:] for r in rows[:-1]}, None


def with_root(path, name, entries, timeout):
    """The first entries as ROOT reads them; None where it does not."""
    with tempfile.TemporaryDirectory(prefix="sapwood-ntuples-") as folder:
        out = Path(folder) / "values"
        call = f'{HERE / "ntuple_values.C"}("{path}", "{name}", {entries}, "{out}")'
        words = [Path(sys.executable).parent / "root", "-l", "-b", "-q", call]
        try:
            subprocess.run(words, capture_output=True, timeout=timeout, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return None
        lines = out.read_text().splitlines() if out.exists() else []
        return [json.loads(line) for line in lines[:-1]] if lines[-1:] == ["done"] else None


def against_values(ours, key, rows, source, name, count, log):
    """Compares the first entries of the fields at the top with rows that another wrote."""
    for field in rows[0] if rows else ():
        values = [row[field] for row in rows]
        count[source] += 1
        got = ours.get((key, field), (False, "missing", None, ""))
        if "unordered_" in got[3]:
            # each program has the items in an order of its own
            got, values = (*got[:2], [in_order(v) for v in got[2] or ()], ""), [in_order(v) for v in values]
        if not got[0]:
            count["refused"] += 1
            log.append(("REFUSED", name, key, field, got[1], source))
        elif got[2] is None or not same(got[2][: len(values)], values):
            count["different"] += 1
            log.append(("DIFFERENT", name, key, field, str(got[2])[:200], source, str(values)[:200]))


def against_sums(ours, key, sums, name, count, log):
    """Compares the sums of fields with those that are expected."""
    for field, expected in sums.items():
        count["expected"] += 1
        got = ours.get((key, field), (False, "missing", None, "", None))
        if not got[0] or got[4] != expected:
            count["different"] += 1
            log.append(("DIFFERENT", name, key, field, str(got[4]), "expected", str(expected)))


def against_uproot(ours, theirs, name, count, log):
    """Compares all entries of all fields, and the lists of names."""
    for (key, field), row in theirs.items():
        if not row[0]:
            continue
        count["uproot"] += 1
        got = ours.get((key, field), (False, "missing", None))
        if not got[0]:
            count["refused"] += 1
            log.append(("REFUSED", name, key, field, got[1], "uproot"))
        elif got[1] != row[1] and got[3] == "double" and got[5] == row[5]:
            # quantized numbers of a double, which uproot computes in single precision; ROOT does not
            count["rounded"] += 1
            log.append(("ROUNDED", name, key, field, "uproot reads a double in single precision"))
        elif got[1] != row[1] and "std::variant<" in got[3]:
            # their positions count from the beginning of a cluster, for uproot from that of the ntuple
            count["known"] += 1
            log.append(("KNOWN", name, key, field, "variants behind the first cluster are others in uproot"))
        elif got[1] != row[1] and field and same_but_pointers(got[1], row[1]):
            count["known"] += 1
            log.append(("KNOWN", name, key, field, "uproot reads a pointer as a list"))
        elif got[1] != row[1]:
            count["different"] += 1
            log.append(("DIFFERENT", name, key, field, str(got[1])[:200], "uproot", str(row[1])[:200]))


def same_but_pointers(ours, theirs):
    """Whether only those digests differ that are of optional values here and of lists there."""
    pairs = list(zip(ours[1], theirs[1], strict=False))
    alike = (list(a) == list(b) or (a[0], b[0]) == ("none", "list") for a, b in pairs)
    return ours[0] == theirs[0] and len(ours[1]) == len(theirs[1]) and all(alike)


def compare(path, name, options, count, log):
    """Adds one file's outcome to `count` and a line per disagreement to `log`."""
    theirs, _ = worker("uproot", path, 0, options.timeout)
    ours, fault = worker("sapwood", path, options.entries, options.timeout)
    if fault:
        count["crashed"] += 1
        log.append(("CRASH", name, fault))
    keys = [key for key, field in ours if field == ""]
    count["ntuples"] += len(keys)
    count["fields"] += sum(field != "" for _, field in ours)
    against_uproot(ours, theirs, name, count, log)
    for key in keys:
        rows = (
            None if options.without_root else with_root(path, key.partition(";")[0], options.entries, options.timeout)
        )
        if rows:
            against_values(ours, key, rows, "ROOT", name, count, log)
        elif rows is None and not options.without_root:
            log.append(("UNREAD", name, key, "ROOT does not read it"))
    expected = path.with_suffix(".json")
    if expected.exists() and len(keys) == 1:
        rows = json.loads(expected.read_text())
        # the sums of large files; attributes are no entries
        if isinstance(rows, dict) and all(isinstance(v, int) for v in rows.values()):
            against_sums(ours, keys[0], rows, name, count, log)
        elif rows and isinstance(rows, list) and set(rows[0]) <= {field for _, field in ours}:
            against_values(ours, keys[0], rows[: options.entries], "expected", name, count, log)
        elif rows:
            log.append(("UNREAD", name, keys[0], "expected values are not of entries"))


def run(files, options, say=print):
    """Compares files; counts, and lines."""
    count, log = Counter(), []
    for path, name in files:
        before = len(log)
        compare(path, name, options, count, log)
        for line in log[before:]:
            say(*line)
    return count, log


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dir", type=Path)
    parser.add_argument("--without-root", action="store_true", help="uproot and expected values only")
    parser.add_argument("--entries", type=int, default=1000, help="first entries that are compared with ROOT")
    parser.add_argument("--timeout", type=float, default=300, help="seconds a file")
    parser.add_argument("--json", type=Path, help="also writes the result there")
    options = parser.parse_args()
    # the class is named in the list of keys: files without it have no ntuple
    all_files = [p for p in sorted(options.dir.rglob("*.root")) if b"ROOT::RNTuple" in p.read_bytes()]
    count, log = run([(p, str(p.relative_to(options.dir))) for p in all_files], options)
    if options.json:
        options.json.write_text(json.dumps({"summary": count, "log": log}, indent=0))
    words = "ntuples {ntuples}, fields {fields}: uproot {uproot}, ROOT {ROOT}, expected {expected} compared; "
    words += "different {different}, refused {refused} (another reads them), crashed {crashed}"
    print(words.format_map({k: count[k] for k in (*count, "different", "refused", "crashed", "expected", "ROOT")}))
    sys.exit(1 if count["different"] or count["refused"] or count["crashed"] else 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        read(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        main()
