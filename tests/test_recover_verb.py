"""``sapwood recover``: what is left of a file that is damaged, cut or was never closed, in a new one that is whole; and
updates that leave such files alone."""

import json
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import awkward as ak
import numpy as np
import pytest
import uproot
from scripts import run_script

import sapwood

HERE = Path(__file__).parent


def script(text, *words):
    """Runs lines of Python with ROOT in a process of their own; what they print."""
    return run_script(text, *words).stdout


def root_reads(path):
    """Objects and trees as tests/unclosed.py tells them, and what ROOT complains about."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", HERE / "unclosed.py", "read", path],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("ANSWER ")]
    return json.loads(line[7:])[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory, root_here):
    """open.root, never closed, and whole.root: see tests/unclosed.py."""
    folder = tmp_path_factory.mktemp("recover")
    subprocess.run([sys.executable, HERE / "unclosed.py", "write", folder], check=True, timeout=300)
    return folder


def newest(read):
    """The tree of the newest cycle, and whatever else was read."""
    out = {}
    for name, value in sorted(read.items(), key=lambda item: int(item[0].partition(";")[2])):
        out[name.partition(";")[0]] = value
    return out


def recover(source, target):
    """The report; what is lost is warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        report = sapwood.recover(source, target)
    assert bool(report["lost"]) == any(w.category is sapwood.RecoveredFileWarning for w in caught)
    return report


def is_right(path, kept):
    """The tree t holds these entries of those that tests/unclosed.py writes, for all readers."""
    kept = np.asarray(kept)
    wanted = [[i + k for k in range(i % 5)] for i in kept]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree = sapwood.open(path)["t"]
        with uproot.open(path) as file:
            for arrays in (tree.arrays(), file["t"].arrays()):
                assert arrays.x.tolist() == (kept * 0.5).tolist()
                assert arrays.n.tolist() == (kept % 5).tolist()
                assert arrays.y.tolist() == wanted
    found = next(value for name, value in root_reads(path).items() if name.startswith("t;"))
    assert found == [len(kept), float(kept.sum() * 0.5), float(sum(map(sum, wanted)))]
    assert sapwood.doctor(path, deep=True).healthy


def test_a_file_that_was_never_closed_is_recovered(folder, tmp_path):
    source, before = folder / "open.root", (folder / "open.root").read_bytes()
    report = recover(source, tmp_path / "new.root")
    assert source.read_bytes() == before
    assert any("baskets" in what and "tree t" in what for what in report["lost"])
    assert [(t["path"], t["entries"]) for t in report["trees"]] == [("t", 1100)]
    is_right(tmp_path / "new.root", range(1100))
    with sapwood.open(tmp_path / "new.root") as file:
        assert file["below/deep"].title == "in a directory"
        assert file["early"].values().tolist() == [0, 0, 0, 1] + [0] * 6


def test_a_file_that_was_never_closed_is_not_updated(folder, tmp_path):
    path = tmp_path / "open.root"
    shutil.copy(folder / "open.root", path)
    before = path.read_bytes()
    with pytest.raises(sapwood.CorruptError, match="sapwood recover IN OUT"):
        sapwood.update(path)
    with pytest.raises(sapwood.CorruptError, match="sapwood recover IN OUT"), sapwood.update(path):
        raise RuntimeError
    assert path.read_bytes() == before


@pytest.mark.parametrize("part", [0.3, 0.6, 0.99])
def test_a_file_that_was_cut_is_recovered_as_far_as_root_does(folder, tmp_path, part):
    data = (folder / "open.root").read_bytes()
    path = tmp_path / "cut.root"
    path.write_bytes(data[: int(len(data) * part)])
    expected = root_reads(path)
    report = recover(path, tmp_path / "new.root")
    assert report["lost"]
    found = newest(root_reads(tmp_path / "new.root"))
    # ROOT does not open a file whose class descriptions are cut; the tree's header comes after them
    assert found == newest(expected) if expected else set(found) == {"early", "below"}


def test_entries_of_a_damaged_basket_are_left_out(folder, tmp_path):
    whole = folder / "whole.root"
    tree = sapwood.open(whole)["t"]
    seeks, firsts = tree["y"]._told["basket_seek"], tree["y"]._told["basket_entry"]
    data = bytearray(whole.read_bytes())
    for basket in (3, 4, 9):
        data[seeks[basket] + 100] ^= 0xFF
    path = tmp_path / "damaged.root"
    path.write_bytes(data)
    report = recover(path, tmp_path / "new.root")
    (found,) = report["trees"]
    assert found["entries"] + found["lost"] == 1500
    assert any("branch y" in what for what in report["lost"])
    x = sapwood.open(tmp_path / "new.root")["t"].arrays().x
    kept = [int(2 * value) for value in ak.to_list(x)]
    gone = sorted(set(range(1500)) - set(kept))
    for basket in (3, 4, 9):
        assert set(range(firsts[basket], firsts[basket + 1])) <= set(gone)
    # no more than the clusters that have them
    assert len(gone) <= 3 * 50 + 50
    is_right(tmp_path / "new.root", kept)


def test_a_whole_file_loses_nothing(run, folder, tmp_path):
    done = run("recover", folder / "whole.root", tmp_path / "new.root")
    assert (done.returncode, "lost" in done.stderr) == (0, False)
    assert "a newer cycle is intact" in done.stderr
    assert "nothing was lost" in done.stdout
    is_right(tmp_path / "new.root", range(1500))
    assert newest(root_reads(tmp_path / "new.root")) == newest(root_reads(folder / "whole.root"))


def test_what_root_left_behind_a_whole_file_when_it_was_killed(folder, tmp_path):
    path = tmp_path / "killed.root"
    shutil.copy(folder / "whole.root", path)
    size = path.stat().st_size
    script(
        """
import os, sys, ROOT
from array import array
file = ROOT.TFile(sys.argv[1], "update")
tree = ROOT.TTree("late", "")
x, y = array("d", [0]), array("f", [0, 0])
tree.Branch("x", x, "x/D")
tree.Branch("y", y, "y[2]/F")
for i in range(50000):
    x[0] = i
    tree.Fill()
tree.AutoSave()
os._exit(0)
""",
        path,
    )
    longer = path.read_bytes()
    assert len(longer) > size
    with pytest.raises(sapwood.CorruptError, match="another program is writing it"):
        sapwood.update(path)
    assert path.read_bytes() == longer
    recover(path, tmp_path / "new.root")
    is_right(tmp_path / "new.root", range(1500))
    with sapwood.open(tmp_path / "new.root") as file:
        assert file["late"].arrays().x.tolist() == list(range(50000))


def test_the_command_tells_what_is_lost(run, folder, tmp_path):
    done = run("recover", "--json", folder / "open.root", tmp_path / "new.root")
    assert done.returncode == 0
    assert "lost: " in done.stderr
    report = json.loads(done.stdout)
    assert report["trees"] == [{"path": "t", "entries": 1100, "baskets": report["trees"][0]["baskets"], "lost": 0}]
    assert report["lost"]
    done = run("recover", folder / "open.root", tmp_path / "new.root")
    assert done.returncode == 1
    assert "already exists" in done.stderr
    (tmp_path / "none.root").write_bytes((folder / "open.root").read_bytes()[:200])
    done = run("recover", tmp_path / "none.root", tmp_path / "other.root")
    assert done.returncode == 1
    assert not (tmp_path / "other.root").exists()


def test_get_gives_the_newest_cycle(root_here, tmp_path):
    path = tmp_path / "cycles.root"
    script(
        """
import sys, ROOT
from array import array
file = ROOT.TFile(sys.argv[1], "recreate")
tree = ROOT.TTree("t", "")
v = array("i", [0])
tree.Branch("v", v, "v/I")
for i in range(100):
    v[0] = i
    tree.Fill()
    if i == 49:
        tree.AutoSave()
tree.Write()
hist = ROOT.TH1F("h", "", 1, 0, 1)
hist.Write()
file.Close()
""",
        path,
    )
    with sapwood.update(path) as file:
        file["t"].extend({"v": [100, 101, 102]})
    with sapwood.update(path) as file:
        file["h"] = np.histogram([0.5, 0.5], 1, (0, 1))
        file["u"] = {"v": np.arange(3)}
    with sapwood.update(path) as file:
        file["u"] = {"v": np.arange(5)}
    said = script(
        """
import sys, ROOT
file = ROOT.TFile(sys.argv[1])
print(file.Get("t").GetEntries(), file.Get("h").GetEntries(), file.Get("u").GetEntries())
print([(key.GetName(), key.GetCycle()) for key in file.GetListOfKeys()])
""",
        path,
    )
    assert said.split("\n")[0] == "103 2.0 5"
    with uproot.open(path) as file:
        assert [file[name].num_entries for name in ("t", "u")] == [103, 5]


def test_root_and_uproot_go_on_with_a_file_that_was_updated_often(root_here, tmp_path):
    path = tmp_path / "often.root"
    with sapwood.recreate(path) as file:
        file["t"] = {"x": np.arange(1000.0)}
        file.mkdir("d")
    sizes = []
    for i in range(60):
        with sapwood.update(path) as file:
            if i:
                del file["d/h"]
            file["d/h"] = np.histogram(np.random.default_rng(i).normal(size=100), 20 + i % 3, (-3, 3))
        sizes.append(path.stat().st_size)
    assert len(set(sizes[30:])) == 1
    assert sapwood.doctor(path, deep=True).healthy
    with uproot.update(path) as file:
        file["by_uproot"] = np.histogram([1, 2], 2, (0, 3))
    said = script(
        """
import sys, ROOT
file = ROOT.TFile(sys.argv[1], "update")
ROOT.TNamed("by_root", "").Write()
file.Close()
file = ROOT.TFile(sys.argv[1])
assert not file.TestBit(ROOT.TFile.kRecovered)
print(file.Get("t").GetEntries(), file.Get("d/h").GetEntries(), bool(file.Get("by_root")), bool(file.Get("by_uproot")))
""",
        path,
    )
    assert said.split() == ["1000", "100.0", "True", "True"]
    with sapwood.update(path) as file:
        file["last"] = np.histogram([1, 2], 2, (0, 3))
    assert sapwood.doctor(path, deep=True).healthy
