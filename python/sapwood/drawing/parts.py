"""Histograms drawn in parts, by the workers of a scheduler, and added in the order of entries."""

from __future__ import annotations

import dataclasses
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..arguments.entries import Entries, Span
from ..arguments.paths import expanded
from ..arguments.progress import Progress, reporter
from ..arguments.sizes import entry_range
from ..chains.files import ChainFiles
from ..errors import InvalidError, SkippedFileWarning
from ..objects.entry_list import drawn_list
from ..reading.entry_selection import Place, chosen, place
from ..reading.rows import Rows
from ..with_dask.partitions import Steps
from ..with_dask.schedulers import executor_of, most_under_way
from ..with_dask.settings import OPTIONS, settings
from .deciding_values import Tally
from .draw import histogram_from
from .part import (
    OF_CHAIN,
    PART_BYTES,
    CountFirst,
    Part,
    counted_part,
    divided,
    drawn_part,
    listed_part,
    queried_part,
    ranges_of,
)
from .tasks import Tasks, parts_of

if TYPE_CHECKING:
    from .. import Chain, Tree
    from .._core import Drawing
    from ..reading.friends import Friend

#: The number of files up to which each is divided into parts.
_FEW_FILES = 64
#: The rows of a part that decide about automatic axes, where their number is not known yet.
_ALL_ROWS = 2**62

#: Called with the histogram, or the list of them, of the entries so far.
Partial = Callable[[Any], object] | None


def _joined(before: list[Any] | None, more: list[Any]) -> list[Any]:
    """The lists of the entries so far, and those of the entries behind them."""
    out = []
    for i, (classname, name, title, rows, through, parts) in enumerate(more):
        own = parts
        if before is not None:
            _, _, _, rows_before, through_before, parts_before = before[i]
            rows, through = rows + rows_before, np.concatenate([through_before, through])
            if parts_before and own and parts_before[-1][:2] == own[0][:2]:
                tree, file, n, at = parts_before[-1]
                own[0] = (tree, file, np.concatenate([n, own[0][2]]), [*at, *own[0][3]])
                parts_before = parts_before[:-1]
            own = [*parts_before, *own]
        out.append((classname, name, title, rows, through, own))
    return out


def draw_parts(
    source: Tree | Chain,
    drawings: list[Drawing],
    span: Span,
    entries: Entries,
    progress: Progress,
    partial: Partial,
    scheduler: Any,
    *,
    single: bool,
) -> list[Any]:
    """See :meth:`Tree.draw`, with a scheduler."""
    lists = [not drawing[0].partition(">>")[0].strip() for drawing in drawings]
    histograms = [d for d, is_list in zip(drawings, lists, strict=True) if not is_list]
    with executor_of(scheduler) as executor:
        drawn: list[Any] = []
        if histograms:
            work = _Work(executor, source, histograms, single)
            drawn = work.made(work.run(span, entries, progress, partial)[1])
        made = []
        if any(lists):
            of_entries = [d for d, is_list in zip(drawings, lists, strict=True) if is_list]
            made = _Work(executor, source, of_entries, single).lists(span, entries)
    return [made.pop(0) if is_list else drawn.pop(0) for is_list in lists]


def draw_bytes(source: Chain, drawing: Drawing, progress: Progress, scheduler: Any) -> tuple[int, bytes]:
    """The number of entries, and the histogram as bytes, for the command."""
    with executor_of(scheduler) as executor:
        entries, (drawn,) = _Work(executor, source, [drawing], True).run((None, None), None, progress, None)
        return entries, drawn


def query_parts(
    source: Tree | Chain,
    asked: tuple[str, str, list[tuple[str, str]]],
    span: Span,
    entries: Entries,
    progress: Progress,
    scheduler: Any,
) -> Rows:
    """See :meth:`Tree.query`, with a scheduler."""
    expressions, cut, aliases = asked
    with executor_of(scheduler) as executor:
        return _Work(executor, source, [(expressions, cut, [], "", aliases)], True).rows(span, entries, progress)


class _Work:
    """A draw on an executor."""

    def __init__(self, executor: Executor, source: Tree | Chain, drawings: list[Drawing], single: bool) -> None:
        self._executor, self._source, self._drawings, self._single = executor, source, drawings, single
        self._most = most_under_way(executor)

    def run(self, span: Span, entries: Entries, progress: Progress, partial: Partial) -> tuple[int, list[bytes]]:
        """The number of entries, and the histograms as bytes."""
        try:
            parts = self._parts(span, entries)
            # how much there is to do is known only when all files have been opened
            return self._run(self._divided(parts) if progress else parts, progress, partial)
        except CountFirst:
            return self._run(self._parts(span, entries, counted=True), progress, partial)

    def _run(self, parts: list[Part], progress: Progress, partial: Partial) -> tuple[int, list[bytes]]:
        tell, done = reporter(progress)
        try:
            drawings, parts = self._with_axes(parts)
            sums: list[bytes] = []
            count, total = 0, sum((p.stop or 0) - p.start for p in parts)
            for _, (number, drawn) in self._each(parts, drawn_part, drawings):
                sums = [_core.add_parts(a, b) for a, b in zip(sums, drawn, strict=True)] if sums else drawn
                count += number
                if tell is not None:
                    tell(count, max(total, count), 0)
                if partial is not None:
                    made = self.made(sums)
                    partial(made[0] if self._single else made)
        finally:
            done()
        if not sums:
            raise InvalidError("none of the files could be read")
        return count, sums

    def lists(self, span: Span, entries: Entries) -> list[Any]:
        """The lists of entries."""
        found: list[Any] | None = None
        parts = self._divided(self._parts(span, entries, counted=True))
        for _, drawn in self._each(parts, listed_part, self._drawings):
            found = _joined(found, drawn)
        if found is None:
            raise InvalidError("none of the files could be read")
        return [drawn_list(one) for one in found]

    def rows(self, span: Span, entries: Entries, progress: Progress) -> Rows:
        """The rows of a query. Their numbers count through the chain."""
        parts = self._divided(self._parts(span, entries, counted=True))
        tell, done = reporter(progress)
        titles: list[str] | None = None
        rows: list[tuple[Any, ...]] = []
        numbers: list[tuple[Any, Any]] = []
        count, total = 0, sum((p.stop or 0) - p.start for p in parts)
        try:
            for _, (read, (own, more, *places)) in self._each(parts, queried_part, self._drawings):
                titles = own if titles is None else titles
                rows += more
                numbers.append((places[0], places[1]))
                count += read
                if tell is not None:
                    tell(count, max(total, count), 0)
        finally:
            done()
        if titles is None:
            raise InvalidError("none of the files could be read")
        joined: list[Any] = [np.concatenate(n) for n in zip(*numbers, strict=True)]
        before = 0 if isinstance(self._source, ChainFiles) else self._source._first_entry
        return Rows((titles, rows, joined[0] - before, joined[1]))

    def made(self, sums: list[bytes]) -> list[Any]:
        """The histograms."""
        return [histogram_from(_core.drawn_part(d, s)) for d, s in zip(self._drawings, sums, strict=True)]

    def _each(self, parts: list[Part], function: Callable[..., Any], *arguments: Any) -> Iterator[tuple[Part, Any]]:
        """The results in the order of the parts, whichever is ready first; skipped files are left out."""
        tasks = Tasks(self._executor, self._most, parts, function, arguments)
        for part, made in tasks.results():
            if isinstance(made, str):
                warnings.warn(f"skipped {made}", SkippedFileWarning, stacklevel=6)
            else:
                yield part, made

    def _parts(self, span: Span, entries: Entries, *, counted: bool = False) -> list[Part]:
        source, environment = self._source, settings()
        if not isinstance(source, ChainFiles):
            return self._of_tree(source, span, entries, environment)
        several = len(source.files) > 1
        texts = [text for d in self._drawings for text in (*d[:2], *(of for _, of in d[4]))]
        counted = several and (counted or any(OF_CHAIN.search(text) for text in texts))
        from ..with_dask.partitions import Source, absolute

        files = absolute([Source(file, tree, None) for file, tree in source.files])
        options = dict(source._options)
        parts = [Part(f.file, f.tree, options, environment, of_chain=several, skip_bad=source._skip_bad) for f in files]
        if span != (None, None) or entries is not None or source._friends or counted:
            # the entries of friends count through the chain
            return self._selected(parts, span, entries, _absolute(source._friends))
        return parts if len(parts) > _FEW_FILES else [replace(part, divide=True) for part in parts]

    def _divided(self, parts: list[Part]) -> list[Part]:
        """The parts of files that are divided. Workers open them."""
        if not any(part.divide for part in parts):
            return parts
        made = []
        for part, of in self._each([replace(part, divide=False) for part in parts], divided):
            made += parts_of(part, of)
        return made

    def _selected(
        self, parts: list[Part], span: Span, entries: Entries, friends: tuple[Friend, ...] = ()
    ) -> list[Part]:
        """The parts of the chain with these entries: workers count them."""
        places: list[Place] = []
        counted = []
        for part, (tree, number, uuid) in self._each(parts, counted_part):
            first = places[-1].last if places else 0
            places.append(Place(part.file, tree, first, first + number))
            counted.append(replace(part, uuid=uuid))
        first, last = entry_range(span[0], span[1], places[-1].last if places else 0)
        picked = chosen(entries, first, last, places)
        made = []
        for part, p in zip(counted, places, strict=True):
            begin, end = max(first, p.first), min(last, p.last)
            selected: Any = None
            if picked is not None:
                numbers = picked.numbers[slice(*np.searchsorted(picked.numbers, [begin, max(begin, end)]))]
                instances = [(entry, of) for entry, of in picked.instances if begin <= entry < end]
                selected = (numbers, instances)
            if begin < end:
                start, stop = begin - p.first, end - p.first
                made.append(
                    replace(
                        part,
                        start=start,
                        stop=stop,
                        selected=selected,
                        friends=friends,
                        offset=p.first,
                        total=places[-1].last,
                    )
                )
        return made or [replace(part, start=0, stop=0, total=places[-1].last) for part in counted[:1]]

    def _of_tree(self, tree: Tree, span: Span, entries: Entries, environment: Any) -> list[Part]:
        from ..with_dask.partitions import Source, absolute

        given = tree.file._given_path
        if not isinstance(given, str):
            raise InvalidError(f"{tree.file_path} was opened from a file object, which workers cannot open")
        (source,) = absolute([Source(given, tree.object_path, None)])
        options = {**dataclasses.asdict(tree.file._options), "threads": tree.file._options.threads or None}
        options = {name: value for name, value in options.items() if name in OPTIONS}
        first, last = entry_range(span[0], span[1], tree.num_entries)
        picked = chosen(entries, first, last, [place(tree)])
        whole = Part(source.file, source.tree, options, environment, first, last, uuid=str(tree.file.uuid))
        whole = replace(whole, friends=_absolute(tree._friends), offset=tree._first_entry)
        if picked is not None:
            return [replace(whole, selected=picked.for_core(tree._first_entry))]
        number = int(max(1, min(256, tree.uncompressed_bytes // PART_BYTES)))
        bounds = [(max(a, first), min(b, last)) for a, b in Steps(None, number).bounds(tree)]
        return [replace(whole, start=a, stop=b) for a, b in bounds if a < b] or [whole]

    def _with_axes(self, parts: list[Part]) -> tuple[list[Drawing], list[Part]]:
        """The draws with the axes that the first values decide about, as they do where one process draws; the parts."""
        if all(map(_core.are_axes_given, self._drawings)):
            return self._drawings, parts
        found = self._each(parts[:1], ranges_of, self._drawings, [_ALL_ROWS] * len(self._drawings))
        first = next(found, None)
        if first is None:
            # the first file is skipped
            return self._with_axes(parts[1:]) if len(parts) > 1 else (self._drawings, [])
        deciding, ranges = first[1]
        tallies = [None if r is None else Tally(deciding, r) for r in ranges]
        open_draws = [t for t in tallies if t is not None]
        if not open_draws:
            return self._drawings, parts
        parts = self._divided(parts)
        self._tally(tallies, parts[0], ranges)
        if not all(t.is_full for t in open_draws):
            for part, (_, ranges) in self._each(parts[1:], ranges_of, self._drawings, [deciding] * len(tallies)):
                self._tally(tallies, part, ranges)
                if all(t.is_full for t in open_draws):
                    break
        drawings = [
            d if t is None else (*d[:2], _core.draw_axes(d, t.rows, t.ranges, t.integer), *d[3:])
            for d, t in zip(self._drawings, tallies, strict=True)
        ]
        return drawings, parts

    def _tally(self, tallies: list[Any], part: Part, ranges: list[Any]) -> None:
        """Add the ranges of a part; of one that has more rows than decide, those of its first rows."""
        left = [0 if t is None else t.left for t in tallies]
        if any(t is not None and r[0] > t.left for t, r in zip(tallies, ranges, strict=True)):
            ((_, (_, ranges)),) = self._each([part], ranges_of, self._drawings, left)
        for t, r in zip(tallies, ranges, strict=True):
            if t is not None:
                t.add(r)


def _absolute(friends: Sequence[Friend]) -> tuple[Friend, ...]:
    """Friends whose local files are found from any directory."""
    return tuple(
        friend._replace(
            files=[(file if "://" in file else os.path.abspath(expanded(file)), t) for file, t in friend.files]
        )
        for friend in friends
    )
