"""Filters of names."""

import pytest

import sapwood
from sapwood.arguments.filters import matcher


@pytest.mark.parametrize(
    ("given", "passes", "fails"),
    [
        ("Muon_*", ["Muon_pt", "Muon_"], ["nMuon", "muon_pt"]),
        ("/muon_pt/i", ["Muon_pt", "MUON_PTx"], ["xMUON_PTx", "Muon_p"]),
        ("/.*pt$/", ["Muon_pt", "pt"], ["ptx"]),
        ("/^n/", ["nMuon"], ["Muon"]),
        ("nMuon", ["nMuon"], ["nMuon2", "Muon"]),
        ("x[3]", ["x[3]", "x3"], ["x[4]", "x"]),
        (["a", "/.*b$/", str.isupper], ["a", "ab", "ABC"], ["c"]),
        ([], [], ["a", ""]),
        ("a/b", ["a/b"], ["a", "b"]),
    ],
)
def test_what_passes(given, passes, fails):
    matches = matcher(given)
    assert [n for n in passes + fails if matches(n)] == passes


def test_none_passes_everything():
    assert matcher(None) is None
    assert matcher(["a", None]) is None


def test_a_broken_regular_expression_is_shown():
    with pytest.raises(ValueError, match=r"\(b"):
        matcher("/(b/")


def test_other_things_are_no_filters():
    with pytest.raises(sapwood.InvalidError, match="3"):
        matcher(3, "filter_name")


def test_keys_by_name_type_and_branch(leaves):
    assert leaves.keys(filter_name="*32*") == ["d32", "d32r"]
    assert leaves.keys(filter_typename="Float16_t") == ["f16", "f16r"]
    assert leaves.keys(filter_branch=lambda b: b.column_type == "string") == ["text"]
    assert leaves.keys(filter_name=["n", "/fl/"]) == ["flag", "n"]
    assert leaves.keys(filter_name="/n") == ["n"]
    assert leaves.keys(filter_name="/n/") == [k for k in leaves.keys() if k.startswith("n")]
    assert leaves.typenames(filter_name="u*") == {"u16": "uint16_t", "u64": "uint64_t"}
    with pytest.raises(ValueError, match="filter_branch"):
        leaves.keys(filter_branch="u16")
