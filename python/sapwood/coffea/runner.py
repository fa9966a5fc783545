"""coffea's Runner with files that Sapwood opens, also in worker processes."""

from __future__ import annotations

from typing import Any

from coffea.processor import Runner as _Runner

from . import uproot_on_sapwood
from .factory import NanoEventsFactory
from .rebound import function

_names = {"uproot": uproot_on_sapwood, "NanoEventsFactory": NanoEventsFactory}


def _ours(name: str) -> Any:
    return function(getattr(_Runner, name), _names, __name__, f"Runner.{name}")


class Runner(_Runner):  # type: ignore[misc]
    """coffea's runner of processors over sets of files; takes its arguments.

    The functions that workers call open files with Sapwood. Workers need Sapwood and coffea installed.
    """

    metadata_fetcher_root = staticmethod(_ours("metadata_fetcher_root"))
    _work_function = staticmethod(_ours("_work_function"))
    _trace_preload = _ours("_trace_preload")
