"""Short forms of local paths: ``file:`` before them, ``~`` for the home directory, ``{a,b}`` for alternatives."""

from __future__ import annotations

import itertools
import os


def expanded(path: str) -> str:
    """The path without ``file:``, with the home directory in place of ``~`` unless a file has this name."""
    if path.startswith("file:") and not path.startswith("file://") and not os.path.exists(path):
        path = path.removeprefix("file:")
    if path.startswith("~") and not os.path.exists(path):
        return os.path.expanduser(path)
    return path


def alternatives(pattern: str) -> list[str]:
    """The patterns for each of the alternatives in braces: ``a{b,c}`` is ab and ac.

    Braces without a comma, and those of the name of an existing file, stay."""
    if "{" not in pattern or "://" in pattern or os.path.exists(pattern):
        return [pattern]
    start = pattern.find("{")
    while start >= 0:
        depth, commas, end = 0, [], -1
        for place in range(start, len(pattern)):
            c = pattern[place]
            depth += (c == "{") - (c == "}")
            if c == "," and depth == 1:
                commas.append(place)
            if depth == 0:
                end = place
                break
        if end > 0 and commas:
            edges = [start, *commas, end]
            parts = [pattern[a + 1 : b] for a, b in itertools.pairwise(edges)]
            made = [pattern[:start] + part + pattern[end + 1 :] for part in parts]
            return [each for one in made for each in alternatives(one)]
        start = pattern.find("{", start + 1)
    return [pattern]
