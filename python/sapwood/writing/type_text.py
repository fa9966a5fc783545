"""The parts of types that are given as text: between commas, and the fields of records, whose names may be quoted."""

from __future__ import annotations

import re

_NAME = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|\'((?:[^\'\\]|\\.)*)\'|([^:]*?))\s*:', re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def split(text: str) -> list[str]:
    """Split at commas outside of brackets and quoted names."""
    parts, depth, start, quote, i = [], 0, 0, "", 0
    while i < len(text):
        c = text[i]
        if quote:
            if c == "\\":
                i += 1
            elif c == quote:
                quote = ""
        elif c in "\"'":
            quote = c
        else:
            depth += (c in "{[(<") - (c in "}])>")
            if c == "," and depth == 0:
                parts.append(text[start:i])
                start = i + 1
        i += 1
    return [p for p in [*parts, text[start:]] if p.strip()]


def record_fields(text: str) -> list[tuple[str, str]]:
    """Names and types of the fields of ``x: int32, "a b": float32``, the text between a record's brackets."""
    out = []
    for part in split(text):
        match = _NAME.match(part)
        if match is None:
            out.append((part.strip(), ""))
            continue
        quoted = match[1] if match[1] is not None else match[2]
        name = match[3] if quoted is None else _ESCAPED.sub(r"\1", quoted)
        out.append((name, part[match.end() :].strip()))
    return out
