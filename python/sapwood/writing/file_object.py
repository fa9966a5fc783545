"""Writing to file objects (``io.BytesIO``, an open file): a temporary file is written, and copied when complete."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Any

from ..errors import InvalidError


class FileObjectTarget:
    """A file object, and the temporary file in which its contents are made."""

    def __init__(self, given: Any, *, existing: bool) -> None:
        self.given = given
        if not given.seekable() or not given.writable():
            raise InvalidError(f"{given!r} must be writable and seekable, opened in binary mode ('w+b', or 'r+b')")
        self._folder = tempfile.mkdtemp(prefix="sapwood-")
        #: The temporary file.
        self.path = os.path.join(self._folder, "file.root")
        if existing:
            try:
                given.seek(0)
                with open(self.path, "wb") as out:
                    shutil.copyfileobj(given, out)
            except BaseException:
                self.discard()
                raise

    @property
    def name(self) -> str:
        """How messages and representations name it."""
        name = getattr(self.given, "name", "")
        return f"<{type(self.given).__name__}{' ' + name if isinstance(name, str) and name else ''}>"

    def complete(self) -> None:
        """Copy the contents into the file object. The object stays open."""
        try:
            with open(self.path, "rb") as made:
                self.given.seek(0)
                self.given.truncate()
                shutil.copyfileobj(made, self.given)
            self.given.flush()
        finally:
            self.discard()

    def discard(self) -> None:
        """Leave the file object as it is."""
        shutil.rmtree(self._folder, ignore_errors=True)


def target_of(given: Any, *, existing: bool = False) -> FileObjectTarget | None:
    """The target for a file object; None for a path."""
    if isinstance(given, (str, bytes, os.PathLike)) or not (hasattr(given, "write") and hasattr(given, "seek")):
        return None
    return FileObjectTarget(given, existing=existing)
