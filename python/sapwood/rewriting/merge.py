"""Several files merged into one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._core import merge as _merge
from ..arguments.checks import thread_count
from ..arguments.paths import FileName, file_names, name
from ..arguments.progress import Progress, reporter
from ..arguments.sizes import optional_seconds
from ..public import public
from ..writing.options import Compression, compression_text


@public
def merge(
    out: FileName,
    inputs: FileName | Iterable[FileName],
    *,
    force: bool = False,
    compression: Compression = None,
    union: bool = False,
    progress: Progress = None,
    threads: int | None = None,
    timeout: float | None = 60.0,
    sync: bool = True,
) -> dict[str, Any]:
    """Merge local or remote files into the new file ``out``, like ROOT's ``hadd``.

    Trees and ntuples are joined by copying their compressed baskets and pages. Histograms of any dimension, profiles,
    efficiencies, stacks and ``TParameter`` are added, also in lists. Points of graphs are appended. Of all other
    objects each different content is kept as a cycle. ``out`` appears when it is complete.

    Args:
        out: the file to write.
        inputs: paths or URLs.
        force: replace ``out`` if it exists.
        compression: recompress all baskets, for example with ``"zstd:5"``; by default they are copied unchanged.
        union: accept ntuples with different fields; values of a field that an input lacks are zero, or empty.
        progress: True for a bar, or a function of (inputs done, inputs, bytes written).
        threads: number of compression threads; None for one per core.
        timeout: seconds without any progress after which a transfer fails; None to wait indefinitely.
        sync: wait until ``out`` and its name are on the disk; as in :func:`recreate`.

    Returns:
        ``bytes`` of the output, ``inputs``, ``input_bytes``, ``trees`` (a list of ``path``, ``entries``, ``baskets``
        or ``pages`` of an ntuple, ``inputs``), the number of objects ``added`` and ``kept``, and ``remarks`` for the
        user.

    Raises:
        FileThereError: (a FileExistsError) ``out`` exists.
        InvalidError: trees, ntuples or histograms are incompatible; the message names the difference.
    """
    names = file_names(inputs, "inputs")
    tell, close = reporter(progress)
    try:
        return _merge(
            name(out),
            names,
            (bool(force), bool(sync), bool(union)),
            None if compression is None else compression_text(compression),
            (thread_count(threads), optional_seconds(timeout, "timeout")),
            tell,
        )
    finally:
        close()
