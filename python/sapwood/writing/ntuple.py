"""Ntuples that are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..public import public
from .ntuple_layout import NtupleLayout
from .tree import WritableTree

if TYPE_CHECKING:
    from .. import WritableFile, _core


@public
class WritableNtuple(WritableTree):
    """An ntuple (ROOT's RNTuple) that is open for writing: append entries in batches of any size."""

    def __init__(
        self, file: WritableFile, path: str, title: str, core: _core.WriterNtuple, layout: NtupleLayout
    ) -> None:
        super().__init__(file, path, title, core, layout)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        return f"<WritableNtuple {self._path!r} in {self._file_path!r}, {self.num_entries} entries>"
