"""uproot's exceptions, as Sapwood raises them."""

from __future__ import annotations

from sapwood.errors import CorruptError as DeserializationError
from sapwood.errors import KeyInFileError

__all__ = ["DeserializationError", "KeyInFileError"]
