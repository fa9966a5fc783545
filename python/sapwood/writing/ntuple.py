"""Ntuples that are written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import unicode_only
from ..public import public
from .ntuple_layout import NtupleLayout
from .refusal import refusing
from .tree import WritableTree

if TYPE_CHECKING:
    from .. import WritableFile, _core


@public
class WritableNtuple(WritableTree):
    """An ntuple (ROOT's RNTuple) that is open for writing: append entries in batches of any size."""

    _what = "ntuple"

    def __init__(
        self, file: WritableFile, path: str, title: str, core: _core.WriterNtuple, layout: NtupleLayout
    ) -> None:
        super().__init__(file, path, title, core, layout)  # type: ignore[arg-type]

    @unicode_only
    @refusing
    def add_fields(self, field_types: Any, descriptions: Mapping[str, str] | None = None) -> None:
        """Add fields, also to an ntuple that has entries: in these the fields are zero or empty.

        Nothing is written again. Entries that are appended later must have the new fields.

        Args:
            field_types: types by field, as :meth:`WritableDirectory.mkntuple` takes them. A name with dots
                (``"particle.phi"``) is that of a member of a record, which must not be in a list.
            descriptions: descriptions of the new fields.

        Raises:
            InvalidError: (a ValueError) the field exists already, or its parent is no record.
            KeyInFileError: (a KeyError) there is no such record.
            UnsupportedError: an ntuple cannot hold this type.
        """
        self._check_open()
        specs = type(self._layout)(field_types, descriptions or {}).specs()  # type: ignore[arg-type, call-arg]
        self._core.add_fields(specs)  # type: ignore[attr-defined]
        self._layout = type(self._layout).existing(self._core.inputs())  # type: ignore[assignment, arg-type, call-arg]

    def __repr__(self) -> str:
        return f"<WritableNtuple {self._path!r} in {self._file_path!r}, {self.num_entries} entries>"
