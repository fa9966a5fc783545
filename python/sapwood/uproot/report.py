"""What uproot tells of a step of ``iterate``."""

from __future__ import annotations

from typing import Any


class Report:
    """The entries of a step. ``start`` and ``stop`` count through all files, ``tree_entry_start`` and
    ``tree_entry_stop`` in the tree."""

    def __init__(self, source: Any, tree_entry_start: int, tree_entry_stop: int, global_offset: int = 0) -> None:
        #: The tree.
        self.source = source
        #: First entry in the tree.
        self.tree_entry_start = tree_entry_start
        #: End of the entries in the tree (exclusive).
        self.tree_entry_stop = tree_entry_stop
        #: Entries of all files before this one.
        self.global_offset = global_offset

    @property
    def global_entry_start(self) -> int:
        """First entry, counted through all files."""
        return self.global_offset + self.tree_entry_start

    @property
    def global_entry_stop(self) -> int:
        """End of the entries, counted through all files (exclusive)."""
        return self.global_offset + self.tree_entry_stop

    start = global_entry_start
    stop = global_entry_stop

    @property
    def tree(self) -> Any:
        """The tree."""
        return self.source.tree

    @property
    def file(self) -> Any:
        """The file of the tree."""
        return self.source.file

    @property
    def file_path(self) -> str:
        """Path or URL of the file."""
        return self.source.file.file_path

    def to_global(self, global_offset: int) -> Report:
        """Return the same entries with another number of entries before the file."""
        return Report(self.source, self.tree_entry_start, self.tree_entry_stop, global_offset)

    def __repr__(self) -> str:
        where = f"{self.file_path}:{self.source.object_path}"
        return f"<Report start={self.start} stop={self.stop} source={where!r}>"
