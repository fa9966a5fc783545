"""A part of what `compare_root.py` compares in full: real files, branch by branch, with what ROOT has in memory."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import uproot

import sapwood

HERE = Path(__file__).parent
#: About this many files; SAPWOOD_ROOT_LIMIT=0 compares all (some minutes).
LIMIT = os.environ.get("SAPWOOD_ROOT_LIMIT", "24")


@pytest.fixture
def compare(tmp_path):
    """Runs compare_root.py: the summary and the log."""
    if importlib.util.find_spec("ROOT") is None:
        pytest.skip("ROOT, which has the values to compare with, is not installed")

    def compare(*arguments):
        out = tmp_path / "root.json"
        words = [sys.executable, HERE / "compare_root.py", *arguments, "--json", out, "--quiet"]
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=900)
        assert out.exists(), done.stderr[-2000:]
        result = json.loads(out.read_text())
        return result["summary"], result["log"]

    return compare


@pytest.fixture(scope="module")
def kinds(public, macro):
    """A directory with files of every kind of type (kinds.C), written now, and the library of their dictionaries."""
    folder = public / "kinds"
    folder.mkdir()
    macro("kinds.C", folder, compiled=True)
    return folder


def test_every_kind_of_type(compare, kinds):
    summary, log = compare(kinds, "--library", kinds / "kinds_C.so")
    assert log == []
    assert summary["equal"] == summary["branches"] > 300


def test_every_kind_of_branch_is_among_them(kinds):
    """Whole and divided, member by member and object by object: that the files hold what they are for."""
    with uproot.open(kinds / "kinds.root") as file, uproot.open(kinds / "kinds-by-objects.root") as other:
        branches = dict(file["t"].iteritems(recursive=True))
        classes = {branch.classname for branch in branches.values()}
        assert classes >= {"TBranchElement", "TBranchObject", "TBranchSTL"}
        types = {branch.all_members.get("fType") for branch in branches.values()}
        # objects and members of such, base classes, TClonesArrays and collections with their members
        assert types >= {0, 1, 2, 3, 4, 31, 41}
        assert "TBranchRef" in file.file.streamers
        by_members, by_objects = (bytes(f["t"]["vtrack0"].basket(0).data)[4] & 0x40 for f in (file, other))
        assert (by_members, by_objects) == (0x40, 0)


def test_optional_and_variant(kinds):
    """ROOT 6.40 writes whether an optional is set, and which a variant holds, but not the value: nothing else."""
    with sapwood.open(kinds / "kinds.root") as file:
        optional, variant = file["t"]["optional0"].array(), file["t"]["variant0"].array()
    assert optional.to_list()[1] == {"value": {"_M_payload": {"_M_engaged": True}}, "behind": 1}
    assert variant.to_list()[3] == {"value": {"_M_index": 1}, "behind": 3}


@pytest.mark.parametrize("name", ["kinds", "kinds-by-objects"])
def test_a_pointer_to_objects_of_any_class(kinds, name):
    """None, a TNamed, a TObjString and what the file alone describes, each in the table of its class."""
    with sapwood.open(kinds / f"{name}.root") as file:
        entries = file["t"]["pointing./pointing.object"].array().to_list()
        behind = file["t"]["pointing./pointing.behind"].array().to_list()
    assert behind == list(range(12))
    classes = ["", "TNamed", "TObjString", "Derived"]
    for e, entry in enumerate(entries):
        word, found = chr(ord("a") + e % 26) * e, classes[e % 4]
        assert entry["object"] == {"class": found, "index": 0 if found else -1}
        tables = {table: objects for table, objects in entry.items() if table != "object" and objects}
        wanted = {
            "TNamed": {"fName": word, "fTitle": "title"},
            "TObjString": {"fString": word},
            "Derived": {"b": 1, "d": [pytest.approx(1 / 9)]},
        }
        assert tables == ({found: [wanted[found]]} if found else {})


def test_files_that_root_wrote(compare, root_files):
    summary, log = compare(root_files)
    assert [line for line in log if line[0] in ("DIFFERENT", "REFUSED")] == []
    assert summary["equal"] >= 0.9 * summary["branches"]


def test_real_files(compare, corpus):
    summary, log = compare(corpus, "--limit", LIMIT, "--entries", 6)
    assert [line for line in log if line[0] == "DIFFERENT"] == []
    assert summary["equal"] >= 0.95 * summary["branches"] > 0


def test_files_of_root_5_keep_the_version_by_which_their_pointers_are_read(kinds, tmp_path):
    """Up to ROOT 5.15/08 counted arrays of pointers held the objects themselves, which only the version in the header
    tells (varyingArray_51508.root: copied under a new version its pointers led astray)."""

    def version(path):
        return int.from_bytes(path.read_bytes()[4:8], "big")

    new, old, out = kinds / "kinds.root", tmp_path / "old.root", tmp_path / "out.root"
    data = bytearray(new.read_bytes())
    data[4:8] = (51508).to_bytes(4, "big")
    old.write_bytes(data)
    sapwood.merge(out, [old, old])
    assert version(out) == 51508
    sapwood.optimize(old, out, force=True)
    assert version(out) == 51508
    sapwood.merge(out, [new, new], force=True)
    assert version(out) > 60000
    for inputs in ([new, old], [old, new]):
        with pytest.raises(sapwood.UnsupportedError, match="counted arrays of pointers"):
            sapwood.merge(out, inputs, force=True)
    with sapwood.update(old) as file:
        file["more"] = "text"
    assert version(old) == 51508
