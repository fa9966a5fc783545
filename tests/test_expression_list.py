"""The expressions of tests/expressions/*.txt are drawn as ROOT draws them, but for those listed with a reason."""

from __future__ import annotations

import re

import pytest
from expressions_with_root import cases, compared

import sapwood


def check(name, folder):
    chosen = cases(name)
    assert len({c[:5] for c in chosen}) == len(chosen), "an expression is listed twice"
    wrong, seen = [], 0
    for case, found, ours, roots in compared(chosen, [folder]):
        seen += 1
        if found != case.verdict and (found, case.verdict) != ("different", "random"):
            wrong.append(f"{case.shown()}: {found}, not {case.verdict}\n  {str(ours)[:300]}\n  {str(roots)[:300]}")
    assert not wrong, "\n".join(wrong)
    assert seen, "none of the files is here"


@pytest.fixture(scope="module")
def events(public, macro):
    folder = public / "events"
    folder.mkdir()
    macro("events.C", folder, compiled=True)
    return folder


def test_expressions_are_drawn_as_root_draws_them(root_here, events):
    pytest.importorskip("hist")
    check("made", events)


def test_a_reference_is_followed_to_the_object_of_its_entry(events):
    with sapwood.open(events / "events.root") as file:
        tree = file["T"]
        rows = list(
            tree.query("fLastTrack.fPx:fTracks.fPx[fNtrack-1]:fLastTrack->fVertex[2]:fTracks.fVertex[fNtrack-1][2]")
        )
        assert len(rows) == tree.num_entries
        assert all(a == b and c == d for a, b, c, d in rows)
        # rows that refer to nothing are left out, as those behind the end of an array
        assert len(list(tree.query("fLastTrack.fPx", "fNtrack>5"))) == sum(n > 5 for n in tree["fNtrack"].array())
        for text, message in [
            ("fLastTrack.fNothing", "no split collection of the tree has objects with a member fNothing"),
            ("fHighPt.fPx", "fHighPt contains references, which are not followed; count them with @fHighPt.size()"),
            ("@fH.size()", "fH contains objects, not numbers; specify a member"),
        ]:
            with pytest.raises(sapwood.Error, match=re.escape(message)):
                tree.draw(text)


def test_expressions_on_files_of_experiments_are_drawn_as_root_draws_them(root_here, corpus):
    pytest.importorskip("hist")
    if not (corpus / "roottest").exists():
        pytest.skip("roottest's files are not in the corpus")
    check("corpus", corpus)
