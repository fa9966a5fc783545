"""Arrays equal uproot's: values, types and names, over files written by uproot and by ROOT."""

import awkward as ak
import numpy as np
import pytest
import uproot
from uproot_files import CODECS, ENTRIES

import sapwood

# uproot mistakes the empty strings of a /C leaf for missing bytes (5.7.7): ROOT is the oracle there.
UPROOT_CANNOT = {"text"}


def assert_same(ours, theirs, name):
    assert str(ours.type) == str(theirs.type), name
    assert ak.array_equal(ours, theirs, equal_nan=True), name


@pytest.mark.parametrize("codec", sorted(CODECS))
def test_files_written_by_uproot(uproot_files, codec):
    path = uproot_files / f"flat-{codec}.root"
    ours, theirs = sapwood.open(path)["t"], uproot.open(path)["t"]
    assert ours.keys() == theirs.keys()
    assert ours.num_entries == ENTRIES
    for name in theirs.keys():
        assert_same(ours[name].array(library="ak"), theirs[name].array(library="ak"), name)


@pytest.mark.parametrize("name", ["leaves-zlib", "clusters", "embedded"])
def test_files_written_by_root(root_files, name):
    path = root_files / f"{name}.root"
    ours, theirs = sapwood.open(path)["Events"], uproot.open(path)["Events"]
    assert ours.keys() == theirs.keys()
    # uproot's name of a Double32_t leaf is "float".
    assert ours.typenames() == theirs.typenames() | {"d32": "Double32_t"}
    for branch in set(theirs.keys()) - UPROOT_CANNOT:
        assert_same(ours[branch].array(library="ak"), theirs[branch].array(library="ak"), branch)


def test_keys_and_classnames(root_files):
    path = root_files / "container.root"
    ours, theirs = sapwood.open(path), uproot.open(path)
    assert ours.keys() == theirs.keys()
    assert ours.keys(recursive=False) == theirs.keys(recursive=False)
    assert ours.classnames() == theirs.classnames()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"expressions": ["x", "jagged"]},
        {"expressions": "n_f4"},
        {"filter_name": "n_i*"},
        {"filter_name": "/n_[uf][48]/"},
        {"filter_name": ["x", "vec*"]},
        {"expressions": ["x"], "entry_start": 100, "entry_stop": 433},
        {"expressions": ["x", "n_f8"], "cut": "n_f4 > 0"},
        {"expressions": ["y"], "aliases": {"y": "x * 2"}},
        {"expressions": ["x", "jagged"], "cut": "x >= 990", "entry_start": 980},
    ],
    ids=str,
)
def test_arrays_options(flat, options):
    ours = sapwood.open(flat)["t"].arrays(library="ak", **options)
    theirs = uproot.open(flat)["t"].arrays(library="ak", **options)
    assert ours.fields == theirs.fields
    for field in theirs.fields:
        assert ak.array_equal(ours[field], theirs[field], equal_nan=True), field


def test_filters_of_keys(flat):
    ours, theirs = sapwood.open(flat)["t"], uproot.open(flat)["t"]
    for options in [{"filter_name": "n_*"}, {"filter_name": "/^n_.4$/"}, {"filter_typename": "float*"}]:
        assert ours.keys(**options) == theirs.keys(**options)
        assert ours.typenames(**options) == theirs.typenames(**options)


def test_numpy_arrays_have_native_byte_order(flat):
    for name, array in sapwood.open(flat)["t"].arrays(filter_name="n_*", library="np").items():
        assert array.dtype.isnative, name
        assert array.dtype == np.dtype(name.removeprefix("n_")), name
