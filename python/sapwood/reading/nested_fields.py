"""Fields of ntuples as uproot returns them: in records, and in lists of records, as they are in the file."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments.filters import matcher
from ..errors import SkippedBranchWarning, UnsupportedError

if TYPE_CHECKING:
    from .. import Branch
    from .branches import HasBranches

#: Names of fields, from a top-level field down.
Names = tuple[str, ...]


@dataclass(frozen=True)
class Nested:
    """Some of the fields of a top-level field: their names below it, and their branches."""

    fields: list[tuple[Names, int]]
    #: Returns the awkward form of the whole top-level field.
    form: Callable[[], Any]

    def numbers(self) -> Iterator[int]:
        """The numbers of the branches."""
        return (number for _, number in self.fields)

    def joined(self, of_branch: Callable[[int], Any]) -> Any:
        """The fields as one awkward array, of the arrays of the branches."""
        import awkward as ak

        return ak.Array(_joined(self.form(), [(names, of_branch(n).layout) for names, n in self.fields]))


def _joined(form: Any, below: list[tuple[Names, Any]]) -> Any:
    """The layouts of some fields below a form as one layout. What is around them is the same for all."""
    from awkward import contents, index

    names, first = below[0]
    if not names:
        return first
    if form.is_record:
        chosen = dict.fromkeys(names[0] for names, _ in below)
        parts = [
            _joined(form.content(name), [(names[1:], layout) for names, layout in below if names[0] == name])
            for name in chosen
        ]
        # of a tuple some fields are a record, all of them the tuple
        fields = None if form.is_tuple and list(chosen) == form.fields else list(chosen)
        return contents.RecordArray(parts, fields, length=first.length, parameters=form.parameters)
    if form.is_list and not form.is_regular:
        packed = [(names, layout.to_ListOffsetArray64(start_at_zero=True)) for names, layout in below]
        offsets = packed[0][1].offsets
        inner = [(names, layout.content[: offsets[-1]]) for names, layout in packed]
        return contents.ListOffsetArray(offsets, _joined(form.content, inner), parameters=form.parameters)
    if form.is_regular:
        inner = [(names, layout.content[: layout.length * layout.size]) for names, layout in below]
        content = _joined(form.content, inner)
        return contents.RegularArray(content, first.size, first.length, parameters=form.parameters)
    if form.is_option:
        valid = np.asarray(first.mask_as_bool(valid_when=True))
        where = np.where(valid, np.cumsum(valid) - 1, -1)
        content = _joined(form.content, [(names, layout.project()) for names, layout in below])
        return contents.IndexedOptionArray(index.Index64(where), content, parameters=form.parameters)
    raise UnsupportedError(f"fields of {form.type} cannot be chosen; read it whole")


def _without_choice(form: Any, names: Names) -> int:
    """How many of these names can be chosen below a form: a variant is read whole."""
    deep = 0
    while deep < len(names):
        if form.is_union:
            return deep
        if form.is_record:
            form, deep = form.content(names[deep]), deep + 1
        else:
            form = form.content
    return deep


def fields_of(
    owner: HasBranches, texts: Sequence[str] | None, filters: Mapping[str, Any]
) -> list[tuple[str, int | Nested]] | None:
    """Top-level fields, whole or in part, by name. As in uproot, expressions are filters of names; None if one of them
    is no such filter."""
    if texts is not None:
        filters = {"filter_name": list(texts)}
        if not all(_passes(owner, text) for text in texts):
            return None
    passed = {branch.number: branch for branch in owner.filtered(**filters)}
    refused: list[tuple[str, UnsupportedError]] = []
    chosen: dict[int, list[Branch]] = {}
    for branch in passed.values():
        line = list(line_of(branch))
        if any(above.number in passed and _readable(above) is None for above in line[:-1]):
            continue
        why = _readable(branch)
        if why is None:
            chosen.setdefault(line[0].number, []).append(branch)
        elif not branch.branches:
            refused.append((branch.path, why))
    if refused:
        if not chosen:
            raise refused[0][1]
        more = f" and {len(refused) - 1} more" if len(refused) > 1 else ""
        words = f"skipped {refused[0][0]}{more}, which cannot be read ({refused[0][1]})"
        warnings.warn(words, SkippedBranchWarning, stacklevel=6)
    return [_output(owner.tree._branch(top), branches) for top, branches in chosen.items()]


def _passes(owner: HasBranches, text: str) -> bool:
    """Whether an expression is the name of a field, or a pattern that names have."""
    return owner.branch_number(text) is not None or (
        not text.isidentifier() and matcher(text, "filter_name") is not None and any(owner.filtered(text))
    )


def line_of(branch: Branch) -> Iterator[Branch]:
    """The branches from the top-level one down to this one."""
    if branch.parent is not branch.tree:
        yield from line_of(branch.parent)  # type: ignore[arg-type]
    yield branch


def _readable(branch: Branch) -> UnsupportedError | None:
    """Why a branch cannot be read; None if it can."""
    try:
        _ = branch.column_type
    except UnsupportedError as e:
        return e
    return None


def _output(top: Branch, branches: list[Branch]) -> tuple[str, int | Nested]:
    if any(branch is top for branch in branches):
        return top.name, top.number
    forms: list[Any] = []

    def form() -> Any:
        if not forms:
            forms.append(top.array(entry_start=0, entry_stop=0, library="ak").layout.form)
        return forms[0]

    fields: dict[Names, int] = {}
    for branch in branches:
        line = list(line_of(branch))
        names = tuple(b.name for b in line[1:])
        deep = _without_choice(form(), names)
        if deep == 0:
            return top.name, top.number
        fields[names[:deep]] = line[deep].number
    return top.name, Nested(list(fields.items()), form)
