"""Progress of long reads."""

from __future__ import annotations

import sys
from collections.abc import Callable

from ..errors import InvalidError

#: None or False for nothing, True for a bar, or a function of (entries done, all entries, bytes read).
Progress = bool | Callable[[int, int, int], object] | None


def reporter(progress: Progress) -> tuple[Callable[[int, int, int], object] | None, Callable[[], None]]:
    """A function for the core to call during a read, and one to call at the end."""
    if progress is None or progress is False:
        return None, lambda: None
    if progress is True:
        bar = _tqdm_bar() or _Line()
        return bar.update, bar.close
    if callable(progress):
        return progress, lambda: None
    raise InvalidError(f"progress must be True, False, None or a function of (entries, total, bytes), not {progress!r}")


class _Line:
    """A line on stderr that is overwritten."""

    def __init__(self) -> None:
        self.shown = ""

    def update(self, entries: int, total: int, nbytes: int) -> None:
        part = entries / total if total else 1.0
        text = f"{'#' * round(part * 30):<30} {part:6.1%}  {entries}/{total} entries  {nbytes / 1e6:.1f} MB"
        if text != self.shown:
            self.shown = text
            sys.stderr.write("\r" + text)
            sys.stderr.flush()

    def close(self) -> None:
        if self.shown:
            sys.stderr.write("\n")


class _TqdmBar:
    def __init__(self, tqdm) -> None:
        self.bar = tqdm(unit="entry", unit_scale=True)

    def update(self, entries: int, total: int, nbytes: int) -> None:
        self.bar.total = total
        self.bar.set_postfix_str(f"{nbytes / 1e6:.1f} MB", refresh=False)
        self.bar.update(entries - self.bar.n)

    def close(self) -> None:
        self.bar.close()


def _tqdm_bar() -> _TqdmBar | None:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return _TqdmBar(tqdm)
