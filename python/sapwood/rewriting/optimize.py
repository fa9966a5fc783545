"""A file rewritten for faster reading."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, cast

from .._core import optimize as _optimize
from ..arguments.checks import strings, thread_count
from ..arguments.paths import FileName, name
from ..arguments.progress import Progress, reporter
from ..arguments.sizes import Size, optional_seconds, size_in_bytes, whole
from ..errors import InvalidError
from ..public import public
from ..reports.perf import PerfStats
from ..writing.options import Compression, compression_text


@public
def optimize(
    source: FileName,
    out: FileName,
    *,
    force: bool = False,
    compression: Compression = None,
    cluster: Size = "30 MB",
    cluster_entries: int | None = None,
    basket: Size = "1 MB",
    drop: str | Iterable[str] = (),
    first: str | Iterable[str] = (),
    keep: str | Iterable[str] = (),
    used: PerfStats | FileName | Iterable[PerfStats | FileName] = (),
    drop_unused: bool = False,
    verify: bool = True,
    progress: Progress = None,
    threads: int | None = None,
    timeout: float | None = 60.0,
    sync: bool = True,
) -> dict[str, Any]:
    """Rewrite ``source`` as the file ``out`` for fast reading, with new clusters, basket sizes and compression.

    Baskets are cut between entries and joined without decoding, so this works for trees of any class. Branches whose
    entries hold pointers keep their baskets whole. Before ``out`` appears, every entry of every branch is read back and
    compared with the source.

    Args:
        source: a path or URL.
        out: the file to write.
        force: replace ``out`` if it exists.
        compression: recompress all baskets, for example with ``"zstd:5"``; by default each branch keeps its
            compression.
        cluster: compressed size of a cluster.
        cluster_entries: entries per cluster, in place of ``cluster``.
        basket: maximum size of a basket before compression.
        drop: top-level branches to remove: a name or a list of names; ``*`` and ``?`` are wildcards.
        first: branches whose baskets come first in each cluster.
        keep: branches whose baskets are not cut.
        used: perf stats of past reads (:func:`sapwood.perf_stats`), or files of perf stats. After ``first`` come the
            branches that most of these reads used, with branches that were used together next to each other.
        drop_unused: remove top-level branches that none of these reads used.
        verify: compare all entries with the source at the end.
        progress: True for a bar, or a function of (steps done, steps, bytes written).
        threads: number of threads to compress and compare; None for one per core.
        timeout: seconds without any progress after which a transfer fails; None to wait indefinitely.
        sync: wait until ``out`` and its name are on the disk; as in :func:`recreate`.

    Returns:
        ``bytes`` of the output, ``input_bytes``, ``trees`` (a description of each), ``verified``, and ``remarks``.
    """
    size = size_in_bytes(cluster, "cluster") if cluster_entries is None else whole(cluster_entries)
    if size is None or not 1 <= size < 2**63:
        given = f"cluster_entries must be a number of entries, at least 1, not {cluster_entries!r}"
        raise InvalidError("cluster must be at least 1 byte" if cluster_entries is None else given)
    basket_bytes = size_in_bytes(basket, "basket")
    if not 512 <= basket_bytes <= 1_000_000_000:
        raise InvalidError("basket must be from 512 bytes to 1 GB")
    if isinstance(used, (PerfStats, str, bytes, os.PathLike)):
        used = [used]
    if not isinstance(used, Iterable) or isinstance(used, Mapping):
        raise InvalidError(f"used must be perf stats, a file of perf stats, or a list of these, not {used!r}")
    stats = [s if isinstance(s, PerfStats) else PerfStats.load(s) for s in cast("Iterable[PerfStats | FileName]", used)]
    tell, close = reporter(progress)
    try:
        return _optimize(
            name(source),
            name(out),
            (bool(force), bool(verify), bool(sync)),
            None if compression is None else compression_text(compression),
            (size, cluster_entries is not None),
            basket_bytes,
            (strings(drop, "drop"), strings(first, "first"), strings(keep, "keep")),
            ([s.to_json() for s in stats], bool(drop_unused)),
            (thread_count(threads), optional_seconds(timeout, "timeout")),
            tell,
        )
    finally:
        close()
