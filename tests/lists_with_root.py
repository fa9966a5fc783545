"""Entry lists that ROOT's TTree::Draw makes, and what ROOT draws through lists, in a process of its own.

The process reads one request as JSON: {"make": directory, "sessions": [[trees, [[expression, cut, option], ...]], ...],
"read": [[path, name], ...], "through": [[path, draws, trees, expression, cut], ...]}, any of them left out; trees are
[[file, tree], ...]. It prints the lists, and the values of the expressions, as JSON. Where a path is null, the list to
draw through is that of the draws: ROOT forgets the instances of a list that it reads from a file.
"""

from __future__ import annotations

import json
import sys
import warnings

from root_answers import ask, tell

#: Files, with the path of the tree, entries, and the first value of x.
FILES = {
    "a.root": ("t", 20, 0),
    "b.root": ("t", 30, 100),
    "empty.root": ("t", 5, -1000),
    "deep.root": ("d/t", 130_000, 0),
}


def make(folder):
    """Trees with x counted up, and a list v of 0 to 3 items that grow by 10."""
    import array

    import ROOT

    for name, (path, entries, first) in FILES.items():
        file = ROOT.TFile(f"{folder}/{name}", "recreate")
        directory, _, last = path.rpartition("/")
        if directory:
            file.mkdir(directory).cd()
        tree = ROOT.TTree(last, "")
        x, n, v = array.array("i", [0]), array.array("i", [0]), array.array("f", [0] * 4)
        tree.Branch("x", x, "x/I")
        tree.Branch("n", n, "n/I")
        tree.Branch("v", v, "v[n]/F")
        for i in range(entries):
            x[0], n[0] = first + i, i % 4
            for j in range(4):
                v[j] = i % 1000 + 10 * j
            tree.Fill()
        tree.Write()
        file.Close()


def opened(trees):
    """A tree by itself, or a chain; and what keeps it open."""
    import ROOT

    if len(trees) == 1:
        file = ROOT.TFile(trees[0][0])
        return file.Get(trees[0][1]), file
    chain = ROOT.TChain(trees[0][1])
    for path, name in trees:
        chain.AddFile(path, ROOT.TTree.kMaxEntries, name)
    return chain, chain


def entries(of):
    return [of.GetEntry(i) for i in range(of.GetN())]


def described(made):
    """All that a list says."""
    out = {"class": made.ClassName(), "title": made.GetTitle(), "entries": made.GetN(), "reapply": made.GetReapplyCut()}
    if made.ClassName() == "TEventList":
        return out | {"numbers": entries(made)}
    parts = []
    for part in list(made.GetLists() or [made]):
        numbers = entries(part)
        named = {"tree": str(part.GetTreeName()), "file": str(part.GetFileName()), "numbers": numbers}
        if made.ClassName() == "TEntryListArray" and part.GetSubLists():
            lists = ((n, part.GetSubListForEntry(n)) for n in numbers)
            named["instances"] = [[n, entries(of)] for n, of in lists if of]
        parts.append(named)
    return out | {"parts": parts}


def drawn(session):
    import ROOT

    trees, draws = session
    tree, _keep = opened(trees)
    ROOT.gROOT.cd()
    rows = [tree.Draw(expression, cut, f"{option} goff") for expression, cut, option in draws]
    made = ROOT.gDirectory.Get(draws[-1][0].rpartition(">>")[2].strip("+ "))
    answer = described(made) | {"rows": rows[-1]} if made and rows[-1] >= 0 else None
    if made:
        made.Delete()
    return answer


def main() -> None:
    warnings.simplefilter("ignore")
    import ROOT

    ROOT.gErrorIgnoreLevel = ROOT.kFatal
    ROOT.gROOT.SetBatch(True)
    request = json.load(sys.stdin)
    answer = []
    if "make" in request:
        make(request["make"])
    answer += [drawn(session) for session in request.get("sessions", [])]
    for path, name in request.get("read", []):
        file = ROOT.TFile(path)
        made = file.Get(name)
        answer.append(described(made) if made else None)
        file.Close()
    for path, draws, trees, expression, cut in request.get("through", []):
        tree, _keep = opened(trees)
        ROOT.gROOT.cd()
        if path is None:
            for draw in draws:
                tree.Draw(*draw)
            made = ROOT.gDirectory.Get("l")
        else:
            file = ROOT.TFile(path)
            made = file.Get("l")
        made.SetDirectory(ROOT.nullptr)
        tree.SetEventList(made) if made.ClassName() == "TEventList" else tree.SetEntryList(made)
        tree.SetEstimate(1_000_000)
        rows = tree.Draw(expression, cut, "goff")
        answer.append([tree.GetV1()[i] for i in range(rows)])
    tell(answer)


def asked(**request):
    """ROOT's answer."""
    return ask(__file__, request)


if __name__ == "__main__":
    main()
