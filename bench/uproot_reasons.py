"""Why tests of uproot's do not pass with `sapwood.uproot`: by the beginning of the test's name."""

from __future__ import annotations

_TEXT = "Sapwood writes text as `std::string`, uproot as C strings (`TLeafC`); values and readers are the same"
_STREAMERS = "class descriptions of a file are not shown (`streamers`, `class_named`)"
_INTERPRETATION = "interpretation objects name only the kind of a branch (numbers, lists, text, objects, groups)"
_OBJECTS = "with `library='np'`, values of classes are numpy records, not objects with `member`"
_PROFILE = "profiles become hist's `Mean` storage, uproot makes `WeightedMean`"

REASONS = {
    "test_0010_": _STREAMERS,
    "test_0011_": _STREAMERS,
    "test_0014_": _STREAMERS,
    "test_0016_interpretations.py::test_recovery": "bytes of baskets in a tree's header are not shown; values are read",
    "test_0023_more_interpretations_1.py::test_strings4": "with `library='np'`, nested lists are nested numpy arrays",
    "test_0023_more_interpretations_1.py::test_double32": _INTERPRETATION,
    "test_0035_": _OBJECTS,
    "test_0053_": _OBJECTS,
    "test_0087_": "Sapwood reads what uproot refuses",
    "test_0406_write_a_ttree.py::test_writable_vs_readable": "Sapwood extends trees of existing files, uproot refuses",
    "test_0420_": "`to_writable` and `to_pyroot` are not provided; objects of PyROOT are written directly",
    "test_0472_": _STREAMERS,
    "test_0484_": "symmetric matrices have all their elements, not one triangle",
    "test_0487_": "arrays are not filled in place",
    "test_0910_": _INTERPRETATION,
    "test_0940_feat_add_TLeafC_string_support.py::test_mutating": "a file appears only when it is closed",
    "test_0940_": _TEXT,
    "test_1127_": "names with a colon are refused: ROOT and URLs give colons a meaning",
    "test_1182_": _INTERPRETATION,
    "test_1609_": _PROFILE,
    "test_1656_": "baskets are filled to a size, not ended by each `extend`",
    "test_1657_fix_ttree_writing_bugs.py::test_string_branch": _TEXT,
    "test_1657_fix_ttree_writing_bugs.py::test_tgraph": "`as_TGraph` gives a graph to write, which has no `member`",
}


def reason_for(test: str) -> str:
    """Why a test does not pass; empty if that is not known."""
    name = test.rpartition("/")[2] if "::" not in test else test
    found = [start for start in REASONS if name.startswith(start)]
    return REASONS[max(found, key=len)] if found else ""
