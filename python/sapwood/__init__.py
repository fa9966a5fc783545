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
from .errors import (
    ClosedError,
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
    SelectorError,
    SkippedBranchWarning,
    SkippedFileWarning,
    StalledError,
    UnsupportedError,
    UnverifiedFileWarning,
    WholeFileWarning,
    WriteError,
)
from .reading.directory import Directory
from .reading.file import ReadOnlyFile, open

if TYPE_CHECKING:
    from .browsing.browse import Browsing, browse
    from .chains.chain import Chain, chain
    from .chains.concatenate import concatenate
    from .chains.iterate import iterate
    from .chains.num_entries import num_entries
    from .drawing.histogram import Histogram
    from .objects.entry_list import EntryList
    from .objects.object import Object
    from .reading.arrays import Report
    from .reading.basket import Basket, BasketKey
    from .reading.branch import Branch
    from .reading.class_descriptions import StreamerElement, StreamerInfo
    from .reading.entries import Entries, Entry
    from .reading.interpretation import Interpretation
    from .reading.key import Key
    from .reading.leaf import Leaf
    from .reading.rows import Rows
    from .reading.tree import Tree
    from .reading.virtual import Access
    from .reports.doctor import Diagnosis, doctor
    from .reports.file_map import FileMap, map
    from .reports.perf import PerfStats, perf_stats
    from .reports.policy import GridCopy, GridDataset, GridJob, GridPolicy, GridSite
    from .reports.simulation import Simulation, simulate
    from .rewriting.convert import convert
    from .rewriting.merge import merge
    from .rewriting.optimize import optimize
    from .rewriting.recover import recover
    from .selecting.compiled import selector
    from .selecting.process import PartialResult, partial_results
    from .selecting.selector import Selector
    from .tables.lazy_frames import scan_polars
    from .tables.record_batches import RecordBatches
    from .uproot_source import SapwoodSource
    from .with_dask.dask import dask
    from .with_dask.to_tree import to_tree
    from .writing.directory import WritableDirectory
    from .writing.file import WritableFile, create, recreate, update
    from .writing.ntuple import WritableNtuple
    from .writing.objects import Graph
    from .writing.producers import LostProducer, Merger, Producer
    from .writing.tree import WritableTree

__all__ = [
    "Access",
    "Basket",
    "BasketKey",
    "Branch",
    "Browsing",
    "Chain",
    "ClosedError",
    "CorruptError",
    "DefectError",
    "DeniedError",
    "Diagnosis",
    "Directory",
    "Entries",
    "Entry",
    "EntryList",
    "Error",
    "FileMap",
    "FileMissingError",
    "FileThereError",
    "Graph",
    "GridCopy",
    "GridDataset",
    "GridJob",
    "GridPolicy",
    "GridSite",
    "Histogram",
    "Interpretation",
    "InvalidError",
    "Key",
    "KeyInFileError",
    "Leaf",
    "LostProducer",
    "Merger",
    "MissingLibraryError",
    "NotAFileError",
    "Object",
    "PartialResult",
    "PerfStats",
    "Producer",
    "ProducerLostWarning",
    "ReadError",
    "ReadOnlyFile",
    "RecordBatches",
    "RecoveredFileWarning",
    "Report",
    "Rows",
    "SapwoodSource",
    "Selector",
    "SelectorError",
    "Simulation",
    "SkippedBranchWarning",
    "SkippedFileWarning",
    "StalledError",
    "StreamerElement",
    "StreamerInfo",
    "Tree",
    "UnsupportedError",
    "UnverifiedFileWarning",
    "WholeFileWarning",
    "WritableDirectory",
    "WritableFile",
    "WritableNtuple",
    "WritableTree",
    "WriteError",
    "__version__",
    "browse",
    "cache",
    "chain",
    "concatenate",
    "convert",
    "create",
    "dask",
    "doctor",
    "iterate",
    "map",
    "merge",
    "num_entries",
    "open",
    "optimize",
    "partial_results",
    "perf_stats",
    "recover",
    "recreate",
    "scan_polars",
    "selector",
    "simulate",
    "to_tree",
    "update",
]

# numpy, and what needs it, is imported when first used: `import sapwood` alone stays quick
_LATER = {
    "Access": "reading.virtual",
    "Basket": "reading.basket",
    "BasketKey": "reading.basket",
    "Branch": "reading.branch",
    "Browsing": "browsing.browse",
    "Chain": "chains.chain",
    "Diagnosis": "reports.doctor",
    "Entries": "reading.entries",
    "Entry": "reading.entries",
    "EntryList": "objects.entry_list",
    "FileMap": "reports.file_map",
    "Graph": "writing.objects",
    "GridCopy": "reports.policy",
    "GridDataset": "reports.policy",
    "GridJob": "reports.policy",
    "GridPolicy": "reports.policy",
    "GridSite": "reports.policy",
    "Histogram": "drawing.histogram",
    "Interpretation": "reading.interpretation",
    "Key": "reading.key",
    "Leaf": "reading.leaf",
    "LostProducer": "writing.producers",
    "Merger": "writing.producers",
    "Object": "objects.object",
    "PartialResult": "selecting.process",
    "PerfStats": "reports.perf",
    "Producer": "writing.producers",
    "RecordBatches": "tables.record_batches",
    "Report": "reading.arrays",
    "Rows": "reading.rows",
    "SapwoodSource": "uproot_source",
    "Selector": "selecting.selector",
    "Simulation": "reports.simulation",
    "StreamerElement": "reading.class_descriptions",
    "StreamerInfo": "reading.class_descriptions",
    "Tree": "reading.tree",
    "WritableDirectory": "writing.directory",
    "WritableFile": "writing.file",
    "WritableNtuple": "writing.ntuple",
    "WritableTree": "writing.tree",
    "browse": "browsing.browse",
    "chain": "chains.chain",
    "concatenate": "chains.concatenate",
    "convert": "rewriting.convert",
    "create": "writing.file",
    "dask": "with_dask.dask",
    "doctor": "reports.doctor",
    "iterate": "chains.iterate",
    "map": "reports.file_map",
    "merge": "rewriting.merge",
    "num_entries": "chains.num_entries",
    "optimize": "rewriting.optimize",
    "partial_results": "selecting.process",
    "perf_stats": "reports.perf",
    "recover": "rewriting.recover",
    "recreate": "writing.file",
    "scan_polars": "tables.lazy_frames",
    "selector": "selecting.compiled",
    "simulate": "reports.simulation",
    "to_tree": "with_dask.to_tree",
    "update": "writing.file",
}


def __getattr__(name: str):
    if name == "uproot":
        from importlib import import_module

        return import_module(".uproot", __name__)
    module = _LATER.get(name)
    if module is None:
        raise AttributeError(f"module 'sapwood' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{module}", __name__), name)
    globals()[name] = value
    return value


ReadOnlyFile._public_class = staticmethod(__getattr__)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
