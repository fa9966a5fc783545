"""What workers need to read files as the client does: options, and the settings of its environment."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from typing import Any

#: Variables that say how files are reached. Tokens and passwords are not passed on.
_VARIABLES = (
    "SAPWOOD_CACHE_DIR", "SAPWOOD_CACHE_MAX", "SAPWOOD_INSECURE_REDIRECTS", "SAPWOOD_REDIRECTOR",
    "http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
)  # fmt: skip

#: Options of `sapwood.open` that partitions take.
OPTIONS = ("cache_size", "timeout", "threads", "recover", "insecure_redirects", "local_cache", "offline", "cacheread")

_lock = threading.Lock()


def settings() -> dict[str, str]:
    """The settings of this process. Those with credentials (``http://user:password@proxy``) are left out."""
    found = {name: os.environ[name] for name in _VARIABLES if os.environ.get(name)}
    found = {name: value for name, value in found.items() if "@" not in value}
    from .. import cache

    status = cache.status()
    if status is not None:
        # also what was set by sapwood.cache.configure or the command
        found.setdefault("SAPWOOD_CACHE_DIR", str(status["directory"]))
    return found


def apply(given: Mapping[str, str]) -> None:
    """Use the settings of the client where this process has none of its own."""
    missing = {name: value for name, value in given.items() if name not in os.environ}
    if missing:
        with _lock:
            os.environ.update(missing)


def options_of(given: dict[str, Any]) -> dict[str, Any]:
    """Take the options of `sapwood.open` out of a dict of options."""
    return {name: given.pop(name) for name in OPTIONS if name in given}
