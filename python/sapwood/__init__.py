"""Read and write ROOT trees, local or remote, as awkward, numpy, pandas, pyarrow or polars data.

>>> import sapwood
>>> tree = sapwood.open("root://host//path/file.root:Events")   # doctest: +SKIP
>>> tree.arrays(["Muon_pt", "Muon_eta"], cut="nMuon >= 2")      # doctest: +SKIP

Names follow uproot where it has an equivalent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import cache
from ._core import __version__
from ._errors import (
    CorruptError,
    DefectError,
    DeniedError,
    Error,
    FileMissingError,
    FileThereError,
    InvalidError,
    KeyInFileError,
    MissingLibraryError,
    NotAFileError,
    ProducerLostWarning,
    ReadError,
    RecoveredFileWarning,
    SkippedBranchWarning,
    SkippedFileWarning,
    StalledError,
    UnsupportedError,
    UnverifiedFileWarning,
    WriteError,
)
from ._file import Directory, ReadOnlyFile, open

if TYPE_CHECKING:
    from ._branch import Branch
    from ._chain import Chain, chain
    from ._histogram import Histogram
    from ._many import concatenate, iterate
    from ._merging import merge, optimize, recover
    from ._objects import Object
    from ._perf import PerfStats, perf_stats
    from ._reading import Report
    from ._reports import Diagnosis, FileMap, doctor, map
    from ._tree import Tree
    from ._writing import WritableDirectory, WritableFile, create, recreate, update
    from ._writing_objects import Graph
    from ._writing_producers import Merger, Producer
    from ._writing_tree import WritableTree

__all__ = [
    "Branch",
    "Chain",
    "CorruptError",
    "DefectError",
    "DeniedError",
    "Diagnosis",
    "Directory",
    "Error",
    "FileMap",
    "FileMissingError",
    "FileThereError",
    "Graph",
    "Histogram",
    "InvalidError",
    "KeyInFileError",
    "Merger",
    "MissingLibraryError",
    "NotAFileError",
    "Object",
    "PerfStats",
    "Producer",
    "ProducerLostWarning",
    "ReadError",
    "ReadOnlyFile",
    "RecoveredFileWarning",
    "Report",
    "SkippedBranchWarning",
    "SkippedFileWarning",
    "StalledError",
    "Tree",
    "UnsupportedError",
    "UnverifiedFileWarning",
    "WritableDirectory",
    "WritableFile",
    "WritableTree",
    "WriteError",
    "__version__",
    "cache",
    "chain",
    "concatenate",
    "create",
    "doctor",
    "iterate",
    "map",
    "merge",
    "open",
    "optimize",
    "perf_stats",
    "recover",
    "recreate",
    "update",
]

# numpy, and what needs it, is imported when first used: `import sapwood` alone stays quick
_LATER = {
    "Branch": "_branch",
    "Chain": "_chain",
    "Diagnosis": "_reports",
    "FileMap": "_reports",
    "Graph": "_writing_objects",
    "Histogram": "_histogram",
    "Merger": "_writing_producers",
    "Object": "_objects",
    "PerfStats": "_perf",
    "Producer": "_writing_producers",
    "Report": "_reading",
    "Tree": "_tree",
    "WritableDirectory": "_writing",
    "WritableFile": "_writing",
    "WritableTree": "_writing_tree",
    "chain": "_chain",
    "concatenate": "_many",
    "create": "_writing",
    "doctor": "_reports",
    "iterate": "_many",
    "map": "_reports",
    "perf_stats": "_perf",
    "recreate": "_writing",
    "update": "_writing",
    "merge": "_merging",
    "optimize": "_merging",
    "recover": "_merging",
}


def __getattr__(name: str):
    module = _LATER.get(name)
    if module is None:
        raise AttributeError(f"module 'sapwood' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{module}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
