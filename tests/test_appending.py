"""Appending to trees that ROOT wrote, and merging them with ours: what it is not about stays, all entries are read."""

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import sapwood

HERE = Path(__file__).parent

# what appending is about: entries, their bytes, baskets, clusters
CHANGED = (
    "fEntries", "fTotBytes", "fZipBytes", "fFlushedBytes", "fNClusterRange", "fClusterRangeEnd", "fClusterSize",
    "fWriteBasket", "fEntryNumber", "fBasketBytes", "fBasketEntry", "fBasketSeek",
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(public, macro):
    folder = public / "appending"
    folder.mkdir()
    macro("appending.C", folder, compiled=True)
    return folder


def members(tree, *paths):
    words = [sys.executable, "-W", "ignore", HERE / "oracle" / "tree_members.py", tree, *paths]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    found = [json.loads(line[8:]) for line in done.stdout.splitlines() if line.startswith("MEMBERS ")]
    assert len(found) == len(paths), done.stderr
    return found


def appended(old, new):
    shutil.copy(old, new)
    columns = sapwood.open(old)["t"].arrays()
    with sapwood.update(new) as file:
        file["t"].extend(columns)
    return new


def test_appending_keeps_every_member_of_the_header(folder, tmp_path):
    old = folder / "members.root"
    before, after = members("t", old, appended(old, tmp_path / "new.root"))
    assert (before[".fWeight"], before[".fUserInfo.arr[0].fName"]) == (2.5, "info")
    assert after[".fEntries"] == 2 * before[".fEntries"] == 200
    changed = {path for path in {*before, *after} if before.get(path) != after.get(path)}
    assert [path for path in sorted(changed) if not path.endswith(CHANGED)] == []


def test_appending_beyond_the_largest_count_says_so_in_the_header(folder, tmp_path):
    new = tmp_path / "new.root"
    shutil.copy(folder / "members.root", new)
    with sapwood.update(new) as file:
        file["t"].extend({"x": [1.0], "y": [list(range(8))], "r": [1234], "v": [[]]})
    (found,) = members("t", new)
    largest = {found[path.replace("fName", "fMaximum")] for path in found if found[path] in ("count", "r")
               and path.replace("fName", "fMaximum") in found}  # fmt: skip
    assert {8, 1234} <= largest


def test_appending_to_a_tree_with_an_index_is_refused(folder, tmp_path):
    with pytest.raises(sapwood.Error, match="it has an index") as error:
        appended(folder / "indexed.root", tmp_path / "new.root")
    assert "rebuild it" in str(error.value)
    assert (tmp_path / "new.root").read_bytes() == (folder / "indexed.root").read_bytes()


def test_appending_to_a_tree_with_baskets_in_its_header_is_refused(folder, tmp_path):
    with pytest.raises(sapwood.Error, match="baskets are in the tree's header"):
        appended(folder / "header.root", tmp_path / "new.root")


def test_a_tree_whose_baskets_lie_in_its_header_is_appended_to_after_optimize(folder, tmp_path):
    sapwood.optimize(folder / "header.root", tmp_path / "plain.root")
    new = appended(tmp_path / "plain.root", tmp_path / "new.root")
    np.testing.assert_array_equal(sapwood.open(new)["t/n"].array(library="np"), np.tile(np.arange(50), 2))


def test_divided_vectors_of_classes_are_appended_to(folder, tmp_path):
    old = folder / "hits.root"
    before, after = members("t", old, appended(old, tmp_path / "new.root"))
    lengths = [path for path in before if path.endswith("fEntryOffsetLen")]
    assert [before[path] for path in lengths] == [after[path] for path in lengths]


def test_arrays_of_a_divided_class_may_be_given_back(folder, tmp_path):
    new = appended(folder / "hits.root", tmp_path / "new.root")
    for name in "divided/divided.a[3]", "hit/a[3]":
        old, both = (sapwood.open(path)["t"][name].array().to_list() for path in (folder / "hits.root", new))
        assert both == old + old


def test_every_reader_finds_old_and_new_entries(folder, tmp_path):
    script = HERE / "append_corpus.py"
    for name in "members", "hits", "lengths":
        shutil.copy(folder / f"{name}.root", tmp_path / f"{name}.root")
    done = subprocess.run([sys.executable, script, tmp_path], capture_output=True, text=True, timeout=600)
    assert "appended 3, refused 0; other values by Sapwood 0, uproot 0, ROOT 0" in done.stdout, (
        done.stdout + done.stderr
    )


def test_entries_are_appended_to_real_trees(corpus):
    words = [sys.executable, HERE / "append_corpus.py", corpus, "--limit", "12", "--bytes", "100000", "--no-root"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600)
    assert "other values by Sapwood 0, uproot 0" in done.stdout, done.stdout + done.stderr
    assert "appended 0" not in done.stdout


def test_the_trees_that_appending_broke_are_read_by_root(corpus, root_here, tmp_path):
    for name in "uproot-issue367", "uproot-small-dy-nooffsets":
        shutil.copy(corpus / "scikit-hep-testdata" / f"{name}.root", tmp_path)
    shutil.copy(corpus / "UnROOT.jl" / "edm4hep_266.root", tmp_path)
    words = [sys.executable, HERE / "append_corpus.py", tmp_path, "--bytes", "100000000"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600)
    assert "other values by Sapwood 0, uproot 0, ROOT 0" in done.stdout, done.stdout + done.stderr


DRAW_IDS = """
import ROOT, sys
file = ROOT.TFile(sys.argv[1])
tree = file.Get("t")
n = tree.Draw("points.id", "", "goff")
print("IDS", *(int(tree.GetV1()[i]) for i in range(n)))
"""


@dataclass
class Point:
    x: np.float32
    id: np.int32


@pytest.mark.parametrize("first", ["root", "sapwood"])
def test_divided_vectors_of_classes_from_root_and_from_sapwood_are_merged(folder, root_here, tmp_path, first):
    # ROOT keeps offsets for the number of items, Sapwood does not
    own = tmp_path / "own.root"
    with sapwood.recreate(own) as file:
        tree = file.mktree("t", {"points": list[Point], "point": Point})
        tree.extend({"points": [[Point(i, i)] * (i % 4) for i in range(70)], "point": [Point(i, i) for i in range(70)]})
    inputs = [folder / "points.root", own][:: 1 if first == "root" else -1]
    sapwood.merge(tmp_path / "merged.root", inputs)
    one, two, merged = (sapwood.open(path)["t"] for path in (*inputs, tmp_path / "merged.root"))
    for name in "points/points.x", "points/points.id", "point/id":
        assert merged[name].array().to_list() == one[name].array().to_list() + two[name].array().to_list()
    words = [sys.executable, "-W", "ignore", "-c", DRAW_IDS, tmp_path / "merged.root"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    wanted = [i for entry in merged["points/points.id"].array().to_list() for i in entry]
    assert f"IDS {' '.join(map(str, wanted))}\n" in done.stdout, done.stdout + done.stderr


def test_a_tree_without_entries_whose_branch_has_some_keeps_them(folder, tmp_path):
    sapwood.optimize(folder / "unfilled.root", tmp_path / "optimized.root")
    sapwood.merge(tmp_path / "merged.root", [folder / "unfilled.root"])
    for name in "optimized", "merged":
        (found,) = members("t", tmp_path / f"{name}.root")
        assert (found[".fEntries"], found[".fBranches.arr[0].fEntries"]) == (0, 2)
