"""Policies of the simulator: where jobs run, what is copied, what is deleted."""

from __future__ import annotations

import copy
import functools
import itertools
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidError
from ..public import public


@public
@dataclass(frozen=True)
class GridSite:
    """A site as a policy sees it when it decides."""

    #: its name in the scenario
    name: str
    cores: int
    #: bytes of disk for copies of files
    disk: int
    #: jobs that run, and jobs that wait for a core or a file
    running: int
    waiting: int
    #: whether all files of the job are on its disks, or on their way
    has_files: bool
    expects_files: bool
    #: seconds between the job's home and the site; None if nothing connects them
    round_trip: float | None

    @property
    def load(self) -> float:
        """Jobs for each core."""
        return (self.running + self.waiting) / max(self.cores, 1)


@public
@dataclass(frozen=True)
class GridJob:
    """A job that is to be placed."""

    workload: str
    dataset: str
    #: the number of its first file in the dataset, and how many files it reads
    file: int
    files: int
    #: the name of the site of its user
    home: str
    #: seconds since the beginning
    time: float


@public
@dataclass(frozen=True)
class GridDataset:
    """A dataset that was made just now."""

    name: str
    files: int
    #: bytes of each file
    file_bytes: int
    #: the copies that the rules of the scenario name: (number of the file, name of the site)
    by_rule: Sequence[tuple[int, str]]
    time: float


@public
@dataclass(frozen=True)
class GridCopy:
    """A copy on a full disk that no job needs now."""

    dataset: str
    file: int
    bytes: int
    #: when it was used last, in seconds since the beginning
    used: float


@public
class GridPolicy:
    """Where jobs run, what is copied and what is deleted: to be subclassed for ``simulate(..., policy=)``.

    A copy of the object (``copy.deepcopy``) decides in each simulation, so what it remembers does not leak from one to
    the next.
    """

    #: how reports call it; by default the name of the class
    name: str | None = None

    def place(self, job: GridJob, sites: Sequence[GridSite]) -> str | tuple[str, bool]:
        """The name of the site where a job runs. It reads what it needs from where that is, through the caches of the
        site; with ``(name, True)`` it waits until the disk of the site has copies of its files."""
        raise NotImplementedError

    def replicate(self, dataset: GridDataset, sites: Sequence[GridSite]) -> Iterable[tuple[int, str]]:
        """The copies that are made of a new dataset, and kept: the number of each file and the name of its site."""
        return ()

    def delete(self, site: str, needed: int, copies: Sequence[GridCopy]) -> Iterable[int] | None:
        """Which of the copies (by their indices) a disk loses, in this order, that lacks ``needed`` bytes. None: those
        that were not used for longest."""
        return None


def _index(value: Any, count: int, what: str, noun: str) -> int:
    """The number of a file or copy that a policy returned."""
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if isinstance(value, bool) or not 0 <= number < count:
        raise InvalidError(
            f"{what} of the policy returned {value!r}, which is not the number of {noun} (0 to {count - 1})"
        )
    return number


def _items(value: Any, what: str, wanted: str) -> Iterable[Any]:
    """What a policy returned, which must be a list or the like."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise InvalidError(f"{what} of the policy returned {value!r}; it must return {wanted}")
    return value


class Adapter:
    """Between a policy and the extension, which knows sites by their numbers."""

    def __init__(self, policy: Any) -> None:
        self.policy = policy

    def begin(self, names: list[str], cores: list[int], disks: list[int]) -> None:
        self.names, self.numbers = names, {name: number for number, name in enumerate(names)}
        self.fixed = list(zip(names, cores, disks, strict=True))

    def sites(self, now: Any) -> list[GridSite]:
        return [GridSite(*fixed, *rest) for fixed, *rest in zip(self.fixed, *now, strict=True)]

    def number(self, name: object, what: str) -> int:
        found = self.numbers.get(name) if isinstance(name, str) else None
        if found is None:
            raise InvalidError(f"{what} of the policy returned {name!r}, which is not the name of a site")
        return found

    def place(self, job: Any, now: Any) -> tuple[int, bool]:
        workload, dataset, file, files, home, time = job
        placed = self.policy.place(GridJob(workload, dataset, file, files, self.names[home], time), self.sites(now))
        waits = isinstance(placed, tuple) and len(placed) == 2
        name, has_copies = placed if waits else (placed, False)
        number = self.number(name, "place")
        if not self.fixed[number][1]:
            raise InvalidError(f"place of the policy returned {name!r}, which has no cores")
        return number, bool(has_copies)

    def replicate(self, dataset: Any, now: Any) -> list[tuple[int, int]]:
        if not hasattr(self.policy, "replicate"):
            return []
        name, files, file_bytes, by_rule, time = dataset
        made = GridDataset(name, files, file_bytes, [(file, self.names[site]) for file, site in by_rule], time)
        copies = self.policy.replicate(made, self.sites(now))
        wanted = "pairs of the number of a file and the name of a site"
        out = []
        for pair in _items(() if copies is None else copies, "replicate", wanted):
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise InvalidError(
                    f"replicate of the policy returned {pair!r} among its copies; it must return {wanted}"
                )
            file, site = pair
            out.append((_index(file, files, "replicate", "a file of the dataset"), self.number(site, "replicate")))
        return out

    def delete(self, site: int, needed: int, copies: Any) -> list[int] | None:
        if not hasattr(self.policy, "delete"):
            return None
        chosen = self.policy.delete(self.names[site], needed, [GridCopy(*each) for each in copies])
        if chosen is None:
            return None
        chosen = _items(chosen, "delete", "the indices of copies")
        # none needs to be deleted twice
        return [_index(i, len(copies), "delete", "a copy") for i in itertools.islice(chosen, len(copies) + 1)]


def adapted(policy: object) -> Adapter:
    """A copy of a policy, for one simulation."""
    return Adapter(copy.deepcopy(policy))


def makers(policy: object) -> list[tuple[str, Callable[[], Adapter]]]:
    """The names of one policy or several, and functions that make each for one simulation."""
    out: list[tuple[str, Callable[[], Adapter]]] = []
    for each in policy if isinstance(policy, (list, tuple)) else [] if policy is None else [policy]:
        if isinstance(each, type) or not callable(getattr(each, "place", None)):
            raise InvalidError("a policy is an object with a method place, such as that of a subclass of GridPolicy")
        name = getattr(each, "name", None)
        name = type(each).__name__ if name is None else name
        if not isinstance(name, str) or not name.strip():
            raise InvalidError(f"the name of a policy must be a text, not {name!r}")
        if name in (known for known, _ in out):
            raise InvalidError(f"there are two policies with the name {name}; set the attribute name of one of them")
        out.append((name, functools.partial(adapted, each)))
    return out
