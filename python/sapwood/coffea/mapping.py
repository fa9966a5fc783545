"""Columns of a tree, as coffea's virtual arrays ask for them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from coffea.nanoevents.mapping import TrivialUprootOpener, UprootSourceMapping
from coffea.nanoevents.util import unquote

from ..reading.touched import TouchedColumns
from .files import Branch, Events, open


class Opener(TrivialUprootOpener):  # type: ignore[misc]
    """Opens the file with a UUID again."""

    def open_uuid(self, uuid: str) -> Any:
        """Return the file.

        Raises:
            RuntimeError: the file at this place is another one.
        """
        file = open({self._uuid_pfnmap[uuid]: None}, **self._uproot_options)
        if str(file.uuid) != uuid:
            file.close()
            raise RuntimeError(f"{file.file_path} has changed: its UUID is {file.uuid}, not {uuid}")
        return file


class SourceMapping(UprootSourceMapping):  # type: ignore[misc]
    """Columns of a range of entries. Each is read once, with those that earlier ranges used together with it."""

    def __init__(self, fileopener: Any, start: int, stop: int, *args: Any, **options: Any) -> None:
        super().__init__(fileopener, start, stop, *args, **options)
        self.columns = TouchedColumns(start, stop, "")

    def get_column_handle(self, columnsource: Any, name: str, allow_missing: bool) -> Any:
        """Return a branch, whose values are those of :attr:`columns`."""
        handle = super().get_column_handle(columnsource, name, allow_missing)
        return _Handle(handle, self.columns) if isinstance(handle, Branch) else handle

    def fetch_loaded(self, form: Any) -> None:
        """Read all columns that a form needs, in one scan."""
        trees = [source for source in self._cache.values() if isinstance(source, Events)]
        for tree in trees:
            self.columns.fetch(tree[name] for name in loaded(form) if name in tree)


class _Handle:
    """A branch that coffea reads: its values are read with those of others."""

    def __init__(self, branch: Branch, columns: TouchedColumns) -> None:
        self._branch, self._columns = branch, columns

    def __getattr__(self, name: str) -> Any:
        return getattr(self._branch, name)

    def array(
        self, interpretation: Any = None, entry_start: int | None = None, entry_stop: int | None = None, **_: Any
    ) -> Any:
        """Return the values of a range of entries."""
        columns = self._columns
        if (entry_start, entry_stop) == (columns.first, columns.last):
            return columns.array(self._branch)
        return self._branch.array(entry_start=entry_start, entry_stop=entry_stop, library="ak")


def loaded(form: Any) -> list[str]:
    """The branches that the keys of a form load."""
    names: dict[str, None] = {}
    nodes = [form]
    while nodes:
        node = nodes.pop()
        if not isinstance(node, dict):
            continue
        words = unquote(node.get("form_key") or "").split(",")
        names.update((before, None) for before, word in pairwise(words) if word.startswith("!load"))
        nodes.extend(node.get("contents") or ())
        nodes.append(node.get("content"))
    return list(names)
