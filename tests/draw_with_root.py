"""What ROOT's TTree::Draw makes of expressions, in a process of its own (:class:`Root`).

That process reads lines of [file, tree, [[expression, cut], ...], estimate or null] as JSON, and prints a line for
each: the histograms, null where ROOT refuses.
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings

from root_answers import tell, told


def drawn(tree, expression, cut):
    """The histogram that ROOT makes."""
    import ROOT

    old = ROOT.gDirectory.Get("drawn")
    if old:
        old.Delete()
    rows = tree.Draw(f"{expression}>>drawn", cut, "goff")
    hist = ROOT.gDirectory.Get("drawn")
    if rows < 0 or not hist:
        return None
    axis = hist.GetXaxis()
    # ROOT keeps room for more labels than there are
    labels = [str(label.GetString()) for label in axis.GetLabels()] if axis.GetLabels() else None
    bins = len(labels) if labels is not None else axis.GetNbins()
    edges = range(bins + 2) if labels is None else range(1, bins + 1)
    return {
        "bins": bins,
        "low": axis.GetXmin(),
        "high": axis.GetXmax(),
        "labels": labels,
        "values": [hist.GetBinContent(i) for i in edges],
    }


def main() -> None:
    warnings.simplefilter("ignore")
    import ROOT

    ROOT.gErrorIgnoreLevel = ROOT.kFatal
    ROOT.gROOT.SetBatch(True)
    for line in sys.stdin:
        name, tree, expressions, estimate = json.loads(line)
        file = ROOT.TFile.Open(name)
        tree = file.Get(tree)
        if estimate is not None:
            tree.SetEstimate(estimate)
        answers = [drawn(tree, *e) for e in expressions]
        file.Close()
        tell(answers)


class Root:
    """A running ROOT that draws."""

    def __init__(self) -> None:
        words = [sys.executable, __file__]
        quiet = subprocess.DEVNULL
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=quiet, text=True)

    def draw(self, file, tree, cases, estimate=None):
        """The histograms of [(expression, cut), ...], None where ROOT refuses."""
        request = [str(file), tree, [list(case) for case in cases], estimate]
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        if (answers := told(self.process.stdout)) is None:
            raise AssertionError(f"ROOT ended while it drew {cases}")
        return answers

    def stop(self) -> None:
        """Ends it."""
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


if __name__ == "__main__":
    main()
