"""Lists in warnings."""

from __future__ import annotations

from collections.abc import Sequence

#: Items shown.
MOST = 5


def listed(items: Sequence[str]) -> str:
    """A line per item, the first few, and how many more there are."""
    more = f"\n  and {len(items) - MOST} more" if len(items) > MOST else ""
    return "".join(f"\n  {item}" for item in items[:MOST]) + more
