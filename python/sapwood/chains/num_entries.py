"""Numbers of entries of several files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..arguments.paths import Where
from ..arguments.sizes import Size
from ..public import public


@public
def num_entries(
    files: Where | Iterable[Where],
    *,
    cache_size: Size | None = None,
    timeout: float | None = 60,
    threads: int | None = None,
    skip_bad_files: bool = False,
) -> Iterator[tuple[str, str, int]]:
    """Iterate over (file, tree, number of entries) of several files; takes the files of :func:`sapwood.iterate`.

    Args:
        cache_size, timeout, threads: see :func:`sapwood.open`.
        skip_bad_files: see :func:`sapwood.iterate`.
    """
    from .chain import chain

    options: dict[str, Any] = {"cache_size": cache_size, "timeout": timeout, "threads": threads}
    # an invalid request fails here, not at the first file
    made = chain(files, **options, skip_bad_files=skip_bad_files)
    return ((place.file, place.tree.partition(";")[0], place.last - place.first) for place in made._places)
