"""Objects beside a tree (TTree::GetUserInfo), and TChain objects opened as chains, of ROOT's making."""

import subprocess
import sys

import pytest

import sapwood

MAKE = """
import array, sys
import ROOT
folder = sys.argv[1]
for part in range(2):
    file = ROOT.TFile(f"{folder}/p{part}.root", "RECREATE")
    tree, x = ROOT.TTree("t", "t"), array.array("d", [0])
    tree.Branch("x", x, "x/D")
    for i in range(5):
        x[0] = 5 * part + i
        tree.Fill()
    if part == 0:
        made = [ROOT.TParameter["double"]("lumi", 12.5), ROOT.TNamed("key", "value"), ROOT.TH1F("h", "h", 3, 0, 3)]
        made[2].SetDirectory(ROOT.nullptr)
        made[2].Fill(1)
        for one in made:
            ROOT.SetOwnership(one, False)
            tree.GetUserInfo().Add(one)
    tree.Write()
    file.Close()
file = ROOT.TFile(f"{folder}/f.root", "RECREATE")
tree, y = ROOT.TTree("f", "f"), array.array("d", [0])
tree.Branch("y", y, "y/D")
for i in range(10):
    y[0] = 100 + i
    tree.Fill()
tree.Write()
file.Close()
chain = ROOT.TChain("t", "a chain")
chain.Add(f"{folder}/p0.root")
chain.Add("p1.root")
chain.AddFriend("al = f", f"{folder}/f.root")
file = ROOT.TFile(f"{folder}/chain.root", "RECREATE")
chain.Write("c")
file.Close()
"""


@pytest.fixture(scope="module")
def folder(root_here, tmp_path_factory):
    folder = tmp_path_factory.mktemp("info")
    words = [sys.executable, "-W", "ignore", "-c", MAKE, folder]
    made = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert made.returncode == 0, made.stdout + made.stderr
    return folder


def test_user_info_is_a_list_of_objects(folder):
    lumi, named, hist = sapwood.open(f"{folder}/p0.root:t").user_info
    assert lumi.value == 12.5
    assert named.member("fTitle") == "value"
    assert hist.values().tolist() == [0, 1, 0]
    assert sapwood.open(f"{folder}/p1.root:t").user_info == []


def test_a_tchain_is_a_chain(folder, run):
    chain = sapwood.open(f"{folder}/chain.root:c")
    assert isinstance(chain, sapwood.Chain)
    assert chain.num_entries == 10
    assert chain.arrays(["x"])["x"].tolist() == list(range(10))
    assert [row[0] for row in chain.query("x+al.y", "x>7")] == [116, 118]
    import sapwood.uproot as uproot

    assert uproot.open(f"{folder}/chain.root")["c"].member("fName") == "t"
    # the command says what it is
    done = run("draw", f"{folder}/chain.root:c", "x")
    assert done.returncode == 1
    assert "TChain" in done.stderr
