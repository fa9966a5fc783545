"""ROOT trees, near or far: read as awkward, numpy, pandas, pyarrow or polars.

>>> import sapwood
>>> tree = sapwood.open("https://host/path/file.root:Events")   # doctest: +SKIP
>>> tree.arrays(["Muon_pt", "Muon_eta"], cut="nMuon >= 2")      # doctest: +SKIP

The names are those of uproot where it has them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._core import __version__
from ._errors import (
    CorruptError,
    DeniedError,
    Error,
    FileMissingError,
    InvalidError,
    KeyInFileError,
    MissingLibraryError,
    NotAFileError,
    ReadError,
    RecoveredFileWarning,
    SkippedBranchWarning,
    StalledError,
    UnsupportedError,
)
from ._file import Directory, ReadOnlyFile, open

if TYPE_CHECKING:
    from ._histogram import Histogram
    from ._many import concatenate, iterate
    from ._merging import merge, optimize
    from ._reading import Report
    from ._tree import Branch, Tree

__all__ = [
    "Branch",
    "CorruptError",
    "DeniedError",
    "Directory",
    "Error",
    "FileMissingError",
    "Histogram",
    "InvalidError",
    "KeyInFileError",
    "MissingLibraryError",
    "NotAFileError",
    "ReadError",
    "ReadOnlyFile",
    "RecoveredFileWarning",
    "Report",
    "SkippedBranchWarning",
    "StalledError",
    "Tree",
    "UnsupportedError",
    "__version__",
    "concatenate",
    "iterate",
    "merge",
    "open",
    "optimize",
]

# numpy, and what needs it, is imported when first used: `import sapwood` alone stays quick
_LATER = {
    "Branch": "_tree",
    "Histogram": "_histogram",
    "Report": "_reading",
    "Tree": "_tree",
    "concatenate": "_many",
    "iterate": "_many",
    "merge": "_merging",
    "optimize": "_merging",
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
