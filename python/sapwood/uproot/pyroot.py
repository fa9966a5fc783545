"""Objects of PyROOT to and from Sapwood's objects, through a temporary file."""

from __future__ import annotations

import os
import tempfile
from typing import Any

from ..errors import InvalidError, require
from .wrapped import Wrapped

_NAME = "object"


class Writable(Wrapped):
    """A histogram, graph or text that can be written, and given to PyROOT."""

    def to_pyroot(self, name: str | None = None) -> Any:
        """Return it as an object of PyROOT.

        Raises:
            MissingLibraryError: ROOT is not installed.
        """
        return to_pyroot(self.value, name)


def to_writable(value: Any) -> Writable:
    """Return a histogram of numpy or hist, a graph or text as an object that can be written.

    Raises:
        UnsupportedError: it cannot be written.
    """
    made = Writable(value)
    with tempfile.TemporaryDirectory(prefix="sapwood-") as folder:
        _written(value, folder, _NAME)
    return made


def _written(value: Any, folder: str, name: str) -> str:
    from .write import recreate

    path = os.path.join(folder, "object.root")
    file = recreate(path)
    try:
        file[name] = value
    except BaseException:
        file.abandon()
        raise
    file.close()
    return path


def to_pyroot(value: Any, name: str | None = None) -> Any:
    """A histogram, graph or text as an object of PyROOT."""
    root = require("ROOT", "to_pyroot")
    name = name or getattr(value, "name", None) or _NAME
    with tempfile.TemporaryDirectory(prefix="sapwood-") as folder:
        file = root.TFile.Open(_written(value, folder, name))
        made = file.Get(name)
        if hasattr(made, "SetDirectory"):
            # it would go with the file
            made.SetDirectory(root.nullptr)
        else:
            made = made.Clone()
        file.Close()
    return made


def from_pyroot(value: Any) -> Any:
    """An object of PyROOT as it is read from a file.

    Raises:
        InvalidError: it is not a TObject.
    """
    root = require("ROOT", "from_pyroot")
    if not isinstance(value, root.TObject):
        raise InvalidError(f"{value!r} is not an object of PyROOT that can be written")
    from .functions import open

    with tempfile.TemporaryDirectory(prefix="sapwood-") as folder:
        path = os.path.join(folder, "object.root")
        file = root.TFile(path, "RECREATE")
        file.WriteTObject(value, _NAME)
        file.Close()
        with open({path: None}) as read:
            made = read[_NAME]
    return made
