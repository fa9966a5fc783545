"""Histograms filled by the core."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from ._errors import InvalidError
from ._histogram import Axis, Histogram
from ._progress import Progress, reporter
from ._sizes import entry_range

if TYPE_CHECKING:
    from ._tree import Tree


def draw(
    tree: Tree,
    expression: str,
    cut: str | None,
    bins: object,
    span: tuple[int | None, int | None],
    progress: Progress,
) -> Any:
    """See :meth:`Tree.draw`."""
    axes = axes_from(bins)
    tree.file._check_open()
    first, last = entry_range(*span, tree.num_entries)
    options = tree.file._options
    tell, done = reporter(progress)
    try:
        drawn = tree._core.draw(expression, cut or "", axes, first, last, options.cache_size, options.threads, tell)
    finally:
        done()
    return _histogram(*drawn)


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
        raise InvalidError(f"bins is (number, low, high) of each axis, x first, or None; not {bins!r}") from None


def _histogram(axes, values, variances, entries: int) -> Any:
    shape = tuple(n + 2 for n, _, _, _ in axes)
    sums = np.asarray(values).reshape(shape)
    squares = np.asarray(variances).reshape(shape)
    try:
        import hist
    except ImportError:
        return Histogram([Axis(n, low, high, label) for n, low, high, label in axes], sums, squares, entries)
    regular = [hist.axis.Regular(n, low, high, label=label) for n, low, high, label in axes]
    made = hist.Hist(*regular, storage=hist.storage.Weight())
    view = made.view(flow=True)
    # cells run along the last axis, the first one is x: as hist has them
    view.value = sums
    view.variance = squares
    return made
