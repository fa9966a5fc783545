"""What the trees of a chain have in common: their branches, by those of the first tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .. import Tree


class ChainBranches:
    """Names and types of the branches, from the first file, which is opened for them and closed afterwards."""

    _files: list[tuple[str, str | None]]
    _options: dict[str, Any]

    def _of_first(self, function: Any) -> Any:
        """The result of a function of the tree in the first file."""
        from ..reading.file import open
        from ..reading.tree_of_file import tree_of

        file, name = self._files[0]
        with open({file: None}, **self._options) as opened:
            tree: Tree = tree_of(opened, name)
            return function(tree)

    def keys(self, **filters: Any) -> list[str]:
        """Names of the branches; takes the arguments of :meth:`Tree.iteritems`."""
        return self._of_first(lambda tree: tree.keys(**filters))

    def typenames(self, **filters: Any) -> dict[str, str]:
        """C++ types of the branches by name; takes the arguments of :meth:`Tree.iteritems`."""
        return self._of_first(lambda tree: tree.typenames(**filters))

    def show(self, **options: Any) -> None:
        """Print a table of the branches; takes the arguments of :meth:`Tree.show`."""
        self._of_first(lambda tree: tree.show(**options))

    def __contains__(self, name: object) -> bool:
        return self._of_first(lambda tree: name in tree)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __getitem__(self, name: str) -> ChainBranch:
        """Return the branch with this name, of all files.

        Raises:
            KeyInFileError: the first file has no such branch.
        """
        return self._of_first(lambda tree: ChainBranch(self, name, tree[name].typename))

    def _ipython_key_completions_(self) -> list[str]:
        """The names that IPython completes after ``chain["``."""
        return self.keys()

    def _repr_html_(self) -> str:
        return self._of_first(lambda tree: tree._repr_html_())


class ChainBranch:
    """A branch of all files of a chain. numpy's functions take it as an array: they read all of it."""

    def __init__(self, chain: Any, name: str, typename: str) -> None:
        self._chain = chain
        #: Name of the branch.
        self.name = name
        #: C++ type of its values in the first file.
        self.typename = typename

    def array(self, entry_start: int | None = None, entry_stop: int | None = None, *, library: str = "ak") -> Any:
        """Read its values in all files."""
        made = self._chain.arrays([self.name], entry_start=entry_start, entry_stop=entry_stop, library=library)
        return made[self.name]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        values = self.array(library="np")
        return values if dtype is None else values.astype(dtype, copy=False)

    def __repr__(self) -> str:
        return f"<ChainBranch {self.name!r}: {self.typename}>"
