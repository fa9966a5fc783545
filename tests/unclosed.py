"""Writes files with ROOT that are never closed, and says what ROOT recovers from files: run by test_recovery.py.

python tests/unclosed.py write FOLDER
python tests/unclosed.py read FILE...
"""

import json
import shutil
import sys
from array import array

import ROOT

ROOT.gErrorIgnoreLevel = ROOT.kFatal


def write(folder):
    """open.root: as a crash would leave it, with a tree saved twice; whole.root: closed."""
    path = f"{folder}/whole.root"
    file = ROOT.TFile(path, "recreate")
    early = ROOT.TH1F("early", "", 10, 0, 10)
    early.Fill(3)
    early.Write()
    below = file.mkdir("below")
    below.cd()
    ROOT.TNamed("deep", "in a directory").Write()
    file.cd()
    tree = ROOT.TTree("t", "saved now and then")
    tree.SetAutoFlush(50)
    x, n, y = array("d", [0]), array("i", [0]), array("f", [0] * 5)
    tree.Branch("x", x, "x/D", 1000)
    tree.Branch("n", n, "n/I", 1000)
    tree.Branch("y", y, "y[n]/F", 1000)
    for i in range(1500):
        x[0], n[0] = i * 0.5, i % 5
        for k in range(n[0]):
            y[k] = i + k
        tree.Fill()
        if i in (99, 1099):
            tree.AutoSave("SaveSelf")
        if i == 1399:
            file.Flush()
            shutil.copy(path, f"{folder}/open.root")
    late = ROOT.TH1F("late", "", 10, 0, 10)
    late.Fill(7)
    file.Write()
    file.Close()


def read(path):
    """Objects and trees: {path;cycle: [entries, sum of x, sum of y] or class}; None when ROOT cannot open it."""
    try:
        file = ROOT.TFile.Open(path)
    except OSError:
        return None
    out = {}
    for key in file.GetListOfKeys():
        name = f"{key.GetName()};{key.GetCycle()}"
        if key.GetClassName() != "TTree":
            out[name] = key.GetClassName()
            continue
        tree = key.ReadObj()
        if not tree:
            continue
        x, y = 0.0, 0.0
        for i in range(tree.GetEntries()):
            if tree.GetEntry(i) <= 0:
                break
            x += tree.x
            y += sum(tree.y)
        out[name] = [tree.GetEntries(), x, y]
    file.Close()
    return out


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(sys.argv[2])
    else:
        for name in sys.argv[2:]:
            print("ANSWER", json.dumps([name, read(name)]), flush=True)
