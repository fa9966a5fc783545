"""Histograms filled by the core."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments.checks import string
from ..arguments.entries import Entries
from ..arguments.progress import Progress, reporter
from ..arguments.sizes import entry_range
from ..errors import InvalidError
from ..objects.entry_list import drawn_list
from ..reading.entry_selection import chosen, place
from .histogram import Axis, Histogram, ProfileHistogram

#: Limit on the bins of one axis.
_MOST_BINS = 100_000_000

if TYPE_CHECKING:
    import hist

    from .. import Tree
    from .._core import Drawing, Drawn, DrawnEntries, GivenBins
    from ..objects.entry_list import EntryList
    from ..reading.given_aliases import GivenAliases

    #: A draw without aliases.
    Plain = tuple[str, str, list[GivenBins], str]


def draw(
    tree: Tree,
    drawings: list[Drawing],
    span: tuple[int | None, int | None],
    progress: Progress,
    entries: Entries = None,
) -> list[Any]:
    """See :meth:`Tree.draw`."""
    tree.file._check_open()
    first, last = entry_range(*span, tree.num_entries)
    picked = chosen(entries, first, last, [place(tree)])
    numbers = None if picked is None else picked.for_core(tree._first_entry)
    first, last = first + tree._first_entry, last + tree._first_entry
    threads = tree.file._options.threads
    tell, done = reporter(progress)
    try:
        drawn = tree._core.draw(drawings, first, last, tree._cache_size, threads, tell, numbers)
    finally:
        done()
    return [product(one) for one in drawn]


def drawings_from(
    expression: object, cut: object, bins: object, option: object, draws: object, aliases: GivenAliases
) -> tuple[list[Drawing], bool]:
    """What the arguments of :meth:`Tree.draw` ask for, and whether it is a single histogram."""
    if draws is None:
        if expression is None:
            raise InvalidError("nothing to draw: pass an expression, or several as draws")
        return [(*_drawing(expression, cut, bins, option), aliases)], True
    if expression is not None or cut or bins is not None or option:
        raise InvalidError("draws has its own expressions, cuts, bins and options: pass no others with it")
    if isinstance(draws, (str, bytes)) or not isinstance(draws, Iterable):
        raise InvalidError(f"draws must be a list of expressions, tuples or dicts, not {draws!r}")
    return [(*_one_of(one), aliases) for one in draws], False


def without_partial(partial: object) -> None:
    """Refuse the argument ``partial`` of a draw without scheduler."""
    if partial is not None:
        raise InvalidError("partial needs a scheduler: without one there are no partial histograms")


def _one_of(given: object) -> Plain:
    """One of the draws: an expression; a tuple of expression, cut, bins, option; or a dict of these."""
    if isinstance(given, str):
        return _drawing(given)
    if isinstance(given, tuple) and 1 <= len(given) <= 4:
        return _drawing(*given)
    if isinstance(given, dict) and "expression" in given and not set(given) - {"expression", "cut", "bins", "option"}:
        return _drawing(**given)
    raise InvalidError(
        "each of draws must be an expression, a tuple (expression, cut, bins, option) or a dict with these keys, "
        f"not {given!r}"
    )


def _drawing(expression: object, cut: object = "", bins: object = None, option: object = "") -> Plain:
    text = "" if cut is None else string(cut, "cut")
    how = "" if option is None else string(option, "option")
    return string(expression, "expression"), text, bins_from(bins), how


def bins_from(bins: object) -> list[GivenBins]:
    """The binning of each axis: (number or None, limits or None, edges or None).

    From None, one axis, a flat tuple of several, or a sequence of axes. An axis is None, a number, (number, low, high),
    an array of edges, or an axis of hist or boost-histogram.
    """
    if bins is None:
        return []
    try:
        alone = _axis(bins)
        if alone is not None:
            return [alone]
        if isinstance(bins, (tuple, list)) and len(bins) > 3 and len(bins) % 3 == 0 and all(map(_is_number, bins)):
            return [_regular(*bins[i : i + 3]) for i in range(0, len(bins), 3)]
        axes = [_axis(b) for b in bins]  # type: ignore[attr-defined]
        if not axes or None in axes:
            raise TypeError
        return [a for a in axes if a is not None]
    except (TypeError, ValueError):
        raise InvalidError(
            "bins must be a positive number, (number, low, high), an array of edges or None, or one of these for "
            f"each axis, x first, not {bins!r}"
        ) from None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _axis(given: Any) -> GivenBins | None:
    """One axis; None if it is something else, perhaps several."""
    if given is None:
        return None, None, None
    if _is_number(given):
        return _count(given), None, None
    if isinstance(given, np.ndarray) and given.dtype.kind in "iuf":
        if given.ndim != 1:
            raise TypeError
        return None, None, given.astype(float).tolist()
    if hasattr(given, "edges") and not isinstance(given, (tuple, list)):
        edges = np.asarray(given.edges, float)
        regular = type(given).__name__ in ("Regular", "Integer") and getattr(given, "transform", None) is None
        if regular:
            return _regular(len(edges) - 1, edges[0], edges[-1])
        return None, None, edges.tolist()
    if isinstance(given, (tuple, list)) and len(given) == 3 and all(map(_is_number, given)):
        return _regular(*given)
    return None


def _regular(n: Any, low: Any, high: Any) -> GivenBins:
    return _count(n), (float(low), float(high)), None


def _count(given: Any) -> int:
    count = operator.index(given)
    if not 1 <= count <= _MOST_BINS:
        raise ValueError
    return count


def product(drawn: Drawn | DrawnEntries) -> hist.Hist | Histogram | EntryList:
    """What the core drew: a histogram, or a list of entries."""
    return drawn_list(drawn) if isinstance(drawn[0], str) else histogram_from(drawn)  # type: ignore[arg-type]


def histogram_from(drawn: Drawn) -> hist.Hist | Histogram:
    """What the core drew, as a hist.Hist where hist is installed."""
    axes, buffers, entries = drawn
    shape = tuple(n + 2 for n, *_ in axes)
    cells = [np.asarray(b).reshape(shape) for b in buffers]
    try:
        import hist
    except ImportError:
        plain = [
            Axis(n, low, high, label, labels=tuple(labels or ()), given_edges=_edges(edges))
            for n, low, high, label, edges, labels in axes
        ]
        if len(cells) == 2:
            return Histogram(plain, cells[0], cells[1], entries)
        return ProfileHistogram(plain, cells[0], cells[1], cells[2], cells[3], entries)
    made_axes: list[Any] = []
    inside = []
    for n, low, high, label, edges, labels in axes:
        # hist supports UTF-8 names only
        inside.append(slice(None) if labels is None else slice(1, -1))
        if labels is not None:
            names = [_utf8(name) for name in labels]
            made_axes.append(hist.axis.StrCategory(names, label=_utf8(label), overflow=False))
        elif edges is not None:
            made_axes.append(hist.axis.Variable(np.asarray(edges), label=_utf8(label)))
        else:
            made_axes.append(hist.axis.Regular(n, low, high, label=_utf8(label)))
    cells = [c[tuple(inside)] for c in cells]
    if len(cells) == 2:
        counts: hist.Hist = hist.Hist(*made_axes, storage=hist.storage.Weight())
        view: Any = counts.view(flow=True)
        # the last axis varies fastest, as in hist
        view.value, view.variance = cells
        return counts
    means: hist.Hist = hist.Hist(*made_axes, storage=hist.storage.WeightedMean())
    bins: Any = means.view(flow=True)
    sums = ("sum_of_weights", "sum_of_weights_squared", "value", "_sum_of_weighted_deltas_squared")
    for name, values in zip(sums, cells, strict=True):
        bins[name] = values
    return means


def _edges(buffer: Any) -> tuple[float, ...] | None:
    return None if buffer is None else tuple(np.asarray(buffer).tolist())


def _utf8(text: str) -> str:
    r"""Text in which a byte that is not UTF-8 is ``\xff``."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
