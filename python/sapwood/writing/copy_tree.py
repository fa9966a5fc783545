"""Trees of other files as input: ``file["copy"] = tree``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def is_tree(value: Any) -> bool:
    """Whether this is a tree, of Sapwood or of uproot."""
    from ..reading.tree import Tree

    if isinstance(value, Tree):
        return True
    module = type(value).__module__.partition(".")[0]
    return module == "uproot" and hasattr(value, "iterate") and hasattr(value, "num_entries")


def batches(tree: Any) -> Iterator[dict[str, Any]]:
    """The entries of a tree in batches: columns by name. Without entries: one empty batch, for the types."""
    if tree.num_entries == 0:
        yield _columns(tree.arrays())
        return
    for batch in tree.iterate(step_size="100 MB"):
        yield _columns(batch)


def _columns(batch: Any) -> dict[str, Any]:
    return {name: batch[name] for name in batch.fields}


def with_counters_first(columns: dict[str, Any], counter_name: Any = None) -> dict[str, Any]:
    """The columns, where a counter comes before the lists that it counts."""
    name_of = counter_name or (lambda counted: "n" + counted)
    counters = {name_of(name) for name in columns} & set(columns)
    return {name: columns[name] for name in sorted(columns, key=lambda n: n not in counters)}
