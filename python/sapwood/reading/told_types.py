"""The types of columns as text, to compare those of several files; no basket is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..errors import UnsupportedError


def told_types(branches: Mapping[str, Any], tree: Any) -> dict[str, str]:
    """The types of the columns of branches, as awkward's; of ntuples also what is optional and what is a variant, which
    are lists and records in :attr:`Branch.column_type`."""
    kinds = {name: branch.column_type for name, branch in branches.items()}
    if not tree._is_ntuple or tree.nests_fields:
        return kinds
    lists = {name: branches[name].path for name, kind in kinds.items() if "var *" in kind}
    if lists:
        form = read_fields(tree, list(lists.values()), 0, 0, False).layout.form
        kinds |= {name: str(form.content(path).type) for name, path in lists.items() if path in form.fields}
    return kinds


def types_of(tree: Any, names: Iterable[str]) -> dict[str, str]:
    """The types of columns that can be read, by name; of ntuples whose fields are read within each other, of those at
    the top."""
    if tree.nests_fields:
        form = read_fields(tree, list(names), 0, 0, False).layout.form
        return {name: str(form.content(name).type) for name in form.fields}
    branches = {}
    for name in names:
        try:
            _ = tree[name].column_type
        except UnsupportedError:
            continue
        branches[name] = tree[name]
    return told_types(branches, tree)


def read_fields(tree: Any, paths: Sequence[str], start: int, stop: int, doc: Any) -> Any:
    """Read fields of an ntuple by their paths alone: a name may be that of fields at other depths, too."""
    wanted = frozenset(paths)
    return tree.arrays(
        filter_branch=lambda branch: branch.path in wanted, entry_start=start, entry_stop=stop, library="ak",
        ak_add_doc=doc,
    )  # fmt: skip
