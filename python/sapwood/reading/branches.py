"""The mapping of sub-branches that trees and branches have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..arguments.filters import Filter, matcher
from ..arguments.sizes import whole
from ..errors import InvalidError, KeyInFileError, UnsupportedError, printable, unicode_only
from ..uproot_registration import stands_for
from .leaf import Leaf

if TYPE_CHECKING:
    from .. import Branch, Tree


@stands_for("behaviors.TBranch.HasBranches")
class HasBranches(Mapping):
    """A mapping of branches, by name, by path (``"a/b"``) or by index in :attr:`branches`."""

    if TYPE_CHECKING:

        @property
        def tree(self) -> Tree: ...
        @property
        def branches(self) -> list[Branch]: ...

    # defined by subclasses
    @property
    def _prefix(self) -> str:
        """The path of the branch with a slash, which the paths of its sub-branches start with."""
        raise NotImplementedError

    @property
    def _self_name(self) -> str:
        raise NotImplementedError

    def iteritems(
        self,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        filter_branch: Callable[[Branch], object] | None = None,
        recursive: bool = True,
        full_paths: bool = True,
        ignore_duplicates: bool = False,
    ) -> Iterator[tuple[str, Branch]]:
        """Iterate over (name, branch) pairs of the sub-branches, parents before children.

        Args:
            filter_name: filter on a branch's bare name or path, with or without a leading slash (glob, ``/regex/i``,
                callable, list).
            filter_typename: filter on the C++ type.
            filter_branch: a predicate on the branch.
            recursive: include sub-branches of branches.
            full_paths: use paths instead of bare names.
            ignore_duplicates: of several branches with the same name only the first.
        """
        prefix = len(self._prefix)
        seen: set[str] = set()
        for branch in self.filtered(filter_name, filter_typename, filter_branch, recursive):
            name = branch.path[prefix:] if full_paths else branch.name
            if ignore_duplicates:
                if name in seen:
                    continue
                seen.add(name)
            yield name, branch

    def filtered(
        self,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        filter_branch: Callable[[Branch], object] | None = None,
        recursive: bool = True,
    ) -> Iterator[Branch]:
        """The branches that pass the filters, see :meth:`iteritems`."""
        name_passes = matcher(filter_name, "filter_name")
        type_passes = matcher(filter_typename, "filter_typename")
        if filter_branch is not None and not callable(filter_branch):
            raise InvalidError(f"filter_branch must be a function of the branch, not {filter_branch!r}")
        prefix = len(self._prefix)
        for branch in self._below() if recursive else self.branches:
            if name_passes:
                path = branch.path[prefix:]
                if not (name_passes(branch.name) or name_passes(path) or name_passes("/" + path)):
                    continue
            if type_passes and not type_passes(branch.typename):
                continue
            if filter_branch and not filter_branch(branch):
                continue
            yield branch

    def _below(self) -> Iterator[Branch]:
        stack = list(reversed(self.branches))
        while stack:
            branch = stack.pop()
            yield branch
            stack.extend(reversed(branch.branches))

    def iterkeys(self, **filters) -> Iterator[str]:
        """Names of the sub-branches; takes the arguments of :meth:`iteritems`."""
        return (name for name, _ in self.iteritems(**filters))

    def itervalues(self, **filters) -> Iterator[Branch]:
        """The sub-branches; takes the arguments of :meth:`iteritems`."""
        return (branch for _, branch in self.iteritems(**filters))

    def keys(self, **filters) -> list[str]:  # type: ignore[override]
        """Names of the sub-branches; takes the arguments of :meth:`iteritems`."""
        return list(self.iterkeys(**filters))

    def values(self, **filters) -> list[Branch]:  # type: ignore[override]
        """The sub-branches; takes the arguments of :meth:`iteritems`."""
        return list(self.itervalues(**filters))

    def items(self, **filters) -> list[tuple[str, Branch]]:  # type: ignore[override]
        """(name, branch) pairs of the sub-branches; takes the arguments of :meth:`iteritems`."""
        return list(self.iteritems(**filters))

    def itertypenames(self, **filters) -> Iterator[tuple[str, str]]:
        """(name, C++ type) pairs of the sub-branches; takes the arguments of :meth:`iteritems`."""
        return ((name, branch.typename) for name, branch in self.iteritems(**filters))

    def _ipython_key_completions_(self) -> list[str]:
        """The names that IPython completes after ``tree["``."""
        return self.keys()

    def typenames(self, **filters) -> dict[str, str]:
        """Return the C++ types by name; takes the arguments of :meth:`iteritems`."""
        return {name: branch.typename for name, branch in self.iteritems(**filters)}

    def branch_number(self, name: str) -> int | None:
        """The number of the sub-branch with this bare name or path, or None; the first one in the order of the tree."""
        path = self.tree._by_path.get(self._prefix + name.strip("/"))
        if path is not None or name.startswith("/"):
            return path
        if not self._prefix:
            return self.tree._by_name.get(name)
        return next((b.number for b in self._below() if b.name == name), None)

    @unicode_only
    def missing(self, name: str, context: str = "") -> KeyInFileError:
        """The error for an unknown branch."""
        # of surrogates, only those of names that are not UTF-8 can be shown
        name.encode("utf-8", "surrogateescape")
        return _unknown(name, self.keys(), self._self_name, self.tree.file_path, context)

    def leaf(self, name: str) -> Leaf | None:
        """The leaf with this bare name or path, in a branch with several leaves; None if there is none."""
        front, _, last = name.strip("/").rpartition("/")
        for number in self.tree._leaves.get(last, ()):
            branch = self.tree._branch(number)
            below = branch.path.removeprefix(self._prefix)
            inside = branch.path.startswith(self._prefix) and front in ("", branch.name, below)
            if inside or (not front and branch.path + "/" == self._prefix):
                return Leaf(branch, last)
        return None

    def __getitem__(self, where: str | int) -> Any:
        """Return the branch (or :class:`Leaf`) with this bare name (at any depth), path or index.

        Raises:
            KeyInFileError: no such branch; the message lists similar names.
        """
        if isinstance(where, str):
            number = self.branch_number(where)
            if number is not None:
                return self.tree._branch(number)
            leaf = self.leaf(where)
            if leaf is None:
                raise self.missing(where)
            return leaf
        if (position := whole(where)) is not None:
            return self.branches[position]
        raise InvalidError(f"a branch key must be a string or an index, not {where!r}")

    def __contains__(self, where: object) -> bool:
        return isinstance(where, str) and (self.branch_number(where) is not None or self.leaf(where) is not None)

    def __iter__(self) -> Iterator[str]:
        return self.iterkeys()

    def __len__(self) -> int:
        return sum(1 for _ in self._below())

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__  # type: ignore[assignment]

    def show(
        self,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        filter_branch: Callable[[Branch], object] | None = None,
        recursive: bool = True,
        full_paths: bool = True,
        name_width: int = 20,
        typename_width: int = 24,
        interpretation_width: int | None = None,
        stream: Any = None,
    ) -> None:
        """Print a table of the branches: name, C++ type, and the type of the column they become.

        A branch is the first row of its own table.

        Args:
            interpretation_width: cut the last column to this width; None for its full width.
            stream: output stream; None for standard output.
        """
        import sys

        if interpretation_width is None:
            interpretation_width = self._shown_width

        def cell(text: str, width: int) -> str:
            text = printable(text)
            return text if len(text) <= width else text[: width - 3] + "..."

        last = self._shown_as if interpretation_width is None else f"{self._shown_as:<{interpretation_width}}"
        lines = [f"{'name':<{name_width}} | {'typename':<{typename_width}} | {last}"]
        lines.append(f"{'-' * name_width}-+-{'-' * typename_width}-+-{'-' * (interpretation_width or 30)}")
        filters = {"filter_name": filter_name, "filter_typename": filter_typename, "filter_branch": filter_branch}
        below = self.iteritems(**filters, recursive=recursive, full_paths=full_paths)  # type: ignore[arg-type]
        for name, branch in (*self._shown_first(), *below):
            name, kind = cell(name, name_width), cell(branch.typename, typename_width)
            column = printable(self._shown(branch))
            if interpretation_width is not None:
                column = cell(column, interpretation_width)
            lines.append(f"{name:<{name_width}} | {kind:<{typename_width}} | {column}")
        (stream or sys.stdout).write("\n".join(lines) + "\n")

    #: What the last column of :meth:`show` says of a branch.
    _shown_as = "column"
    #: Its width where none is given; None for its full width.
    _shown_width: int | None = None

    def _shown(self, branch: Branch) -> str:
        return branch.column_words

    def _shown_first(self) -> tuple[tuple[str, Branch], ...]:
        """What :meth:`show` prints before the branches below."""
        return ()

    def _repr_html_(self) -> str:
        from html import escape

        head = "<tr><th>branch</th><th>type</th><th>column</th></tr>"
        shown = list(self.iteritems())
        rows = "".join(
            f"<tr><td>{escape(name)}</td><td>{escape(b.typename)}</td><td>{escape(b.column_words)}</td></tr>"
            for name, b in shown[:100]
        )
        more = f"<tr><td colspan=3>… and {len(shown) - 100} more</td></tr>" if len(shown) > 100 else ""
        return f"<p>{escape(repr(self))}</p><table><thead>{head}</thead><tbody>{rows}{more}</tbody></table>"


def _unknown(name: str, known: Iterable[str], where: str, file: str, context: str) -> KeyInFileError:
    """The error for an unknown branch, with similar names."""
    import difflib

    near = difflib.get_close_matches(name, list(known), 3)
    remedy = f"; did you mean {' or '.join(repr(n) for n in near)}?" if near else ""
    return KeyInFileError(f"{file}: {where} has no branch {name!r}{context}{remedy}", file=file)


def column_words(kind: Callable[[], str]) -> str:
    """The type of a column as text, or the reason why it cannot be read."""
    try:
        return kind()
    except UnsupportedError as e:
        return f"not readable: {e}"
