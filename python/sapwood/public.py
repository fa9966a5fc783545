"""Public names of classes and functions, independent of the modules that define them."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def public(thing: T) -> T:
    """Decorates a class or function of the package ``sapwood``: errors, pickles and documentation name it so."""
    thing.__module__ = __package__
    return thing
