"""A histogram without dependencies: the result of :meth:`Tree.draw` if hist is not installed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..public import public


@dataclass(frozen=True)
class Traits:
    """Properties of an axis in the plottable-histogram protocol."""

    #: Whether the axis is circular.
    circular: bool = False
    #: Whether the bins have no order.
    discrete: bool = False


@dataclass(frozen=True)
class Axis(Sequence):
    """Bins: an axis of the plottable-histogram protocol."""

    #: Number of bins without underflow and overflow.
    size: int
    #: Lower edge of the first bin.
    low: float
    #: Upper edge of the last bin.
    high: float
    #: The expression that was drawn.
    label: str = ""
    traits: Traits = Traits()
    #: The value of each bin, if the values were strings.
    labels: tuple[str, ...] = ()
    #: The edges, if the bins are not of equal width.
    given_edges: tuple[float, ...] | None = None

    @property
    def edges(self) -> np.ndarray:
        """Bin edges; one more than bins."""
        if self.given_edges is not None:
            return np.array(self.given_edges)
        return np.linspace(self.low, self.high, self.size + 1)

    @property
    def centers(self) -> np.ndarray:
        """Bin centers."""
        edges = self.edges
        return (edges[1:] + edges[:-1]) / 2

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, i):
        if not -self.size <= i < self.size:
            raise IndexError(f"bin {i} of {self.size}")
        edges = self.edges
        i %= self.size
        return edges[i], edges[i + 1]

    def __iter__(self) -> Iterator[tuple[float, float]]:  # type: ignore[override]
        edges = self.edges
        return pairwise(edges)


@public
class Histogram:
    """Counts or sums of weights in bins of one or more dimensions (PlottableHistogram)."""

    def __init__(self, axes: Sequence[Axis], values: np.ndarray, variances: np.ndarray, entries: int) -> None:
        #: The axes.
        self.axes = tuple(axes)
        self._values = values
        self._variances = variances
        #: Number of rows filled, including underflow and overflow.
        self.entries = entries

    #: What the bins hold, as the plottable-histogram protocol names it.
    kind = "COUNT"

    def _inner(self, array: np.ndarray, flow: bool) -> np.ndarray:
        return array if flow else array[tuple(slice(1, -1) for _ in self.axes)]

    def values(self, flow: bool = False) -> np.ndarray:
        """Return the sums of weights, one array axis per histogram axis; with under- and overflow if flow."""
        return self._inner(self._values, flow)

    def variances(self, flow: bool = False) -> np.ndarray:
        """Return the sums of squared weights."""
        return self._inner(self._variances, flow)

    def counts(self, flow: bool = False) -> np.ndarray:
        """Sums of weights."""
        return self.values(flow)

    def to_numpy(self, flow: bool = False) -> tuple[np.ndarray, ...]:
        """Return (values, edges of each axis), like numpy.histogram; with flow the outer edges are infinite."""
        edges = [a.edges for a in self.axes]
        if flow:
            edges = [np.concatenate([[-np.inf], e, [np.inf]]) for e in edges]
        return (self.values(flow), *edges)

    def __repr__(self) -> str:
        axes = ", ".join(f"{a.label!r}: {a.size} bins from {a.low:g} to {a.high:g}" for a in self.axes)
        return f"<Histogram of {axes}; {self.entries} entries>"


class ProfileHistogram(Histogram):
    """Means in bins of one or two axes (PlottableHistogram of kind MEAN)."""

    #: What the bins hold, as the plottable-histogram protocol names it.
    kind = "MEAN"

    def __init__(
        self,
        axes: Sequence[Axis],
        weights: np.ndarray,
        squared_weights: np.ndarray,
        means: np.ndarray,
        deviations: np.ndarray,
        entries: int,
    ) -> None:
        with np.errstate(divide="ignore", invalid="ignore"):
            effective = np.where(squared_weights > 0, weights**2 / squared_weights, 0)
            variances = np.where(effective > 0, deviations / weights / effective, 0)
        super().__init__(axes, means, variances, entries)
        self._counts = effective

    def variances(self, flow: bool = False) -> np.ndarray:
        """Return the squared errors of the means: the spread divided by the effective number of entries."""
        return super().variances(flow)

    def values(self, flow: bool = False) -> np.ndarray:
        """Return the means; 0 in empty bins."""
        return super().values(flow)

    def counts(self, flow: bool = False) -> np.ndarray:
        """Effective numbers of entries."""
        return self._inner(self._counts, flow)
