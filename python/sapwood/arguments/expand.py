"""Short forms of local paths: ``file:`` before them, ``~`` for the home directory."""

from __future__ import annotations

import os


def expanded(path: str) -> str:
    """The path without ``file:``, with the home directory in place of ``~`` unless a file has this name."""
    if path.startswith("file:") and not path.startswith("file://") and not os.path.exists(path):
        path = path.removeprefix("file:")
    if path.startswith("~") and not os.path.exists(path):
        return os.path.expanduser(path)
    return path
