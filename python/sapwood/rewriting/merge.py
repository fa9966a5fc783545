"""Several files merged into one."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from .._core import merge as _merge
from ..arguments.paths import FileName, name
from ..arguments.progress import Progress, reporter
from ..arguments.sizes import optional_seconds
from ..public import public


@public
def merge(
    out: FileName,
    inputs: FileName | Iterable[FileName],
    *,
    force: bool = False,
    compression: str | None = None,
    progress: Progress = None,
    threads: int = 0,
    timeout: float | None = 60.0,
    sync: bool = True,
) -> dict[str, Any]:
    """Merge local or remote files into the new file ``out``, like ROOT's ``hadd``.

    Trees are joined by copying their compressed baskets. Histograms of any dimension, profiles, efficiencies, stacks
    and ``TParameter`` are added, also in lists. Points of graphs are appended. Of all other objects each different
    content is kept as a cycle. ``out`` appears when it is complete.

    Args:
        out: the file to write.
        inputs: paths or URLs.
        force: replace ``out`` if it exists.
        compression: recompress all baskets, for example with ``"zstd:5"``; by default they are copied unchanged.
        progress: True for a bar, or a function of (inputs done, inputs, bytes written).
        threads: number of compression threads; 0 for one per core.
        timeout: seconds without any progress after which a transfer fails; None to wait indefinitely.
        sync: wait until ``out`` and its name are on the disk; as in :func:`recreate`.

    Returns:
        ``bytes`` of the output, ``inputs``, ``input_bytes``, ``trees`` (a list of ``path``, ``entries``, ``baskets``,
        ``inputs``), the number of objects ``added`` and ``kept``, and ``remarks`` for the user.

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
