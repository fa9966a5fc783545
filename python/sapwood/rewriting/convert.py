"""Trees as ntuples, and ntuples as trees."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, Literal

from .._core import convert as _convert
from .._core import redacted
from ..arguments.checks import strings, thread_count
from ..arguments.paths import FileName, name, split
from ..arguments.progress import Progress, reporter
from ..arguments.sizes import optional_seconds
from ..errors import InvalidError, SkippedBranchWarning
from ..public import public
from ..writing.options import Compression, compression_text
from .listing import listed


@public
def convert(
    source: FileName,
    out: FileName,
    *,
    to: Literal["ntuple", "tree"] | None = None,
    force: bool = False,
    compression: Compression = None,
    branches: str | Iterable[str] = (),
    entry_start: int | None = None,
    entry_stop: int | None = None,
    skip_unsupported: bool = False,
    verify: bool = True,
    progress: Progress = None,
    threads: int | None = None,
    timeout: float | None = 60.0,
    sync: bool = True,
) -> dict[str, Any]:
    """Convert the trees of ``source`` to ntuples (ROOT's RNTuple), or its ntuples to trees, in the new file ``out``.

    Arrays with a counter become vectors of the same name, and the counter stays; leaf lists and split classes become
    records; dots in names become underscores. In the other direction each member of a record gets a branch, and lists
    that a field counts become arrays. Histograms and other objects are not copied. Before ``out`` appears, every value
    is read back and compared with the source.

    Args:
        source: a path or URL; with ``:name`` behind it one of its trees or ntuples, otherwise all.
        out: the file to write.
        to: ``"ntuple"`` or ``"tree"``; by default the kind that ``source`` does not have.
        force: replace ``out`` if it exists.
        compression: for example ``"zlib:1"``; ``"zstd:5"`` by default.
        branches: convert only these: a name or a list of names; ``*`` and ``?`` are wildcards.
        entry_start: first entry.
        entry_stop: the entry after the last one.
        skip_unsupported: skip branches that cannot be converted. Without it they are an error.
        verify: compare all values with the source at the end.
        progress: True for a bar, or a function of (entries done, entries, bytes written).
        threads: number of threads to decompress and to compress; None for one per core.
        timeout: seconds without any progress after which a transfer fails; None to wait indefinitely.
        sync: wait until ``out`` and its name are on the disk; as in :func:`recreate`.

    Returns:
        what it was converted ``to``, ``bytes`` of the output, ``input_bytes``, ``trees`` (a list of ``path``,
        ``entries``, ``branches`` and ``renamed``, pairs of old and new names), ``skipped`` (a list of ``tree``,
        ``branch``, ``reason``), ``verified``, and ``remarks``.

    Warns:
        SkippedBranchWarning: branches were skipped.

    Raises:
        UnsupportedError: branches cannot be converted; the message names them and says why.
        FileThereError: (a FileExistsError) ``out`` exists.
    """
    if to not in (None, "ntuple", "tree"):
        raise InvalidError(f'to must be "ntuple" or "tree", not {to!r}')
    chosen = None
    if entry_start is not None or entry_stop is not None:
        chosen = (_entry(entry_start, "entry_start", 0), _entry(entry_stop, "entry_stop", 2**64 - 1))
    url, path = split(source)
    tell, close = reporter(progress)
    try:
        report = _convert(
            url,
            path,
            name(out),
            (bool(force), bool(verify), bool(sync), bool(skip_unsupported)),
            None if to is None else to == "ntuple",
            None if compression is None else compression_text(compression),
            strings(branches, "branches"),
            chosen,
            (thread_count(threads), optional_seconds(timeout, "timeout")),
            tell,
        )
    finally:
        close()
    if skipped := report["skipped"]:
        shown = listed([f"{s['tree']}:{s['branch']}: {s['reason']}" for s in skipped])
        warnings.warn(
            f"{redacted(url)}: branches that cannot be converted were skipped:{shown}",
            SkippedBranchWarning,
            stacklevel=2,
        )
    return report


def _entry(given: Any, what: str, default: int) -> int:
    if given is None:
        return default
    if not isinstance(given, int) or isinstance(given, bool) or not 0 <= given < 2**63:
        raise InvalidError(f"{what} must be a number of an entry, at least 0, not {given!r}")
    return given
