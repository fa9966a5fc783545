"""ROOT reads objects that sapwood-write wrote with dictionaries of their classes: split, unsplit, by object, by member.

    check_objects.py WRITE_OBJECTS      the example's binary

Needs ROOT with rootcling and a C++ compiler; exits with status 77, which means "skipped", without them. ROOT's
emulation of classes without a dictionary is no judge here: it crashes on strings in collections that grow, in files of
its own as well.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from dictionaries import compiler_and_dictionary

SKIPPED = 77

HEADER = """
#pragma once
#include <map>
#include <string>
#include <vector>
#include "Rtypes.h"
struct SwPt { float px; double py; };
struct SwHit { float x; int id; std::vector<float> v; std::string s; double a[3]; };
struct SwEvent {
   Long64_t run; bool ok; unsigned char c; float w[2]; SwPt p; std::vector<float> v; std::string name;
   std::vector<SwPt> pts;
};
"""
CLASSES = (
    "SwPt",
    "SwHit",
    "SwEvent",
    "std::vector<SwPt>",
    "std::vector<SwHit>",
    "std::vector<SwEvent>",
    "std::vector<std::vector<SwPt> >",
    "std::map<int,float>",
    "std::map<std::string,std::vector<float> >",
)
#: Expressions of which all must give the same values: as many numbers as 400 entries have.
SAME = [
    (600, "hits.x", "hitsm.x", "hitsu.x"),
    (900, "hits.v", "hitsm.v", "hitsu.v"),
    (1800, "hits.a", "hitsm.a", "hitsu.a"),
    (600, "events.run", "eventsm.run"),
    (600, "events.p.px", "eventsm.p.px"),
    (900, "events.pts.py", "eventsm.pts.py", "vpts.py"),
    (900, "mv.second", "mu.second", "vv"),
    (600, "pts.px", "ptsm.px", "ptsu.px", "event.pts.px", "eventu.pts.px", "v_f32"),
    (400, "pt.px", "ptu.px", "event.p.px", "eventu.p.px"),
]


def check(library, path):
    import ROOT

    ROOT.gSystem.Load(str(library))
    file = ROOT.TFile.Open(str(path))
    tree = file.Get("objects")
    tree.SetEstimate(100_000)

    def values(expression):
        n = tree.Draw(expression, "", "goff")
        drawn = tree.GetV1()
        return [drawn[i] for i in range(n)]

    for numbers, first, *others in SAME:
        expected = values(first)
        assert len(expected) == numbers, (first, len(expected))
        for other in others:
            assert values(other) == expected, (first, other)
    for entry in tree:
        for one, by_member, whole in zip(entry.hits, entry.hitsm, entry.hitsu, strict=True):
            assert one.s == by_member.s == whole.s and one.id == by_member.id == whole.id
        assert [e.name for e in entry.events] == [e.name for e in entry.eventsm]
        assert {k: list(v) for k, v in entry.mv} == {k: list(v) for k, v in entry.mu}


def main(binary):
    try:
        import ROOT  # noqa: F401
    except ImportError:
        print("skipped: ROOT is not installed")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        library = compiler_and_dictionary(folder, HEADER, CLASSES)
        if library is None:
            print("skipped: no rootcling or no C++ compiler")
            return SKIPPED
        path = Path(folder, "objects.root")
        subprocess.run([binary, path, "400", "zlib:1"], check=True)
        check(library, path)
    print("objects read alike, split and whole")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else __doc__)
