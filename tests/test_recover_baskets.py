"""What ``recover`` keeps of trees some of whose baskets are damaged, or follow behind the last header: every value is
compared with what was filled."""

import json
import os
import signal
import warnings

import awkward as ak
import numpy as np
import pytest
from scripts import run_script

import sapwood

# a tree of branches whose baskets end at different entries; with a third word it is saved after that many entries, and
# the process is killed when all are filled
FILL = """
import os, signal, sys
from array import array
import ROOT
ROOT.gErrorIgnoreLevel = ROOT.kFatal
path, entries, save, compression = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
file = ROOT.TFile(path, "recreate", "", compression)
below = file.mkdir("d")
below.cd()
tree = ROOT.TTree("t", "title")
tree.SetAutoFlush(0)
x, n, y, s = array("d", [0]), array("i", [0]), array("f", [0] * 2000), bytearray(64)
v = ROOT.std.vector("float")()
tree.Branch("x", x, "x/D", 1000)
tree.Branch("n", n, "n/I", 700)
tree.Branch("y", y, "y[n]/F", 1000)
tree.Branch("v", v, 1200)
tree.Branch("s", s, "s/C", 900)
if "objects" in sys.argv:
    named = ROOT.TNamed("", "")
    tree.Branch("named", named, 1500, 0)
for i in range(entries):
    x[0], n[0] = i * 0.5, (i % 5 if i < 1000 else i % 9)
    for k in range(n[0]):
        y[k] = i + k
    v.clear()
    for k in range(i % 3):
        v.push_back(i)
    text = b"a" * (i % 7 + i // 100)
    s[: len(text) + 1] = text + b"\\0"
    if "objects" in sys.argv:
        named.SetName(f"n{i}")
    tree.Fill()
    if i == save - 1:
        tree.AutoSave()
if save:
    file.Flush()
    os.kill(os.getpid(), signal.SIGKILL)
tree.Write()
file.Close()
"""

READ = """
import sys
import ROOT
ROOT.gErrorIgnoreLevel = ROOT.kWarning
file = ROOT.TFile(sys.argv[1])
tree = file.Get("d/t")
for i in range(tree.GetEntries()):
    assert tree.GetEntry(i) > 0, i
    e = int(tree.x * 2)
    n = e % 5 if e < 1000 else e % 9
    assert tree.n == n and list(tree.y) == [e + k for k in range(n)], (i, e, list(tree.y))
    assert list(tree.v) == [float(e)] * (e % 3), (i, e)
    text = tree.s
    length = e % 7 + e // 100
    assert all(text[k] in ("a", 97) for k in range(length)) and text[length] in ("\\0", 0), (i, e)
print(tree.GetEntries())
"""


def script(text, *words, status=0):
    done = run_script(text, *words, status=status)
    assert "Error" not in done.stderr, done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory, root_here):
    """whole.root, plain.root (not compressed) and killed.root, saved after 700 of 1500 entries."""
    folder = tmp_path_factory.mktemp("baskets")
    script(FILL, folder / "whole.root", 1500, 0, 101)
    script(FILL, folder / "plain.root", 1500, 0, 0)
    script(FILL, folder / "killed.root", 1500, 700, 101, status=-signal.SIGKILL)
    return folder


def recover(source, target):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sapwood.recover(source, target)


def counts(e):
    return e % 5 if e < 1000 else e % 9


def is_right(path, kept, root=True):
    """The tree d/t holds these entries, for us, the doctor, and ROOT."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        arrays = sapwood.open(path)["d/t"].arrays()
    kept = list(kept)
    assert arrays.x.tolist() == [e * 0.5 for e in kept]
    assert arrays.n.tolist() == [counts(e) for e in kept]
    assert arrays.y.tolist() == [[float(e + k) for k in range(counts(e))] for e in kept]
    assert arrays.v.tolist() == [[float(e)] * (e % 3) for e in kept]
    assert [len(s) for s in ak.to_list(arrays.s)] == [e % 7 + e // 100 for e in kept]
    assert sapwood.doctor(path, deep=True).healthy
    if root:
        assert int(script(READ, path)) == len(kept)


def baskets(path, branch):
    """Of each basket: its first entry, the one behind its last, and its position."""
    told = sapwood.open(path)["d/t"][branch]._told
    firsts, seeks = told["basket_entry"], told["basket_seek"]
    # the last one is in the header
    return [(a, b, seek) for a, b, seek in zip(firsts, firsts[1:], seeks, strict=False) if b > a and seek]


def without(ranges, entries=1500):
    gone = {e for first, last in ranges for e in range(first, last + 1)}
    return [e for e in range(entries) if e not in gone]


@pytest.mark.parametrize("branch", ["x", "n", "y", "v", "s"])
@pytest.mark.parametrize("name", ["whole", "plain"])
def test_only_the_entries_of_the_damaged_basket_are_lost(folder, tmp_path, branch, name):
    source = folder / f"{name}.root"
    data, damaged = bytearray(source.read_bytes()), []
    of = baskets(source, branch)
    for first, end, seek in (of[1], of[len(of) // 2]):
        # in a basket that is not compressed nothing but its label can tell: its class
        data[seek + (100 if name == "whole" else 38)] ^= 0xFF
        damaged.append((first, end - 1, seek))
    (tmp_path / "damaged.root").write_bytes(data)
    report = recover(tmp_path / "damaged.root", tmp_path / "new.root")
    told = [(r["first"], r["last"], r["position"]) for r in report["lost_entries"]]
    assert told == damaged
    assert {(r["tree"], r["cycle"], r["branch"]) for r in report["lost_entries"]} == {("d/t", 1, branch)}
    (tree,) = report["trees"]
    kept = without([(first, last) for first, last, _ in damaged])
    assert (tree["entries"], tree["lost"]) == (len(kept), 1500 - len(kept))
    is_right(tmp_path / "new.root", kept, root=branch in "ns")


def test_what_is_lost_is_told_entry_by_entry(run, folder, tmp_path):
    data = bytearray((folder / "whole.root").read_bytes())
    first, end, seek = baskets(folder / "whole.root", "y")[3]
    data[seek + 100] ^= 0xFF
    (tmp_path / "damaged.root").write_bytes(data)
    done = run("recover", "--json", tmp_path / "damaged.root", tmp_path / "new.root")
    assert done.returncode == 0
    assert f"TTree d/t;1: entries {first}-{end - 1}: branch y: the basket at byte {seek}: " in done.stderr
    (told,) = json.loads(done.stdout)["lost_entries"]
    assert told.pop("reason")
    assert told == {"tree": "d/t", "cycle": 1, "first": first, "last": end - 1, "branch": "y", "position": seek}


def test_many_damaged_baskets_at_once(folder, tmp_path):
    rng = np.random.default_rng(1)
    for turn in range(6):
        data, damaged = bytearray((folder / "whole.root").read_bytes()), []
        for branch in ("x", "n", "y", "v", "s"):
            for first, end, seek in baskets(folder / "whole.root", branch):
                if rng.random() < 0.1 + turn * 0.1:
                    data[seek + 100] ^= 0xFF
                    damaged.append((first, end - 1))
        (tmp_path / "damaged.root").write_bytes(data)
        (tmp_path / "new.root").unlink(missing_ok=True)
        report = recover(tmp_path / "damaged.root", tmp_path / "new.root")
        assert sorted((r["first"], r["last"]) for r in report["lost_entries"]) == sorted(damaged)
        is_right(tmp_path / "new.root", without(damaged), root=turn == 3)


def test_baskets_behind_the_last_header_are_rescued(run, folder, tmp_path):
    report = recover(folder / "killed.root", tmp_path / "new.root")
    (tree,) = report["trees"]
    assert 1300 < tree["entries"] < 1500
    assert any("after its last header contained entries 700-" in r for r in report["remarks"])
    is_right(tmp_path / "new.root", range(tree["entries"]))
    # what not all branches had on disk
    assert min(r["first"] for r in report["lost_entries"]) == tree["entries"]
    assert all("no basket" in r["reason"] for r in report["lost_entries"])
    done = run("recover", folder / "killed.root", tmp_path / "again.root")
    assert done.returncode == 0
    assert "after its last header contained entries 700-" in done.stderr


def test_a_damaged_basket_behind_the_last_header_loses_its_entries_only(folder, tmp_path):
    data = bytearray((folder / "killed.root").read_bytes())
    whole = recover(folder / "killed.root", tmp_path / "first.root")["trees"][0]["entries"]
    at = data.index(b"\x07TBasket\x01y\x01t", len(data) * 3 // 4)
    # in front of the class of a label with 64-bit positions
    seek = at - 34
    data[seek + 100] ^= 0xFF
    (tmp_path / "damaged.root").write_bytes(data)
    report = recover(tmp_path / "damaged.root", tmp_path / "new.root")
    (lost,) = [r for r in report["lost_entries"] if r["position"] is not None]
    assert (lost["position"], lost["branch"]) == (seek, "y")
    is_right(tmp_path / "new.root", [e for e in range(whole) if not lost["first"] <= e <= lost["last"]])
    # without its label nobody knows which entries come behind it
    data[seek : seek + 20] = bytes(20)
    (tmp_path / "damaged.root").write_bytes(data)
    report = recover(tmp_path / "damaged.root", tmp_path / "other.root")
    assert report["trees"][0]["entries"] == lost["first"]
    is_right(tmp_path / "other.root", range(lost["first"]))


def test_every_cut_of_a_killed_file_gives_right_entries(folder, tmp_path):
    data = (folder / "killed.root").read_bytes()
    before = 0
    for part in range(1, 51):
        (tmp_path / "cut.root").write_bytes(data[: len(data) * part // 50])
        (tmp_path / "new.root").unlink(missing_ok=True)
        try:
            report = recover(tmp_path / "cut.root", tmp_path / "new.root")
        except sapwood.CorruptError:
            assert not before
            continue
        if not report["trees"]:
            assert not before
            continue
        entries = report["trees"][0]["entries"]
        assert entries >= max(before, 700)
        before = entries
        is_right(tmp_path / "new.root", range(entries), root=part in (30, 40))
    assert before > 1300


def test_two_branches_of_one_name_are_not_rescued(root_here, tmp_path):
    script(
        """
import os, signal, sys
from array import array
import ROOT
file = ROOT.TFile(sys.argv[1], "recreate")
tree = ROOT.TTree("t", "")
tree.SetAutoFlush(0)
a, b = array("i", [0]), array("i", [0])
tree.Branch("v", a, "a/I", 500)
tree.Branch("v", b, "b/I", 500)
for i in range(3000):
    a[0], b[0] = i, -i
    tree.Fill()
    if i == 999:
        tree.AutoSave()
file.Flush()
os.kill(os.getpid(), signal.SIGKILL)
""",
        tmp_path / "killed.root",
        status=-signal.SIGKILL,
    )
    report = recover(tmp_path / "killed.root", tmp_path / "new.root")
    assert report["trees"][0]["entries"] == 1000
    assert any("2 branches have the name v" in lost for lost in report["lost"])


def test_trees_of_one_name_are_not_rescued(folder, root_here, tmp_path):
    script(
        """
import os, signal, sys
from array import array
import ROOT
file = ROOT.TFile(sys.argv[1], "recreate")
trees, a = [], array("i", [0])
for name in ("one", "two"):
    file.mkdir(name).cd()
    tree = ROOT.TTree("t", "")
    tree.SetAutoFlush(0)
    tree.Branch("v", a, "v/I", 500)
    trees.append(tree)
for i in range(3000):
    a[0] = i
    trees[0].Fill()
    a[0] = -i
    trees[1].Fill()
    if i == 999:
        [tree.AutoSave() for tree in trees]
file.Flush()
os.kill(os.getpid(), signal.SIGKILL)
""",
        tmp_path / "killed.root",
        status=-signal.SIGKILL,
    )
    report = recover(tmp_path / "killed.root", tmp_path / "new.root")
    assert [t["entries"] for t in report["trees"]] == [1000, 1000]
    assert any("other trees have the same name" in lost for lost in report["lost"])
    with sapwood.open(tmp_path / "new.root") as file:
        assert file["one/t"].arrays().v.tolist() == list(range(1000))
        assert file["two/t"].arrays().v.tolist() == [-i for i in range(1000)]


def test_split_collections_behind_the_last_header(root_here, tmp_path):
    """ROOT gives no items beyond the largest number that the header knows."""
    script(
        """
import os, signal, sys
import ROOT
file = ROOT.TFile(sys.argv[1], "recreate")
tree = ROOT.TTree("t", "")
tree.SetAutoFlush(0)
points = ROOT.TClonesArray("TVector3", 10)
tree.Branch("points", points, 600, 99)
for i in range(600):
    points.Clear()
    for k in range(i % 3 if i < 300 else i % 7):
        points.ConstructedAt(k).SetXYZ(i, k, 0)
    tree.Fill()
    if i == 199:
        tree.AutoSave()
file.Flush()
os.kill(os.getpid(), signal.SIGKILL)
""",
        tmp_path / "killed.root",
        status=-signal.SIGKILL,
    )
    entries = recover(tmp_path / "killed.root", tmp_path / "new.root")["trees"][0]["entries"]
    assert entries > 350
    said = script(
        """
import sys
import ROOT
file = ROOT.TFile(sys.argv[1])
tree = file.Get("t")
for i in range(tree.GetEntries()):
    tree.GetEntry(i)
    wanted = [(i, k) for k in range(i % 3 if i < 300 else i % 7)]
    assert [(int(p.X()), int(p.Y())) for p in tree.points] == wanted, i
print(tree.GetEntries())
""",
        tmp_path / "new.root",
    )
    assert int(said) == entries


def test_a_file_without_objects_is_made_anew(run, tmp_path):
    with sapwood.recreate(tmp_path / "empty.root"):
        pass
    done = run("recover", tmp_path / "empty.root", tmp_path / "new.root")
    assert (done.returncode, "lost:" in done.stderr) == (0, False)
    assert "no objects" in done.stdout
    assert sapwood.open(tmp_path / "new.root").keys() == []
    assert sapwood.doctor(tmp_path / "new.root", deep=True).healthy


def test_recover_keeps_to_its_output(run, folder, tmp_path):
    done = run("recover", folder / "whole.root", folder / "whole.root")
    assert done.returncode == 1 and "both an input and the output" in done.stderr
    os.link(folder / "whole.root", tmp_path / "linked.root")
    before = (folder / "whole.root").read_bytes()
    done = run("recover", "--force", folder / "whole.root", tmp_path / "linked.root")
    assert (folder / "whole.root").read_bytes() == before
    (tmp_path / "there.root").write_bytes(b"precious")
    done = run("recover", folder / "whole.root", tmp_path / "there.root")
    assert done.returncode == 1 and (tmp_path / "there.root").read_bytes() == b"precious"


def test_arrays_that_leave_out_their_offsets_are_not_cut(root_here, tmp_path):
    """ROOT takes them from the counter's basket beside: cut elsewhere, it read other values."""
    script(
        """
import sys
from array import array
import ROOT
file = ROOT.TFile(sys.argv[1], "recreate")
tree = ROOT.TTree("t", "")
features = ROOT.TIOFeatures()
features.Set("kGenerateOffsetMap")
tree.SetIOFeatures(features)
tree.SetAutoFlush(200)
n, y, z = array("i", [0]), array("i", [0] * 9), array("i", [0] * 9)
tree.Branch("n", n, "n/I")
tree.Branch("y", y, "y[n]/I")
tree.Branch("z", z, "z[n]/I", 500)
for i in range(1000):
    n[0] = i % 9
    for k in range(n[0]):
        y[k], z[k] = i + k, i - k
    tree.Fill()
tree.Write()
file.Close()
""",
        tmp_path / "whole.root",
    )
    told = sapwood.open(tmp_path / "whole.root")["t"]["z"]._told
    data = bytearray((tmp_path / "whole.root").read_bytes())
    data[told["basket_seek"][9] + 100] ^= 0xFF
    (tmp_path / "damaged.root").write_bytes(data)
    report = recover(tmp_path / "damaged.root", tmp_path / "new.root")
    assert 0 < report["trees"][0]["lost"] <= 400
    arrays = sapwood.open(tmp_path / "new.root")["t"].arrays()
    gone = {e for r in report["lost_entries"] for e in range(r["first"], r["last"] + 1)}
    kept = [e for e in range(1000) if e not in gone]
    assert arrays.y.tolist() == [[e + k for k in range(e % 9)] for e in kept]
    said = script(
        "import sys, ROOT\nfile = ROOT.TFile(sys.argv[1])\ntree = file.Get('t')\n"
        "print([(list(tree.y), list(tree.z)) for e in tree])\n",
        tmp_path / "new.root",
    )
    assert json.loads(said.replace("(", "[").replace(")", "]")) == [
        [[e + k for k in range(e % 9)], [e - k for k in range(e % 9)]] for e in kept
    ]
