"""Trees and branches with uproot's attributes where these differ from Sapwood's own."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..arguments.sizes import BasketBytes, entry_range
from ..errors import UnsupportedError
from ..reading.branch import Branch
from ..reading.tree import Tree
from .compression import Compression, compression_of
from .report import Report
from .sizes import decimal_bytes
from .typenames import typename_of

if TYPE_CHECKING:
    from ..reading.directory import Directory
    from .interpretations import Interpretation


class _ShowsInterpretations:
    """A tree or branch whose ``show`` prints interpretations, in columns of uproot's widths."""

    _shown_as = "interpretation"
    _shown_width: int | None = 30

    def _shown(self, branch: Any) -> str:
        try:
            return str(branch.interpretation)
        except UnsupportedError:
            return str(branch.column_words)


class TBranch(_ShowsInterpretations, Branch):
    """A branch of a tree."""

    @property
    def typename(self) -> str:
        """C++ type of its values, spelled as uproot spells it."""
        if self._shown_type is None:
            self._shown_type = typename_of(self, super().typename)
        return self._shown_type

    _shown_type: str | None = None

    @property
    def object_path(self) -> str:
        """Path of the tree in the file, with cycle, and path of the branch in the tree."""
        return f"{self.tree.object_path}:{self.path}"

    @property
    def compression(self) -> Compression | None:  # type: ignore[override]
        """The compression of its baskets; None for none, and if the file names no algorithm (ROOT 5: ZLIB)."""
        return compression_of(super().compression)

    @property
    def entry_offsets(self) -> list[int]:
        """The first entry of each basket, and the number of entries; [0] for a branch without baskets."""
        return super().entry_offsets if self.num_baskets or not self.branches else [0]

    def reads_as_group(self) -> bool:
        """Whether its values are those of its sub-branches: any branch with sub-branches but a split TClonesArray."""
        return bool(self._children) and not super().typename.startswith("TClonesArray")

    def is_record_in_group(self) -> bool:
        """Whether a branch above it that is read as a record has a record of this branch's sub-branches."""
        return self.reads_as_group()

    def _read(self, span: Any, library: str, progress: Any, interpretation: object, entries: Any) -> Any:
        from .interpretations import Interpretation

        if isinstance(interpretation, Interpretation):
            from .reinterpret import read

            return read(self, interpretation, span[0], span[1], library, progress=progress, entries=entries)
        made = super()._read(span, library, progress, interpretation, entries)
        if library in ("pd", "pandas") and hasattr(made, "rename"):
            # a series without a name, as uproot makes it
            return made.rename(None) if made.ndim == 1 else made
        if library in ("np", "numpy"):
            from .values import as_uproot

            return as_uproot(self, made)
        return made

    @property
    def interpretation(self) -> Interpretation:  # type: ignore[override]
        """How its values become an array."""
        from .interpretations import interpretation_of

        return interpretation_of(self)

    def __repr__(self) -> str:
        below = f" ({len(self.branches)} subbranches)" if self.branches else ""
        return f"<TBranch {self.name!r}{below} at {id(self):#014x}>"


class TTree(_ShowsInterpretations, Tree):
    """A tree of a file."""

    _branch_class = TBranch

    @staticmethod
    def _report(start: int, stop: int, tree: Tree, offset: int) -> Report:  # type: ignore[override]
        return Report(tree, start, stop, offset)

    @property
    def object_path(self) -> str:
        """Path in the file, with cycle."""
        return "/" + super().object_path

    @property
    def cache_key(self) -> str:
        """A name for the tree that differs between files: their identifier and the path."""
        return f"{self.file.uuid}:{self.object_path}"

    @property
    def parent(self) -> Directory:  # type: ignore[override]
        """The directory that contains the tree."""
        above = super().object_path.rpartition("/")[0]
        return self.file._directory_class(self.file, above) if above else self.file

    @property
    def compression(self) -> Compression | None:
        """The compression of the first branch; None for none."""
        first = next(iter(self.branches), None)
        return first.compression if isinstance(first, TBranch) else None

    def arrays(self, expressions: Any = None, cut: Any = None, **options: Any) -> Any:
        """Read entries; takes the options of :meth:`sapwood.Tree.arrays`.

        Args:
            expressions: also ``{branch: interpretation}`` or pairs of these.
        """
        from .reinterpret import arrays, expressions_and_interpretations

        options = self._without_hidden_aliases(options)
        names, chosen = expressions_and_interpretations(expressions)
        if chosen:
            return arrays(self, names, chosen, cut, **options)
        made = super().arrays(names, cut, **options)
        if options.get("library") in ("np", "numpy") and isinstance(made, dict):
            from .values import as_uproot

            for name, values in made.items():
                number = self.branch_number(name)
                if number is not None:
                    made[name] = as_uproot(self._branch(number), values)
        return made

    def _without_hidden_aliases(self, options: dict[str, Any]) -> dict[str, Any]:
        """The options without the aliases that have the name of a branch: as in uproot, the branch counts."""
        aliases = options.get("aliases")
        if not isinstance(aliases, Mapping) or not (hidden := [name for name in aliases if name in self]):
            return options
        warnings.warn(f"{hidden[0]!r} is both an alias and a branch: the branch is read", stacklevel=3)
        return {**options, "aliases": {name: text for name, text in aliases.items() if name not in hidden}}

    def num_entries_for(
        self,
        memory_size: Any,
        expressions: Any = None,
        cut: Any = None,
        *,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        **options: Any,
    ) -> int:
        """Return the number of entries that take about ``memory_size`` bytes in the baskets, as uproot rounds it.

        Args:
            entry_start, entry_stop: count the baskets of these entries only, whose keys are read.
        """
        return self._entries_for(memory_size, expressions, cut, entry_start, entry_stop, _bytes_between, options) or 1

    def _entries_for(
        self,
        memory_size: Any,
        expressions: Any,
        cut: Any,
        entry_start: int | None,
        entry_stop: int | None,
        bytes_between: Callable[[Branch, int, int], float],
        options: dict[str, Any],
    ) -> int:
        from ..reading.selection import select

        size = BasketBytes(decimal_bytes(memory_size))
        filters = {name: options.get(name) for name in ("filter_name", "filter_typename", "filter_branch")}
        numbers = select(self, expressions, cut, options.get("aliases"), filters).branches()
        branches = [self._branch(n) for n in numbers if n in self._places]
        first, last = entry_range(entry_start, entry_stop, self.num_entries)
        # the branch knows the bytes of all its entries, but for baskets in the tree's header
        of_all = entry_start is None and entry_stop is None
        total = sum((of_all and b.uncompressed_bytes) or bytes_between(b, first, last) for b in branches)
        return size.entries(last - first, round(total)) if branches else 0

    def iterate(self, expressions: Any = None, cut: Any = None, *, step_size: Any = "100 MB", **options: Any) -> Any:
        """Read in steps; takes the options of :meth:`sapwood.Tree.iterate`. Text as a step size means bytes in
        baskets, as in :meth:`num_entries_for`; all steps but the last have the same number of entries."""
        options = self._without_hidden_aliases(options)
        if isinstance(step_size, str) and step_size != "cluster":
            start, stop = options.get("entry_start"), options.get("entry_stop")
            entries = self._entries_for(step_size, expressions, cut, start, stop, _about_between, options)
            step_size = entries or max(1, self.num_entries)
        return super().iterate(expressions, cut, step_size=step_size, **options)

    def __repr__(self) -> str:
        return f"<TTree {self.name!r} ({len(self.branches)} branches) at {id(self):#014x}>"


def _bytes_between(branch: Branch, first: int, last: int) -> int:
    """Uncompressed bytes of the baskets with these entries."""
    return sum(_basket_bytes(branch, i) for i, _ in _baskets_between(branch, first, last))


def _about_between(branch: Branch, first: int, last: int) -> float:
    """The same without reading keys: baskets have bytes as they have entries."""
    entries = sum(stop - start for _, (start, stop) in _baskets_between(branch, first, last))
    return branch.uncompressed_bytes * entries / max(1, branch.num_entries)


def _baskets_between(branch: Branch, first: int, last: int) -> Iterator[tuple[int, tuple[int, int]]]:
    """Numbers and edges of the baskets with these entries."""
    for i, (start, stop) in enumerate(itertools.pairwise(branch.entry_offsets)):
        if first < stop and (start < last or first == last == start):
            yield i, (start, stop)


def _basket_bytes(branch: Branch, number: int) -> int:
    """Uncompressed bytes of a basket; those in the tree's header are not counted by the branch."""
    try:
        return branch.basket_uncompressed_bytes(number)
    except UnsupportedError:
        return branch.basket(number).uncompressed_bytes
