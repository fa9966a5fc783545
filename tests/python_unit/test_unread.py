"""A part of an object that is not read can be looked at; whatever uses it as a value says why it cannot."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import sapwood
from sapwood.objects.collections import Listed
from sapwood.objects.histogram import TH1
from sapwood.objects.object import Object
from sapwood.objects.unread import Unread


def filled(made, members=None, bases=(), content=None):
    made.classname = "TH1D"
    made._fill(1, list(bases), members or {}, content)
    return made


def test_unread_has_no_len():
    unread = Unread("TAxis", "its version 9 is not described")
    assert repr(unread) == "<Unread TAxis: its version 9 is not described>"
    for use in (len, list, bool, int, float, np.asarray, lambda u: u[0], lambda u: u + 1, lambda u: u.edges, abs):
        with pytest.raises(sapwood.UnsupportedError, match=r"TAxis cannot be read: its version 9 is not described"):
            use(unread)
    # what looks for an attribute goes on, and so do copies
    assert not hasattr(unread, "edges")
    assert copy.deepcopy(unread).why == pickle.loads(pickle.dumps(unread)).why == unread.why


def test_a_histogram_of_damaged_descriptions():
    axis = Unread("TAxis", "damage")
    for histogram in (
        filled(TH1(), {"fXaxis": axis, "fName": "h"}, content=np.zeros(3)),
        filled(TH1(), {"fXaxis": axis, "fName": axis}, content=np.zeros(3)),
        filled(TH1(), {"fName": "h"}, bases=[axis]),
    ):
        for use in (histogram.values, histogram.errors, histogram.to_numpy):
            with pytest.raises(sapwood.UnsupportedError, match="cannot be read: damage"):
                use()
        assert repr(histogram).startswith("<TH1D")
    other = filled(TH1(), {"fXaxis": filled(Object()), "fName": "h"})
    with pytest.raises(sapwood.CorruptError, match="in place of an axis"):
        other.values()


def test_a_list_whose_base_is_not_read_is_not_empty():
    items = filled(Listed(), bases=[Unread("TList", "damage")])
    with pytest.raises(sapwood.UnsupportedError, match="TList cannot be read: damage"):
        len(items)
    assert "cannot be read: damage" in repr(items)
    assert filled(Listed(), content=[Unread("TH1", "damage"), filled(Object(), {"fName": "x"})])["x"].name == "x"
