"""Compares every object that is not a tree, in every file of a directory, with what uproot reads: member by member.

    python tests/compare_objects.py CORPUS [--json OUT]

Prints a line for each object that differs, that we cannot read though uproot can, or that neither reads.
"""

import argparse
import json
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import uproot

import sapwood
from sapwood.objects.unread import Unread

SKIPPED = ("TTree", "TNtuple", "TNtupleD", "TDirectory", "TDirectoryFile")
DEEPEST = 30
#: Where uproot differs, and ROOT has what sapwood has: the parent of a function is the histogram that it was fitted to
#: (uproot takes a base class for it), the volumes of a geometry likewise, arrays of TString, a TClonesArray's class,
#: which is a Python class there, and the elements of symmetric matrices, of which uproot has the upper triangle.
UPROOTS_WAY = ("fParent", "fMother", "fVolume", "fExpr", "fClass", "fElements")
#: References of geometries that lead back: None in uproot.
BACK = ("fNodes",)


def same_numbers(a, b):
    """Whether two arrays are the same, whatever their byte order; nan is nan."""
    a, b = np.asarray(a), np.asarray(b)
    if a.size == 0 and b.size == 0:
        return True
    if a.shape != b.shape and a.size == b.size:
        b = b.reshape(a.shape)
    if a.shape != b.shape:
        return False
    if a.dtype.kind == "f" or b.dtype.kind == "f":
        return bool(np.all((a == b) | ((a != a) & (b != b))))
    return bool(np.all(a == b))


def members(thing):
    """A uproot model's members, as uproot has them."""
    return {k: v for k, v in thing.all_members.items() if isinstance(k, str) and not k.startswith("@")}


def difference(ours, theirs, where, depth=0):
    """What differs first between our value and uproot's, in words; None when nothing does."""
    if depth > DEEPEST:
        return None
    if isinstance(theirs, uproot.model.UnknownClass) or isinstance(ours, Unread):
        return None
    if isinstance(theirs, (str, bytes)) or isinstance(ours, str):
        theirs = theirs.decode("utf-8", "surrogateescape") if isinstance(theirs, bytes) else theirs
        return None if str(ours) == str(theirs) else f"{where}: {ours!r}, uproot has {theirs!r}"
    if isinstance(theirs, uproot.models.TArray.Model_TArray):
        return None if same_numbers(ours, np.asarray(theirs)) else f"{where}: numbers differ"
    if isinstance(theirs, (uproot.models.TList.Model_TList, uproot.models.TObjArray.Model_TObjArray)):
        return sequences(list(ours), list(theirs), where, depth)
    if isinstance(theirs, uproot.model.Model):
        if not hasattr(ours, "all_members"):
            if hasattr(theirs, "_values") or not members(theirs):
                return None
            return f"{where}: {type(ours).__name__} {ours!r:.80}, uproot has {theirs!r:.80}"
        mine = ours.all_members
        for name, value in members(theirs).items():
            if name in UPROOTS_WAY or (name in BACK and value is None):
                continue
            if name in ("fBits", "fUniqueID") and not hasattr(ours, "_bases"):
                continue
            if name not in mine:
                if name in ("fSize", "fDims", "fNclass") or value is None:
                    continue
                return f"{where}.{name}: missing; it has {list(mine)[:20]}"
            found = difference(mine[name], value, f"{where}.{name}", depth + 1)
            if found:
                return found
        return None
    if isinstance(theirs, np.ndarray):
        if theirs.dtype == object or theirs.dtype.names or isinstance(ours, list):
            return sequences(list(np.ravel(np.asarray(ours, dtype=object))), list(theirs.ravel()), where, depth)
        return None if same_numbers(ours, theirs) else f"{where}: {ours!r:.60}, uproot has {theirs!r:.60}"
    if isinstance(theirs, uproot.containers.Container):
        if isinstance(theirs, uproot.containers.STLMap):
            pairs = list(ours.items()) if isinstance(ours, dict) else list(ours)
            return sequences(
                [x for pair in pairs for x in pair], [x for pair in theirs.items() for x in pair], where, depth
            )
        return sequences(list(ours), list(theirs), where, depth)
    if isinstance(theirs, (list, tuple)):
        return sequences(list(ours), list(theirs), where, depth)
    if theirs is None or ours is None:
        return None if ours is None and theirs is None else f"{where}: {ours!r:.80}, uproot has {theirs!r:.80}"
    try:
        same = bool(ours == theirs) or (ours != ours and theirs != theirs)
    except (TypeError, ValueError):
        same = False
    return None if same else f"{where}: {ours!r:.80}, uproot has {theirs!r:.80}"


def sequences(ours, theirs, where, depth):
    """The first difference between two sequences."""
    if len(ours) != len(theirs):
        return f"{where}: {len(ours)} items, uproot has {len(theirs)}"
    for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        found = difference(a, b, f"{where}[{i}]", depth + 1)
        if found:
            return found
    return None


def behaviour(ours, theirs):
    """What histograms and graphs say of themselves: values, errors, edges, labels, with and without overflow."""
    calls = []
    if hasattr(theirs, "axes") and hasattr(ours, "axes"):
        for flow in (False, True):
            calls += [(f"{name}({flow})", name, (flow,)) for name in ("values", "errors", "variances", "counts")]
        for i, (a, b) in enumerate(zip(ours.axes, theirs.axes, strict=True)):
            for flow in (False, True):
                for name in ("edges", "centers", "widths", "intervals"):
                    if not same_numbers(getattr(a, name)(flow), getattr(b, name)(flow)):
                        return f"axis {i} {name}({flow}) differs"
    elif hasattr(theirs, "values") and hasattr(theirs, "member") and theirs.classname.startswith("TGraph"):
        calls = [("values('x')", "values", ("x",)), ("values('y')", "values", ("y",))]
    for said, name, arguments in calls:
        a, b = getattr(ours, name)(*arguments), getattr(theirs, name)(*arguments)
        if not np.allclose(a, b, rtol=1e-14, atol=0, equal_nan=True):
            return f"{said} differs: {a!r:.80} {b!r:.80}"
    return None


def compare(path, count, log):
    """Compares the objects of one file."""
    try:
        theirs = uproot.open(path)
    except Exception as error:
        theirs, reason = None, str(error)
    try:
        file = sapwood.open(path)
    except Exception as error:
        if theirs is not None:
            count["not opened"] += 1
            log.append(["NOT OPENED", str(path), "", "", str(error)])
        return
    for key, kind in file.classnames().items():
        if kind in SKIPPED:
            continue
        count["objects"] += 1
        try:
            ours = file[key]
        except sapwood.Error as error:
            try:
                if theirs is None:
                    raise ValueError(reason)
                read = not isinstance(theirs[key], uproot.model.UnknownClass)
            except Exception:
                read = False
            count["refused, uproot reads it" if read else "refused by both"] += 1
            log.append(["REFUSED" if read else "NEITHER", str(path), key, kind, str(error)])
            continue
        try:
            if theirs is None:
                raise ValueError(reason)
            expected = theirs[key]
            if isinstance(expected, uproot.model.UnknownClass):
                raise ValueError("unknown to uproot")
        except Exception:
            count["extra"] += 1
            continue
        found = difference(ours, expected, key)
        try:
            found = found or behaviour(ours, expected)
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
        count["different" if found else "equal"] += 1
        if found:
            log.append(["DIFFERENT", str(path), key, kind, found])


def main():
    """Runs the comparison and prints it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    count, log = Counter(), []
    for path in sorted(options.corpus.rglob("*.root")):
        compare(path, count, log)
    for line in log:
        print(*line)
    print(", ".join(f"{name} {n}" for name, n in count.items()))
    if options.json:
        options.json.write_text(json.dumps({"summary": count, "log": log}))
    return 1 if count["different"] or count["refused, uproot reads it"] else 0


if __name__ == "__main__":
    sys.exit(main())
