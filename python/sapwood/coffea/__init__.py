"""coffea on Sapwood: ``from sapwood.coffea import NanoEventsFactory, Runner``.

The names are coffea's; files are opened and read by Sapwood, also in worker processes. coffea must be installed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..errors import require

if TYPE_CHECKING:
    from . import dataset_tools
    from .factory import NanoEventsFactory
    from .files import open
    from .runner import Runner

_LATER = {
    "NanoEventsFactory": "factory",
    "Runner": "runner",
    "open": "files",
}

__all__ = ["NanoEventsFactory", "Runner", "dataset_tools", "open"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'sapwood.coffea' has no attribute {name!r}")
    require("coffea", "sapwood.coffea")
    if name == "dataset_tools":
        return import_module(f"{__name__}.dataset_tools")
    value = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
