"""Trees without entries whose branches have some: each was filled by itself, so that each is joined by itself."""

import subprocess
import sys

import pytest

import sapwood

SCRIPT = """
import sys
from array import array
import ROOT
ROOT.gErrorIgnoreLevel = ROOT.kError

def write(path, x, y, entries=None):
    file = ROOT.TFile(path, "recreate")
    tree = ROOT.TTree("t", "")
    a, b = array("i", [0]), array("i", [0])
    for name, place, values in (("x", a, x), ("y", b, y)):
        branch = tree.Branch(name, place, name + "/I")
        for place[0] in values:
            branch.Fill()
    if entries is not None:
        tree.SetEntries(entries)
    tree.Write()
    file.Close()

if sys.argv[1] == "write":
    write("a.root", [1, 2], [])
    write("b.root", [3, 4, 5], [6])
    write("c.root", [7, 8], [9, 10], entries=2)
else:
    file = ROOT.TFile(sys.argv[2])
    tree = file.Get("t")
    found = []
    for name in "xy":
        branch = tree.GetBranch(name)
        found.append([])
        for i in range(int(branch.GetEntries())):
            branch.GetEntry(i)
            found[-1].append(int(tree.GetLeaf(name).GetValue(0)))
    print(tree.GetEntries(), *found)
"""


def script(folder, *words):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, *words], cwd=folder, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()


def test_branches_filled_by_themselves_are_joined_by_themselves(root_here, tmp_path):
    script(tmp_path, "write")
    a, b, c, out = (tmp_path / f"{name}.root" for name in ("a", "b", "c", "out"))
    sapwood.merge(out, [a, b, a])
    # hadd drops them all
    assert script(tmp_path, "read", "out.root") == "0 [1, 2, 3, 4, 5, 1, 2] [6]"
    assert sapwood.doctor(out, deep=True).healthy
    # with entries that belong together nothing says which of these belong to them
    for inputs in ([a, c], [b, c]):
        with pytest.raises(sapwood.InvalidError, match=r"branch x had \d entries of 0"):
            sapwood.merge(tmp_path / "none.root", inputs)
