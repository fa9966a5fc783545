"""Histograms filled by a function in a script, what ``TTree::Draw`` does with a macro."""

from __future__ import annotations

import importlib.util
import inspect
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments.entries import Entries
from ..errors import InvalidError, UnsupportedError
from ..selecting.script import selector_or_function
from ..selecting.selector import Selector
from .draw import bins_from, histogram_from

if TYPE_CHECKING:
    from .._core import Filler, GivenBins
    from ..arguments.progress import Progress


def draw_script(
    source: Any,
    script: Any,
    cut: str,
    bins: Any,
    option: str,
    span: tuple[int | None, int | None],
    entries: Entries,
    progress: Progress,
    scheduler: Any,
) -> Any:
    """What a script makes of a tree or chain: the result of its selector, or the histogram of its function."""
    path = os.path.abspath(os.fsdecode(script))
    found = selector_or_function(path)
    if isinstance(found, Selector):
        if cut or bins is not None or option:
            raise InvalidError(
                f"{path} contains a selector, which has its own cut: pass no cut, bins or option with it"
            )
        # workers load the script themselves
        what: Any = found if scheduler is None else path
        where = {"entry_start": span[0], "entry_stop": span[1], "entries": entries}
        return source.process(what, **where, progress=progress, scheduler=scheduler)
    if scheduler is not None:
        raise UnsupportedError("a function is drawn without scheduler: write a selector")
    if option:
        raise UnsupportedError("the histogram of a function has no option")
    filling = FillingFunction(found, cut, bins_from(bins))
    return source.process(filling, entry_start=span[0], entry_stop=span[1], entries=entries, progress=progress)


class FillingFunction(Selector):
    """Fills a histogram with what a function of branches returns."""

    def __init__(self, function: Callable[..., Any], cut: str, bins: list[GivenBins]) -> None:
        self._function, self._title = function, function.__name__
        self._parameters = _parameters(function)
        self.branches = list(dict.fromkeys(self._parameters.values()))
        self.cut = cut or None
        self.library = "ak" if importlib.util.find_spec("awkward") else "np"
        self._bins = bins
        self._filler: Filler | None = None
        self._values: tuple[np.ndarray, np.ndarray] | None = None

    def process(self, batch: Any) -> None:
        arguments = {name: batch[branch] for name, branch in self._parameters.items()}
        returned = self._function(**arguments)
        values, weights = returned if isinstance(returned, tuple) and len(returned) == 2 else (returned, None)
        self._values = _rows(
            values, weights, len(batch) if self.library == "ak" else len(next(iter(arguments.values())))
        )

    def merge(self, other: FillingFunction) -> None:
        self._fill(self)
        self._fill(other)

    def end(self) -> Any:
        self._fill(self)
        return histogram_from(self._filled(integer=False).finish(self._title))

    def _fill(self, of: FillingFunction) -> None:
        if of._values is None:
            return
        values, weights = of._values
        of._values = None
        filler = self._filled(integer=values.dtype.kind in "iub")
        filler.fill(values.astype(float).tobytes(), weights.astype(float).tobytes())

    def _filled(self, *, integer: bool) -> Filler:
        from .. import _core

        if self._filler is None:
            self._filler = _core.Filler(self._bins, integer)
        return self._filler


def _parameters(function: Callable[..., Any]) -> dict[str, str]:
    """The branch or expression of each parameter: its default value if that is text, otherwise its name."""
    made = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise InvalidError(f"{function.__name__}: each parameter must be the name of a branch, not *{name}")
        made[name] = parameter.default if isinstance(parameter.default, str) else name
    if not made:
        raise InvalidError(f"{function.__name__} has no parameters: they are the branches to read")
    return made


def _rows(values: Any, weights: Any, entries: int) -> tuple[np.ndarray, np.ndarray]:
    """Values and weights, one per row; lists have one row per item."""
    if isinstance(values, np.ndarray) and values.dtype == object:
        lengths = [np.size(v) for v in values]
        if isinstance(weights, np.ndarray) and weights.dtype == object:
            weights = np.concatenate([np.ravel(w) for w in weights]) if len(weights) else np.zeros(0)
        elif weights is not None and np.ndim(weights) == 1:
            weights = np.repeat(weights, lengths)
        values = np.concatenate([np.ravel(v) for v in values]) if len(values) else np.zeros(0)
    elif importlib.util.find_spec("awkward"):
        import awkward as ak

        if np.isscalar(values):
            values = np.full(entries, values)
        if weights is None:
            flat = ak.to_numpy(ak.flatten(ak.drop_none(ak.Array(values)), axis=None))
            return flat, np.ones(len(flat))
        values, weights = ak.broadcast_arrays(values, weights)
        values, weights = ak.to_numpy(ak.flatten(values, axis=None)), ak.to_numpy(ak.flatten(weights, axis=None))
    values = np.ravel(values)
    weights = np.ones(len(values)) if weights is None else np.broadcast_to(weights, values.shape)
    return values, weights
