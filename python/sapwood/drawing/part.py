"""Some entries of a tree, drawn by a worker of a scheduler."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..errors import Error, InvalidError, KeyInFileError, UnsupportedError
from ..with_dask.opened import with_tree
from ..with_dask.partitions import Steps

if TYPE_CHECKING:
    from .. import Tree
    from .._core import Drawing
    from ..reading.friends import Friend

#: What depends on the number of an entry in the chain, or on that of all entries: files are counted for it.
OF_CHAIN = re.compile(r"(?<!\w)(Entry|Entries)\$|(?<!\w)rndm(?!\w)|gRandom|Rndm\s*\(")
#: Uncompressed bytes of a part, about.
PART_BYTES = 64_000_000


@dataclass(frozen=True)
class Part:
    """Some entries of a tree, drawn by one worker."""

    file: str
    tree: str | None
    options: Mapping[str, Any]
    environment: Mapping[str, str]
    #: Entries; the end None for all.
    start: int = 0
    stop: int | None = None
    #: Selected entries, as the core takes them: counted through the chain.
    selected: Any = None
    uuid: str | None = None
    #: Friends of the tree or chain, and the first entry of the tree in the chain, if that is known.
    friends: tuple[Friend, ...] = ()
    offset: int = 0
    #: Entries of the chain, if they are counted.
    total: int | None = None
    #: Whether the file is one of several.
    of_chain: bool = False
    skip_bad: bool = False
    #: Whether it is a file of which a worker decides into how many parts it is divided.
    divide: bool = False

    def __str__(self) -> str:
        which = "all entries" if self.stop is None else f"entries {self.start} to {self.stop - 1}"
        return f"{_core.redacted(self.file)}: {which}"

    def on_tree(self, use: Callable[[Tree, int, int], Any]) -> Any:
        """The result of a function of the tree and the entries; text why the file is skipped."""

        def checked(tree: Tree) -> Any:
            if self.uuid is not None and self.uuid != str(tree.file.uuid):
                raise InvalidError(f"{tree.file_path} has changed since it was opened", file=tree.file_path)
            total = tree.num_entries
            stop = total if self.stop is None else min(self.stop, total)
            return use(self._placed(tree), self.start + self.offset, stop + self.offset)

        where = (self.file, self.tree, self.options, self.environment)
        if not self.skip_bad:
            return with_tree(*where, checked)
        try:
            with_tree(*where, lambda _: None)
        except Error as e:
            return str(e)
        try:
            return with_tree(*where, checked)
        except KeyInFileError as e:
            return str(e)

    def _placed(self, tree: Tree) -> Tree:
        """The tree with its place in the chain, and with friends. The one that is held open for other parts stays as it
        is."""
        if not self.friends and not self.offset and self.total is None:
            return tree
        # copy.copy would return the tree itself, as its file has it
        placed = object.__new__(type(tree))
        placed.__dict__.update(tree.__dict__, _made={})
        placed._set_friends(list(self.friends), self.offset, self.total)
        return placed


@dataclass(frozen=True)
class Divided:
    """The UUID of a file, and the entries of its parts."""

    uuid: str
    bounds: list[tuple[int, int]]


def _bounds(tree: Tree, start: int, stop: int) -> list[tuple[int, int]]:
    """The parts of a tree: by its size and clusters alone, so that the result depends on the file alone."""
    number = max(1, min(256, tree.uncompressed_bytes // PART_BYTES))
    bounds = Steps(None, int(number)).bounds(tree)
    return [(max(a, start), min(b, stop)) for a, b in bounds if max(a, start) < min(b, stop)] or [(start, start)]


def divided(part: Part) -> Divided | str:
    """The parts of a file."""
    return part.on_tree(lambda tree, start, stop: Divided(str(tree.file.uuid), _bounds(tree, start, stop)))


def counted_part(part: Part) -> tuple[str, int, str] | str:
    """The tree, its entries, and the UUID of its file."""
    return part.on_tree(lambda tree, start, stop: (tree.object_path, tree.num_entries, str(tree.file.uuid)))


def drawn_part(part: Part, drawings: list[Drawing]) -> tuple[int, list[bytes]] | Divided | str:
    """The number of entries, and the histograms as bytes; of a file that is divided, its parts."""

    def use(tree: Tree, start: int, stop: int) -> tuple[int, list[bytes]] | Divided:
        if part.divide and len(bounds := _bounds(tree, start, stop)) > 1:
            return Divided(str(tree.file.uuid), bounds)
        _check_aliases(part, tree, drawings)
        made = tree._core.draw_parts(
            drawings, start, stop, tree._cache_size, tree.file._options.threads, None, part.selected
        )
        return stop - start, made

    return part.on_tree(use)


def listed_part(part: Part, drawings: list[Drawing]) -> list[Any] | str:
    """The lists of entries of a part, as the core made them, with numpy's arrays."""

    def use(tree: Tree, start: int, stop: int) -> list[Any]:
        _check_aliases(part, tree, drawings)
        made = tree._core.draw(drawings, start, stop, tree._cache_size, tree.file._options.threads, None, part.selected)
        return [_with_arrays(one) for one in made]

    return part.on_tree(use)


def queried_part(part: Part, drawings: list[Drawing]) -> tuple[int, tuple[Any, ...]] | str:
    """The number of entries, and the rows of a part, as the core made them, with numpy's arrays."""

    def use(tree: Tree, start: int, stop: int) -> tuple[int, tuple[Any, ...]]:
        ((expressions, cut, _, _, aliases),) = drawings
        options = tree._cache_size, tree.file._options.threads, None, part.selected
        titles, rows, *numbers = tree._core.query(expressions, cut, aliases, start, stop, *options)
        return stop - start, (titles, rows, *map(np.asarray, numbers))

    return part.on_tree(use)


def _with_arrays(drawn: Any) -> tuple[Any, ...]:
    """A list of entries that can be sent."""
    *facts, through, parts = drawn
    arrays = [(tree, file, np.asarray(n), [(entry, list(of)) for entry, of in at]) for tree, file, n, at in parts]
    return (*facts, np.asarray(through), arrays)


def ranges_of(part: Part, drawings: list[Drawing], most: list[int]) -> Any:
    def use(tree: Tree, start: int, stop: int) -> Any:
        _check_aliases(part, tree, drawings)
        if part.divide:
            start, stop = _bounds(tree, start, stop)[0]
        options = tree._cache_size, tree.file._options.threads
        return tree._core.draw_ranges(drawings, start, stop, most, *options, part.selected)

    return part.on_tree(use)


class CountFirst(UnsupportedError):
    """An alias of a file depends on the chain, whose entries are not counted."""


def _check_aliases(part: Part, tree: Tree, drawings: list[Drawing]) -> None:
    if part.of_chain and part.total is None and any(OF_CHAIN.search(text) for text in tree.aliases.values()):
        words = {word for d in drawings for text in d[:2] for word in re.findall(r"\w+", text)}
        if words & set(tree.aliases):
            raise CountFirst(f"{tree.file_path}: an alias depends on the other entries of the chain")
