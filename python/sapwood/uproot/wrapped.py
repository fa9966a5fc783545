"""A value that can be written, as ``to_writable`` returns it."""

from __future__ import annotations

from typing import Any


class Wrapped:
    """A histogram, graph or text that can be written."""

    def __init__(self, value: Any) -> None:
        #: What was given.
        self.value = value

    def __repr__(self) -> str:
        return f"<Writable {self.value!r}>"
