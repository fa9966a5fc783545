"""Histograms of hist, boost-histogram, numpy and the plottable-histogram protocol, as TH1 and related classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import InvalidError, UnsupportedError
from .parts import NOT_SET, Part, array, attributes, tlist, tnamed, tobject

#: ROOT's letter for the type of a histogram's values, and their type in the file; other types become doubles.
_LETTERS = {"int8": ("C", ">i1"), "int16": ("S", ">i2"), "int32": ("I", ">i4"), "float32": ("F", ">f4")}

#: Versions of the classes of one, two and three dimensions, and of profiles.
_HISTOGRAM = {1: 3, 2: 4, 3: 4}
_BASE = {2: 5, 3: 6}
_PROFILE = {1: ("TProfile", 7), 2: ("TProfile2D", 8), 3: ("TProfile3D", 8)}


@dataclass
class Axis:
    """Bins along one direction."""

    edges: np.ndarray
    title: str = ""
    labels: list[str] = field(default_factory=list)

    @property
    def centers(self) -> np.ndarray:
        return (self.edges[1:] + self.edges[:-1]) / 2

    def part(self, name: str) -> Part:
        """TAxis."""
        bins = len(self.edges) - 1
        first, last = float(self.edges[0]), float(self.edges[-1])
        even = np.linspace(first, last, bins + 1)
        regular = np.allclose(self.edges, even, rtol=0, atol=1e-9 * abs(last - first) / max(1, bins))
        look = [("i4", 510), ("u2", 1), ("u2", 1), ("u2", 42), ("f4", 0.005), ("f4", 0.035), ("f4", 0.03)]
        look += [("f4", 1.0), ("f4", 0.035), ("u2", 1), ("u2", 42)]
        members = [tnamed(name, self.title), ("versioned", 4, look), ("i4", bins), ("f8", first), ("f8", last)]
        members += array([] if regular else self.edges)
        members += [("i4", 0), ("i4", 0), ("u2", 0), ("u1", 0), ("text", "")]
        if self.labels:
            texts = (
                [("object", "TObjString", [("versioned", 1, [*tobject(i + 1), ("text", text)])])]
                for i, text in enumerate(self.labels)
            )
            members.append(("object", "THashList", [tlist(texts)]))
        else:
            members.append(("i4", 0))
        return "versioned", 10, [*members, ("i4", 0)]


@dataclass
class Histogram:
    """The content of ROOT's histograms. Arrays include underflow and overflow, first axis first."""

    axes: list[Axis]
    values: np.ndarray
    variances: np.ndarray | None = None
    title: str = ""
    #: Of a profile: sums of weights, of weights squared, of weighted values squared; `values` are sums of values.
    weights: np.ndarray | None = None
    weights_squared: np.ndarray | None = None
    squares: np.ndarray | None = None
    #: Entries and sums if known; otherwise computed from the bins.
    entries: float | None = None
    sums: list[float] | None = None

    def __post_init__(self) -> None:
        kind = np.asarray(self.values).dtype
        if kind.kind not in "biuf":
            raise UnsupportedError(f"a histogram must contain real numbers, not {kind}")

    def parts(self, name: str) -> tuple[str, str, list[Part]]:
        """Class, title and parts of the object."""
        self._fold()
        n = len(self.axes)
        if self.weights is not None:
            return self._profile(name, n)
        letter, kind = _LETTERS.get(self.values.dtype.name, ("D", ">f8"))
        return f"TH{n}{letter}", self.title, [self._histogram(name, n, kind, self.variances)]

    def _fold(self) -> None:
        """Turn bins with infinite edges into underflow and overflow, because ROOT's axes are finite."""
        for i, axis in enumerate(self.axes):
            edges = axis.edges
            below, above = bool(edges[0] == -np.inf), bool(edges[-1] == np.inf)
            inside = edges[int(below) : len(edges) - int(above)]
            if not np.isfinite(inside).all():
                raise InvalidError(f"axis {'xyz'[i]}: bin edges must be finite")
            if not (below or above):
                continue
            if len(inside) < 2:
                raise InvalidError(f"axis {'xyz'[i]}: no bin has two finite edges; ROOT needs at least one such bin")
            labels = axis.labels[int(below) : len(edges) - 1 - int(above)]
            self.axes[i] = Axis(inside, axis.title, labels)
            for name in ("values", "variances", "weights", "weights_squared", "squares"):
                table = getattr(self, name)
                if table is not None:
                    setattr(self, name, _folded(np.asarray(table), i, below, above))
            # the stored sums include what is underflow or overflow now
            self.sums = None

    def _sums(self, of: np.ndarray, squared: np.ndarray) -> list[float]:
        """Sums within the axes: weights, their squares, those with x and x squared, then with y … in ROOT's order."""
        inside = tuple(slice(1, -1) for _ in self.axes)
        w, w2 = of[inside].astype(float), squared[inside].astype(float)
        centers = np.meshgrid(*(a.centers for a in self.axes), indexing="ij")
        sums = [w.sum(), w2.sum(), (w * centers[0]).sum(), (w * centers[0] ** 2).sum()]
        if len(centers) > 1:
            x, y = centers[:2]
            sums += [(w * y).sum(), (w * y * y).sum(), (w * x * y).sum()]
        if len(centers) > 2:
            x, y, z = centers
            sums += [(w * z).sum(), (w * z * z).sum(), (w * x * z).sum(), (w * y * z).sum()]
        return [float(s) for s in sums]

    def _histogram(self, name: str, n: int, kind: str, variances: np.ndarray | None) -> Part:
        """The members of TH1, TH2 or TH3, up to the values."""
        weights = self.values if self.weights is None else self.weights
        squared = variances if self.weights is None else self.weights_squared
        sums = self.sums or self._sums(weights, weights if squared is None else squared)
        entries = float(np.asarray(weights, float).sum()) if self.entries is None else self.entries
        axes = [*self.axes, *(Axis(np.array([0.0, 1.0])) for _ in range(3 - n))]
        base = [tnamed(name, self.title, 8), *attributes(), ("i4", self.values.size)]
        base += [a.part(f"{letter}axis") for a, letter in zip(axes, "xyz", strict=True)]
        base += [("u2", 0), ("u2", 1000), ("f8", entries)]
        base += [("f8", s) for s in sums[:4]]
        base += [("f8", NOT_SET), ("f8", NOT_SET), ("f8", 0.0), *array([])]
        base += array([] if variances is None else _flat(variances))
        base += [("text", ""), tlist(), ("i4", 0), ("u1", 0), ("i4", 0), ("i4", 2)]
        part: Part = ("versioned", 8, base)
        if n == 2:
            part = ("versioned", _BASE[2], [part, ("f8", 1.0), *(("f8", s) for s in sums[4:])])
        elif n == 3:
            part = ("versioned", _BASE[3], [part, ("versioned", 1, []), *(("f8", s) for s in sums[4:])])
        return "versioned", _HISTOGRAM[n], [part, *array(_flat(self.values), kind)]

    def _profile(self, name: str, n: int) -> tuple[str, str, list[Part]]:
        kind, version = _PROFILE[n]
        inside = tuple(slice(1, -1) for _ in self.axes)
        members = [self._histogram(name, n, ">f8", self.squares), *array(_flat(self.weights)), ("i4", 0)]
        # no limits on the values that are averaged
        members += [("f8", 0.0), ("f8", 0.0)]
        members += [("f8", float(self.values[inside].sum())), ("f8", float(self.squares[inside].sum()))]  # type: ignore[index]
        members += array([] if self.weights_squared is None else _flat(self.weights_squared))
        return kind, self.title, [("versioned", version, members)]


def _folded(table: np.ndarray, axis: int, below: bool, above: bool) -> np.ndarray:
    """Add the first and last bins to underflow and overflow."""
    cells = np.moveaxis(table, axis, 0)
    if cells.dtype.kind in "iu" and cells.dtype.itemsize == 8:
        # written as doubles in any case
        cells = cells.astype(float)
    # sums of small integers may need more room than those
    wide = cells.astype(np.int64) if cells.dtype.kind in "biu" else cells
    if below:
        wide = np.concatenate([wide[:1] + wide[1:2], wide[2:]])
    if above:
        wide = np.concatenate([wide[:-2], wide[-2:-1] + wide[-1:]])
    narrow = wide.astype(cells.dtype)
    return np.moveaxis(narrow if cells.dtype.kind == "f" or (narrow == wide).all() else wide, 0, axis)


def _flat(values: np.ndarray | None) -> np.ndarray:
    """ROOT's order: the first axis runs fastest."""
    return np.asarray(values).T.ravel()


def histogram_of(value: Any) -> Histogram | None:
    """The histogram to be written for a result of numpy's functions or an object of the protocol; None for anything
    else."""
    if isinstance(value, tuple):
        return _of_numpy(value)
    if hasattr(value, "axes") and hasattr(value, "values") and hasattr(value, "kind"):
        return _of_root(value) if hasattr(value, "member") else _of_protocol(value)
    return None


def _some(edges: np.ndarray) -> np.ndarray:
    if len(edges) < 2:
        raise InvalidError("an axis of a histogram needs at least one bin")
    return edges


def _edges(given: Any) -> np.ndarray:
    """Bin edges in ascending order; in any other order ROOT fills wrong bins."""
    edges = np.asarray(given)
    if edges.dtype.kind not in "biuf":
        raise UnsupportedError(f"bin edges must be real numbers, not {edges.dtype}")
    edges = _some(edges.astype(float))
    if not (edges[1:] > edges[:-1]).all():
        raise InvalidError("bin edges must be in ascending order; sort them together with the contents")
    return edges


def _of_numpy(value: tuple[Any, ...]) -> Histogram | None:
    """What numpy.histogram, histogram2d and histogramdd return."""
    if len(value) == 2 and isinstance(value[1], (list, tuple)):
        value = (value[0], *value[1])
    if not 2 <= len(value) <= 4 or not all(isinstance(v, np.ndarray) for v in value):
        return None
    values, *edges = value
    if values.shape != tuple(len(e) - 1 for e in edges):
        return None
    axes = [Axis(_edges(e)) for e in edges]
    return Histogram(axes, np.pad(values, 1))


def _of_root(h: Any) -> Histogram:
    """A histogram that was read from a file by Sapwood or uproot; its members are copied."""
    n = len(h.axes)
    axes = []
    for axis in h.axes:
        labels = axis.labels() or []
        axes.append(Axis(np.asarray(axis.edges(), float), axis.member("fTitle") or "", [str(t) for t in labels]))
    shape = tuple(len(a.edges) + 1 for a in axes)

    def cells(name: str) -> np.ndarray | None:
        table = np.asarray(h.member(name), float)
        return table.reshape(shape[::-1]).T if len(table) else None

    names = ["fTsumw", "fTsumw2", "fTsumwx", "fTsumwx2", "fTsumwy", "fTsumwy2", "fTsumwxy"]
    names += ["fTsumwz", "fTsumwz2", "fTsumwxz", "fTsumwyz"]
    sums = [float(h.member(name)) for name in names[: {1: 4, 2: 7, 3: 11}[n]]]
    made = Histogram(axes, np.asarray(h.values(flow=True)), cells("fSumw2"), h.title or "")
    made.entries, made.sums = float(h.member("fEntries")), sums
    if str(h.kind) == "MEAN":
        made.weights, made.weights_squared, made.squares = cells("fBinEntries"), cells("fBinSumw2"), made.variances
        made.values, made.variances = np.nan_to_num(made.values) * made.weights, None
    return made


def _of_protocol(h: Any) -> Histogram:
    if not 1 <= len(h.axes) <= 3:
        raise UnsupportedError(f"ROOT histograms have one to three axes, not {len(h.axes)}")
    axes: list[Axis] = []
    pads: list[tuple[int, int]] = []
    for axis in h.axes:
        traits = getattr(axis, "traits", None)
        if getattr(traits, "circular", False):
            raise UnsupportedError("ROOT has no circular axes; write the values and edges as a tuple instead")
        # of strings, or of numbers that say that they have no order
        labelled = len(axis) and (isinstance(axis[0], str) or not getattr(traits, "ordered", True))
        discrete = getattr(traits, "discrete", False) and labelled
        edges = _some(np.arange(len(axis) + 1.0)) if discrete else _edges(axis.edges)
        title = getattr(axis, "label", "") or getattr(axis, "name", "") or ""
        if title == f"Axis {len(axes)}":
            title = ""  # the default of hist for axes without a name
        axes.append(Axis(edges, title, [str(v) for v in axis] if discrete else []))
        pads.append((1 - int(getattr(traits, "underflow", False)), 1 - int(getattr(traits, "overflow", False))))
    title = getattr(h, "title", None) or getattr(h, "name", None) or getattr(h, "label", None) or ""

    def whole(values: Any) -> np.ndarray | None:
        """Add empty underflow and overflow bins where the histogram has none."""
        if values is None:
            return None
        values = np.asarray(values)
        missing = [len(a.edges) + 1 - n for a, n in zip(axes, values.shape, strict=True)]
        if all(m == 2 for m in missing):
            return np.pad(values, 1)
        return np.pad(values, pads) if any(missing) else values

    def ask(name: str) -> Any:
        method = getattr(h, name, None)
        if method is None:
            return None
        try:
            return method(flow=True)
        except TypeError:
            return method()

    if str(getattr(h.kind, "value", h.kind)) == "MEAN":
        return _mean(h, axes, title, whole)
    values, variances = whole(ask("values")), whole(ask("variances"))
    if variances is not None and np.array_equal(variances, values):  # type: ignore[arg-type]
        variances = None
    return Histogram(axes, values, variances, title)  # type: ignore[arg-type]


def _mean(h: Any, axes: list[Axis], title: str, whole: Any) -> Histogram:
    """Profiles, from the sums that boost-histogram keeps."""
    view = h.view(flow=True)
    names = view.dtype.names or ()
    if "sum_of_weights" in names:
        weights, squared = view["sum_of_weights"], view["sum_of_weights_squared"]
        deltas = view["_sum_of_weighted_deltas_squared"]
    elif "count" in names:
        weights, squared, deltas = view["count"], None, view["_sum_of_deltas_squared"]
    else:
        raise UnsupportedError("this histogram of means does not keep the sums that a TProfile needs")
    mean = view["value"]
    sums = whole(weights * mean)
    made = Histogram(axes, sums, None, title, whole(weights), whole(squared), whole(deltas + weights * mean * mean))
    facts = getattr(h, "__dict__", {}).get("metadata")
    if isinstance(facts, Mapping) and "fEntries" in facts:
        # weights alone do not tell the number of entries
        made.entries = float(facts["fEntries"])
    return made
