"""Files, and the entries of each partition."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..arguments.paths import several
from ..arguments.sizes import whole
from ..errors import InvalidError, KeyInFileError
from ..reading.told_types import types_of
from .opened import with_tree
from .waiting import SMALL, outside_pool

#: Files that are counted at the same time where there is no cluster.
_AT_ONCE = 16


@dataclass(frozen=True)
class Partition:
    """What one task reads."""

    file: str
    tree: str | None
    #: Entries, or None if the worker finds them: step ``step`` of ``steps`` of the file.
    start: int | None
    stop: int | None
    step: int = 0
    steps: int = 1
    #: Entries and identifier of the file when the collection was made, if it was opened then.
    entries: int | None = None
    uuid: str | None = None
    along_clusters: bool = True

    def __str__(self) -> str:
        if self.start is None or self.stop is None:
            which = f"step {self.step + 1} of {self.steps}"
        else:
            which = f"entries {self.start} to {self.stop - 1}"
        return f"{self.file}: {self.tree or 'its tree'}, {which}"


class Source(NamedTuple):
    """A file as the user gave it."""

    file: str
    tree: str | None
    #: Entries of each partition, if given.
    steps: list[tuple[int, int]] | None


@dataclass(frozen=True)
class Facts:
    """What is known of an opened file."""

    tree: str
    entries: int
    uuid: str
    bounds: list[tuple[int, int]]
    #: Those of the requested branches that it has.
    present: frozenset[str]
    #: The types of their columns, as far as these can be read.
    types: Mapping[str, str]


@dataclass(frozen=True)
class Steps:
    """How a tree is divided."""

    size: int | str | None = None
    per_file: int = 1
    #: The branches whose sizes count.
    branches: tuple[str, ...] | None = None
    #: Whether steps end where clusters end, if the number of steps allows it.
    along_clusters: bool = True

    def bounds(self, tree: Any) -> list[tuple[int, int]]:
        """First entry and end of each partition of a tree; one without entries for an empty tree."""
        total = tree.num_entries
        if self.size is None:
            made = self._divided(tree, self.per_file)
        elif isinstance(self.size, str):
            made = list(self._of_bytes(tree, self.size))
        else:
            made = [(a, min(a + self.size, total)) for a in range(0, total, self.size)]
        return made or [(0, 0)]

    def _divided(self, tree: Any, number: int) -> list[tuple[int, int]]:
        total = tree.num_entries
        edges = [total * i // number for i in range(number + 1)]
        if self.along_clusters and number > 1:
            clusters = np.asarray(tree.clusters)
            nearest = [int(clusters[np.abs(clusters - edge).argmin()]) for edge in edges[1:-1]]
            moved = [0, *nearest, total]
            if all(a < b for a, b in itertools.pairwise(moved)):
                edges = moved
        return [(a, b) for a, b in itertools.pairwise(edges)]

    def _of_bytes(self, tree: Any, size: str) -> Iterable[tuple[int, int]]:
        from ..reading.arrays import _step

        names = [name for name in self.branches or () if tree.branch_number(name) is not None]
        numbers = _numbers(tree, names or None)
        return tree._core.batches(numbers, 0, tree.num_entries, *_step(size), None) if numbers else []


def _numbers(tree: Any, names: list[str] | None) -> list[int]:
    from ..reading.selection import select

    filters = {"filter_name": None, "filter_typename": None, "filter_branch": None}
    return select(tree, names, None, None, filters).branches()


def sources(files: Any) -> list[Source]:
    """The files that the argument of :func:`sapwood.dask` names, with the entries of partitions where given."""
    if hasattr(files, "num_entries") and hasattr(files, "object_path"):
        # an open tree: opened again where it is read
        found = [Source(files.file_path, files.object_path.lstrip("/"), None)]
    elif isinstance(files, Mapping):
        found = []
        for file, what in files.items():
            if isinstance(what, Mapping):
                unknown = set(what) - {"object_path", "steps", "num_entries", "uuid"}
                if unknown or not isinstance(what.get("object_path"), str | None):
                    raise InvalidError(
                        f"{file!r}: write {{'object_path': tree, 'steps': [[start, stop], ...]}}, not {what!r}"
                    )
                steps = None if what.get("steps") is None else _given_steps(file, what["steps"])
                found += [Source(f, t, steps) for f, t in several({file: what["object_path"]})]
            else:
                found += [Source(f, t, None) for f, t in several({file: what})]
    elif isinstance(files, (list, tuple, set)):
        found = [source for file in files for source in sources(file)]
    else:
        found = [Source(f, t, None) for f, t in several(files)]
    if not found:
        raise InvalidError("no files given")
    return found


def _given_steps(file: Any, given: Any) -> list[tuple[int, int]]:
    """Entries of partitions: offsets that rise, or pairs of start and stop."""
    try:
        steps = np.asarray(given)
    except ValueError:
        steps = np.zeros(0, dtype=object)
    fine = steps.dtype.kind in "iu" and steps.size > 0
    if fine and steps.ndim == 1:
        steps = np.column_stack([steps[:-1], steps[1:]])
    if not fine or steps.ndim != 2 or steps.shape[1] != 2 or (steps[:, 0] > steps[:, 1]).any() or (steps < 0).any():
        raise InvalidError(f"{file!r}: steps must be rising offsets or pairs of start and stop, not {given!r}")
    return [(int(a), int(b)) for a, b in steps]


def steps_of(step_size: Any, steps_per_file: Any, *, open_files: bool, along_clusters: bool) -> Steps:
    """The division that the arguments ask for."""
    if step_size is not None and steps_per_file is not None:
        raise InvalidError("give step_size or steps_per_file, not both")
    if step_size is not None and not open_files:
        raise InvalidError("step_size needs the number of entries: use steps_per_file with open_files=False")
    if step_size is not None:
        from ..reading.arrays import _step

        _step(step_size)
        size = step_size if isinstance(step_size, str) else whole(step_size)
        return Steps(size, along_clusters=along_clusters)
    number = 1 if steps_per_file is None else whole(steps_per_file)
    if number is None or number < 1:
        raise InvalidError(f"steps_per_file must be a positive number, not {steps_per_file!r}")
    return Steps(None, number, along_clusters=along_clusters)


def facts(source: Source, steps: Steps, options: Mapping[str, Any], environment: Mapping[str, str]) -> Facts:
    """Open a file and divide its tree."""

    def use(tree: Any) -> Facts:
        bounds = steps.bounds(tree) if source.steps is None else source.steps
        present = frozenset(name for name in steps.branches or () if tree.branch_number(name) is not None)
        types = types_of(tree, sorted(present))
        return Facts(tree.object_path, tree.num_entries, str(tree.file.uuid), bounds, present, types)

    return with_tree(source.file, source.tree, options, environment, use)


def _facts_or_none(source: Source, steps: Steps, options: Any, environment: Any, allow_missing: bool) -> Facts | None:
    try:
        return facts(source, steps, options, environment)
    except KeyInFileError:
        if allow_missing:
            return None
        raise


def all_facts(
    given: Sequence[Source], steps: Steps, options: Mapping[str, Any], environment: Mapping[str, str], missing: bool
) -> list[Facts | None]:
    """The facts of all files: opened by the workers of the current Dask client, or on threads."""
    rest = (steps, options, environment, missing)
    client = _current_client() if len(given) > 1 else None
    if client is not None:
        return client.gather([client.submit(_facts_or_none, source, *rest, pure=False) for source in given])
    with ThreadPoolExecutor(min(_AT_ONCE, len(given))) as pool:
        return list(pool.map(lambda source: _facts_or_none(source, *rest), given))


def _current_client() -> Any:
    import sys

    if "distributed" not in sys.modules:
        return None
    from distributed import get_client
    from distributed.worker import get_worker

    try:
        get_worker()
    except ValueError:
        pass
    else:
        # a task that waits for others would occupy its worker
        return None
    try:
        return get_client()
    except ValueError:
        return None


def partitions(given: Sequence[Source], found: Sequence[Facts | None]) -> list[Partition]:
    """The partitions of opened files."""
    made = []
    for source, known in zip(given, found, strict=True):
        if known is None:
            continue
        for start, stop in known.bounds:
            if stop > known.entries:
                raise InvalidError(f"{source.file}: a step ends at entry {stop}, the tree has {known.entries}")
            made.append(Partition(source.file, known.tree, start, stop, entries=known.entries, uuid=known.uuid))
    if not made:
        raise KeyInFileError("no file contains the tree")
    return made


def unopened(given: Sequence[Source], steps: Steps) -> list[Partition]:
    """The partitions of files that workers open."""
    made = []
    for file, tree, own in given:
        if own is not None:
            made += [Partition(file, tree, a, b) for a, b in own]
        else:
            made += [
                Partition(file, tree, None, None, i, steps.per_file, along_clusters=steps.along_clusters)
                for i in range(steps.per_file)
            ]
    return made


def counts_of(parts: Sequence[Partition]) -> list[int] | None:
    """The entries of each partition, if all of them are known: from the files, or as given steps."""
    counts = [p.stop - p.start for p in parts if p.start is not None and p.stop is not None]
    return counts if len(counts) == len(parts) else None


def read(
    partition: Partition,
    options: Mapping[str, Any],
    environment: Mapping[str, str],
    columns: Sequence[str],
    use: Callable[[Any, int, int], Any],
) -> Any:
    """The result of a function of the tree and the entries of a partition, which reads these columns.

    Where the file is remote and the partition small, other tasks of the worker go on meanwhile.

    Raises:
        InvalidError: the file is not the one that was opened when the collection was made.
    """

    def checked(tree: Any) -> Any:
        total = tree.num_entries
        changed = partition.entries is not None and partition.entries != total
        if changed or (partition.uuid is not None and partition.uuid != str(tree.file.uuid)):
            raise InvalidError(
                f"{tree.file_path} has changed since the collection was made; make it again", file=tree.file_path
            )
        if partition.start is None or partition.stop is None:
            steps = Steps(None, partition.steps, along_clusters=partition.along_clusters)
            bounds = steps.bounds(tree)
            start, stop = bounds[partition.step] if partition.step < len(bounds) else (total, total)
        else:
            start, stop = partition.start, partition.stop
            if stop > total:
                raise InvalidError(
                    f"{tree.file_path}: the partition ends at entry {stop}, the tree has {total}", file=tree.file_path
                )
        if _bytes_of(tree, columns, start, stop) > SMALL:
            thread.return_to_pool()
        return use(tree, start, stop)

    with outside_pool("://" in partition.file) as thread:
        return with_tree(partition.file, partition.tree, options, environment, checked)


def columns_of(tree: Any, names: Sequence[str], start: int, stop: int, library: str, doc: Any = False) -> Any:
    """Entries of columns that the first file has.

    Raises:
        KeyInFileError: this file has no such branch.
    """
    try:
        return tree.arrays(list(names), entry_start=start, entry_stop=stop, library=library, ak_add_doc=doc)
    except KeyInFileError as e:
        for name in names:
            if tree.branch_number(name) is None:
                raise KeyInFileError(
                    f"{tree.file_path}: tree {tree.name!r} has no branch {name!r}, which is in the first file; select "
                    "branches that all files have",
                    file=tree.file_path,
                    branch=name,
                ) from e
        raise


def _bytes_of(tree: Any, columns: Sequence[str], start: int, stop: int) -> int:
    """Uncompressed bytes of these columns in these entries, from their mean; all branches where a column is none."""
    try:
        total = sum(int(tree[name].uncompressed_bytes) for name in columns)
    except KeyError:
        total = int(tree.uncompressed_bytes)
    return total * (stop - start) // max(int(tree.num_entries), 1)


def absolute(given: Sequence[Source]) -> list[Source]:
    """The same with absolute paths: workers have other working directories."""
    return [s if "://" in s.file else s._replace(file=os.path.abspath(s.file)) for s in given]
