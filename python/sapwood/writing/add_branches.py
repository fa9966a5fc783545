"""Adding branches to a tree of an existing file: the tree is written again with them, in place of the old one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..errors import InvalidError, KeyInFileError, UnsupportedError
from .columns import length
from .from_data import from_any
from .tables import tables

if TYPE_CHECKING:
    from .. import Branch, Tree, WritableDirectory, WritableFile, WritableTree


def add_branches(directory: WritableDirectory, name: str, data: Any, mktree: Callable[..., WritableTree]) -> None:
    """See :meth:`WritableDirectory.add_branches`. ``mktree`` is that of this class itself, not of a class derived from
    it."""
    from ..reading.tree import Tree

    file = directory._file
    full = directory._join(name).partition(";")[0]
    if full in file._trees or not file._existed:
        raise UnsupportedError(
            f"{file.file_path}: tree {full} is being written: declare all branches in mktree, or close the file and "
            "add branches with update"
        )
    cycle, _ = directory._key(full)
    key = f"{full};{cycle}"
    new = {str(n): column for n, column in tables(data).items()}
    if not new:
        raise InvalidError("there are no branches to add")
    # branches that were added a moment ago are not in the file that is read: they are written once more
    base, earlier = file._with_added.get(key, (key, {}))
    with _before(file) as before:
        try:
            tree = before[base]
        except KeyInFileError:
            tree = None
        if not isinstance(tree, Tree):
            raise UnsupportedError(
                f"{file.file_path}: {key} is not a tree that the file had when it was opened; close the file first"
            )
        _check(file, tree, key, new, earlier)
        added = {**earlier, **new}
        made = _begin(directory, full, tree, added, mktree)
        try:
            for batch, report in tree.iterate(_values(tree), step_size="50 MB", report=True):
                columns = {n: batch[n] for n in batch.fields}
                made.extend({**columns, **{n: values[report.start : report.stop] for n, values in added.items()}})
        except BaseException:
            file._trees.pop(full, None)
            made._abandon()
            raise
    made.close()
    file._trees.pop(full, None)
    file._finish_tree(key, "branches were added to it")
    file._core.replace(full, cycle)
    file._with_added[key] = base, added


@contextmanager
def _before(file: WritableFile) -> Iterator[Any]:
    """The file as it was when it was opened, to read from it while it is written.

    What it had stays where it is until the file is closed, but its time changes, which is refused of a file read
    by its path. So this is a file object without one.
    """
    from ..reading.file import open as open_to_read

    with open(os.open(file._path_on_disk, os.O_RDONLY), "rb") as raw, open_to_read({raw: None}) as before:
        yield before


def _check(file: Any, tree: Tree, key: str, new: Mapping[str, Any], earlier: Mapping[str, Any]) -> None:
    """Refuse what cannot be done, before anything is written."""
    opened = file._trees.get(key)
    if opened is not None and opened.num_entries != tree.num_entries:
        raise UnsupportedError(
            f"{file.file_path}: entries were appended to {key}: close the file before branches are added"
        )
    if tree._is_ntuple:
        raise UnsupportedError(
            f"{file.file_path}: {key} is an ntuple, to which no fields can be added; write a new one with mkntuple"
        )
    stored = tree._stored().all_members
    lost = {
        "aliases": tree.aliases,
        "friends": tree.friends,
        "an index": stored.get("fTreeIndex") is not None,
        "user information": tree.user_info,
        "a weight": stored.get("fWeight", 1.0) != 1.0,
    }
    if found := [what for what, there in lost.items() if there]:
        raise UnsupportedError(
            f"{file.file_path}: {key} has {' and '.join(found)}, which would be lost; "
            "write the branches to a tree that is its friend"
        )
    split = next((b.name for b in tree.branches if b.branches), None)
    if split is not None:
        raise UnsupportedError(f"{file.file_path}: {key} has the split branch {split}, which cannot be copied")
    for name, values in new.items():
        if name in tree or name in earlier:
            raise InvalidError(f"tree {key} has a branch {name} already", branch=name)
        entries = length(from_any(values, f"branch {name}"))
        if entries != tree.num_entries:
            raise InvalidError(f"branch {name} has {entries} entries, tree {key} has {tree.num_entries}", branch=name)


def _counter_types(tree: Tree) -> dict[str, str]:
    """The types of counters that are not the default."""
    names = dict.fromkeys(_counters(tree).values())
    return {name: t for name in names if (t := tree[name].column_type) != "int32"}


def _counters(tree: Tree) -> dict[str, str]:
    """The counter of each branch that has one."""
    found = ((b.name, b.count_branch) for b in tree.branches)
    return {name: counter.name for name, counter in found if counter is not None}


def _values(tree: Tree) -> list[str]:
    """All branches; those that count others come from these."""
    return [b.name for b in tree.branches if b.name not in set(_counters(tree).values())]


def _begin(
    directory: WritableDirectory, full: str, tree: Tree, new: Mapping[str, Any], mktree: Callable[..., WritableTree]
) -> WritableTree:
    """The new tree, with the types, titles and counters of the old one."""
    counters = _counters(tree)
    names = _values(tree)
    file = directory._file
    # the text of existing branches stays what it is
    c_strings, file._text_as_c_strings = file._text_as_c_strings, False
    text = {n for n, values in new.items() if c_strings and from_any(values, f"branch {n}")[0] == "text"}
    types = {**_counter_types(tree), **{name: _declared(tree[name]) for name in names}}
    types |= {n: "char*" if n in text else values for n, values in new.items()}
    titles = {name: tree[name].title for name in names}
    top = file._directory_class(file, "")

    def counter_name(counted: str) -> str:
        return counters.get(counted, "n" + counted)

    try:
        return mktree(top, full, types, tree.title, counter_name=counter_name, titles=titles)
    finally:
        file._text_as_c_strings = c_strings


def _declared(branch: Branch) -> str:
    """The type of a branch as :meth:`WritableDirectory.mktree` takes it.

    Raises:
        UnsupportedError: it cannot be written.
    """
    typename = branch.typename
    if branch.column_type.startswith("{"):
        raise UnsupportedError(f"branch {branch.name} has several leaves, which cannot be copied", branch=branch.name)
    if typename == "char*":
        return typename
    if "<" in typename or typename == "std::string":
        if "class" in typename or branch.column_type.endswith("]"):
            raise UnsupportedError(f"branch {branch.name}: {typename} cannot be copied", branch=branch.name)
        return typename
    return branch.column_type
