"""Why tests of uproot's do not pass with `sapwood.uproot`: by the beginning of the test's name."""

from __future__ import annotations

REASONS = {
    "test_0023_more_interpretations_1.py::test_double32": "packed numbers are unpacked with ROOT's formula; the last "
    "digits differ",
    "test_0087_": "Sapwood reads what uproot refuses",
    "test_0406_write_a_ttree.py::test_writable_vs_readable": "Sapwood extends trees of existing files, uproot refuses",
    "test_0472_": "only the classes that a file needs are described in it: 17 here, and 24 by uproot",
    "test_0940_feat_add_TLeafC_string_support.py::test_mutating": "a file appears only when it is closed",
    "test_1127_": "names with a colon are refused: ROOT and URLs give colons a meaning",
    "test_1191_rntuple_fixes.py::test_schema_extension": "a name of uproot's own reader of ntuples",
    "test_1395_rntuple_writing_lists_and_structs.py::test_writing_then": "a tuple of two is a `std::pair`",
    "test_1467_": "other parts in the form of an ntuple",
    "test_1492_": "ROOT cannot read variants with a record among their types: they are not written",
    "test_1604_": "records given as structured types become branches, uproot refuses them",
    "test_1687_": "ROOT cannot read variants with a record among their types: they are not written",
    "test_1690_ttree_inplace.py::test_add_branch_after": "Sapwood adds branches to trees of several baskets, uproot "
    "refuses",
    "test_1737_": "ROOT cannot read fixed arrays of records: they are not written",
    "test_1656_": "baskets are filled to a size, not ended by each `extend`",
}


def reason_for(test: str) -> str:
    """Why a test does not pass; empty if that is not known."""
    name = test.rpartition("/")[2] if "::" not in test else test
    found = [start for start in REASONS if name.startswith(start)]
    return REASONS[max(found, key=len)] if found else ""
