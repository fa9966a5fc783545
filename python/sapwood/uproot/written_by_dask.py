"""``uproot.dask_write``."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ..arguments.checks import flag, string
from ..arguments.paths import local_path
from ..errors import InvalidError, UnsupportedError, require
from .compression import Compression


def field_name(outer: str, inner: str) -> str:
    """The name of a branch of a record's field, as uproot makes it."""
    return inner if outer == "" else f"{outer}_{inner}"


def counter_name(counted: str) -> str:
    """The name of a list's counter, as uproot makes it."""
    return "n" + counted


def dask_write(
    array: Any,
    destination: Any,
    compute: bool = True,
    storage_options: object = None,
    prefix: str | None = None,
    tree_name: str = "tree",
    title: str = "",
    field_name: Callable[[str, str], str] = field_name,
    initial_basket_capacity: int = 10,
    counter_name: Callable[[str], str] = counter_name,
    resize_factor: float = 10.0,
    compression: Any = "zlib",
    compression_level: int = 1,
) -> Any:
    """Write a file for each partition: ``part0.root`` and so on, or ``{prefix}-part0.root``.

    Files that exist are replaced.

    Args:
        array: a ``dask_awkward.Array`` of records.
        destination: a directory that all workers see.
        compute: False returns a ``dask.delayed.Delayed``, whose ``compute()`` writes.
        tree_name, title, field_name, counter_name: of each tree, see ``mktree``.
        compression, compression_level: an algorithm (``"zlib"``, ``"lzma"``, ``"lz4"``, ``"zstd"``; None for none) and
            its level, or a compression of this module.
        storage_options, initial_basket_capacity, resize_factor: without effect.
    """
    from ..with_dask.to_tree import parts_of

    require("dask", "dask_write")
    from dask import delayed

    if isinstance(destination, str) and "://" in destination and not destination.startswith("file://"):
        raise UnsupportedError("dask_write writes to a directory that all workers see, not to a URL")
    directory = os.path.abspath(local_path(destination))
    parts = parts_of(array)
    options = {
        "tree": string(tree_name, "tree_name"), "title": string(title, "title"), "field_name": field_name,
        "counter_name": counter_name, "compression": _compression(compression, compression_level),
    }  # fmt: skip
    digits = len(str(len(parts) - 1))
    begin = "" if prefix is None else f"{string(prefix, 'prefix')}-"
    files = [os.path.join(directory, f"{begin}part{i:0{digits}}.root") for i in range(len(parts))]
    write = delayed(_write, pure=False)
    done = delayed(_done, pure=False)([write(part, file, options) for part, file in zip(parts, files, strict=True)])
    return done.compute() if flag(compute, "compute") else done


def _compression(given: Any, level: int) -> Any:
    from . import compression as known

    if given is None or isinstance(given, Compression):
        return given
    name = string(given, "compression").upper()
    if name not in ("ZLIB", "LZMA", "LZ4", "ZSTD"):
        raise InvalidError(f'compression must be "zlib", "lzma", "lz4" or "zstd", not {given!r}')
    return getattr(known, name)(level)


def _write(part: Any, file: str, options: dict[str, Any]) -> None:
    import awkward as ak

    from .write import recreate

    fields = ak.fields(part)
    if not fields:
        raise InvalidError("the array has no fields: zip it with a name for each branch")
    os.makedirs(os.path.dirname(file), exist_ok=True)
    named = {name: options[name] for name in ("title", "field_name", "counter_name")}
    with recreate(file, compression=options["compression"]) as out:
        packed = ak.to_packed(part)
        out.mktree(options["tree"], {name: packed[name] for name in fields}, **named)


def _done(written: list[None]) -> None:
    """Waits for all of them."""
