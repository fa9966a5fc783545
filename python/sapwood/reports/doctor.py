"""The doctor's report: the damage and the layout of a file."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from typing import Any

from .. import _core
from ..arguments.paths import split
from ..arguments.sizes import Size, optional_seconds, size_in_bytes
from ..errors import InvalidError
from ..public import public
from .json_text import loads


@public
class Diagnosis:
    """What :func:`doctor` found. ``print(diagnosis)`` is the report of ``sapwood doctor``."""

    def __init__(self, data: str, text: str) -> None:
        self._text = text
        #: everything, as ``sapwood doctor --json`` prints it: ``file``, ``damage`` and ``layout``
        self.data: dict[str, Any] = loads(data)

    @property
    def healthy(self) -> bool:
        """Whether no damage was found; see :attr:`unchecked` for parts that were not checked."""
        return self.data["damage"]["healthy"]

    @property
    def unchecked(self) -> int:
        """Number of parts that could not be checked because this version does not read them (severity
        ``unchecked``)."""
        return self.data["damage"]["unchecked"]

    @property
    def findings(self) -> list[dict[str, Any]]:
        """Damage, unchecked parts and notes: ``severity`` (``damage``, ``unchecked``, ``note``), ``part``,
        ``object``, ``bytes`` (start and end, end exclusive, or None), ``what``."""
        return self.data["damage"]["findings"]

    @property
    def trees(self) -> list[dict[str, Any]]:
        """Layout of trees: clusters, sizes and order of baskets; ``costs``: cost of typical uses ``now`` and
        ``rewritten`` by :func:`sapwood.optimize`."""
        return self.data["layout"]

    def __str__(self) -> str:
        return self._text.removesuffix("\n")

    def __repr__(self) -> str:
        damage = sum(finding["severity"] == "damage" for finding in self.findings)
        state = "healthy" if self.healthy else f"damaged in {damage} places"
        if self.unchecked:
            state = f"{'no damage found' if self.healthy else state}, {self.unchecked} parts not checked"
        return f"<Diagnosis of {self.data['file']}: {state}, {len(self.trees)} trees>"


@public
def doctor(
    path: str | os.PathLike[str],
    *,
    deep: bool = False,
    cache_sizes: Iterable[Size | None] = (0, None),
    round_trips: Iterable[float] = (0, 0.02, 0.2),
    timeout: float | None = 60,
) -> Diagnosis:
    """Examine a file: damage, the layout of its trees, what reading costs and what a rewrite would gain.

    Args:
        path: a path or URL.
        deep: decompress every basket and read every object.
        cache_sizes: sizes of the tree cache for which costs are estimated: bytes, 0 for basket by basket, None for
            automatic.
        round_trips: round-trip times for which costs are estimated, in seconds; 0 is a local disk.
        timeout: seconds without any progress after which a read fails; None or infinity to wait indefinitely.

    Raises:
        CorruptError: not a ROOT file. Damage is not an error: see :attr:`Diagnosis.findings`.
        FileMissingError: (a FileNotFoundError) no such file.
    """
    where, name = split(path)
    if name is not None:
        raise InvalidError(f"doctor examines a whole file: omit {name!r}")
    caches = [
        None if size is None else size_in_bytes(size, "cache_sizes") for size in _each(cache_sizes, "cache_sizes")
    ]
    times = [_round_trip(seconds) for seconds in _each(round_trips, "round_trips")]
    return Diagnosis(*_core.doctor(where, bool(deep), optional_seconds(timeout, "timeout"), caches, times))


def _each(values: Any, what: str) -> Iterable[Any]:
    if isinstance(values, Iterable) and not isinstance(values, (str, bytes, Mapping)):
        return values
    raise InvalidError(f"{what} must be a list, not {values!r}")


def _round_trip(seconds: Any) -> float:
    try:
        number = math.nan if isinstance(seconds, (bool, str)) else float(seconds)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if 0 <= number <= 3600:
        return number
    raise InvalidError(f"a round-trip time must be 0 to 3600 seconds, not {seconds!r}")
