"""TAxis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..drawing.histogram import Traits
from ..errors import CorruptError
from .object import Object


class TAxis(Object):
    """The axis of a histogram, with the names of the plottable-histogram protocol and uproot."""

    def __len__(self) -> int:
        bins = self.member("fNbins")
        if not isinstance(bins, int) or bins < 0:
            raise CorruptError(f"axis {self.name}: {bins!r} is not a number of bins")
        return bins

    def __bool__(self) -> bool:
        return True

    @property
    def low(self) -> float:
        """Lower edge of the first bin."""
        return self.member("fXmin")

    @property
    def high(self) -> float:
        """Upper edge of the last bin."""
        return self.member("fXmax")

    @property
    def width(self) -> float:
        """Width of a bin; the mean if widths differ."""
        return (self.high - self.low) / len(self)

    @property
    def _variable(self) -> np.ndarray | None:
        edges = self.member("fXbins", none_if_missing=True)
        return None if edges is None or len(edges) != len(self) + 1 else np.asarray(edges)

    @property
    def traits(self) -> Traits:
        """Discrete if every bin has a label. ROOT's axes are never circular."""
        labels = self.labels()
        return Traits(circular=False, discrete=labels is not None and all(labels))

    def labels(self, flow: bool = False) -> list[str] | None:
        """The labels of the bins, ``""`` for a bin without a label; None if no bin has one.

        The bin of a label is the unique id of its TObjString, as in ROOT, independent of the order of the list.
        """
        listed = self.member("fLabels", none_if_missing=True)
        if not listed:
            return None
        out = [""] * len(self)
        for place, label in enumerate(listed):
            number = getattr(label, "unique_id", 0) or place + 1
            if 1 <= number <= len(out):
                out[number - 1] = str(label)
        if not any(out):
            return None
        return ["underflow", *out, "overflow"] if flow else out

    def edges(self, flow: bool = False) -> np.ndarray:
        """The bin edges, one more than bins; with infinite outer edges if ``flow``."""
        inner = self._variable
        if inner is None:
            inner = np.linspace(self.low, self.high, len(self) + 1)
        return np.concatenate([[-np.inf], inner, [np.inf]]) if flow else np.array(inner)

    def intervals(self, flow: bool = False) -> np.ndarray:
        """(lower edge, upper edge) of each bin."""
        edges = self.edges(flow)
        return np.stack([edges[:-1], edges[1:]], axis=1)

    def centers(self, flow: bool = False) -> np.ndarray:
        """The centers of the bins."""
        edges = self.edges(flow)
        return (edges[1:] + edges[:-1]) / 2

    def widths(self, flow: bool = False) -> np.ndarray:
        """The widths of the bins."""
        if not flow and self._variable is None:
            return np.full(len(self), self.width)
        return np.diff(self.edges(flow))

    def __getitem__(self, where: int):
        """The label of a bin if all bins have one, otherwise (lower edge, upper edge)."""
        if not -len(self) <= where < len(self):
            raise IndexError(f"bin {where} of {len(self)}")
        if self.traits.discrete:
            return self.labels()[where]  # type: ignore[index]
        return tuple(self.intervals()[where])

    def __iter__(self) -> Iterator:
        if self.traits.discrete:
            return iter(self.labels())  # type: ignore[arg-type]
        return (tuple(pair) for pair in self.intervals())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TAxis):
            return NotImplemented
        if self.traits.discrete or other.traits.discrete:
            return self.labels() == other.labels()
        return np.array_equal(self.edges(), other.edges())

    __hash__ = object.__hash__

    def _to_boost(self, metadata: dict[str, str]):
        import boost_histogram as bh

        labels = self.labels()
        variable = self._variable
        if labels is not None and all(labels) and len(set(labels)) == len(labels):
            axis: Any = bh.axis.StrCategory(labels)
        elif variable is not None:
            axis = bh.axis.Variable(variable)
        else:
            axis = bh.axis.Regular(len(self), self.low, self.high)
        for name, member in metadata.items():
            setattr(axis, name, self.member(member))
        return axis
