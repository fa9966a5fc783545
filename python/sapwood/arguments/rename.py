"""New names for old ones, as users give them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..errors import InvalidError
from .filters import regular_expression

#: A function, a dict, ``"/pattern/replacement/flags"``, or several of these; None to keep names.
Rename = Callable[[str], str] | Mapping[str, str] | str | Iterable[Any] | None

_SUBSTITUTION = re.compile(r"\s*s?/((?:[^/\\]|\\.)*)/((?:[^/\\]|\\.)*)/([iLmsux]*)\s*")


def renamer(given: Rename) -> Callable[[str], Any]:
    """The function from an old name to the new one.

    Raises:
        InvalidError: it is none of the kinds.
    """
    if given is None:
        return lambda name: name
    if callable(given):
        return given
    if isinstance(given, Mapping):
        return lambda name: given.get(name, name)
    if isinstance(given, str):
        match = _SUBSTITUTION.fullmatch(given)
        if match is None:
            raise InvalidError(f'rename must be "/pattern/replacement/" if it is text, not {given!r}')
        pattern = regular_expression(match[1], match[3], given)
        return lambda name: pattern.sub(match[2], name)
    if isinstance(given, Iterable):
        each = [renamer(one) for one in given]
        return lambda name: next((new for new in (one(name) for one in each) if new != name), name)
    raise InvalidError(f"rename must be a function, a dict, text or a list of these, not {given!r}")
