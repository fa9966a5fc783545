"""Filters of names and types: globs, ``/regular expressions/i``, callables, lists of these."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ..errors import InvalidError

if TYPE_CHECKING:
    import re

#: A filter.
Filter = str | Callable[..., object] | Iterable[Any] | None

_WILD = frozenset("*?[")


def matcher(filter: Filter, what: str = "filter") -> Callable[[str], bool] | None:
    """A predicate on strings for a filter, or None if everything passes.

    A string between slashes is a regular expression that matches from the beginning, as in uproot (flags ``i``, ``m``,
    ``s``, ``x``, ``a`` after the second slash; ``/.*pt/`` finds ``pt`` anywhere); a string with ``*``, ``?`` or ``[``
    is a glob for the whole name; any other string is the name itself. A list matches if any of its filters matches.
    """
    if filter is None:
        return None
    if isinstance(filter, str):
        return _text_matcher(filter)
    if callable(filter):
        return lambda text: bool(filter(text))
    if isinstance(filter, Iterable):
        parts = [matcher(f, what) for f in filter]
        if any(p is None for p in parts):
            return None
        return lambda text: any(p(text) for p in parts if p is not None)
    raise InvalidError(f"{what} must be None, a glob, a /regex/, a callable or a list of these, not {filter!r}")


def regular_expression(pattern: str, flags: str, given: str) -> re.Pattern[str]:
    """The expression with these flags, letters as Python names them; ``given`` is what the user wrote.

    Raises:
        InvalidError: it is none.
    """
    import re

    chosen = re.RegexFlag(0)
    for letter in flags:
        chosen |= getattr(re, letter.upper())
    try:
        return re.compile(pattern, chosen)
    except (re.error, ValueError) as e:
        raise InvalidError(f"invalid regular expression {given!r}: {e}") from e


def _text_matcher(pattern: str) -> Callable[[str], bool]:
    end = pattern.rfind("/")
    if pattern.startswith("/") and end > 0 and set(pattern[end + 1 :]) <= set("imsxa"):
        match = regular_expression(pattern[1:end], pattern[end + 1 :], pattern).match
        return lambda text: match(text) is not None
    if _WILD.isdisjoint(pattern):
        return lambda text: text == pattern
    from fnmatch import fnmatchcase

    # x[3] may be a name as well as a glob
    return lambda text: text == pattern or fnmatchcase(text, pattern)
