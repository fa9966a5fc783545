"""Values of functions by ROOT's TTree::Draw.

Run with the name of a file to write, and a list of (expression, cut) on standard input. The tree `t` of the file has
columns of arguments, and `row`, their number. Printed is JSON: the rows and values of each expression, or null."""

from __future__ import annotations

import itertools
import json
import math
import random
import sys
import warnings

from root_answers import tell

EXTREME = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e-300, 1e300, -1e300, 5e-324]
PLAIN = [-200.5, -30.0, -3.0, -2.5, -1.0, -0.5, -1e-8, 1e-10, 0.1, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 5.0]
PLAIN += [7.0, 8.0, 11.5, 12.0, 20.0, 30.0, 60.0, 100.0, 171.5, 700.0, 1e5]


def arguments():
    """Rows of four: extremes with each other, and random ones of several sizes."""
    rng = random.Random(18)
    firsts = PLAIN + EXTREME
    rows = [(x, 1.0, 2.0, 1.0) for x in firsts]
    rows += [(x, y, 2.0, 1.0) for x, y in itertools.product([*EXTREME, -2.0, 0.3, 3.0], [*EXTREME, -1.0, 0.5, 2.0])]
    rows += [(0.3, 1.0, z, 1.0) for z in [*EXTREME, -1.0, 0.5]]
    for size in (1.0, 5.0, 40.0):
        rows += [tuple(rng.uniform(-size, size) for _ in range(4)) for _ in range(40)]
        rows += [tuple(rng.uniform(0.0, size) for _ in range(4)) for _ in range(40)]
    return rows


def main() -> None:
    warnings.simplefilter("ignore")
    import array

    import ROOT

    ROOT.gErrorIgnoreLevel = 6001
    ROOT.gROOT.SetBatch(True)
    file = ROOT.TFile(sys.argv[1], "RECREATE")
    tree = ROOT.TTree("t", "arguments")
    columns = [array.array("d", [0.0]) for _ in range(5)]
    for name, column in zip(("a", "b", "c", "d", "row"), columns, strict=True):
        tree.Branch(name, column, f"{name}/D")
    for number, row in enumerate(arguments()):
        for column, value in zip(columns, (*row, number), strict=True):
            column[0] = value
        tree.Fill()
    tree.Write()
    answers = []
    for expression, cut in json.load(sys.stdin):
        found = tree.Draw(f"{expression}:row", cut, "goff")
        values = [(int(tree.GetV2()[i]), tree.GetV1()[i]) for i in range(found)] if found > 0 else None
        answers.append(values)
    file.Close()
    tell(answers)


if __name__ == "__main__":
    main()
