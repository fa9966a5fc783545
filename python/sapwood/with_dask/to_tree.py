"""Trees written from Dask collections."""

from __future__ import annotations

import glob
import os
import uuid
from typing import Any, Literal, overload

from ..arguments.checks import flag, string
from ..arguments.paths import FileName, local_path
from ..errors import FileThereError, InvalidError, require
from ..public import public
from ..writing.options import Compression


@overload
def to_tree(
    collection: Any,
    path: FileName,
    *,
    tree: str = ...,
    join: Literal[False] = ...,
    prefix: str = ...,
    compression: Compression = ...,
    overwrite: bool = ...,
    compute: Literal[True] = ...,
) -> list[str]: ...
@overload
def to_tree(
    collection: Any,
    path: FileName,
    *,
    tree: str = ...,
    join: Literal[True],
    prefix: str = ...,
    compression: Compression = ...,
    overwrite: bool = ...,
    compute: Literal[True] = ...,
) -> str: ...
@overload
def to_tree(
    collection: Any,
    path: FileName,
    *,
    tree: str = ...,
    join: bool = ...,
    prefix: str = ...,
    compression: Compression = ...,
    overwrite: bool = ...,
    compute: bool = ...,
) -> Any: ...
@public
def to_tree(
    collection: Any,
    path: FileName,
    *,
    tree: str = "tree",
    join: bool = False,
    prefix: str = "part",
    compression: Compression = "zlib:1",
    overwrite: bool = False,
    compute: bool = True,
) -> Any:
    """Write a Dask collection: each partition by the worker that computes it.

    Args:
        collection: a ``dask_awkward.Array`` of records, a ``dask.dataframe.DataFrame``, or a dict of ``dask.array``.
        path: a directory, which gets a file for each partition (``part-0000.root``, ...); with ``join`` a file.
            All workers must see it.
        tree: name of the tree in each file.
        join: merge the files of the partitions into one file, in order; see :func:`sapwood.merge`.
        prefix: beginning of the names of the files.
        compression: see :func:`sapwood.recreate`.
        overwrite: replace files that exist.
        compute: False returns a ``dask.delayed.Delayed``, whose ``compute()`` writes.

    Returns:
        The paths of the files in the order of partitions; with ``join`` the path of the one file.

    Each file appears when it is complete: a partition that fails or is computed again leaves no part of a file.
    """
    require("dask", "to_tree")
    from dask import delayed

    target = os.path.abspath(local_path(path))
    name, begin = string(tree, "tree"), string(prefix, "prefix")
    replace = flag(overwrite, "overwrite")
    parts = parts_of(collection)
    if flag(join, "join"):
        if os.path.exists(target) and not replace:
            raise FileThereError(f"{target} exists; overwrite=True replaces it", file=target)
        # beside the file, so that no other disk fills up
        directory = f"{target}.parts-{uuid.uuid4().hex[:8]}"
    else:
        directory = target
        there = sorted(glob.glob(os.path.join(glob.escape(directory), glob.escape(begin) + "-*.root")))
        if there and not replace:
            raise FileThereError(f"{there[0]} exists; overwrite=True replaces it", file=there[0])
    digits = max(4, len(str(len(parts) - 1)))
    files = [os.path.join(directory, f"{begin}-{i:0{digits}}.root") for i in range(len(parts))]
    write = delayed(_write, pure=False)
    written = [write(part, file, name, compression) for part, file in zip(parts, files, strict=True)]
    end = delayed(_joined if join else _finished, pure=False)
    last = end(written, target, replace, begin)
    return last.compute() if flag(compute, "compute") else last


def parts_of(collection: Any) -> list[Any]:
    """The partitions, as delayed arrays, frames or dicts of arrays."""
    from dask import delayed

    if isinstance(collection, dict):
        if not collection:
            raise InvalidError("no columns to write")
        chunks = {name: array.chunks[0] for name, array in collection.items()}
        first = next(iter(chunks.values()))
        unlike = [name for name, c in chunks.items() if len(c) != len(first) or (c != first and c == c)]
        if unlike:
            raise InvalidError(f"column {unlike[0]!r} has other chunks than the first: rechunk the arrays")
        columns = {name: array.to_delayed().reshape(len(first), -1) for name, array in collection.items()}
        for name, blocks in columns.items():
            if blocks.shape[1] != 1:
                raise InvalidError(f"column {name!r} has chunks in an inner dimension: rechunk it")
        return [delayed({name: blocks[i, 0] for name, blocks in columns.items()}) for i in range(len(first))]
    if not hasattr(collection, "to_delayed"):
        raise InvalidError(f"a Dask collection is written, not {type(collection).__name__}; see sapwood.recreate")
    from dask import optimize

    # as computing it would: to_delayed alone leaves out columns that only the result needs
    (optimized,) = optimize(collection)
    return list(optimized.to_delayed(optimize_graph=False))


def _write(part: Any, file: str, tree: str, compression: Any) -> str:
    from ..writing.file import recreate

    os.makedirs(os.path.dirname(file), exist_ok=True)
    with recreate(file, compression=compression) as out:
        out[tree] = _content(part)
    return file


def _content(part: Any) -> Any:
    """What is written of a partition: without indices of a data frame or of awkward."""
    if hasattr(part, "columns") and hasattr(part, "iloc"):
        return {str(name): part[name].to_numpy() for name in part.columns}
    if hasattr(part, "layout"):
        import awkward as ak

        if not ak.fields(part):
            raise InvalidError("the array has no fields: zip it with a name for each branch")
        return ak.to_packed(part)
    return part


def _finished(written: list[str], directory: str, replace: bool, prefix: str) -> list[str]:
    """Files of an earlier collection with more partitions go."""
    if replace:
        for file in glob.glob(os.path.join(glob.escape(directory), glob.escape(prefix) + "-*.root")):
            if file not in written:
                os.remove(file)
    return written


def _joined(written: list[str], target: str, replace: bool, prefix: str) -> str:
    import shutil

    from ..rewriting.merge import merge

    try:
        merge(target, written, force=replace)
    finally:
        shutil.rmtree(os.path.dirname(written[0]), ignore_errors=True)
    return target
