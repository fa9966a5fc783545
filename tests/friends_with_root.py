"""Files with friends, written by ROOT, and what ROOT draws of them, as JSON: ``python friends_with_root.py FOLDER``."""

import array
import json
import sys
from pathlib import Path

import ROOT

#: Expressions and cuts for the tree T of main.root with its stored friends, and for T with the friend I of index.root.
BY_ENTRY = [
    ("y", ""), ("F.y", ""), ("al.y", ""), ("G.y", ""), ("z", ""), ("F.x", ""), ("x", ""), ("T.x", ""), ("common", ""),
    ("F.common", ""), ("al.common", ""), ("l", ""), ("w", ""), ("w+v", ""), ("F.w[0]", ""), ("Sum$(w)", ""),
    ("Length$(w)", ""), ("y+z", ""), ("x", "y>103"), ("y", "v>2"), ("x", "x>2&&y<106"), ("F.y+al.y", "x>4"),
]  # fmt: skip
BY_INDEX = [
    ("q", ""), ("I.run", ""), ("q+x", ""), ("Sum$(q)", ""), ("Alt$(q,-1)", ""), ("Length$(q)", ""), ("q+v", ""),
    ("(q>0)?1:2", ""), ("x", "q>0"), ("x", "q>0||x>5"), ("x", "Sum$(q)==0"), ("x", "v>0&&q>0"), ("x", "!(q>1000)"),
]  # fmt: skip
NESTED = [
    ("m", ""), ("y", ""), ("F.y", ""), ("M.m+F.y", "x>2"), ("w", ""), ("z", "y>103"), ("l", "m<9"), ("Sum$(w)+m", ""),
]  # fmt: skip
OF_CHAINS = [("st", ""), ("S.st+x", "x>1"), ("y", ""), ("G.y", "x>3")]


def tree(path, name, columns, entries, lists=None, friends=(), index=None, mode="RECREATE"):
    """Writes a tree of numbers, and perhaps one branch of lists."""
    file = ROOT.TFile(str(path), mode)
    made, held = ROOT.TTree(name, name), {}
    for column, (code, _) in columns.items():
        held[column] = array.array({"I": "i", "D": "d"}[code], [0])
        made.Branch(column, held[column], f"{column}/{code}")
    items = ROOT.std.vector("double")()
    if lists:
        made.Branch(lists[0], items)
    for entry in entries:
        for column, (_, value) in columns.items():
            held[column][0] = value(entry)
        if lists:
            items.clear()
            for x in lists[1](entry):
                items.push_back(x)
        made.Fill()
    for friend in friends:
        made.AddFriend(*map(str, friend))
    if index:
        made.BuildIndex(*index)
    file.cd()
    made.Write()
    file.Close()


def drawn(chain, asked):
    """The values that TTree::Draw gives for each expression and cut."""
    values = []
    for expression, cut in asked:
        count = chain.Draw(expression, cut, "goff")
        values.append([expression, cut, [chain.GetV1()[i] for i in range(count)]])
    return values


def write(folder):
    friend, shuffled = folder / "friend.root", [(0, 2), (0, 0), (2, 1), (1, 1), (0, 1), (5, 5), (1, 1)]
    plain = {"y": ("D", lambda i: 100 + i), "common": ("I", lambda i: 2), "x": ("I", lambda i: -i)}
    tree(friend, "F", plain, range(10), ("w", lambda i: [i * 10 + k for k in range((i + 1) % 3)]))
    other = {"y": ("D", lambda i: 200 + i), "z": ("D", lambda i: i / 2), "common": ("I", lambda i: 3)}
    tree(friend, "G", other, range(10), mode="UPDATE")
    tree(friend, "Short", {"s": ("D", lambda i: 300 + i)}, range(6), mode="UPDATE")
    tree(friend, "Long", {"l": ("D", lambda i: 400 + i)}, range(15), mode="UPDATE")
    keys = {"run": ("I", lambda i: shuffled[i][0]), "ev": ("I", lambda i: shuffled[i][1])}
    indexed = {**keys, "q": ("D", lambda i: 1000 + i)}
    tree(folder / "index.root", "I", indexed, range(7), index=("run", "ev"))
    tree(folder / "keys.root", "I", indexed, range(7))
    main = {"x": ("I", int), "run": ("I", lambda i: i // 3), "ev": ("I", lambda i: i % 3), "common": ("I", lambda i: 1)}
    friends = [("F", friend), ("al = G", friend), ("Short", friend), ("Long", friend)]
    tree(folder / "main.root", "T", main, range(10), ("v", lambda i: [i] * (i % 3)), friends)
    # friends of friends: N has M, M has the friends of T, and N itself
    nested = folder / "nested.root"
    tree(folder / "middle.root", "M", {"m": ("D", lambda i: 7 * i)}, range(10), friends=[*friends[:3], ("N", nested)])
    tree(nested, "N", {"x": ("I", int)}, range(10), friends=[("M", folder / "middle.root"), friends[3]])
    for number in range(2):
        first = 4 * number
        tree(folder / f"g{number}.root", "G", {"y": ("D", lambda i: 100 + i)}, range(first, 4 + 2 * first))
        st = {"st": ("D", lambda i, n=number: 1000 * (n + 1) + i)}
        tree(folder / f"s{number}.root", "S", st, range(5))
        part = {"x": ("D", float)}
        stored = [("S", folder / f"s{number}.root")]
        tree(folder / f"c{number}.root", "T", part, range(5 * number, 5 * number + 5), friends=stored)


def weighted(folder):
    """Trees with weights, and the histograms that ROOT draws of the chain of them."""
    chain = ROOT.TChain("T")
    for number, weight in enumerate((2.5, 0.5, 0)):
        path = str(folder / f"w{number}.root")
        file = ROOT.TFile(path, "RECREATE")
        made, x = ROOT.TTree("T", "T"), array.array("d", [0])
        made.Branch("x", x, "x/D")
        for i in range(4):
            x[0] = i + 4 * number
            made.Fill()
        made.SetWeight(weight)
        made.Write()
        file.Close()
        chain.Add(path)
    facts = []
    for cut in ("", "x>1", "x*2"):
        chain.Draw("x>>h(12,0,12)", cut, "goff")
        counts = ROOT.gDirectory.Get("h")
        facts.append([cut, counts.GetEntries(), [counts.GetBinContent(i) for i in range(1, 13)]])
    return facts


def main():
    folder = Path(sys.argv[1])
    write(folder)
    file = ROOT.TFile(str(folder / "main.root"))
    chosen = file.Get("T")
    facts = {"by_entry": drawn(chosen, BY_ENTRY)}
    chosen.AddFriend("I", str(folder / "index.root"))
    facts["by_index"] = drawn(chosen, BY_INDEX)
    chain, friend = ROOT.TChain("T"), ROOT.TChain("G")
    for number in range(2):
        chain.Add(str(folder / f"c{number}.root"))
        friend.Add(str(folder / f"g{number}.root"))
    chain.AddFriend(friend)
    facts["of_chains"] = drawn(chain, OF_CHAINS)
    file = ROOT.TFile(str(folder / "nested.root"))
    facts["nested"] = drawn(file.Get("N"), NESTED)
    facts["weights"] = weighted(folder)
    (folder / "facts.json").write_text(json.dumps(facts))


if __name__ == "__main__":
    main()
