"""Many files into one, and one file laid out anew."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from typing import Any, cast

from .._core import merge as _merge
from .._core import optimize as _optimize
from .._core import recover as _recover
from .._core import redacted
from ..arguments.paths import name
from ..arguments.progress import Progress, reporter
from ..arguments.sizes import Size, optional_seconds, size_in_bytes
from ..errors import InvalidError, RecoveredFileWarning
from ..reports.perf import PerfStats

Path = str | bytes | os.PathLike[Any]


def merge(
    out: Path,
    inputs: Path | Iterable[Path],
    *,
    force: bool = False,
    compression: str | None = None,
    progress: Progress = None,
    threads: int = 0,
    timeout: float | None = 60.0,
    sync: bool = True,
) -> dict[str, Any]:
    """Merge local or remote files into the new file ``out``, like ROOT's ``hadd``.

    Trees are joined by copying their compressed baskets untouched, histograms of any dimension, profiles, efficiencies,
    stacks and ``TParameter`` are added, also in lists, points of graphs are appended, and of everything else each
    different content is kept as a cycle. ``out`` appears when it is complete.

    Args:
        out: the file to write.
        inputs: paths or URLs.
        force: replace ``out`` if it exists.
        compression: recompress all baskets, as in ``"zstd:5"``; by default they stay as they are.
        progress: True for a bar, or a function of (inputs done, inputs, bytes written).
        threads: number of compression threads; 0 for one per core.
        timeout: seconds without any progress after which a transfer fails; None to wait indefinitely.
        sync: wait until ``out`` and its name are on the disk; as in :func:`recreate`.

    Returns:
        ``bytes`` of the output, ``inputs``, ``input_bytes``, ``trees`` (a list of ``path``, ``entries``, ``baskets``,
        ``inputs``), how many objects were ``added`` and ``kept``, and ``remarks`` that a user should read.

    Raises:
        FileThereError: (a FileExistsError) ``out`` exists.
        InvalidError: trees or histograms are incompatible; the message names the difference.
    """
    if isinstance(inputs, (str, bytes, os.PathLike)):
        inputs = [inputs]
    names = [name(i) for i in inputs]
    tell, close = reporter(progress)
    try:
        return _merge(
            name(out),
            names,
            (force, bool(sync)),
            compression,
            (threads, optional_seconds(timeout, "timeout")),
            tell,
        )
    finally:
        close()


def recover(
    source: Path,
    target: Path,
    *,
    force: bool = False,
    threads: int = 0,
    timeout: float | None = 60.0,
    sync: bool = True,
) -> dict[str, Any]:
    """Recover a damaged file into the new file ``target``.

    ``source`` is damaged, truncated or was not closed; it is not changed. Trees keep the entries that are whole in all
    of their branches, other objects all cycles that can be read. ``target`` appears when it is complete.

    The entries of a damaged basket are left out of all branches, and no others: baskets of other branches are cut, but
    for those with objects behind pointers, which are left out in one piece. Baskets behind the last header of a tree
    are taken as far as every branch has them.

    Args:
        source: a path or URL.
        target: the file to write.
        force: replace ``target`` if it exists.
        threads: number of decompression threads; 0 for one per core.
        timeout: seconds without any progress after which a transfer fails; None to wait indefinitely.
        sync: wait until ``target`` and its name are on the disk; as in :func:`recreate`.

    Returns:
        ``bytes`` of the target, ``input_bytes``, ``trees`` (a list of ``path``, ``entries``, ``baskets``, and how many
        entries are ``lost``), how many other ``objects`` and ``directories`` there are, what is ``lost`` in words,
        ``lost_entries`` (a list of ``tree``, ``cycle``, the ``first`` and ``last`` entry of a range as ``source``
        counts them, the ``branch`` that does not have them, the ``position`` of its basket or None, and the
        ``reason``), and ``remarks``.

    Warns:
        RecoveredFileWarning: something is lost.

    Raises:
        CorruptError: nothing can be recovered.
        FileThereError: (a FileExistsError) ``target`` exists.
    """
    report = _recover(name(source), name(target), (force, bool(sync)), (threads, optional_seconds(timeout, "timeout")))
    if lost := report["lost"]:
        shown = "".join(f"\n  {what}" for what in lost[:5])
        more = f"\n  and {len(lost) - 5} more" if len(lost) > 5 else ""
        warnings.warn(
            f"not all of {redacted(name(source))} could be recovered:{shown}{more}",
            RecoveredFileWarning,
            stacklevel=2,
        )
    return report


def optimize(
    source: Path,
    out: Path,
    *,
    force: bool = False,
    compression: str | None = None,
    cluster: Size = "30 MB",
    cluster_entries: int | None = None,
    basket: Size = "1 MB",
    drop: Iterable[str] = (),
    first: Iterable[str] = (),
    keep: Iterable[str] = (),
    used: PerfStats | Path | Iterable[PerfStats | Path] = (),
    drop_unused: bool = False,
    verify: bool = True,
    progress: Progress = None,
    threads: int = 0,
    timeout: float | None = 60.0,
    sync: bool = True,
) -> dict[str, Any]:
    """Rewrite ``source`` as the file ``out`` for fast reading, with new clusters, basket sizes and compression.

    Baskets are cut between entries and joined; nothing is decoded, so trees of any class can be treated. Branches whose
    entries hold pointers keep their baskets in one piece. Before ``out`` gets its name, every entry of every branch is
    read back and compared with what the source held.

    Args:
        source: a path or URL.
        out: the file to write.
        force: replace ``out`` if it exists.
        compression: recompress all baskets, as in ``"zstd:5"``; by default each branch stays as it was.
        cluster: bytes of a cluster in the file; ``cluster_entries`` gives a number of entries instead.
        basket: bytes that a basket holds at most before compression.
        drop: top-level branches to leave out (names with ``*`` and ``?``).
        first: branches whose baskets come first in each cluster.
        keep: branches whose baskets stay in one piece.
        used: perf stats of past reads, or files of such (:func:`sapwood.perf_stats`): behind ``first`` come the
            branches that most of them used, those used together side by side.
        drop_unused: leave out top-level branches that none of these reads needed.
        verify: compare all entries at the end.
        progress: True for a bar, or a function of (steps done, steps, bytes written).
        threads: number of threads that compress and compare; 0 for one per core.
        timeout: seconds without any progress after which a transfer fails; None to wait indefinitely.
        sync: wait until ``out`` and its name are on the disk; as in :func:`recreate`.

    Returns:
        ``bytes`` of the output, ``input_bytes``, ``trees`` (what became of each), ``verified``, and ``remarks``.
    """
    size = size_in_bytes(cluster, "cluster") if cluster_entries is None else cluster_entries
    if size < 1:
        raise InvalidError("cluster_entries must be at least 1")
    basket_bytes = size_in_bytes(basket, "basket")
    if not 512 <= basket_bytes <= 1_000_000_000:
        raise InvalidError("basket must be from 512 bytes to 1 GB")
    if isinstance(used, (PerfStats, str, os.PathLike)):
        used = [used]
    reads = cast("Iterable[PerfStats | str | os.PathLike[str]]", used)
    stats = [s if isinstance(s, PerfStats) else PerfStats.load(s) for s in reads]
    tell, close = reporter(progress)
    try:
        return _optimize(
            name(source),
            name(out),
            (force, verify, bool(sync)),
            compression,
            (size, cluster_entries is not None),
            basket_bytes,
            (list(drop), list(first), list(keep)),
            ([s.to_json() for s in stats], bool(drop_unused)),
            (threads, optional_seconds(timeout, "timeout")),
            tell,
        )
    finally:
        close()
