"""Rows in the fill buffer of a histogram, which are not in its bins yet (TH1::SetBuffer, automatic ranges)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import CorruptError, UnsupportedError

if TYPE_CHECKING:
    from .axis import TAxis
    from .object import Object


def pending(hist: Object, kind: str, axes: tuple[TAxis, ...]) -> tuple[np.ndarray, np.ndarray] | None:
    """Contents and sums of squared weights to add for the rows in the buffer, x first; None if it is empty.

    The first number of the buffer is the number of rows, each a weight and a value for every axis. It is negative if
    the rows are in the bins already.

    Raises:
        CorruptError: the buffer is shorter than its rows.
        UnsupportedError: the axis has no range; ROOT would choose one from the rows.
    """
    buffer = hist.member("fBuffer", none_if_missing=True)
    if buffer is None or len(buffer) == 0:
        return None
    if not isinstance(buffer, np.ndarray) or buffer.ndim != 1:
        raise CorruptError(f"{hist.classname} {hist.name}: its buffer is not an array of numbers")
    if not buffer[0] > 0:
        return None
    width = len(axes) + 1
    if 1 + np.floor(buffer[0]) * width > len(buffer):
        raise CorruptError(f"{hist.classname} {hist.name}: its buffer is too short for its {buffer[0]:g} rows")
    rows = int(buffer[0])
    if kind != "COUNT":
        raise UnsupportedError(
            f"{hist.classname} {hist.name} has {rows} rows in its buffer that are not in bins yet; "
            "for profiles that is not supported"
        )
    if any(not axis.high > axis.low for axis in axes):
        raise UnsupportedError(
            f"{hist.classname} {hist.name} has {rows} rows in its buffer but no range yet; "
            'the rows are in member("fBuffer")'
        )
    waiting = np.asarray(buffer[1 : 1 + rows * width]).reshape(rows, width)
    shape = tuple(len(axis) + 2 for axis in axes)
    cells = tuple(_bins(axis, waiting[:, i + 1]) for i, axis in enumerate(axes))
    sums, squares = np.zeros(shape), np.zeros(shape)
    np.add.at(sums, cells, waiting[:, 0])
    np.add.at(squares, cells, waiting[:, 0] ** 2)
    return sums, squares


def _bins(axis: TAxis, values: np.ndarray) -> np.ndarray:
    """Bin numbers as in TAxis::FindBin: 0 is underflow, and NaN is overflow."""
    n = len(axis)
    edges = axis._variable
    inside = (values >= axis.low) & (values < axis.high)
    if edges is None:
        scaled = np.where(inside, values, axis.low) - axis.low
        found = 1 + (n * scaled / (axis.high - axis.low)).astype(np.int64)
    else:
        found = np.searchsorted(edges, np.where(inside, values, axis.low), side="right")
    return np.where(inside, found, np.where(values < axis.low, 0, n + 1))
