"""sapwood merge of objects other than trees, and of what trees carry: as ROOT's own hadd, object by object."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "merged_objects.py"


def root(*arguments):
    """Runs the script; gives back what it prints, and what ROOT has to complain about."""
    words = [sys.executable, "-W", "ignore", SCRIPT, *arguments]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout, [line for line in done.stderr.splitlines() if "Warning" in line or "Error" in line]


def values(path):
    out, complaints = root("values", path)
    assert complaints == []
    return json.loads(out.split("RESULT")[1])


@pytest.fixture(scope="module")
def merged(tmp_path_factory, root_here, run):
    """What hadd made of two files and what sapwood did, with the remarks of the latter."""
    folder = tmp_path_factory.mktemp("objects")
    root("write", folder)
    done = run("merge", "--json", folder / "ours.root", folder / "k0.root", folder / "k1.root")
    assert done.returncode == 0, done.stderr
    remarks = json.loads(done.stdout)["remarks"]
    return values(folder / "hadd.root"), values(folder / "ours.root"), remarks


# what hadd adds up and sapwood as well
ADDED = [
    "efficiency", "weighted", "list", "array", "hash list", "graph", "graph with errors", "graph with two errors",
    "graph with bent errors", "graphical cut", "empty", "stack", "sparse", "chunks", "half weighted", "dense",
    "dense with weights", "labels in another order", "other limits", "other limits of y", "profile of other limits",
    "twice", "one/two/deep", "indexed", "polygons", "weighted polygons", "events", "buffered",
]  # fmt: skip
# what both keep, each content as a cycle
KEPT = ["graph in two dimensions", "several graphs", "string", "named", "vector"]


@pytest.mark.parametrize("name", ADDED)
def test_added_up_as_by_hadd(merged, name):
    theirs, ours, _ = merged
    assert f"{name};2" not in ours
    assert flat(ours[f"{name};1"]) == [near(v) for v in flat(theirs[f"{name};1"])]


@pytest.mark.parametrize("name", KEPT)
def test_kept_as_by_hadd_and_named(merged, name):
    theirs, ours, remarks = merged
    for cycle in (1, 2):
        assert ours[f"{name};{cycle}"] == theirs[f"{name};{cycle}"]
    assert [r for r in remarks if r.startswith(f"{name}: ")] != []


def test_what_hadd_drops_in_silence_is_kept(merged):
    """The second file's list has one histogram more."""
    theirs, ours, _ = merged
    assert len(theirs["uneven;1"][1]) == 2
    assert [item[0][1] for item in ours["uneven;1"][1]] == ["q0", "q1", "q2"]
    assert ours["uneven;1"][1][:2] == theirs["uneven;1"][1]


def test_an_index_of_some_inputs_only_is_left_out_by_name(merged):
    theirs, ours, remarks = merged
    kind, rows, index, *rest = ours["half indexed;1"]
    assert index is None
    assert [r for r in remarks if r.startswith("half indexed: its index is omitted")] != []
    assert [kind, rows, *rest] == [*theirs["half indexed;1"][:2], *theirs["half indexed;1"][3:]]


def test_nothing_else_is_there(merged):
    """No object is missing and none is more than there should be."""
    _, ours, _ = merged
    one = [*ADDED, "uneven", "half indexed"]
    assert sorted(ours) == sorted([f"{n};1" for n in one] + [f"{n};{c}" for n in KEPT for c in (1, 2)])


def flat(value):
    """Numbers and texts of nested lists, one after the other."""
    if isinstance(value, list):
        return [leaf for item in value for leaf in flat(item)]
    return [value]


def near(value):
    """The same text, or nearly the same number."""
    return pytest.approx(value, rel=1e-12, abs=1e-12) if isinstance(value, float) else value
