"""Checks of arguments: a wrong type is an :class:`InvalidError` that names the argument."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import InvalidError
from .sizes import whole


def strings(value: Any, what: str) -> list[str]:
    """A list of strings; a single string is a list of one."""
    items = [value] if isinstance(value, str) else value
    if isinstance(items, Iterable) and not isinstance(items, (bytes, Mapping)):
        items = list(items)
        if all(isinstance(item, str) for item in items):
            return items
    raise InvalidError(f"{what} must be a string or a list of strings, not {value!r}")


def string(value: Any, what: str) -> str:
    """A string."""
    if not isinstance(value, str):
        raise InvalidError(f"{what} must be a string, not {value!r}")
    return value


def flag(value: Any, what: str) -> bool:
    """True or False, of Python or numpy."""
    # numpy's booleans without an import of numpy
    if not isinstance(value, bool) and getattr(getattr(value, "dtype", None), "name", "") != "bool":
        raise InvalidError(f"{what} must be True or False, not {value!r}")
    return bool(value)


def thread_count(value: Any, least: int = 0) -> int:
    """The number of threads for the core, which takes 0 for one per core: what None means here."""
    number = None if value is None else whole(value)
    if value is not None and (number is None or not least <= number < 2**31):
        raise InvalidError(f"threads must be at least {least}, or None for one per core, not {value!r}")
    return number or 0


def text_by_name(value: Any, what: str) -> dict[str, str]:
    """A mapping from strings to strings; None is an empty one."""
    if value is None:
        return {}
    if isinstance(value, Mapping) and all(isinstance(t, str) for pair in value.items() for t in pair):
        return dict(value)
    raise InvalidError(f"{what} must be a dict of strings by name, not {value!r}")
