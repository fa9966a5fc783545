"""Types for the overloads of functions that read: the names of libraries, and options that several functions share.

Type checkers alone import this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from typing_extensions import Required

from ..cache import Folder
from .entries import Entries
from .filters import Filter
from .paths import Where
from .progress import Progress
from .sizes import Size
from .uproot_options import UprootOpenOptions, UprootReadOptions

if TYPE_CHECKING:
    from .. import Branch

Ak = Literal["ak", "awkward"]
Np = Literal["np", "numpy"]
Pd = Literal["pd", "pandas", "pd[pyarrow]", "pandas[pyarrow]"]
Pa = Literal["pa", "arrow", "pyarrow"]
Pl = Literal["pl", "polars"]

#: Values of ``how=`` and what they give.
AsTuple = Literal["tuple"] | type[tuple[Any, ...]]
AsList = Literal["list"] | type[list[Any]]
AsDict = Literal["dict"] | type[dict[str, Any]]
AsZip = Literal["zip"]

Cut = str | None
Files = Where | Iterable[Where]


class OpenOptions(UprootOpenOptions, total=False):
    """Options of :func:`sapwood.open`."""

    cache_size: Size | None
    timeout: float | None
    threads: int | None
    recover: bool | None
    insecure_redirects: bool
    local_cache: Folder | None
    offline: bool
    cacheread: bool
    storage_options: Mapping[str, Any] | None


class Selected(TypedDict, total=False):
    """Which branches and entries are read."""

    filter_name: Filter
    filter_typename: Filter
    filter_branch: Callable[[Branch], object] | None
    aliases: Mapping[str, str] | None
    entry_start: int | None
    entry_stop: int | None
    entries: Entries
    progress: Progress


class Ignored(TypedDict, total=False):
    """Options of uproot's that are accepted and ignored."""

    decompression_executor: object
    interpretation_executor: object
    array_cache: object
    language: object
    ak_add_doc: bool | Mapping[str, str]


class ColumnOptions(Ignored, total=False):
    """Options of ``array``."""

    entries: Entries
    progress: Progress


class StepOptions(Selected, Ignored, total=False):
    """Options of ``Tree.iterate`` and ``Tree.arrays`` besides ``how``."""


class GroupOptions(StepOptions, total=False):
    """Options of ``Tree.arrays`` besides ``how``."""

    virtual: bool
    access_log: Any


class TableOptions(GroupOptions, total=False):
    """Options of ``Tree.arrays`` for a table."""

    how: None


class Steps(StepOptions, total=False):
    """Options of ``Tree.iterate``."""

    how: None
    step_size: Size
    report: Literal[False]


class ReportedSteps(StepOptions, total=False):
    """Options of ``Tree.iterate`` with reports."""

    how: None
    step_size: Size
    report: Required[Literal[True]]


class AnySteps(StepOptions, total=False):
    """Options of ``Tree.iterate`` without an exact type."""

    how: object
    step_size: Size
    report: bool


class ChainBatches(TypedDict, total=False):
    """Options of ``Chain.record_batches``."""

    filter_name: Filter
    filter_typename: Filter
    filter_branch: Callable[[Branch], object] | None
    aliases: Mapping[str, str] | None
    step_size: Size
    entry_start: int | None
    entry_stop: int | None
    entries: Entries


class ChainTable(Selected, total=False):
    """Options of ``Chain.arrays``."""

    casting: str


class ChainSteps(Selected, total=False):
    """Options of ``Chain.iterate``."""

    how: None
    step_size: Size
    report: Literal[False]


class ReportedChainSteps(Selected, total=False):
    """Options of ``Chain.iterate`` with reports."""

    how: None
    step_size: Size
    report: Required[Literal[True]]


class AnyChainSteps(Selected, total=False):
    """Options of ``Chain.iterate`` without an exact type."""

    how: object
    step_size: Size
    report: bool


class FilesOptions(UprootReadOptions, total=False):
    """How several files are opened."""

    allow_missing: bool
    ak_add_doc: bool | Mapping[str, str]
    cache_size: Size | None
    timeout: float | None
    threads: int | None
    skip_bad_files: bool


class FilesTable(ChainTable, FilesOptions, total=False):
    """Options of :func:`sapwood.concatenate`."""


class FilesSteps(ChainSteps, FilesOptions, total=False):
    """Options of :func:`sapwood.iterate`."""


class ReportedFilesSteps(ReportedChainSteps, FilesOptions, total=False):
    """Options of :func:`sapwood.iterate` with reports."""


class AnyFilesSteps(AnyChainSteps, FilesOptions, total=False):
    """Options of :func:`sapwood.iterate` without an exact type."""
