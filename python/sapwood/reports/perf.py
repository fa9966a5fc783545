"""I/O statistics: those of ROOT's TTreePerfStats, and more."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .. import _core
from ..arguments.paths import FileName, local_path, name
from ..errors import CorruptError, DeniedError, FileMissingError, InvalidError, ReadError, UnsupportedError, require
from ..public import public
from .json_text import loads


@public
class PerfStats:
    """Count all reads of this process during a ``with`` block.

    >>> with sapwood.perf_stats() as stats:              # doctest: +SKIP
    ...     tree.arrays(["Muon_pt"])
    >>> stats.print()                                    # doctest: +SKIP

    The numbers are attributes, by the names of the JSON: ``stats.read_calls``, ``stats.round_trips``,
    ``stats.bytes_wasted``, ``stats.wire_wait_seconds``; derived numbers of ROOT are in ``stats.root`` with ROOT's
    names. Inside the block they include only completed scans. Times are in seconds, sizes in bytes.
    """

    def __init__(self, record: str | os.PathLike[str] | None = None) -> None:
        self._record = None if record is None else local_path(record)
        self._collector: _core.Collector | None = None
        self._text: str | None = None
        self._values: dict[str, Any] | None = None

    def __enter__(self) -> PerfStats:
        if self._collector is not None or self._text is not None:
            raise InvalidError("these perf stats were already used; call sapwood.perf_stats() again")
        self._collector = _core.Collector(record=self._record is not None)
        return self

    def __exit__(self, *_: object) -> None:
        stopped = self._collector.stop() if self._collector is not None else None
        self._collector = None
        if stopped is not None:
            self._text, log = stopped
            if self._record is not None:
                _core.write_file(self._record, log.encode())

    @classmethod
    def from_json(cls, text: str) -> PerfStats:
        """Load stats that :meth:`to_json` or ``sapwood perf -o FILE.json`` wrote.

        Raises:
            CorruptError: not I/O statistics.
        """
        _core.perf_text(text)
        stats = cls()
        stats._text = text
        return stats

    @classmethod
    def load(cls, path: FileName) -> PerfStats:
        """Load stats that :meth:`save` or ``sapwood perf -o FILE.json`` wrote into a file.

        Raises:
            FileMissingError: (a FileNotFoundError) no such file.
            ReadError: the file cannot be read.
            CorruptError: not I/O statistics.
        """
        file = name(path)
        try:
            text = Path(file).read_text(encoding="utf-8")
        except UnicodeDecodeError as e:
            raise CorruptError(f"{file}: not I/O statistics (the file is not text)", file=file) from e
        except FileNotFoundError as e:
            raise FileMissingError(f"{file}: no such file", file=file) from e
        except PermissionError as e:
            raise DeniedError(f"{file}: not allowed to read this file", file=file) from e
        except OSError as e:
            raise ReadError(f"{file}: cannot read: {e.strerror}", file=file) from e
        try:
            return cls.from_json(text)
        except (CorruptError, UnsupportedError) as e:
            raise type(e)(f"{file}: {e}", file=file) from None

    def to_json(self) -> str:
        """Return the stats as JSON, for :meth:`from_json` and ``sapwood perf --load``."""
        if self._collector is not None:
            text = self._collector.stats()
            if text is not None:
                return text
        if self._text is None:
            raise InvalidError("these perf stats have not started; write `with sapwood.perf_stats() as stats:`")
        return self._text

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers; ROOT's derived ones under ``root``."""
        if self._collector is not None:
            return loads(self.to_json())
        if self._values is None:
            self._values = loads(self.to_json())
        return self._values

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write :meth:`to_json` to a file."""
        _core.write_file(local_path(path), self.to_json().encode())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        values = self.to_dict()
        if name not in values:
            raise AttributeError(f"perf stats have no {name!r}: {', '.join(values)}")
        return values[name]

    def __dir__(self) -> list[str]:
        begun = self._collector is not None or self._text is not None
        return sorted({*super().__dir__(), *(self.to_dict() if begun else ())})

    def __str__(self) -> str:
        return _core.perf_text(self.to_json()).removesuffix("\n")

    def __repr__(self) -> str:
        if self._collector is None and self._text is None:
            return "<PerfStats, not started>"
        v = self.to_dict()
        return f"<PerfStats: {v['read_bytes']} bytes in {v['read_calls']} reads, {v['real_seconds']:.3f} s>"

    def print(self) -> None:
        """Print the stats: first the lines of TTreePerfStats, then the rest."""
        print(self)

    def plot(self, ax: Any = None) -> Any:
        """Plot the reads with matplotlib, like TTreePerfStats: file position by entry, with a bar for each
        range; and on the right axis the time of each request.

        Args:
            ax: axes to draw on; None for a new figure.

        Returns:
            The axes.

        Raises:
            MissingLibraryError: matplotlib is not installed.
        """
        pyplot = require("matplotlib.pyplot", "plot()")
        if ax is None:
            _, ax = pyplot.subplots()
        points = self.to_dict()["points"]
        entries = [p["entry"] for p in points]
        low = [p["offset"] * 1e-6 for p in points]
        high = [(p["offset"] + p["len"]) * 1e-6 for p in points]
        ax.vlines(entries, low, high, color="#2c6e49", linewidth=2)
        ax.plot(entries, low, "_", color="#2c6e49", markersize=3)
        ax.set_xlabel("entry")
        ax.set_ylabel("position in the file, MB")
        times = ax.twinx()
        # sorted by entry: a request may be for entries in several places
        curve = sorted((p["entry"], p["time"]) for p in points)
        times.plot([entry for entry, _ in curve], [time for _, time in curve], color="#b08d6a")
        times.set_ylabel("real time, s", color="#b08d6a")
        ax.set_xlim(left=0)
        ax.set_ylim(bottom=0)
        times.set_ylim(bottom=0)
        ax.set_title(f"{self.read_bytes * 1e-6:.1f} MB in {self.read_calls} reads, {self.real_seconds:.2f} s")
        return ax


@public
def perf_stats(*, record: str | os.PathLike[str] | None = None) -> PerfStats:
    """Count all reads of this process inside a ``with`` block; see :class:`PerfStats`.

    Args:
        record: a file for the planner's log of every scan, for ``sapwood perf --replay``.
    """
    return PerfStats(record)
