"""What a request selects: the branches to read, and the outputs made from them."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments.checks import string, strings, text_by_name
from ..columns import conversion
from ..columns.libraries import Library, computed
from ..errors import InvalidError, SkippedBranchWarning, UnsupportedError
from ..expressions.binding import Binder, Bound
from .item_cuts import is_by_item, item_picker
from .nested_fields import Nested, fields_of

if TYPE_CHECKING:
    from .. import Branch
    from .branches import HasBranches

#: One name or expression, several, or None for every branch.
Expressions = str | Sequence[str] | None


@dataclass(frozen=True)
class Group:
    """The sub-branches of a branch that is read as a record of them."""

    members: list[tuple[str, int | Group]]

    def numbers(self) -> Iterator[int]:
        """The numbers of the branches that hold the values."""
        for _, what in self.members:
            if isinstance(what, Group):
                yield from what.numbers()
            else:
                yield what


@dataclass
class Selection:
    """Named outputs (a branch's number, its sub-branches or some of them, or an expression), a cut, and the branches
    that they need."""

    outputs: list[tuple[str, int | Group | Nested | Bound]] = field(default_factory=list)
    cut: Bound | None = None
    #: The numbers of the tree's own branches; the others are those of friends.
    own: Collection[int] = ()
    #: Whether the cut has a boolean for each item of a list.
    by_item: bool = False

    def branches(self) -> list[int]:
        """The branches to read, each once."""
        wanted: dict[int, None] = {}
        if self.cut is not None:
            wanted.update(dict.fromkeys(self.cut.branches()))
        for _, what in self.outputs:
            if isinstance(what, (Group, Nested)):
                wanted.update(dict.fromkeys(what.numbers()))
            else:
                wanted.update({what: None} if isinstance(what, int) else dict.fromkeys(what.branches()))
        return list(wanted)

    def guide(self) -> list[int] | None:
        """The branches of the cut, if reading them first saves work and does not change the result."""
        if self.cut is None or self.by_item:
            return None
        branches = list(dict.fromkeys(self.cut.branches()))
        if any(b not in self.own for b in branches):
            # branches of friends are read with the others
            return None
        bound = [self.cut, *(what for _, what in self.outputs if isinstance(what, Bound))]
        if not branches or len(branches) == len(self.branches()) or not all(b.works_by_entry() for b in bound):
            return None
        return branches

    def test(self, branches: Sequence[int]) -> Callable[..., np.ndarray]:
        """A function that tells a scan which rows of the branches of :meth:`guide` pass the cut."""
        cut = self.cut
        assert cut is not None

        def passes(start: int, stop: int, selected, columns: list[conversion.Column]) -> np.ndarray:
            operand = _operands(dict(zip(branches, columns, strict=True)))
            mask = _mask(cut, operand, stop - start if selected is None else len(selected))
            return np.ascontiguousarray(mask)

        return passes

    def make(
        self,
        columns: Mapping[int, conversion.Column],
        entries: int,
        lib: Library,
        how: str | None,
        rows: np.ndarray | None = None,
        order: Callable[[np.ndarray | None], np.ndarray | None] | None = None,
    ):
        """The outputs in the form of the library, with the cut applied.

        Args:
            rows: numbers of the rows that passed the cut, if it has been applied already.
            order: for another order of rows: a function from the mask of the cut to the row at each position.
        """
        operand = _operands(columns)
        mask = None if self.cut is None or self.by_item or rows is not None else _mask(self.cut, operand, entries)
        items = item_picker(self.cut, operand, lib) if self.cut is not None and self.by_item else None
        places = order(mask) if order else None
        plain = mask is None and places is None and rows is None
        make = lib.piece if plain and how is None else lib.array
        count = entries if mask is None else int(mask.sum())
        count = count if places is None else len(places)

        def picked(array: Any, name: str) -> Any:
            if items is not None:
                array = items(name, array)
            if mask is not None:
                array = lib.select(array, mask)
            elif rows is not None:
                array = lib.label(array, rows)
            return array if places is None else lib.take(array, places)

        def member(number: int, name: str) -> Any:
            return picked(lib.array(columns[number], name), name)

        names, arrays = [], []
        with _no_collection(len(self.outputs)):
            for name, what in self.outputs:
                names.append(name)
                if isinstance(what, int):
                    arrays.append(picked(make(columns[what], name), name))
                elif isinstance(what, Nested):
                    made = what.joined(lambda number: conversion.to_awkward(columns[number]))
                    arrays.append(picked(computed(lib, made, name), name))
                elif isinstance(what, Group):
                    arrays.append(_grouped(lib, name, what, count, member))
                else:
                    array = computed(lib, _one_per_entry(what.evaluate(operand), entries, name), name)
                    arrays.append(picked(array, name))
            return lib.group(names, arrays, how, count)


def _grouped(lib: Library, name: str, group: Group, count: int, member: Callable[[int, str], Any]) -> Any:
    """A group as a record; a function makes the array of each branch in it.

    Not a function within the one that has the columns: one that calls itself there would keep them until the next
    collection of garbage.
    """
    parts = [
        _grouped(lib, n, what, count, member) if isinstance(what, Group) else member(what, n)
        for n, what in group.members
    ]
    return _record(lib, name, group, parts, count)


def _operands(columns: Mapping[int, conversion.Column]) -> Callable[[int], object]:
    """The values of branches as operands of expressions, each computed once."""
    made: dict[int, object] = {}

    def operand(branch: int) -> object:
        if branch not in made:
            column = columns[branch]
            plain = conversion.is_rectangular(column)
            made[branch] = conversion.to_numpy(column) if plain else conversion.to_awkward(column)
        return made[branch]

    return operand


@contextmanager
def _no_collection(outputs: int):
    """Pause the cyclic garbage collector while thousands of nodes are made, none of which is garbage."""
    held = outputs >= 100 and gc.isenabled()
    if held:
        gc.disable()
    try:
        yield
    finally:
        if held:
            gc.enable()


def _record(lib: Library, name: str, group: Group, parts: list[Any], count: int) -> Any:
    """The sub-branches of a branch as one column."""
    if lib.name in ("pa", "pl"):
        raise UnsupportedError(
            f"branch {name!r} is split into sub-branches, which library={lib.name!r} has no column for; pass these"
        )
    return lib.group([n for n, _ in group.members], parts, None, count)


def _one_per_entry(value, entries: int, text: str):
    if np.ndim(value) == 0 if isinstance(value, (np.ndarray, np.generic, bool, int, float)) else False:
        return np.full(entries, value)
    if not hasattr(value, "__len__") or isinstance(value, (str, tuple, list)):
        raise InvalidError(f"{text!r} does not evaluate to a column but to {type(value).__name__}")
    if len(value) != entries:
        raise InvalidError(
            f"{text!r} evaluates to {len(value)} values for {entries} entries; it must have one value per entry"
        )
    return value


def _mask(cut: Bound, operand: Callable[[int], object], entries: int) -> np.ndarray:
    text = cut.expression.text
    value = _one_per_entry(cut.evaluate(operand), entries, text)
    if getattr(getattr(value, "layout", None), "is_option", False):
        import awkward as ak

        # an entry that a friend does not have does not pass
        value = ak.fill_none(value, False)
    remedy = "; reduce lists to one value per entry with any(…), all(…) or num(…)"
    if isinstance(value, np.ndarray):
        mask = value
    else:
        import awkward as ak

        try:
            mask = np.asarray(ak.to_numpy(value, allow_missing=False))
        except (ValueError, TypeError):
            kind = ak.type(value)
            raise InvalidError(f"the cut {text!r} evaluates to {kind}, not to one boolean per entry{remedy}") from None
    if mask.ndim != 1:
        raise InvalidError(f"the cut {text!r} evaluates to an array per entry, not to one boolean{remedy}")
    if mask.dtype != np.bool_:
        if mask.dtype.kind not in "iuf":
            raise InvalidError(f"the cut {text!r} evaluates to {mask.dtype}, not to booleans")
        mask = mask != 0
    return mask


def select(
    owner: HasBranches,
    expressions: Expressions,
    cut: str | None,
    aliases: Mapping[str, str] | None,
    filters: Mapping[str, Any],
) -> Selection:
    """The selection of a request to a tree or a branch with sub-branches."""
    binder = Binder(owner, text_by_name(aliases, "aliases"))
    condition = "" if cut is None else string(cut, "cut")
    selection = Selection(cut=binder.bind(condition) if condition.strip() else None, own=owner.tree._places)
    if selection.cut is not None:
        selection.by_item = is_by_item(selection.cut, owner.tree)
    what: int | Group | Bound
    texts = None if expressions is None else strings(expressions, "expressions")
    if owner.tree.nests_fields:
        fields = fields_of(owner, texts, filters)
        if fields is not None:
            selection.outputs = list(fields)
            return selection
    if texts is None:
        selection.outputs = list(_all(owner, filters))
        names = dict(selection.outputs)
        for branch in groups_alone(owner, filters):
            what = group_of(branch) if branch.reads_as_group() else branch.number
            selection.outputs.append((branch.name if branch.name not in names else branch.path, what))
        return selection
    for text in texts:
        what = binder.output(text)
        if isinstance(what, int) and what in selection.own:
            # a request must not keep the file open until the garbage collector runs
            branch = owner.tree._loose_branch(what)
            if branch.reads_as_group():
                what = group_of(branch)
        selection.outputs.append((text, what))
    if len(dict(selection.outputs)) != len(texts):
        selection.outputs = list(dict(selection.outputs).items())
    return selection


def groups_alone(owner: HasBranches, filters: Mapping[str, Any]) -> list[Branch]:
    """The branches that pass the filters and are read as records of their sub-branches, of which none passes; and such
    fields of ntuples."""
    if all(value is None for name, value in filters.items() if name != "recursive"):
        return []
    passed = list(owner.filtered(**filters))
    numbers = {branch.number for branch in passed}
    return [
        branch
        for branch in passed
        if branch.branches
        and not any(below.number in numbers for below in branch._below())
        and (_is_field(branch) or (branch.reads_as_group() and any(True for _ in group_of(branch).numbers())))
    ]


def _is_field(branch: Branch) -> bool:
    return branch.tree._is_ntuple


def group_of(branch: Branch) -> Group:
    """The sub-branches of a branch that is read as a record of them: records within it stay records."""
    members: list[tuple[str, int | Group]] = []
    for name, number in _all(branch, {"recursive": False}, groups=True):
        below = branch.tree._branch(number)
        members.append((name, group_of(below) if below.is_record_in_group() else number))
    return Group(members)


def _all(owner: HasBranches, filters: Mapping[str, Any], *, groups: bool = False) -> Iterable[tuple[str, int]]:
    """The branches that pass the filters and hold values, by name; also those read as records where ``groups`` is set.

    Names are bare, or paths where that would be ambiguous, and in an ntuple, where the name of a field says little.
    """
    found, refused = [], []
    number = getattr(owner, "number", None)
    # a branch without sub-branches holds values itself
    alone = [owner.tree._branch(number)] if number is not None and not owner.branches else None
    for branch in alone or owner.filtered(**filters):
        if branch.branches and (not groups or branch.is_record_in_group()):
            if groups and any(not below.branches for below in branch._below()):
                found.append(branch)
            continue
        try:
            _ = branch.column_type
        except UnsupportedError as e:
            refused.append((branch.path, e))
        else:
            if branch.num_entries < owner.tree.num_entries:
                why = f"the branch has {branch.num_entries} entries, the tree {owner.tree.num_entries}"
                refused.append((branch.path, UnsupportedError(f"{branch.path}: {why}")))
            else:
                found.append(branch)
    if refused:
        if not found:
            raise refused[0][1]
        name, reason = refused[0]
        more = f" and {len(refused) - 1} more" if len(refused) > 1 else ""
        warnings.warn(f"skipped {name}{more}, which cannot be read ({reason})", SkippedBranchWarning, stacklevel=5)
    counts: dict[str, int] = {}
    for b in found:
        counts[b.name] = counts.get(b.name, 0) + 1
    by_path = number is None and owner.tree._is_ntuple
    outputs: dict[str, int] = {}
    twice: list[str] = []
    for b in found:
        name = b.name if counts[b.name] == 1 and not by_path else b.path
        # of several branches with the same path the first counts, as everywhere
        if outputs.setdefault(name, b.number) != b.number:
            twice.append(name)
    if twice:
        more = f" and {len(twice) - 1} more" if len(twice) > 1 else ""
        words = f"skipped another branch named {twice[0]!r}{more}; the list .branches of its parent contains all"
        warnings.warn(words, SkippedBranchWarning, stacklevel=5)
    return outputs.items()
