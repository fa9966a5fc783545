"""What ROOT's TTree::Scan prints, in a process of its own.

The process reads one request as JSON: {"make": path, "file": path, "scans": [[expressions, cut, option, entries,
first], ...]}, any of them left out. What it prints of each scan is between lines of marks.
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings

#: What marks the beginning and the end of a scan.
MARK = "=====scan====="


def make(path):
    """A tree of 6 entries: numbers of all sizes, strings, arrays and lists."""
    import array

    import ROOT

    file = ROOT.TFile(path, "recreate")
    tree = ROOT.TTree("t", "")
    x, n, v = array.array("d", [0]), array.array("i", [0]), array.array("f", [0] * 4)
    small, flag, long = array.array("b", [0]), array.array("B", [0]), array.array("q", [0])
    matrix, pair, text = array.array("f", [0] * 6), array.array("i", [0, 0]), array.array("b", [0] * 12)
    name, items = ROOT.std.string(), ROOT.std.vector("double")()
    branches = (
        ("x", x, "x/D"), ("n", n, "n/I"), ("v", v, "v[n]/F"), ("long", long, "long/L"), ("flag", flag, "flag/O"),
        ("small", small, "small/B"), ("matrix", matrix, "matrix[2][3]/F"), ("pair", pair, "a/I:b/I"),
        ("text", text, "text/C"),
    )  # fmt: skip
    for branch in branches:
        tree.Branch(*branch)
    tree.Branch("name", name)
    tree.Branch("items", items)
    values = [0.1, -12345.6789, 1e-12, 1e20, float("nan"), float("inf")]
    longs = [0, -1, 2**40, 2**62, 7, -(2**63)]
    for i in range(6):
        x[0], n[0], long[0], small[0], flag[0] = values[i], i % 3, longs[i], 65 + i, i % 2
        for j in range(4):
            v[j] = i / 3 + j
        for j in range(6):
            matrix[j] = 10 * i + j
        pair[0], pair[1] = i, -i
        for j, byte in enumerate(f"text{i}-long".encode().ljust(12, b"\0")):
            text[j] = byte
        name.assign("a" * 3 * i)
        items.clear()
        for _ in range(i % 2 + 1):
            items.push_back(i + 0.5)
        tree.Fill()
    tree.Write()
    file.Close()


def main() -> None:
    warnings.simplefilter("ignore")
    import ROOT

    ROOT.gErrorIgnoreLevel = ROOT.kFatal
    ROOT.gROOT.SetBatch(True)
    request = json.load(sys.stdin)
    if "make" in request:
        make(request["make"])
    if "file" in request:
        file = ROOT.TFile(request["file"])
        tree = file.Get("t")
        tree.SetScanField(0)
        for expressions, cut, option, entries, first in request["scans"]:
            print(MARK, flush=True)
            tree.Scan(expressions, cut, option, entries, first)
            sys.stdout.flush()
        print(MARK, flush=True)


def asked(**request):
    """What ROOT prints of each scan."""
    words = [sys.executable, __file__]
    done = subprocess.run(words, input=json.dumps(request), capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise AssertionError(f"ROOT ended early: {done.stderr[-2000:]}")
    return [part.removeprefix("\n") for part in done.stdout.split(MARK)[1:-1]]


if __name__ == "__main__":
    main()
