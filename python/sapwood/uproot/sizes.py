"""Sizes as uproot reads them: a kB is 1000 bytes, a KiB 1024."""

from __future__ import annotations

import re
from typing import Any

from ..arguments.sizes import size_in_bytes

_DECIMAL = re.compile(r"^\s*([0-9.eE+-]+)\s*([kmgt])b\s*$", re.IGNORECASE)
_POWERS = {"k": 1000, "m": 1000**2, "g": 1000**3, "t": 1000**4}


def decimal_bytes(size: Any) -> int:
    """Bytes of ``"100 MB"`` (100 000 000), ``"100 MiB"`` or a number."""
    match = _DECIMAL.match(size) if isinstance(size, str) else None
    if match is None:
        return size_in_bytes(size, "memory_size")
    try:
        return int(float(match[1]) * _POWERS[match[2].lower()])
    except (ValueError, OverflowError):
        return size_in_bytes(size, "memory_size")
