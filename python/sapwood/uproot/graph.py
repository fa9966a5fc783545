"""Graphs to write, with the ranges and attributes that uproot gives them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InvalidError, KeyInFileError
from ..writing.objects import Graph, Part


@dataclass(frozen=True)
class Look:
    """Line and marker of a graph, as ROOT numbers them."""

    lineColor: int = 602
    lineStyle: int = 1
    lineWidth: int = 1
    markerColor: int = 1
    markerStyle: int = 1
    markerSize: float = 1.0


class WritableGraph(Graph):
    """A graph to write."""

    def __init__(self, *points: Any, look: Look, limits: tuple[float | None, float | None], **options: Any) -> None:
        super().__init__(*points, **options)
        self._look, self._given_limits = look, limits

    def _limits(self) -> tuple[float, float]:
        least, most = self._given_limits
        below, above = (float(np.min(self.y)), float(np.max(self.y))) if len(self.y) else (0.0, 0.0)
        margin = 0.1 * (above - below)
        return below - margin if least is None else float(least), above + margin if most is None else float(most)

    def _attributes(self) -> list[Part]:
        look = self._look
        return [
            ("versioned", 2, [("u2", look.lineColor), ("u2", look.lineStyle), ("u2", look.lineWidth)]),
            ("versioned", 2, [("u2", 0), ("u2", 1001)]),
            ("versioned", 3, [("u2", look.markerColor), ("u2", look.markerStyle), ("f4", look.markerSize)]),
        ]

    def member(self, name: str) -> Any:
        """Return a member by ROOT's name: ``fNpoints``, ``fX``, ``fY``, ``fTitle``, ``fMinimum`` or ``fMaximum``."""
        least, most = self._limits()
        members = {
            "fNpoints": len(self.x), "fX": self.x, "fY": self.y, "fTitle": self.title, "fMinimum": least,
            "fMaximum": most,
        }  # fmt: skip
        if name not in members:
            raise KeyInFileError(f"a graph to write has no member {name}; it has {', '.join(members)}")
        return members[name]


def as_TGraph(
    df: Any,
    title: str = "",
    xAxisLabel: str = "",
    yAxisLabel: str = "",
    minY: float | None = None,
    maxY: float | None = None,
    **look: Any,
) -> Graph:
    """A data frame or dict with the columns x and y, and optionally errors, as a graph to write.

    The errors are the columns ``x_errors`` and ``y_errors`` or, for those below and above, ``x_errors_low``,
    ``x_errors_high``, ``y_errors_low`` and ``y_errors_high``.

    Args:
        title, xAxisLabel, yAxisLabel: what ROOT writes around the graph.
        minY, maxY: the range of y to show; None for that of the values and a tenth of it.
        look: ``lineColor``, ``lineStyle``, ``lineWidth``, ``markerColor``, ``markerStyle``, ``markerSize``.
    """
    names: Iterable[str] = list(df.keys())

    def errors(axis: str) -> Any:
        if f"{axis}_errors" in names:
            return df[f"{axis}_errors"]
        sides = [f"{axis}_errors_{side}" for side in ("low", "high")]
        found = [side for side in sides if side in names]
        if len(found) == 1:
            raise InvalidError(f"a graph with {found[0]} needs {' and '.join(sides)}")
        return (df[sides[0]], df[sides[1]]) if found else None

    words = ";".join([title, xAxisLabel, yAxisLabel]) if xAxisLabel or yAxisLabel else title
    return WritableGraph(
        df["x"],
        df["y"],
        x_errors=errors("x"),
        y_errors=errors("y"),
        title=words,
        look=Look(**look),
        limits=(minY, maxY),
    )
