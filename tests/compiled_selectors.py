"""Selectors that numba compiles, for test_selectors.py; processes import them from here."""

from __future__ import annotations

import numpy as np

import sapwood


@sapwood.selector(branches=["x"], result=np.zeros(50, dtype=np.int64))
def histogram(batch, result):
    """Counts x from -5 to 5, entry by entry."""
    for entry in batch:
        if -5 <= entry.x <= 5:
            result[min(int((entry.x + 5) * 5), 49)] += 1


@sapwood.selector(branches=["x"], library="np", result=np.zeros(50, dtype=np.int64))
def arrays(batch, result):
    """The same with numpy's arrays."""
    for i in range(len(batch.x)):
        x = batch.x[i]
        if -5 <= x <= 5:
            result[min(int((x + 5) * 5), 49)] += 1


@sapwood.selector(branches=["l"])
def lists(batch):
    """Number and sum of the items of lists."""
    number, total = 0, 0.0
    for entry in batch:
        for item in entry.l:
            number += 1
            total += item
    return number, total
