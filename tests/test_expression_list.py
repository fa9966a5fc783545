"""The expressions of tests/expressions/*.txt are drawn as ROOT draws them, but for those listed with a reason."""

from __future__ import annotations

import pytest
from expressions_with_root import cases, compared


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


def test_expressions_are_drawn_as_root_draws_them(root_here, public, macro):
    pytest.importorskip("hist")
    folder = public / "events"
    folder.mkdir()
    macro("events.C", folder, compiled=True)
    check("made", folder)


def test_expressions_on_files_of_experiments_are_drawn_as_root_draws_them(root_here, corpus):
    pytest.importorskip("hist")
    if not (corpus / "roottest").exists():
        pytest.skip("roottest's files are not in the corpus")
    check("corpus", corpus)
