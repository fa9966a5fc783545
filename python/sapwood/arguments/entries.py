"""Which entries are read, as users write them."""

from __future__ import annotations

from typing import Any

#: Start and stop.
Span = tuple[int | None, int | None]

#: Entry numbers, or a boolean for each entry; an entry list of a file, itself or as ``"file:list"``; None for all.
Entries = Any
