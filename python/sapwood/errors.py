"""Exceptions and warnings. Each exception is an :class:`Error` and also the built-in exception that users expect."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from .public import public

P = ParamSpec("P")
R = TypeVar("R")


def printable(text: str) -> str:
    r"""Text that is safe to print: bytes that are not UTF-8 as ``\xff``, control characters as ``\x1b``."""
    if text.isprintable():
        return text
    shown = (c if c.isprintable() or c in "\n\xa0" else _escaped(c) for c in text)
    return "".join(shown)


def _escaped(c: str) -> str:
    return f"\\x{ord(c) & 0xFF:02x}" if "\udc80" <= c <= "\udcff" else repr(c)[1:-1]


@public
class Error(Exception):
    """Base class of all errors that Sapwood raises.

    Attributes:
        file: the file or URL without credentials, or None.
        branch: the branch, or None.
        span: byte range (start, end) in the file, end exclusive, or None.
    """

    def __init__(
        self,
        message: str = "",
        *,
        file: str | None = None,
        branch: str | None = None,
        span: tuple[int, int] | None = None,
    ) -> None:
        message = printable(message)
        super().__init__(message)
        self.message = message
        self.file = file
        self.branch = branch
        self.span = span

    def __str__(self) -> str:
        # KeyError would show the message in quotes, OSError an empty errno
        return self.message


@public
class FileMissingError(Error, FileNotFoundError):
    """The file does not exist."""


@public
class FileThereError(Error, FileExistsError):
    """The file already exists and may not be replaced."""


@public
class NotAFileError(Error, IsADirectoryError):
    """The path is a directory."""


@public
class KeyInFileError(Error, KeyError):
    """The file, directory or tree has no object with this name."""


@public
class InvalidError(Error, ValueError):
    """Invalid arguments."""


@public
class ClosedError(InvalidError, OSError):
    """The file is closed."""

    # ValueError's, which comes first, makes no OSError: programs that send exceptions to other processes use it
    __new__ = OSError.__new__  # type: ignore[assignment]


@public
class UnsupportedError(Error, NotImplementedError):
    """Valid, but not supported by this version of Sapwood; the message says why."""


@public
class CorruptError(Error, OSError, ValueError):
    """The data violates the ROOT format. An OSError as well: scripts that pass over files that cannot be read expect
    it of damaged ones, too."""


@public
class StalledError(Error, TimeoutError):
    """No progress for longer than the timeout."""


@public
class DeniedError(Error, PermissionError):
    """The system or server denied access: credentials are missing or insufficient."""


@public
class ReadError(Error, OSError):
    """The system, the network or the server failed."""


@public
class WriteError(Error, OSError):
    """Writing failed; an existing file is unchanged."""


@public
class DefectError(Error, RuntimeError):
    """A bug in Sapwood: please report the message, the version and a file that reproduces it."""


@public
class MissingLibraryError(Error, ImportError):
    """The request needs an optional library that is not installed."""


@public
class SelectorError(Error, RuntimeError):
    """A selector failed; the message names the file and the entries, ``__cause__`` is the exception."""


@public
class SkippedBranchWarning(UserWarning):
    """A request for all branches skipped branches that cannot be read or have a duplicate name."""


@public
class SkippedFileWarning(UserWarning):
    """A file that cannot be read was skipped, as requested."""


@public
class RecoveredFileWarning(UserWarning):
    """The file was not closed or was truncated, and was recovered by scanning all its records; or the file has damage
    that does not prevent reading."""


@public
class UnverifiedFileWarning(UserWarning):
    """The server does not identify the version of the file: changes during reading may go unnoticed."""


@public
class WholeFileWarning(UserWarning):
    """The server does not serve byte ranges: the whole file was downloaded to read a part of it."""


@public
class ProducerLostWarning(UserWarning):
    """A producer ended without finishing: entries that it did not pass on are not in the tree."""


def unicode_only(function: Callable[P, R]) -> Callable[P, R]:
    """Raise InvalidError for names, titles and texts with lone surrogates, which the core does not support."""

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except UnicodeEncodeError as e:
            raise InvalidError(f"{e.object!r} is not valid Unicode: it contains a lone surrogate") from None

    return checked


def require(name: str, purpose: str):
    """Import an optional library, or raise an error that says how to install it."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as e:
        package = name.split(".")[0]
        raise MissingLibraryError(f"{purpose} needs {package}, which is not installed; pip install {package}") from e
