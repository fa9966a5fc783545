"""The values that decide about automatic axes, where workers draw."""

from __future__ import annotations

#: Rows, of each variable the least and greatest value (None of strings), and whether its values are whole numbers.
Ranges = tuple[int, list[tuple[float, float] | None], list[bool]]


class Tally:
    """The ranges of the values that decide about the axes of a draw."""

    def __init__(self, deciding: int, ranges: Ranges) -> None:
        self.rows, self._deciding = 0, deciding
        self.ranges: list[tuple[float, float] | None] = []
        self.integer = ranges[2]

    @property
    def left(self) -> int:
        """Rows that still decide."""
        return self._deciding - self.rows

    @property
    def is_full(self) -> bool:
        """Whether all rows that decide are known."""
        return self.left <= 0

    def add(self, more: Ranges) -> None:
        rows, ranges, _ = more
        if self.is_full:
            return
        self.rows += rows
        both = zip(self.ranges or ranges, ranges, strict=True)
        self.ranges = [a and b and (min(a[0], b[0]), max(a[1], b[1])) for a, b in both]
