"""TGraph, TGraphErrors and TGraphAsymmErrors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidError
from .object import Object

_AXES = {0: 0, -2: 0, "x": 0, 1: 1, -1: 1, "y": 1}


class TGraph(Object):
    """Points in a plane."""

    def __len__(self) -> int:
        return self.member("fNpoints")

    def __bool__(self) -> bool:
        return True

    def _points(self, name: str) -> np.ndarray:
        return np.asarray(self.member(name))[: len(self)]

    def _chosen(self, both: tuple[Any, Any], axis: int | str) -> Any:
        if axis == "both":
            return both
        if axis not in _AXES:
            raise InvalidError("axis must be 0 or 'x', 1 or 'y', or 'both'")
        return both[_AXES[axis]]

    def values(self, axis: int | str = "both") -> Any:
        """The x (0, ``"x"``) or y (1, ``"y"``) of the points, or both as a tuple."""
        return self._chosen((self._points("fX"), self._points("fY")), axis)

    def to_numpy(self) -> tuple[np.ndarray, ...]:
        """The x and y of the points."""
        return self.values()


class TGraphErrors(TGraph):
    """Points with errors."""

    def errors(self, axis: int | str = "both") -> Any:
        """The errors in x (0, ``"x"``) or y (1, ``"y"``), or both as a tuple."""
        return self._chosen((self._points("fEX"), self._points("fEY")), axis)

    def to_numpy(self) -> tuple[np.ndarray, ...]:
        """The x and y of the points, and the errors in x and y."""
        return (*self.values(), *self.errors())


class TGraphAsymmErrors(TGraph):
    """Points with asymmetric errors."""

    def errors(self, which: str, axis: int | str = "both") -> Any:
        """The errors in x (0, ``"x"``) or y (1, ``"y"``), or both as a tuple.

        Args:
            which: ``"low"``, ``"high"``, their ``"mean"``, or their ``"diff"`` (high - low).
            axis: see above.
        """
        return self._chosen((self._errors(which, "X"), self._errors(which, "Y")), axis)

    def _errors(self, which: str, axis: str) -> np.ndarray:
        low, high = self._points(f"fE{axis}low"), self._points(f"fE{axis}high")
        if which == "low":
            return low
        if which == "high":
            return high
        if which == "mean":
            return (low + high) / 2
        if which == "diff":
            return high - low
        raise InvalidError(f"which must be 'low', 'high', 'mean' or 'diff', not {which!r}")

    def to_numpy(self) -> tuple[np.ndarray, ...]:
        """The x and y of the points, and the errors: low in x, high in x, low in y, high in y."""
        return (*self.values(), self._errors("low", "X"), self._errors("high", "X"), *self._both_y())

    def _both_y(self) -> tuple[np.ndarray, np.ndarray]:
        return self._errors("low", "Y"), self._errors("high", "Y")
