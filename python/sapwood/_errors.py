"""The exceptions: each is an :class:`Error` and the built-in exception that Python users expect."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def printable(text: str) -> str:
    r"""Text with names out of files as it may be shown anywhere: a byte that is not UTF-8 as ``\xff``, what steers a
    terminal as ``\x1b``."""
    if text.isprintable():
        return text
    shown = (c if c.isprintable() or c in "\n\xa0" else _escaped(c) for c in text)
    return "".join(shown)


def _escaped(c: str) -> str:
    return f"\\x{ord(c) & 0xFF:02x}" if "\udc80" <= c <= "\udcff" else repr(c)[1:-1]


class Error(Exception):
    """Anything that sapwood refuses or fails at.

    Attributes:
        file: the file or URL without credentials, or None.
        branch: the branch, or None.
        span: (first byte, byte behind the last) in the file, or None.
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


class FileMissingError(Error, FileNotFoundError):
    """There is no such file."""


class FileThereError(Error, FileExistsError):
    """The file is there already, and was not to be replaced."""


class NotAFileError(Error, IsADirectoryError):
    """The path is a directory."""


class KeyInFileError(Error, KeyError):
    """The file, directory or tree has nothing of this name."""


class InvalidError(Error, ValueError):
    """Arguments that make no sense."""


class UnsupportedError(Error, NotImplementedError):
    """Valid, but this version of sapwood does not read it; the message says what and why."""


class CorruptError(Error, ValueError):
    """The bytes are not what the ROOT format allows."""


class StalledError(Error, TimeoutError):
    """Nothing moved for longer than the timeout."""


class DeniedError(Error, PermissionError):
    """The system or the server refused: credentials are missing or not good enough."""


class ReadError(Error, OSError):
    """The system, the network or the server failed."""


class WriteError(Error, OSError):
    """The system failed to write; what was there before is untouched."""


class DefectError(Error, RuntimeError):
    """Sapwood itself is wrong: please report the message, with the version and the file that shows it."""


class MissingLibraryError(Error, ImportError):
    """An optional library is needed for what was asked."""


class SkippedBranchWarning(UserWarning):
    """Branches that cannot be read, or have the name of another one, were left out of a request for all branches."""


class SkippedFileWarning(UserWarning):
    """A file of several was left out, as was asked for, because it cannot be read."""


class RecoveredFileWarning(UserWarning):
    """The file was never closed or was truncated: what is left of it was found by looking at all its records. Or it is
    damaged where that does no harm by itself."""


class UnverifiedFileWarning(UserWarning):
    """The server does not say which version of the file it sends: not every change while it is read may be noticed."""


class ProducerLostWarning(UserWarning):
    """A producer went without finishing: the entries it had not handed on are not in the tree."""


def unicode_only(function: Callable[P, R]) -> Callable[P, R]:
    """Names, titles and texts with lone surrogates, which the core cannot take, are refused as ours."""

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except UnicodeEncodeError as e:
            raise InvalidError(f"{e.object!r} is no Unicode text: it holds half of a character") from None

    return checked


def require(name: str, purpose: str):
    """Imports an optional library, or says in one line how to get it."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as e:
        package = name.split(".")[0]
        raise MissingLibraryError(f"{purpose} needs {package}, which is not installed; pip install {package}") from e
