"""Which exceptions are refusals of data to write: they cost what was refused, not the file."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from ..errors import InvalidError, KeyInFileError, UnsupportedError

P = ParamSpec("P")
R = TypeVar("R")


def refusing(function: Callable[P, R]) -> Callable[P, R]:
    """Mark the exceptions of a function that writes, by which a file knows them at the end of its ``with`` block."""

    @functools.wraps(function)
    def marked(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except (InvalidError, UnsupportedError, KeyInFileError) as e:
            e.refused_to = getattr(args[0], "file_path", None)  # type: ignore[union-attr]
            raise

    return marked


def is_refusal(error: object, file_path: str) -> bool:
    """Whether an exception is the refusal of data for this file."""
    return isinstance(error, Exception) and getattr(error, "refused_to", None) == file_path
