"""Recovery of damaged files."""

from __future__ import annotations

import warnings
from typing import Any

from .._core import recover as _recover
from .._core import redacted
from ..arguments.checks import thread_count
from ..arguments.paths import FileName, name
from ..arguments.sizes import optional_seconds
from ..errors import RecoveredFileWarning
from ..public import public
from .listing import listed


@public
def recover(
    source: FileName,
    target: FileName,
    *,
    force: bool = False,
    threads: int | None = None,
    timeout: float | None = 60.0,
    sync: bool = True,
) -> dict[str, Any]:
    """Recover a damaged file into the new file ``target``.

    ``source`` is damaged, truncated or was not closed; it is not changed. Trees keep the entries that are complete in
    all branches, other objects all cycles that can be read. ``target`` appears when it is complete.

    The entries of a damaged basket are removed from all branches, and no others: baskets of other branches are cut,
    except those with objects behind pointers, which are removed as a whole. Baskets after the last header of a tree are
    kept as far as every branch has them.

    Args:
        source: a path or URL.
        target: the file to write.
        force: replace ``target`` if it exists.
        threads: number of decompression threads; None for one per core.
        timeout: seconds without any progress after which a transfer fails; None to wait indefinitely.
        sync: wait until ``target`` and its name are on the disk; as in :func:`recreate`.

    Returns:
        ``bytes`` of the target, ``input_bytes``, ``trees`` (a list of ``path``, ``entries``, ``baskets``, and the
        number of ``lost`` entries), the number of other ``objects`` and of ``directories``, descriptions of what is
        ``lost``, ``lost_entries`` (a list of ``tree``, ``cycle``, the ``first`` and ``last`` entry of a range as
        ``source`` counts them, the ``branch`` that does not have them, the ``position`` of its basket or None, and the
        ``reason``), and ``remarks``.

    Warns:
        RecoveredFileWarning: something is lost.

    Raises:
        CorruptError: nothing can be recovered.
        FileThereError: (a FileExistsError) ``target`` exists.
    """
    report = _recover(
        name(source),
        name(target),
        (bool(force), bool(sync)),
        (thread_count(threads), optional_seconds(timeout, "timeout")),
    )
    if lost := report["lost"]:
        warnings.warn(
            f"{redacted(name(source))} could only be recovered in part:{listed(lost)}",
            RecoveredFileWarning,
            stacklevel=2,
        )
    return report
