"""Histograms filled by the core."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments.checks import string
from ..arguments.progress import Progress, reporter
from ..arguments.sizes import entry_range
from ..errors import InvalidError
from ..reading.entry_selection import Entries, chosen, place
from .histogram import Axis, Histogram

#: Limit on the bins of one axis.
_MOST_BINS = 100_000_000

if TYPE_CHECKING:
    import hist

    from ..reading.tree import Tree


def draw(
    tree: Tree,
    expression: str,
    cut: str | None,
    bins: object,
    span: tuple[int | None, int | None],
    progress: Progress,
    entries: Entries = None,
) -> hist.Hist | Histogram:
    """See :meth:`Tree.draw`."""
    expression, cut = string(expression, "expression"), "" if cut is None else string(cut, "cut")
    count = _number(bins)
    axes = axes_from(None if count is not None else bins)
    tree.file._check_open()
    first, last = entry_range(*span, tree.num_entries)
    picked = chosen(entries, first, last, [place(tree)])
    numbers = None if picked is None else picked.numbers
    threads = tree.file._options.threads
    tell, done = reporter(progress)
    try:
        drawn = tree._core.draw(expression, cut, axes, first, last, tree._cache_size, threads, tell, count, numbers)
    finally:
        done()
    return _histogram(*drawn)


def _number(bins: object) -> int | None:
    """The number of bins, if only that is given."""
    try:
        count = operator.index(bins)  # type: ignore[arg-type]
    except TypeError:
        return None
    if isinstance(bins, bool) or not 1 <= count <= _MOST_BINS:
        raise InvalidError(f"bins must be a number from 1 to {_MOST_BINS}, or (number, low, high), not {bins!r}")
    return count


def axes_from(bins: object) -> list[tuple[int, float, float]]:
    """Axes as (number, low, high) from None, one such tuple, a flat tuple of several, or a sequence of tuples."""
    if bins is None:
        return []
    try:
        flat: list[Any] = []
        for b in bins:  # type: ignore[attr-defined]
            flat.extend(b if isinstance(b, (tuple, list)) else (b,))
        if not flat or len(flat) % 3:
            raise TypeError
        axes = [(operator.index(n), float(low), float(high)) for n, low, high in zip(*[iter(flat)] * 3, strict=True)]
        if any(n < 1 for n, _, _ in axes):
            raise ValueError
        return axes
    except (TypeError, ValueError):
        raise InvalidError(
            f"bins must be (number, low, high) for each axis, x first, or a number, or None, not {bins!r}"
        ) from None


def _histogram(axes, values, variances, entries: int, labels: list[str] | None) -> hist.Hist | Histogram:
    shape = tuple(n + 2 for n, _, _, _ in axes)
    sums = np.asarray(values).reshape(shape)
    squares = np.asarray(variances).reshape(shape)
    try:
        import hist
    except ImportError:
        plain = [Axis(n, low, high, label, labels=tuple(labels or ())) for n, low, high, label in axes]
        return Histogram(plain, sums, squares, entries)
    if labels is not None:
        # hist supports UTF-8 names only
        axes, labels = [(*a, _utf8(label)) for *a, label in axes], [_utf8(label) for label in labels]
        made = hist.Hist(hist.axis.StrCategory(labels, label=axes[0][3], overflow=False), storage=hist.storage.Weight())
        view = made.view()
        view.value, view.variance = sums[1:-1], squares[1:-1]
        return made
    regular = [hist.axis.Regular(n, low, high, label=_utf8(label)) for n, low, high, label in axes]
    made = hist.Hist(*regular, storage=hist.storage.Weight())
    view = made.view(flow=True)
    # the last axis varies fastest, as in hist
    view.value = sums
    view.variance = squares
    return made


def _utf8(text: str) -> str:
    r"""Text in which a byte that is not UTF-8 is ``\xff``."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
