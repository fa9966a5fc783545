"""Awkward arrays that read a column when it is used."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments.sizes import entry_range
from ..errors import InvalidError, require
from ..public import public
from .touched import TouchedColumns

if TYPE_CHECKING:
    from .. import Branch
    from .branches import HasBranches


@public
@dataclass(frozen=True)
class Access:
    """A use of a column's buffer; see ``access_log`` of :meth:`Tree.arrays`."""

    #: Path of the branch.
    branch: str
    #: The buffer of the awkward array: its values, or where its lists begin.
    buffer_key: str


def virtual_arrays(
    owner: HasBranches,
    filters: Mapping[str, Any],
    span: tuple[int | None, int | None],
    access_log: Any,
    others: Mapping[str, Any],
    *,
    virtual: bool,
    ak_add_doc: bool | Mapping[str, str] = False,
) -> Any:
    """The branches that pass the filters as an array of records whose columns are read when they are used.

    Raises:
        InvalidError: an argument that needs the values at once.
    """
    if not virtual:
        raise InvalidError("access_log cannot be used with 'virtual=False'")
    for name, value in others.items():
        if value is not None:
            raise InvalidError(
                f"{name}={value!r} cannot be used with 'virtual=True'; omit it or read with virtual=False"
            )
    ak = require("awkward", "virtual=True")
    from .selection import select

    first, last = entry_range(*span, owner.tree.num_entries)
    number = getattr(owner, "number", None)
    if number is not None and not owner.branches:
        # a branch without sub-branches
        numbers: list[tuple[str, int]] = [(owner.tree._branch(number).name, number)]
    else:
        numbers = [(n, what) for n, what in select(owner, None, None, None, filters).outputs if isinstance(what, int)]
    # no entries have the types of all, and no basket is fetched for them
    empty = owner.tree.arrays([], entry_stop=0) if not numbers else None
    contents, names = [], []
    columns = TouchedColumns(first, last, owner.tree.object_path)
    for name, number in numbers:
        contents.append(_virtual(ak, owner.tree._branch(number), columns, access_log))
        names.append(name)
    if empty is not None:
        return empty
    record = ak.contents.RecordArray(contents, names, length=last - first)
    made = ak.Array(record)
    if ak_add_doc:
        from ..columns.documented import documented

        return documented(owner, made, ak_add_doc)
    return made


def _virtual(ak: Any, branch: Branch, columns: TouchedColumns, log: Any) -> Any:
    """The layout of a branch whose buffers are those of one read, which happens when the first of them is used."""
    form = branch.array(entry_start=0, entry_stop=0, library="ak").layout.form
    keyed = form_with_keys(ak, form)
    lock = threading.Lock()
    held: dict[str, Any] = {}

    def buffer(key: str) -> Callable[[], Any]:
        def read() -> Any:
            with lock:
                if not held:
                    array = columns.array(branch)
                    packed = ak.to_packed(array)
                    _, _, buffers = ak.to_buffers(packed, buffer_key="{form_key}-{attribute}", form_key="node{id}")
                    held.update(buffers)
                if log is not None:
                    log.append(Access(branch.path, key))
                return np.asarray(held[key])

        return read

    keys = keyed.expected_from_buffers("{form_key}-{attribute}", recursive=True)
    container = {key: buffer(key) for key in keys}
    return ak.from_buffers(
        keyed, columns.last - columns.first, container, buffer_key="{form_key}-{attribute}", highlevel=False
    )


def form_with_keys(ak: Any, form: Any) -> Any:
    """The form with the keys that `ak.to_buffers` gives to its nodes."""
    empty = form.length_zero_array(highlevel=False)
    made, _, _ = ak.to_buffers(empty, form_key="node{id}")
    return made
