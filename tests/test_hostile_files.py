"""Whole files with false content, through every verb: each is read or refused, within justified memory."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
import whole_files as w
from bounded import MB, run, through_all_verbs
from hostile_files import FILES, fixed_dimensions, honest, info, whole

import sapwood

#: Merging holds what both lists unpack to, and their sum.
SMALL_PARTS = {"a_list_of_nothing_but_null_pointers": 800 * MB, "a_list_of_many_small_objects": 600 * MB}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("hostile")


@pytest.mark.parametrize("name", FILES)
def test_a_hostile_file_is_read_or_refused(command, folder, name):
    path = FILES[name](folder)
    objects = sorted(listed(command, path))[:3]
    through_all_verbs(command, path, folder, objects, SMALL_PARTS.get(name, 400 * MB))


def listed(command, path):
    """What `ls` lists."""
    done = run([command, "--json", "ls", path])
    if done.status:
        return []
    return [f"{k['path']};{k['cycle']}" for k in json.loads(done.out)["keys"]]


def test_what_is_beyond_the_budget_says_how_to_read_it(command, folder):
    path = FILES["a_text_of_a_gibibyte"](folder)
    done = run([command, "show", f"{path}:s"])
    assert done.status == 1 and "SAPWOOD_HUGE_OBJECTS=1" in done.error and "1073741624 bytes" in done.error
    done = run([command, "doctor", "--deep", path])
    assert done.status == 0 and "no damage found; 1 part could not be checked" in done.out
    # recovering does not need it in memory, and keeps it
    done = run([command, "recover", "-f", path, folder / "kept.root"])
    assert done.status == 0 and (folder / "kept.root").stat().st_size > 900_000, done.error


def test_huge_objects_are_read_when_asked_for(command, folder):
    """20 MiB of text from 20 kB: beyond 16 MiB and a hundred times what is stored."""
    size = 20 * MB
    front = w.counted(1, w.tobject() + b"\xff" + (size - 21).to_bytes(4, "big") + bytes(size - 21))
    path = whole(folder, "twenty", ("TObjString", "s", w.Packed(w.squeezed(front), len(front))))
    assert run([command, "show", f"{path}:s"]).status == 1
    assert run([command, "show", f"{path}:s"], env={"SAPWOOD_HUGE_OBJECTS": "1"}).status == 0


def test_a_histogram_that_nobody_filled_is_read(command, folder):
    """A thousandfold compression is legitimate where all bins are zero."""
    with sapwood.recreate(folder / "empty.root", compression="zlib:9") as f:
        f["h"] = np.histogram([], bins=2_000_000)
    h = sapwood.open(folder / "empty.root")["h"]
    assert h.values().shape == (2_000_000,) and not h.values().any()


def test_references_to_long_names_cost_what_the_record_justifies(command, folder):
    path = FILES["class_names_behind_references"](folder)
    assert path.stat().st_size < 40_000
    done = run([command, "show", f"{path}:l"])
    # of the names, or of memory: whichever budget ends first
    assert done.status == 1 and "far more" in done.error, done.error
    assert done.memory < 200 * MB


LIBRARIES = """
import sys, warnings
warnings.simplefilter("ignore")
import sapwood
tree = sapwood.open(sys.argv[1])["t"]
for library in ("np", "ak", "pa", "pd"):
    try:
        x = tree["x"].array(library=library)
        print(library, len(x), getattr(x, "shape", None) or getattr(x, "type", None))
    except sapwood.Error as e:
        print(library, type(e).__name__)
"""


def test_fixed_dimensions_without_entries(folder):
    """999 million numbers in an entry, and no entry: nothing is taken for them."""
    path = fixed_dimensions(folder, "none", 0, 0)
    done = run([sys.executable, "-c", LIBRARIES, path], 3 << 30)
    assert done.status == 0 and done.memory < 400 * MB, done.error
    lines = done.out.splitlines()
    assert lines[0] == "np 0 (0, 1000, 1000, 999)"
    assert lines[1] == "ak 0 0 * 1000 * 1000 * 999 * float64"
    assert lines[2].startswith("pa 0 ") and "[999]>[1000]>[1000]" in lines[2]
    assert lines[3] == "pd 0 (0,)"


@pytest.mark.parametrize(("entries", "claimed"), [(0, 5), (0, 10**9), (0, 2**62), (1, 1), (1, 2**62)])
def test_fixed_dimensions_of_entries_that_are_not_there(command, folder, entries, claimed):
    path = fixed_dimensions(folder, f"claimed-{entries}-{claimed}", entries, claimed)
    done = run([sys.executable, "-c", LIBRARIES, path], 3 << 30)
    assert done.status == 0 and done.memory < 400 * MB, done.error
    assert done.out == "".join(f"{library} CorruptError\n" for library in ("np", "ak", "pa", "pd"))
    through_all_verbs(command, path, folder)


def test_baskets_that_tell_their_entries_in_two_ways_are_damage(command, folder):
    """What an update left behind that wrote offsets beside baskets without: ROOT and Sapwood cannot read it."""
    path = FILES["a_basket_without_offsets"](folder)
    found = sapwood.doctor(path, deep=True)
    assert not found.healthy and found.unchecked == 0
    assert any(f["severity"] == "damage" and f["object"] == "t;1:s" for f in found.findings), found.findings


def test_the_doctor_counts_what_it_could_not_check(command, folder):
    path = whole(folder, "unknown", ("Unknown", "u", w.counted(3, bytes(20))), ("TObjString", "s", text(folder)))
    done = run([command, "doctor", "--deep", path])
    assert done.status == 0
    assert "no damage found; 1 part could not be checked" in done.out
    assert "not checked, as this version does not read it:" in done.out
    found = sapwood.doctor(path, deep=True)
    assert found.healthy and found.unchecked == 1
    assert [f["severity"] for f in found.findings] == ["unchecked"]
    assert "no damage found, 1 parts not checked" in repr(found)
    assert "no damage found\n" in run([command, "doctor", "--deep", honest(folder)]).out


def test_a_part_that_does_not_follow_its_description_is_damage(folder):
    """It was a note beside "no damage"."""
    inner = w.pointer("TNamed", w.counted(1, w.tobject() + w.text("name") + w.text("title") + b"more"))
    path = whole(folder, "part", ("TList", "l", w.list_of([inner])))
    found = sapwood.doctor(path, deep=True)
    assert not found.healthy and found.findings[0]["object"] == "l;1", found.findings


def test_an_object_that_ends_before_its_record_is_refused(folder):
    """The rest was left out without a word."""
    path = FILES["a_text_that_ends_before_its_record"](folder)
    with pytest.raises(sapwood.CorruptError, match="1000 bytes before it does"):
        sapwood.open(path)["s"]
    assert not sapwood.doctor(path, deep=True).healthy


def text(folder):
    return w.payload(honest(folder), "text")


def test_descriptions_are_what_the_tests_think(folder):
    """The files are intact except for what they falsify."""
    path = whole(folder, "plain", ("TObjString", "s", text(folder)), ("TH1D", "h", w.payload(honest(folder), "h")))
    assert sapwood.doctor(path, deep=True).findings == []
    assert info(folder)
