"""The expressions of tests/expressions/*.txt, drawn by ROOT's TTree::Draw and by Sapwood.

    python tests/expressions_with_root.py MADE CORPUS [WORD]

draws all of them (those that contain WORD), prints what differs, is refused or crashes, and counts. MADE is the
directory with the file that events.C writes, CORPUS that of the files of experiments.

Each side draws in a process of its own, so that a crash is seen and does not end the rest.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from root_answers import tell, told

LISTS = Path(__file__).parent / "expressions"
#: ROOT remembers the last numbers of bins: these are set again before each draw.
BINS = {"1D.x": 100, "2D.x": 40, "2D.y": 40, "2D.Prof": 100, "3D.x": 20, "3D.y": 20, "3D.z": 20}
BINS |= {"3D.Profx": 100, "3D.Profy": 100}


#: Parts of the names of files with classes that have other members in other files (Event, Track, Jet).
OWN_CLASSES = ("Event", "issue513")


class Case(NamedTuple):
    """One line of a list."""

    file: str
    tree: str
    expression: str
    cut: str
    option: str
    #: Empty where both draw the same; otherwise a word of VERDICTS and the reason.
    state: str

    @property
    def verdict(self):
        """The first word of the state."""
        return self.state.partition(":")[0] or "equal"

    def shown(self):
        """As it stands in the list."""
        return " | ".join(self[:5]).rstrip(" |")


#: How the sides may stand to each other.
VERDICTS = {
    "equal": "both draw the same",
    "different": "they draw different histograms",
    "random": "both draw, with other random numbers",
    "refused": "ROOT draws, Sapwood refuses",
    "only here": "Sapwood draws, ROOT does not",
    "neither": "both refuse",
    "crashed": "Sapwood crashes",
}


def parts_of(line):
    """The columns of a line: bars with blanks around them separate, `||` does not."""
    return [part.strip() for part in f" {line} ".split(" |")]


def cases(name):
    """The cases of a list."""
    out = []
    for line in (LISTS / f"{name}.txt").read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        parts = parts_of(line)
        if name == "made":
            parts.insert(0, "events.root")
        case = Case(*parts, *[""] * (6 - len(parts)))
        assert case.verdict in VERDICTS, line
        out.append(case)
    return out


class Side:
    """A process that draws: "root" or "sapwood"."""

    def __init__(self, name) -> None:
        self.name = name
        self.process = None

    def draw(self, path, case):
        """The histogram, {"refused": why}, or {"crashed": ...}."""
        if self.process is None:
            words = [sys.executable, __file__, "--side", self.name]
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
        self.process.stdin.write(json.dumps([str(path), *case[1:5]]) + "\n")
        self.process.stdin.flush()
        answer = told(self.process.stdout)
        return {"crashed": self.stop()} if answer is None else answer

    def stop(self):
        """Ends it, and gives back its status."""
        if self.process is None:
            return None
        self.process.stdin.close()
        status = self.process.wait(60)
        self.process.stdout.close()
        self.process = None
        return status


def described_by_root(hist):
    """What is compared of ROOT's histogram."""
    axes = []
    for letter in "XYZ"[: hist.GetDimension()]:
        axis = getattr(hist, f"Get{letter}axis")()
        labels = [str(label.GetString()) for label in axis.GetLabels()] if axis.GetLabels() else None
        # ROOT keeps room for more labels than there are
        bins = len(labels) if labels is not None else axis.GetNbins()
        axes.append({"bins": bins, "low": axis.GetXmin(), "high": axis.GetXmax(), "labels": labels})
    ranges = [range(1, a["bins"] + 1) if a["labels"] is not None else range(a["bins"] + 2) for a in axes]
    ranges += [[0]] * (3 - len(ranges))
    values = [hist.GetBinContent(hist.GetBin(x, y, z)) for x in ranges[0] for y in ranges[1] for z in ranges[2]]
    return {"axes": axes, "values": values}


def described_here(hist):
    """What is compared of Sapwood's histogram."""
    axes, drop = [], []
    for axis in hist.axes:
        labels = list(axis) if isinstance(axis.bin(0), str) else None
        axes.append({"bins": len(axis), "low": axis.edges[0], "high": axis.edges[-1], "labels": labels})
        drop.append(slice(0, len(axis)) if labels is not None else slice(None))
    values = hist.values(flow=True)[tuple(drop)]
    return {"axes": axes, "values": [float(x) for x in values.ravel()]}


def root_side():
    """Draws with ROOT."""
    import ROOT

    ROOT.gErrorIgnoreLevel = ROOT.kFatal
    ROOT.gROOT.SetBatch(True)
    files = {}

    def draw(path, tree, expression, cut, option):
        if path not in files:
            files[path] = ROOT.TFile.Open(path)
        # nothing is left of the draws before
        tree = files[path].Get(tree)
        if not tree:
            return {"refused": "there is no tree"}
        ROOT.gROOT.cd()
        for name, bins in BINS.items():
            ROOT.gEnv.SetValue(f"Hist.Binning.{name}", bins)
        for old in ("h", "htemp"):
            if hist := ROOT.gDirectory.Get(old):
                hist.Delete()
        rows = tree.Draw(expression, cut, f"{option} goff")
        hist = tree.GetHistogram()
        if rows < 0 or not hist:
            return {"refused": "TTree::Draw returned -1"}
        return {"rows": rows} | described_by_root(hist)

    return draw


def sapwood_side():
    """Draws with Sapwood."""
    import sapwood

    def draw(path, tree, expression, cut, option):
        try:
            hist = sapwood.open(f"{path}:{tree}").draw(expression, cut, option=option or None)
        except sapwood.Error as e:
            return {"refused": str(e)}
        return described_here(hist)

    return draw


def same(ours, roots):
    """Whether two histograms are the same. ROOT counts with 32 bits, and its profiles sum in another order."""
    if not sum(map(abs, roots["values"])):
        return not sum(map(abs, ours["values"]))
    for a, b in zip(ours["axes"], roots["axes"], strict=True):
        if a["labels"] != b["labels"] or a["bins"] != b["bins"]:
            return False
        if a["labels"] is None and not all(
            math.isclose(a[k], b[k], rel_tol=1e-12, abs_tol=1e-300) for k in ("low", "high")
        ):
            return False
    largest = max(map(abs, roots["values"]))
    return len(ours["values"]) == len(roots["values"]) and all(
        math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6 * largest)
        for a, b in zip(ours["values"], roots["values"], strict=True)
    )


def verdict(ours, roots):
    """A word of VERDICTS."""
    if "crashed" in ours:
        return "crashed"
    drawn = roots.get("rows", 0) > 0 or ("refused" not in ours and "values" in roots)
    if "refused" in ours:
        return "refused" if drawn else "neither"
    if not drawn:
        return "only here"
    return "equal" if same(ours, roots) else "different"


def compared(all_cases, folders):
    """(case, verdict, ours, ROOT's) of each; directories are where the files of a list are."""
    root, here = Side("root"), Side("sapwood")
    last = None
    try:
        for case in all_cases:
            path = next((p for f in folders if (p := Path(f) / case.file).exists()), None)
            if path is None:
                continue
            if last and path != last and any(name in path.name + last.name for name in OWN_CLASSES):
                # ROOT keeps a class of a file, which has other members in the next one
                root.stop()
            last = path
            ours, roots = here.draw(path, case), root.draw(path, case)
            yield case, verdict(ours, roots), ours, roots
    finally:
        root.stop()
        here.stop()


def main() -> None:
    if sys.argv[1] == "--side":
        warnings.simplefilter("ignore")
        draw = {"root": root_side, "sapwood": sapwood_side}[sys.argv[2]]()
        for line in sys.stdin:
            tell(draw(*json.loads(line)))
        return
    made, corpus, *word = sys.argv[1:]
    counts = Counter()
    for name in ("made", "corpus"):
        chosen = [c for c in cases(name) if not word or word[0] in c.shown()]
        for case, found, ours, roots in compared(chosen, [made, corpus]):
            counts[name, found] += 1
            mark = " " if found == case.verdict or (found, case.verdict) == ("different", "random") else "*"
            if found != "equal" or mark == "*":
                why = ours.get("refused", "").splitlines()[:1]
                if found == "different":
                    why = [{k: (sum(v) if k == "values" else v) for k, v in h.items()} for h in (ours, roots)]
                print(f"{mark}{found}: {case.shown()}", *why, roots.get("crashed", ""), sep="  ", flush=True)
    for name in ("made", "corpus"):
        print(name, *(f"{found} {n}" for (which, found), n in sorted(counts.items()) if which == name), sep=", ")


if __name__ == "__main__":
    main()
