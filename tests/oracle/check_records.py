"""ROOT and uproot read what `#[derive(Record)]` made: every value of every branch.

    check_records.py RECORDS      the example's binary

Needs ROOT with rootcling, a C++ compiler and uproot; exits with status 77, which means "skipped", without them.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from dictionaries import compiler_and_dictionary

SKIPPED = 77
ENTRIES = 60

HEADER = """
#pragma once
#include <map>
#include <string>
#include <vector>
#include "Rtypes.h"
struct RecPoint { float x; double y; };
struct RecHit { int id; std::string name; std::vector<float> amplitudes; double covariance[3]; };
struct RecVertex { RecPoint at; std::vector<RecPoint> tracks; std::vector<std::string> tags; };
"""
CLASSES = (
    "RecPoint",
    "RecHit",
    "RecVertex",
    "std::vector<RecPoint>",
    "std::vector<RecHit>",
    "std::vector<std::string>",
    "std::vector<std::vector<int> >",
    "std::map<std::string,int>",
)


def hit(i):
    return {"id": i, "name": f"hit{i}", "amplitudes": list(range(i % 4)), "covariance": [1, i, 0.5]}


def vertex(i):
    point = [{"x": j / 2, "y": -j} for j in range(i + 1)]
    return {"at": point[i], "tracks": point[: i % 3], "tags": [f"tag{j}" for j in range(i % 2)]}


def event(k):
    """The example's k-th row."""
    return {
        "run": k,
        "good": k % 3 == 0,
        "energy": k * 1.5,
        "momentum": [k, k + 1, k + 2, k + 3],
        "matrix": [[i + k % 100 for i in row] for row in ([0, 1, 2], [3, 4, 5])],
        "nJet": k % 5,
        "jet_pt": [i + 0.25 for i in range(k % 5)],
        "jet_id": list(range(k % 5)),
        "weights": list(range(k % 3)),
        "nested": [list(range(i)) for i in range(k % 3)],
        "label": f"event {k}",
        "words": [f"word{i}" for i in range(k % 3)],
        "triggers": {f"t{i}": i for i in range(k % 3)},
        "beam": {"x": k / 2, "y": -k},
        "vertex": vertex(k),
        "coarse.": vertex(k + 1),
        "hits": [hit(i) for i in range(k % 3)],
        "kept": [hit(i) for i in range(k % 3)],
    }


def plain(value):
    """What ROOT's objects hold, as Python has it."""
    kind = type(value).__cpp_name__ if hasattr(type(value), "__cpp_name__") else ""
    if kind.endswith("RecPoint"):
        return {"x": value.x, "y": value.y}
    if kind.endswith("RecVertex"):
        return {name: plain(getattr(value, name)) for name in ("at", "tracks", "tags")}
    if kind.endswith("RecHit"):
        return {name: plain(getattr(value, name)) for name in ("id", "name", "amplitudes", "covariance")}
    if "map<" in kind:
        return {str(k): v for k, v in value}
    if "string" in kind and "<" not in kind.removeprefix("std::basic_string<char>"):
        return str(value)
    if isinstance(value, (bool, int, float, str)):
        return value
    return [plain(v) for v in value]


def by_root(library, path):
    import ROOT

    ROOT.gSystem.Load(str(library))
    file = ROOT.TFile.Open(str(path))
    tree = file.Get("events")
    assert (
        tree.GetBranch("energy").GetCompressionSettings() == 505
        and tree.GetBranch("energy").GetTitle() == "energy in GeV"
    )
    objects = ("label", "words", "weights", "nested", "triggers", "beam", "vertex", "coarse.", "hits", "kept")
    for k, entry in enumerate(tree):
        wanted = event(k)
        for name in objects:
            got = plain(getattr(entry, name))
            assert got == wanted[name], (name, k, got)
        for name in ("run", "good", "energy", "nJet"):
            assert getattr(entry, name) == wanted[name], (name, k)
        for name in ("momentum", "jet_pt", "jet_id"):
            assert [x if isinstance(x, (int, float)) else ord(x) for x in getattr(entry, name)] == wanted[name], (
                name,
                k,
            )
    assert k + 1 == ENTRIES
    n = tree.Draw("matrix", "", "goff")
    drawn = tree.GetV1()
    assert [drawn[i] for i in range(n)] == [x for k in range(ENTRIES) for row in event(k)["matrix"] for x in row]


def by_uproot(path):
    import uproot

    tree = uproot.open(path)["events"]
    rows = [event(k) for k in range(ENTRIES)]

    def same(branch, wanted):
        got = tree[branch].array().to_list()
        assert got == [wanted(row) for row in rows], branch

    for name in (
        "run",
        "good",
        "energy",
        "momentum",
        "matrix",
        "nJet",
        "jet_pt",
        "jet_id",
        "weights",
        "nested",
        "label",
        "words",
    ):
        same(name, lambda row, name=name: row[name])  # fmt: skip
    same("triggers/triggers.first", lambda row: list(row["triggers"]))
    same("triggers/triggers.second", lambda row: list(row["triggers"].values()))
    same("vertex/at/at.y", lambda row: row["vertex"]["at"]["y"])
    same("vertex/tracks/tracks.x", lambda row: [p["x"] for p in row["vertex"]["tracks"]])
    same("vertex/tags", lambda row: row["vertex"]["tags"])
    same("coarse./coarse.tags", lambda row: row["coarse."]["tags"])
    same("beam", lambda row: row["beam"])
    same("hits/hits.covariance[3]", lambda row: [h["covariance"] for h in row["hits"]])
    same("hits/hits.name", lambda row: [h["name"] for h in row["hits"]])
    same("kept", lambda row: row["kept"])


def main(binary):
    try:
        import ROOT  # noqa: F401
        import uproot  # noqa: F401
    except ImportError as e:
        print(f"skipped: {e.name} is not installed")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "records.root")
        subprocess.run([binary, path, str(ENTRIES)], check=True, stdout=subprocess.DEVNULL)
        by_uproot(path)
        library = compiler_and_dictionary(folder, HEADER, CLASSES)
        if library is None:
            print("skipped: no rootcling or no C++ compiler")
            return SKIPPED
        by_root(library, path)
    print("rows of structs read alike by ROOT and uproot")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else __doc__)
