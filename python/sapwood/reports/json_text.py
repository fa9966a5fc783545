"""JSON of the core, where a byte that is not UTF-8 is a special character; in Python it is a lone surrogate."""

from __future__ import annotations

import json
import re
from typing import Any

#: The characters for the bytes 0x80 to 0xff in the core (crates/sapwood-span/src/raw_text.rs).
_BYTES = re.compile("[\U0010ff80-\U0010ffff]")


def loads(text: str) -> Any:
    """The values, with names in the form of :meth:`sapwood.Directory.keys`."""
    return json.loads(_BYTES.sub(lambda c: f"\\udc{ord(c[0]) & 0xFF:02x}", text))
