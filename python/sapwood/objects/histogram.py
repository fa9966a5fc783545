"""TH1, TH2 and TH3 of all types, with the names of uproot and of the plottable-histogram protocol."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import CorruptError, InvalidError, require
from .axis import TAxis
from .fill_buffer import pending
from .object import Object
from .unread import Unread

_NAMES = "xyz"


class Hist(Object):
    """A histogram in one to three dimensions. Arrays have one axis per axis of the histogram, x first."""

    #: Number of dimensions.
    dimensions = 0

    #: What the bins hold, as the plottable-histogram protocol names it.
    kind = "COUNT"

    @property
    def axes(self) -> tuple[TAxis, ...]:
        """The axes, x first."""
        axes = tuple(self.member(f"f{n.upper()}axis") for n in _NAMES[: self.dimensions])
        for axis in axes:
            if isinstance(axis, Unread):
                raise axis.error()
            if not isinstance(axis, TAxis):
                raise CorruptError(f"{self.classname} {self.name}: {axis!r} in place of an axis")
        return axes

    def axis(self, axis: int | str = 0) -> TAxis:
        """An axis by number or by ``"x"``, ``"y"``, ``"z"``."""
        names = _NAMES[: self.dimensions]
        if isinstance(axis, str) and len(axis) == 1 and axis in names:
            return self.axes[names.index(axis)]
        if isinstance(axis, int) and -len(names) <= axis < len(names):
            return self.axes[axis]
        raise InvalidError(f"the axis of a {self.classname} must be 0 to {len(names) - 1} or one of {', '.join(names)}")

    @property
    def weighted(self) -> bool:
        """Whether it stores sums of squared weights."""
        return self._sumw2("fSumw2") is not None

    def _shape(self) -> tuple[int, ...]:
        return tuple(len(a) + 2 for a in self.axes)

    def _cells(self, numbers: Any, what: str) -> np.ndarray:
        """Convert cells in the order of the file (x fastest, with underflow and overflow) to an array with x first."""
        flat = np.asarray(numbers)
        shape = self._shape()
        if flat.size != np.prod(shape):
            raise InvalidError(
                f"{self.classname} {self.name}: {what} has {flat.size} cells, its axes have {np.prod(shape)}"
            )
        return flat.reshape(shape[::-1]).T

    def _sumw2(self, name: str) -> np.ndarray | None:
        numbers = self.member(name, none_if_missing=True)
        if numbers is None or len(numbers) == 0 or len(numbers) != np.prod(self._shape()):
            return None
        return self._cells(numbers, name)

    def _inner(self, array: np.ndarray, flow: bool) -> np.ndarray:
        return array if flow else array[(slice(1, -1),) * self.dimensions]

    def values(self, flow: bool = False) -> np.ndarray:
        """The bin contents; with underflow and overflow if ``flow``."""
        cells = self._cells(self._get(), "its array")
        waiting = pending(self, self.kind, self.axes)
        if waiting is not None:
            cells = cells + waiting[0].astype(cells.dtype)
        return self._inner(cells, flow)

    def variances(self, flow: bool = False) -> np.ndarray:
        """The squared errors: sums of squared weights if stored, otherwise the contents."""
        squares = self._sumw2("fSumw2")
        if squares is None:
            return np.abs(self.values(flow).astype(np.float64))
        waiting = pending(self, self.kind, self.axes)
        return self._inner(squares if waiting is None else squares + waiting[1], flow).astype(np.float64)

    def errors(self, flow: bool = False) -> np.ndarray:
        """The errors of the bin contents."""
        return np.sqrt(self.variances(flow))

    def counts(self, flow: bool = False) -> np.ndarray:
        """The bin contents, weighted or not, as in uproot."""
        return self.values(flow)

    def to_numpy(self, flow: bool = False, dd: bool = False) -> tuple[Any, ...]:
        """(values, edges, …) like numpy.histogram; (values, (edges, …)) like numpy.histogramdd if ``dd``."""
        # contents first: they are checked against the number of bins
        values = self.values(flow)
        edges = tuple(a.edges(flow) for a in self.axes)
        return (values, edges) if dd else (values, *edges)

    def _storage(self, bh: Any) -> tuple[Any, dict[str, np.ndarray] | np.ndarray]:
        """The storage and its content, including underflow and overflow."""
        values = self.values(flow=True)
        if self.weighted:
            return bh.storage.Weight(), {"value": values, "variance": self.variances(flow=True)}
        if np.issubdtype(values.dtype, np.integer):
            return bh.storage.Int64(), values
        return bh.storage.Double(), values

    def to_boost(self, metadata: dict[str, str] | None = None, axis_metadata: dict[str, str] | None = None) -> Any:
        """Convert to boost_histogram.Histogram. The dicts map attributes to members (``{"name": "fName"}``).

        Axes with a label for each bin become categories, which have no underflow.
        """
        bh = require("boost_histogram", "to_boost")
        names = {"name": "fName", "label": "fTitle"}
        axes = [a._to_boost(names if axis_metadata is None else axis_metadata) for a in self.axes]
        storage, filled = self._storage(bh)
        made = bh.Histogram(*axes, storage=storage)
        for name, member in (names if metadata is None else metadata).items():
            setattr(made, name, self.member(member))
        cut = tuple(slice(0 if axis.traits.underflow else 1, None) for axis in axes)
        view = made.view(flow=True)
        if isinstance(filled, dict):
            for name, array in filled.items():
                view[name] = array[cut]
        else:
            view[...] = filled[cut]
        return made

    def to_hist(self, metadata: dict[str, str] | None = None, axis_metadata: dict[str, str] | None = None) -> Any:
        """Convert to hist.Hist; see :meth:`to_boost`."""
        return require("hist", "to_hist").Hist(self.to_boost(metadata, axis_metadata))

    def _to_boost_histogram_(self) -> Any:
        return self.to_boost()

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return (
            self.axes == other.axes
            and np.array_equal(self.values(flow=True), other.values(flow=True))
            and np.array_equal(self.variances(flow=True), other.variances(flow=True))
        )

    __hash__ = object.__hash__


class TH1(Hist):
    """A histogram in one dimension."""

    dimensions = 1


class TH2(Hist):
    """A histogram in two dimensions."""

    dimensions = 2


class TH3(Hist):
    """A histogram in three dimensions."""

    dimensions = 3


class TH2Poly(Object):
    """A histogram with polygons as bins, in the order of its list ``fBins``."""

    #: What the bins hold, as the plottable-histogram protocol names it.
    kind = "COUNT"

    @property
    def bins(self) -> Any:
        """The bins, each with a polygon and its content."""
        return self.member("fBins")

    def values(self) -> np.ndarray:
        """The bin contents."""
        return np.array([b.member("fContent") for b in self.bins or []])
