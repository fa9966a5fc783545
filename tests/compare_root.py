#!/usr/bin/env python3
"""Compares what Sapwood reads of every branch below a directory with what ROOT has in memory, value by value.

    compare_root.py DIR [--entries N] [--limit N] [--only GLOB] [--extra] [--json OUT] [--timeout S] [--library LIB]

ROOT reads each branch by itself with GetEntry, in a process of its own; oracle/values.C walks the class descriptions
over the memory and prints the values. Compared are the first, middle and last N/3 entries of every branch without
sub-branches, member by member: numbers to the bit, lengths, strings, and the classes behind pointers.
`--extra`: only branches that uproot does not read. `--library`: dictionaries for ROOT, which without them does not know
what some classes look like in memory (maps of strings, C arrays). A line per disagreement, and at the end:
    files F, branches B: equal E, different D, refused R (ROOT reads them), incomparable I, unread by ROOT U, crashed C
`incomparable`: ROOT's memory has nothing of that name (its class is another one, or it is not described).
Exit status 0 when nothing differs and ROOT reads nothing that is refused."""

import argparse
import contextlib
import fnmatch
import json
import math
import os
import resource
import select
import signal
import subprocess
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: Bits of a TObject that live in memory alone: kMustCleanup, kIsOnHeap, kNotDeleted.
MEMORY_BITS = 0x8 | 0x01000000 | 0x02000000
MEMORY_LIMIT = 6 << 30
#: What ROOT's words show as lists.
CONTAINERS = ("TList", "TObjArray", "TClonesArray", "TMap", "THashList")
#: Bytes of ROOT's words for one branch, at most.
MOST_BYTES = 8 << 20


def sample(entries, most):
    """The first, the middle and the last entries, `most` in all."""
    third = max(1, most // 3)
    middle = max(0, entries // 2 - third // 2)
    chosen = {*range(min(third, entries)), *range(middle, min(middle + third, entries))}
    return sorted(chosen | set(range(max(0, entries - third), entries)))


# ---- ROOT's side -----------------------------------------------------------------------------------------------------


def branches_of(holder, prefix=""):
    """(path, branch) of every branch without sub-branches."""
    for branch in holder.GetListOfBranches():
        path = prefix + str(branch.GetName())
        if branch.GetListOfBranches().GetEntries():
            yield from branches_of(branch, path + "/")
        else:
            yield path, branch


def formula(tree, branch, entry):
    """The values of a branch in one entry, flat, as TTree::Draw has them; None where it has none."""
    for name in (str(branch.GetFullName()), str(branch.GetName())):
        n = tree.Draw(name, "", "goff", 1, entry)
        if n >= 0 and tree.GetV1():
            return [tree.GetV1()[i] for i in range(n)]
    return None


def work(library=None):
    """Answers [file, tree, branch, number of the branch, most entries] lines with what ROOT has, one line each.

    Each file has a process of its own, forked from one that has loaded ROOT: classes of the same name in different
    files would be one in memory, and a crash costs one branch."""
    import ROOT

    ROOT.gErrorIgnoreLevel = ROOT.kFatal
    ROOT.gROOT.SetBatch(True)
    if library and ROOT.gSystem.Load(library) < 0:
        raise SystemExit(f"{library}: ROOT does not load it")
    if not ROOT.gInterpreter.Declare((HERE / "oracle" / "values.C").read_text()):
        raise SystemExit("oracle/values.C does not compile")
    ROOT.oracle.entry  # noqa: B018  compiled before the first fork
    ROOT.oracle.listen()
    print("READY", flush=True)
    child, current = None, None
    for line in sys.stdin:
        path, *_, drawn = json.loads(line)
        if child is None or path != current or drawn is not None:
            if child is not None:
                child.end()
            child, current = Fork(ROOT), path
        answer = child.ask(line)
        if answer is None:
            child.end()
            child, answer = None, json.dumps({"error": "ROOT crashes"})
        print("ANSWER " + answer, flush=True)


class Fork:
    """A copy of this process that answers questions about one file."""

    def __init__(self, root):
        here, there = os.pipe(), os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            # a crash ends the process, without a debugger's account of it
            for fatal in (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT):
                signal.signal(fatal, signal.SIG_DFL)
            os.close(here[1])
            os.close(there[0])
            with os.fdopen(here[0]) as questions, os.fdopen(there[1], "w") as answers:
                kept = {}
                for line in questions:
                    print(json.dumps(answer(root, kept, *json.loads(line))), file=answers, flush=True)
            os._exit(0)
        os.close(here[0])
        os.close(there[1])
        self.questions, self.answers = os.fdopen(here[1], "w"), os.fdopen(there[0])

    def ask(self, line):
        """The answer; None when the process ended."""
        with contextlib.suppress(BrokenPipeError):
            self.questions.write(line)
            self.questions.flush()
        return self.answers.readline().rstrip("\n") or None

    def end(self):
        """Ends the process."""
        with contextlib.suppress(BrokenPipeError):
            self.questions.close()
        self.answers.close()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def answer(root, kept, path, name, branch, number, most, drawn):
    """What ROOT has of some entries of a branch; `kept` holds the file and its trees. `drawn`: the entry that
    TTree::Draw is asked about instead."""
    try:
        if "file" not in kept:
            kept["file"] = root.TFile.Open(path)
        if name not in kept:
            tree = kept["file"].Get(name) if kept["file"] else None
            found = {}
            for way, one in branches_of(tree) if tree else ():
                found.setdefault(way, []).append(one)
            kept[name] = found, tree
        at = kept[name][0].get(branch, [])
        if number >= len(at):
            return {"error": "ROOT has no such branch"}
        if drawn is not None:
            # in a process that has read nothing else: what TTree::Draw reads of an entry, if it is a number
            return {"drawn": formula(kept[name][1], at[number], drawn)}
        entries, values, size = int(at[number].GetEntries()), [], 0
        chosen = sample(entries, most)
        for entry in chosen:
            text = str(root.oracle.entry(at[number], entry))
            size += len(text)
            if size > MOST_BYTES:
                break
            values.append(json.loads(text))
        done = {"entries": entries, "chosen": chosen[: len(values)], "values": values}
        return done | {"complaint": str(root.oracle.complaint)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:200]}


class Root:
    """ROOT in a process of its own, restarted when it crashes or hangs."""

    def __init__(self, timeout, library=None):
        self.timeout, self.library, self.process = timeout, library, None

    def ask(self, *question):
        """ROOT's answer; what ended the process is an error."""
        if self.process is None:
            words = [sys.executable, "-W", "ignore", __file__, "--worker", *([self.library] if self.library else [])]
            self.process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                start_new_session=True,
            )
            if self.process.stdout.readline() != "READY\n":
                raise SystemExit("ROOT does not start, or does not compile oracle/values.C")
        deadline = time.monotonic() + self.timeout
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(question) + "\n")
            self.process.stdin.flush()
        while True:
            ready = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))[0]
            line = self.process.stdout.readline() if ready else ""
            if line.startswith("ANSWER "):
                return json.loads(line[7:])
            if not line:
                self.close()
                return {"error": "ROOT crashes" if ready else "ROOT hangs"}

    def close(self):
        """Ends the process."""
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None


# ---- comparison ------------------------------------------------------------------------------------------------------


class Incomparable(Exception):
    """ROOT's memory does not say."""


def flat(value):
    """All numbers of nested lists, in order."""
    if isinstance(value, list):
        return [x for item in value for x in flat(item)]
    return [value]


def flat_numbers(value):
    """All numbers of nested lists and records, in order."""
    items = value.values() if isinstance(value, dict) else value
    return (
        [x for item in items for x in flat_numbers(item)] if isinstance(items, (list, type({}.values()))) else [items]
    )


def same_number(ours, theirs, name):
    if isinstance(theirs, float) or isinstance(ours, float):
        return ours == theirs or (math.isnan(ours) and math.isnan(theirs))
    if name == "fBits":
        return (ours ^ theirs) & ~MEMORY_BITS & 0xFFFFFFFF == 0
    # an Int_t that counts is unsigned here; char is one byte, with sign or without
    return ours == theirs or (ours - theirs) in (1 << 32, -(1 << 32), 256, -256)


def is_graph(record):
    """Whether a record is an entry's own value and tables of the objects that it points to."""
    tables = [v for k, v in record.items() if k != "object"]
    return next(iter(record), "") == "object" and bool(tables) and all(isinstance(t, list) for t in tables)


class Link:
    """A pointer into the tables of a graph."""

    def __init__(self, tables, cls, index):
        self.tables, self.cls, self.index = tables, cls, index

    def item(self, theirs):
        """The object; the class of one that may be of one class only is ROOT's."""
        if self.index < 0:
            return None
        table = self.tables.get(self.cls or theirs["@class"], ())
        if self.index >= len(table):
            raise Incomparable("a pointer whose class nothing says")
        return linked(self.tables, table[self.index])


def linked(tables, value):
    """A value with the links in it as such."""
    if isinstance(value, dict) and list(value) == ["class", "index"]:
        return Link(tables, value["class"], value["index"])
    if isinstance(value, dict):
        return {k: linked(tables, v) for k, v in value.items()}
    if isinstance(value, list):
        return [linked(tables, v) for v in value]
    return Link(tables, "", value) if isinstance(value, int) and not isinstance(value, bool) else value


def objects_of(record):
    """What the fields of a pointer to several classes hold: [(class, object)]; None when it is not such a record."""
    if not record or not all(isinstance(v, list) and all(isinstance(x, dict) for x in v) for v in record.values()):
        return None
    return [(name, item) for name, items in record.items() for item in items]


def difference(ours, theirs, where, name=""):
    """What differs first, in words; None when nothing does."""
    if isinstance(theirs, dict) and "@unknown" in theirs:
        raise Incomparable(theirs["@unknown"])
    if isinstance(ours, Link):
        list_of_objects = isinstance(theirs, list) and all(isinstance(x, dict) for x in theirs)
        holding = [name for name in CONTAINERS if ours.index < len(ours.tables.get(name, ()))]
        if not ours.cls and list_of_objects and len(holding) == 1:
            # a pointer to a container, which has no class in ROOT's words
            (name,) = holding
            return difference(Link(ours.tables, name, ours.index), theirs, where)
        if not ours.cls and isinstance(theirs, str) and "TString" in ours.tables:
            # a pointer to a string; ROOT's words have none where there is none
            return difference(ours.tables["TString"][ours.index] if ours.index >= 0 else "", theirs, where)
        if not ours.cls and theirs is not None and not isinstance(theirs, dict):
            # a number after all
            ours = ours.index
        else:
            if theirs is None and ours.index >= 0:
                return f"{where}: a link to {ours.cls} {ours.index}, ROOT has a null pointer"
            item = ours.item(theirs)
            if (item is None) != (theirs is None):
                return f"{where}: a link to {ours.cls} {ours.index}, ROOT has {theirs!r:.60}"
            if isinstance(theirs, dict) and ours.cls and theirs.get("@class") != ours.cls:
                raise Incomparable(f"an object of class {ours.cls} here, ROOT says {theirs.get('@class')}")
            return None if item is None else difference(item, theirs, where)
    if ours is None and theirs is None:
        return None
    if isinstance(ours, bytes):
        ours = ours.decode("latin-1")
    if isinstance(theirs, str):
        if isinstance(ours, list):
            items = flat(ours)
            if len(items) == 1 and isinstance(items[0], str):
                # a pointer to it
                return difference(items[0], theirs, where, name)
            if not all(isinstance(x, int) for x in items):
                return f"{where}: {ours!r:.60}, ROOT has one string {theirs!r:.60}"
            ours = "".join(chr(x & 255) for x in items)
        elif isinstance(ours, str):
            ours = ours.encode("utf-8", "surrogateescape").decode("latin-1")
        return None if ours == theirs else f"{where}: {ours!r:.60}, ROOT has {theirs!r:.60}"
    if isinstance(ours, dict):
        return record_difference(ours, theirs, where)
    if isinstance(ours, tuple):
        # a map's pair
        return record_difference({"0": ours[0], "1": ours[1]}, theirs, where)
    if isinstance(ours, list):
        if theirs is None or isinstance(theirs, dict):
            # a pointer is a list of no or one object
            theirs = [] if theirs is None else [theirs]
        if not isinstance(theirs, list):
            theirs = [theirs]
        nested = theirs and isinstance(theirs[0], list)
        if len(ours) == 1 and not nested and isinstance(ours[0], list):
            # a pointer to a list
            return difference(ours[0], theirs, where, name)
        several = objects_of(ours[0]) if len(ours) == 1 and isinstance(ours[0], dict) else None
        if several is not None and not nested and (len(theirs) != 1 or len(several) == 1):
            # a pointer to a list of objects of any class
            return record_difference(ours[0], theirs, where)
        if len(ours) != len(theirs) and all(isinstance(x, list) for x in (*ours[:1], *theirs[:1])):
            ours, theirs = flat(ours), flat(theirs)
        elif ours and theirs and isinstance(ours[0], list) != isinstance(theirs[0], list):
            mine, other = flat(ours), flat(theirs)
            if len(mine) == len(other) and not any(isinstance(x, dict) for x in mine):
                ours, theirs = mine, other
        if len(ours) != len(theirs):
            return f"{where}: {len(ours)} items, ROOT has {len(theirs)}: {ours!r:.60} {theirs!r:.60}"
        for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            found = difference(a, b, f"{where}[{i}]", name)
            if found:
                return unordered_difference(ours, theirs, where, found)
        return None
    if isinstance(theirs, list):
        # a single number is an array of one here or there
        return difference([ours], theirs, where, name)
    if not isinstance(ours, (int, float)) or not isinstance(theirs, (int, float)):
        return f"{where}: {ours!r:.60}, ROOT has {theirs!r:.60}"
    return None if same_number(ours, theirs, name) else f"{where}: {ours!r}, ROOT has {theirs!r}"


def unordered_difference(ours, theirs, where, found):
    """An unordered set or map has another order in memory than in the file: `found` unless that is all."""
    if not where.startswith("unordered"):
        return found
    first = [x[0] if isinstance(x, tuple) else x for x in ours]
    keys = first, [x.get("first") if isinstance(x, dict) else x for x in theirs]
    if any(isinstance(x, (dict, list, tuple)) for side in keys for x in side):
        return found
    mine, other = (
        [item for _, item in sorted(zip(by, items, strict=True), key=lambda pair: pair[0])]
        for by, items in zip(keys, (ours, theirs), strict=True)
    )
    for i, (a, b) in enumerate(zip(mine, other, strict=True)):
        if difference(a, b, f"[{i}]"):
            return found
    return None


def record_difference(ours, theirs, where):
    if is_graph(ours):
        return difference(linked({k: v for k, v in ours.items() if k != "object"}, ours["object"]), theirs, where)
    several = objects_of(ours)
    if isinstance(theirs, list) and several is not None:
        # a TClonesArray of any class: one field holds all
        if len(several) != len(theirs):
            return f"{where}: {len(several)} objects, ROOT has {len(theirs)}"
        for i, ((_, item), other) in enumerate(zip(several, theirs, strict=True)):
            found = difference(item, other, f"{where}[{i}]")
            if found:
                return found
        return None
    if theirs is None:
        if several is None or several:
            return f"{where}: {ours!r:.60}, ROOT has a null pointer"
        return None
    if not isinstance(theirs, dict):
        if len(ours) == 1:
            return difference(next(iter(ours.values())), theirs, where)
        raise Incomparable(f"a record here, {theirs!r:.40} in memory")
    if several is not None and not (set(ours) & set(theirs)):
        if len(several) != 1:
            return f"{where}: {len(several)} objects, ROOT has one of class {theirs.get('@class')}"
        (cls, item) = several[0]
        if theirs.get("@class") not in (None, cls):
            return f"{where}: an object of class {cls}, ROOT has {theirs['@class']}"
        return difference(item, theirs, where)
    pairs = {"0": ("first", "key"), "1": ("second", "value"), "key": ("first",), "value": ("second",)}
    for name, value in ours.items():
        # of members of the same name in a class and its base memory's words have one
        names = (name, *pairs.get(name, ()))
        other = next((n for n in names if n in theirs), None)
        if other is None:
            raise Incomparable(f"ROOT has no member {name}")
        memory = theirs[other]
        if name == "fElements" and str(theirs.get("@class")).startswith("TMatrixTSym<"):
            # the file and the column have the upper triangle, row by row
            rows = theirs["fNrows"]
            memory = [memory[i * rows + j] for i in range(rows) for j in range(i, rows)]
        found = difference(value, memory, f"{where}.{name}", other)
        if found:
            return found
    return None


def leaves(holder):
    """Every branch without sub-branches: names may be there twice."""
    for branch in holder.branches:
        if branch.branches:
            yield from leaves(branch)
        else:
            yield branch


def uproot_reads(file, tree, branch):
    """Whether uproot makes an awkward array of the branch."""
    try:
        return file[tree][branch].array(library="ak", entry_stop=200) is not None
    except Exception:
        return False


def compare_file(path, label, root, options, count, log):
    """Compares all branches of a file."""
    import sapwood

    try:
        file = sapwood.open(path)
        names = file.classnames(recursive=True)
    except Exception as error:
        log.append(("UNOPENED", label, "", "", f"{error}".splitlines()[0][:200]))
        return
    from compare_corpus import newest_trees

    other = None
    if options.extra:
        import uproot

        # some branches drive uproot beyond all memory
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
        with contextlib.suppress(Exception):
            other = uproot.open(path)
    for key in newest_trees(names):
        seen = Counter()
        try:
            branches = list(leaves(file[key]))
        except Exception as error:
            log.append(("REFUSED", label, key, "", f"{error}".splitlines()[0][:200]))
            continue
        for branch in branches:
            number = seen[branch.path]
            seen[branch.path] += 1
            if other is not None and uproot_reads(other, key, branch.path):
                continue
            outcome, why = compare_branch(branch, number, str(path), key, root, options)
            count["branches"] += 1
            count[outcome] += 1
            if outcome != "equal":
                log.append((outcome.upper(), label, key, branch.path, why))


def compare_branch(branch, number, path, key, root, options):
    """("equal", …) and so on of one branch, and why."""
    try:
        array = branch.array(library="ak")
    except Exception as error:
        array, why = None, f"{error}".splitlines()[0][:200]
    answer = root.ask(path, key, branch.path, number, options.entries, None)
    if "error" in answer:
        return ("unread", answer["error"]) if array is not None else ("neither", f"{why}; {answer['error']}")
    if array is None:
        says = any("@unknown" not in json.dumps(value) for value in answer["values"])
        return ("refused", why) if says else ("neither", f"{why}; ROOT has {answer['values'][:1]!r:.60}")
    if len(array) != answer["entries"]:
        return "different", f"{len(array)} entries, ROOT has {answer['entries']}"
    chosen = [e for e in answer["chosen"] if e < len(array)]
    ours = array[chosen].to_list() if chosen else []
    place = "unordered entry" if "unordered" in branch.typename else "entry"
    try:
        for entry, mine, theirs in zip(chosen, ours, answer["values"], strict=False):
            found = difference(mine, theirs, f"{place} {entry}", branch.path.rpartition(".")[2].rpartition("/")[2])
            if found and answer["complaint"]:
                raise Incomparable(f"ROOT says {answer['complaint']}"[:150])
            if found and root.ask(path, key, branch.path, number, 0, entry).get("drawn") != flat_numbers(mine):
                root.close()
                if root.ask(path, key, branch.path, number, options.entries, None) != answer:
                    raise Incomparable("ROOT has other values each time")
                return "different", found[:250]
    except Incomparable as error:
        return "incomparable", str(error)
    return "equal", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dir", type=Path)
    parser.add_argument("--entries", type=int, default=12, help="entries compared of each branch")
    parser.add_argument("--limit", type=int, default=0, help="only about N files, evenly spread")
    parser.add_argument("--only", default="*", help="only files whose name is like this")
    parser.add_argument("--extra", action="store_true", help="only branches that uproot does not read")
    parser.add_argument("--timeout", type=float, default=60, help="seconds a branch")
    parser.add_argument("--library", help="ROOT loads this library of dictionaries")
    parser.add_argument("--json", type=Path, help="also writes the summary and the log there")
    parser.add_argument("--quiet", action="store_true", help="the last line only")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    files = [f for f in sorted(options.dir.rglob("*.root")) if fnmatch.fnmatch(f.name, options.only)]
    if options.limit:
        files = files[:: max(1, len(files) // options.limit)]
    count = Counter(files=len(files))
    log, root = [], Root(options.timeout, options.library)
    for file in files:
        before = len(log)
        compare_file(file, str(file.relative_to(options.dir)), root, options, count, log)
        if not options.quiet:
            for line in log[before:]:
                print(*line, flush=True)
    root.close()
    if options.json:
        options.json.write_text(json.dumps({"summary": count, "log": log}, indent=0))
    print(
        f"files {count['files']}, branches {count['branches']}: "
        f"equal {count['equal']}, different {count['different']}, "
        f"refused {count['refused']} (ROOT reads them), incomparable {count['incomparable']}, "
        f"unread by ROOT {count['unread']}, by neither {count['neither']}"
    )
    sys.exit(1 if count["different"] or count["refused"] else 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        work(*sys.argv[2:])
    else:
        main()
