"""A request to every file of a chain, and the entries to read from each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments.entries import Entries
from ..arguments.paths import Where, several
from ..arguments.progress import Progress
from ..arguments.sizes import entry_range, size_in_bytes
from ..reading.entry_selection import Chosen, chosen
from ..reading.file import Options, ReadOnlyFile, open_as
from ..reading.tree_of_file import tree_of
from .files import ChainFiles
from .prefetch import Ahead, Part, Window

if TYPE_CHECKING:
    from .. import Tree
    from ..reading.friends import Friend
    from ..reading.selection import Expressions, Selection


@dataclass(frozen=True)
class Request:
    """A request to every file."""

    expressions: Expressions
    cut: str | None
    filters: Mapping[str, Any]
    aliases: Mapping[str, str] | None
    step: tuple[str, int]
    options: Mapping[str, Any]
    skip_bad: bool
    progress: Progress
    #: Skip files without the tree or a branch.
    allow_missing: bool = False
    #: How numbers may change when columns are concatenated.
    casting: str | None = None
    #: What may differ between the columns of files besides the types of numbers: "sizes" of fixed arrays, which become
    #: lists, or "all", where the library decides what becomes of them.
    differing: str = ""
    #: The class of the files.
    opened_as: type[ReadOnlyFile] = ReadOnlyFile
    #: What is read of a tree, in place of expressions and cut.
    select: Callable[[Tree], Selection] | None = None
    #: Friends of the chain.
    friends: Sequence[Friend] = ()
    #: Aliases of the chain, in ROOT's syntax.
    given_aliases: Mapping[str, str] = field(default_factory=dict)

    def of(self, windows: Windows) -> Ahead:
        """The files of a chain, with its friends."""
        return replace(self, friends=windows.friends, given_aliases=windows.aliases).files(windows.files)

    def files(self, files: list[tuple[str, str | None, Window | None]]) -> Ahead:
        """The files, which are opened in order."""
        from ..reading.arrays import _wanted, step_of
        from ..reading.selection import select

        cache = self.options["cache_size"]
        cache = None if cache is None else size_in_bytes(cache, "cache_size")

        def prepare(file_path: str, name: str | None, window: Window | None, begin: bool) -> Part:
            file = open_as(self.opened_as, {file_path: None}, Options.checked(**self.options))
            try:
                tree = tree_of(file, name)
                if self.friends:
                    tree._set_friends(list(self.friends), window.offset if window else 0)
                tree._given_aliases = dict(self.given_aliases)
                if self.select is None:
                    selection = select(tree, self.expressions, self.cut, self.aliases, self.filters)
                else:
                    selection = self.select(tree)
                offset, *span, numbers = window or (None, None, None, None)
                wanted = _wanted(tree, selection, (span[0], span[1]), numbers)
                step = step_of(self.step, tree, selection)
                part = Part(tree, selection, wanted, offset, step)
                # with a progress function each file is read only when its turn comes
                if begin and wanted.branches and wanted.rows and not self.progress:
                    part.scan = wanted.begin(tree, step, None, ahead.share())
            except BaseException:
                file.close()
                raise
            return part

        ahead = Ahead(files, prepare, cache, self.skip_bad, self.allow_missing, self.casting, self.differing)
        return ahead


@dataclass(frozen=True)
class Windows:
    """The files to read, and the entries of each."""

    files: list[tuple[str, str | None, Window | None]]
    #: The first entry, counted through all files.
    first: int = 0
    #: The selected entries.
    chosen: Chosen | None = None
    #: Friends of the chain: their entries count through all files.
    friends: Sequence[Friend] = ()
    #: Aliases of the chain, in ROOT's syntax.
    aliases: Mapping[str, str] = field(default_factory=dict)


def windows_of(
    files: Where | Iterable[Where] | ChainFiles,
    options: Mapping[str, Any],
    skip_bad: bool,
    span: tuple[int | None, int | None],
    entries: Entries,
) -> Windows:
    """The entries to read from each file."""
    chain = files if isinstance(files, ChainFiles) else ChainFiles(several(files), dict(options), skip_bad)
    if span == (None, None) and entries is None and not chain._friends:
        whole: list[tuple[str, str | None, Window | None]] = [(file, tree, None) for file, tree in chain.files]
        return Windows(whole, aliases=chain._given_aliases)
    places = chain._places
    first, last = entry_range(*span, chain.num_entries)
    picked = chosen(entries, first, last, places)
    read: list[tuple[str, str | None, Window | None]] = []
    for p in places:
        begin, end = max(first, p.first), min(last, p.last)
        numbers = None
        if picked is not None:
            numbers = picked.numbers[slice(*np.searchsorted(picked.numbers, [begin, max(begin, end)]))] - p.first
        if begin < end and (numbers is None or len(numbers)):
            read.append((p.file, p.tree, Window(p.first, begin - p.first, end - p.first, numbers)))
    if not read:
        # no entries: the first file still gives the types
        read = [(p.file, p.tree, Window(0, 0, 0)) for p in places[:1]]
    return Windows(read, first, picked, tuple(chain._friends), chain._given_aliases)
