"""``how="zip"``: lists of the same length combined to lists of records, as in uproot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def zipped(names: Sequence[str], arrays: Sequence[Any], entries: int) -> Any:
    """An ``ak.Array`` of records in which lists of the same lengths are one list of records.

    The name of such a list is the common prefix of its members' names up to an underscore or a dot (``Muon`` for
    ``Muon_pt`` and ``Muon_eta``, which become ``pt`` and ``eta``), otherwise ``jagged0`` and so on. Lists of lists and
    of strings are unchanged.
    """
    import awkward as ak

    single: list[tuple[str, Any]] = []
    groups: list[tuple[Any, list[tuple[str, Any]]]] = []
    for name, array in zip(names, arrays, strict=True):
        layout = ak.to_layout(array)
        if not _is_list_of_numbers(layout):
            single.append((name, layout))
            continue
        layout = layout.to_ListOffsetArray64(True)
        offsets = np.asarray(layout.offsets.data)
        content = layout.content[: int(offsets[-1])] if len(offsets) else layout.content
        for known, members in groups:
            if np.array_equal(known, offsets):
                members.append((name, content))
                break
        else:
            groups.append((offsets, [(name, content)]))
    taken = {name for name, _ in single}
    for number, (offsets, members) in enumerate(groups):
        front = _front([name for name, _ in members])
        title = front.rstrip("_.")
        if not title or title in taken:
            front, title = "", f"jagged{number}"
        taken.add(title)
        fields = [name[len(front) :] for name, _ in members]
        length = int(offsets[-1]) if len(offsets) else 0
        records = ak.contents.RecordArray([content for _, content in members], fields, length=length)
        single.append((title, ak.contents.ListOffsetArray(ak.index.Index64(offsets), records)))
    layouts = [layout for _, layout in single]
    return ak.Array(ak.contents.RecordArray(layouts, [name for name, _ in single], length=entries))


def _is_list_of_numbers(layout: Any) -> bool:
    if not layout.is_list or layout.is_regular or layout.parameter("__array__") is not None:
        return False
    content = layout.content
    while content.is_indexed or (content.is_regular and content.parameter("__array__") is None):
        content = content.content
    return not content.is_list


def _front(names: Sequence[str]) -> str:
    """The common prefix of all names that ends with an underscore or a dot and is shorter than each name."""
    shortest = min(names, key=len)
    for n in range(len(shortest) - 1, 0, -1):
        if shortest[n - 1] in "_." and all(name.startswith(shortest[:n]) for name in names):
            return shortest[:n]
    return ""
