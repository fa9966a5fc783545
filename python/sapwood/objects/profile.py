"""TProfile, TProfile2D and TProfile3D: means and their errors in bins."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidError
from .fill_buffer import pending
from .histogram import Hist

#: Error modes: ROOT's EErrorType, and the letters of TProfile's option.
_MODES = {None: 0, "": 0, 0: 0, "s": 1, 1: 1, "i": 2, 2: 2, "g": 3, 3: 3}


class Profile(Hist):
    """Means of one quantity in bins of others.

    Formulas: ROOT's class documentation of TProfile and TProfileHelper::GetBinError.
    """

    #: What the bins hold, as the plottable-histogram protocol names it.
    kind = "MEAN"

    #: Whether ``to_hist`` gives a storage of weighted means also for profiles without weights, as uproot does.
    _weighted_storage = False

    @property
    def weighted(self) -> bool:
        """Whether it stores sums of squared weights."""
        return self._sumw2("fBinSumw2") is not None

    def _sums(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sums of weights, of weights times values, and of weights times squared values."""
        pending(self, self.kind, self.axes)
        weights = self._cells(self.member("fBinEntries"), "fBinEntries").astype(np.float64)
        sums = self._cells(self._get(), "its array").astype(np.float64)
        squares = self._sumw2("fSumw2")
        return weights, sums, np.zeros_like(sums) if squares is None else squares.astype(np.float64)

    def _effective(self) -> np.ndarray:
        weights = self._cells(self.member("fBinEntries"), "fBinEntries").astype(np.float64)
        squares = self._sumw2("fBinSumw2")
        if squares is None:
            return weights
        return np.divide(weights**2, squares, out=np.zeros_like(weights), where=squares > 0)

    def counts(self, flow: bool = False) -> np.ndarray:
        """The effective number of entries of each bin."""
        return self._inner(self._effective(), flow)

    def values(self, flow: bool = False) -> np.ndarray:
        """The means; 0 in empty bins."""
        weights, sums, _ = self._sums()
        return self._inner(_ratio(sums, weights), flow)

    def errors(self, flow: bool = False, error_mode: str | int | None = "") -> np.ndarray:
        """The errors of the means.

        Args:
            flow: include underflow and overflow.
            error_mode: as TProfile's option: ``""`` for the error of the mean, ``"s"`` for the spread, ``"i"`` for the
                error of the mean of integers, ``"g"`` for values with errors of 1. The profile's own mode is
                ``member("fErrorMode")``.
        """
        if error_mode not in _MODES:
            raise InvalidError(f"error_mode must be '', 's', 'i' or 'g', not {error_mode!r}")
        mode = _MODES[error_mode]
        weights, sums, squares = self._sums()
        filled = weights != 0
        if mode == 3:
            return self._inner(_ratio(np.ones_like(weights), np.sqrt(weights), filled), flow)
        spread = np.sqrt(np.abs(_ratio(squares, weights) - _ratio(sums, weights) ** 2))
        if mode == 1:
            return self._inner(spread, flow)
        effective = self._effective()
        if mode == 2:
            # if all values are the same, use a uniform distribution of width 1
            flat = filled & (spread == 0)
            spread = np.where(flat, 1, spread)
            effective = np.where(flat, 12 * effective, effective)
        return self._inner(_ratio(spread, np.sqrt(effective), filled), flow)

    def variances(self, flow: bool = False, error_mode: str | int | None = "") -> np.ndarray:
        """The squared errors; see :meth:`errors`."""
        return np.square(self.errors(flow, error_mode))

    def _storage(self, bh: Any) -> tuple[Any, dict[str, np.ndarray]]:
        weights, sums, squares = self._sums()
        means = _ratio(sums, weights)
        deviations = np.maximum(squares - weights * means**2, 0)
        if self.weighted or self._weighted_storage:
            squared = self._sumw2("fBinSumw2")
            filled = {
                "sum_of_weights": weights,
                "sum_of_weights_squared": weights if squared is None else squared,
                "value": means,
                "_sum_of_weighted_deltas_squared": deviations,
            }
            return bh.storage.WeightedMean(), filled
        return bh.storage.Mean(), {"count": weights, "value": means, "_sum_of_deltas_squared": deviations}


def _ratio(above: np.ndarray, below: np.ndarray, where: np.ndarray | None = None) -> np.ndarray:
    return np.divide(above, below, out=np.zeros_like(above), where=below != 0 if where is None else where)


class TProfile(Profile):
    """A profile in one dimension."""

    dimensions = 1


class TProfile2D(Profile):
    """A profile in two dimensions."""

    dimensions = 2


class TProfile3D(Profile):
    """A profile in three dimensions."""

    dimensions = 3
