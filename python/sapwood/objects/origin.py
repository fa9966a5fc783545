"""The file that an object was read from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Origin:
    """Where an object was read; it stays with copies and pickles of the object, and keeps no file open."""

    #: Path or URL of the file.
    file_path: str
    #: Path in the file.
    object_path: str
