"""ROOT as judge where Sapwood and uproot disagree about a branch: judge.py < JSON lines [file, tree, branch].

A line each: ROOT's type of the leaf, and for every entry its values, flat, with their number behind; null where the
branch is not a plain leaf."""

import json
import sys

import ROOT

ROOT.gErrorIgnoreLevel = ROOT.kFatal


def leaf_of(tree, branch):
    """The one leaf of a branch given by uproot's name; None where there is none or more."""
    bare = branch.rsplit("/", 1)[-1]
    for name in (branch, bare, bare.split("[")[0]):
        found = tree.GetBranch(name)
        if found and found.GetListOfLeaves().GetEntries() == 1:
            return found.GetListOfLeaves().At(0)
    return None


def judge(path, name, branch):
    file = ROOT.TFile.Open(path)
    tree = file.Get(name)
    leaf = leaf_of(tree, branch)
    if leaf is None:
        return None
    values = []
    for entry in range(tree.GetEntries()):
        counter = leaf.GetLeafCount()
        if counter:
            counter.GetBranch().GetEntry(entry)
        leaf.GetBranch().GetEntry(entry)
        # The length is not to be trusted for members that are single numbers: the first value always comes.
        values.append([leaf.GetValue(index) for index in range(max(1, leaf.GetLen()))] + [leaf.GetLen()])
    return [leaf.GetTypeName(), values]


for line in sys.stdin:
    print("ANSWER", json.dumps(judge(*json.loads(line))), flush=True)
