"""Rows that a histogram was filled with and has not put into its bins yet (TH1::SetBuffer, automatic ranges)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import CorruptError, UnsupportedError

if TYPE_CHECKING:
    from .axis import TAxis
    from .histogram import Hist


def pending(hist: Hist) -> tuple[np.ndarray, np.ndarray] | None:
    """What is to be added to the contents and to the sums of squared weights, x first; None when nothing is.

    The buffer's first number says how many rows wait, each a weight and a value for every axis; it is negative when
    they are in the bins already.

    Raises:
        CorruptError: the buffer is shorter than its rows.
        UnsupportedError: ROOT chooses the axis only when it puts the rows into bins.
    """
    buffer = hist.member("fBuffer", none_if_missing=True)
    if buffer is None or len(buffer) == 0:
        return None
    if not isinstance(buffer, np.ndarray) or buffer.ndim != 1:
        raise CorruptError(f"{hist.classname} {hist.name}: its buffer is no array of numbers")
    if not buffer[0] > 0:
        return None
    width = hist.dimensions + 1
    if 1 + np.floor(buffer[0]) * width > len(buffer):
        raise CorruptError(
            f"{hist.classname} {hist.name}: its buffer has room for fewer than the {buffer[0]:g} rows "
            "that it says it holds"
        )
    rows = int(buffer[0])
    if hist.kind != "COUNT":
        raise UnsupportedError(f"{hist.classname} {hist.name} has {rows} rows in its buffer that are in no bin yet")
    if any(not axis.high > axis.low for axis in hist.axes):
        raise UnsupportedError(
            f"{hist.classname} {hist.name} has {rows} rows in its buffer and no range yet: ROOT would choose one; "
            'they are in member("fBuffer")'
        )
    waiting = np.asarray(buffer[1 : 1 + rows * width]).reshape(rows, width)
    shape = tuple(len(axis) + 2 for axis in hist.axes)
    cells = tuple(_bins(axis, waiting[:, i + 1]) for i, axis in enumerate(hist.axes))
    sums, squares = np.zeros(shape), np.zeros(shape)
    np.add.at(sums, cells, waiting[:, 0])
    np.add.at(squares, cells, waiting[:, 0] ** 2)
    return sums, squares


def _bins(axis: TAxis, values: np.ndarray) -> np.ndarray:
    """The bins of values, as TAxis::FindBin has them: 0 is underflow, not-a-number is overflow."""
    n = len(axis)
    edges = axis._variable
    inside = (values >= axis.low) & (values < axis.high)
    if edges is None:
        scaled = np.where(inside, values, axis.low) - axis.low
        found = 1 + (n * scaled / (axis.high - axis.low)).astype(np.int64)
    else:
        found = np.searchsorted(edges, np.where(inside, values, axis.low), side="right")
    return np.where(inside, found, np.where(values < axis.low, 0, n + 1))
