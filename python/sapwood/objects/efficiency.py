"""TEfficiency: the fraction that passed, with its confidence interval."""

from __future__ import annotations

import numpy as np

from ..errors import InvalidError
from . import confidence_intervals
from .axis import TAxis
from .histogram import Hist
from .object import Object

#: Names of TEfficiency::EStatOption, by number.
_OPTIONS = (
    "clopper-pearson",
    "normal",
    "wilson",
    "agresti-coull",
    "feldman-cousins",
    "jeffreys",
    "uniform",
    "bayesian",
)


class TEfficiency(Object):
    """The ratio of two histograms, bin by bin."""

    @property
    def passed(self) -> Hist:
        """The histogram of entries that passed."""
        return self.member("fPassedHistogram")

    @property
    def total(self) -> Hist:
        """The histogram of all entries."""
        return self.member("fTotalHistogram")

    @property
    def axes(self) -> tuple[TAxis, ...]:
        """The axes."""
        return self.total.axes

    def axis(self, axis: int | str = 0) -> TAxis:
        """An axis; see :meth:`sapwood.objects.histogram.Hist.axis`."""
        return self.total.axis(axis)

    #: What the bins hold, as the plottable-histogram protocol names it.
    kind = "MEAN"

    @property
    def statistic(self) -> str:
        """The statistic of its errors: a name of TEfficiency::EStatOption."""
        number = self.member("fStatisticOption")
        return _OPTIONS[number] if 0 <= number < len(_OPTIONS) else str(number)

    @property
    def confidence_level(self) -> float:
        """The confidence level of its intervals."""
        return self.member("fConfLevel")

    def counts(self, flow: bool = False) -> np.ndarray:
        """The number of all entries in each bin."""
        return self.total.values(flow)

    def values(self, flow: bool = False) -> np.ndarray:
        """The efficiencies: passed / total, or the posterior mean for Bayesian statistics; 0 in empty bins."""
        passed, total = (h.values(flow).astype(np.float64) for h in (self.passed, self.total))
        if self.statistic in ("jeffreys", "uniform", "bayesian"):
            alpha, beta = self._prior()
            return (passed + alpha) / (total + alpha + beta)
        return np.divide(passed, total, out=np.zeros_like(total), where=total != 0)

    def _prior(self) -> tuple[float, float]:
        return {"jeffreys": (0.5, 0.5), "uniform": (1.0, 1.0)}.get(
            self.statistic, (self.member("fBeta_alpha"), self.member("fBeta_beta"))
        )

    def errors(self, which: str = "both", flow: bool = False) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """The distance from the efficiency to the lower (``"low"``) or upper (``"high"``) limit, or both as a tuple.

        Raises:
            InvalidError: Feldman-Cousins intervals and weighted efficiencies are not supported.
        """
        if self.total.weighted and not np.array_equal(self.total.variances(True), np.abs(self.total.values(True))):
            raise InvalidError(
                f"{self.name}: errors of a weighted TEfficiency are not supported; use .passed and .total"
            )
        passed, total = (h.values(flow).astype(np.float64) for h in (self.passed, self.total))
        prior = self._prior() if self.statistic in ("jeffreys", "uniform", "bayesian") else (0.0, 0.0)
        low, high = confidence_intervals.interval(self.statistic, passed, total, self.confidence_level, prior)
        value = self.values(flow)
        below, above = value - low, high - value
        return {"low": below, "high": above}.get(which, (below, above))

    def to_numpy(self, flow: bool = False) -> tuple[np.ndarray, ...]:
        """(efficiencies, edges of each axis)."""
        return (self.values(flow), *(a.edges(flow) for a in self.axes))
