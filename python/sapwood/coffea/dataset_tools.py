"""coffea's dataset_tools on files that Sapwood opens: ``preprocess``, ``apply_to_dataset`` and ``apply_to_fileset``.

Functions that only change sets of files (``max_files``, ``slice_chunks``, …) are those of ``coffea.dataset_tools``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from . import uproot_on_sapwood
from .factory import NanoEventsFactory
from .rebound import functions

_preprocessing = functions(import_module("coffea.dataset_tools.preprocess"), {"uproot": uproot_on_sapwood}, __name__)
_applying = functions(
    import_module("coffea.dataset_tools.apply_processor"), {"NanoEventsFactory": NanoEventsFactory}, __name__
)
globals().update(_preprocessing, **_applying)

preprocess: Any = _preprocessing["preprocess"]
apply_to_dataset: Any = _applying["apply_to_dataset"]
apply_to_fileset: Any = _applying["apply_to_fileset"]

__all__ = ["apply_to_dataset", "apply_to_fileset", "preprocess"]
