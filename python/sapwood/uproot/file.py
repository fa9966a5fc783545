"""Files and directories with uproot's attributes where these differ from Sapwood's own."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ..reading.directory import Directory
from ..reading.file import Options, open_as
from ..reading.file import ReadOnlyFile as NativeFile
from .compression import Compression, compression_of
from .read import TTree

if TYPE_CHECKING:
    from ..reading.key import Key
    from ..reading.tree import Tree
    from .objects import Factory


class ReadOnlyDirectory(Directory):
    """A directory of a file."""

    @property
    def path(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the directories from the top of the file to this one."""
        return tuple(part for part in self._path.split("/") if part)

    def _key_class(self) -> type[Key]:
        from .key import ReadOnlyKey

        return ReadOnlyKey

    def __repr__(self) -> str:
        return f"<ReadOnlyDirectory {self.object_path!r} at {id(self):#014x}>"


class ReadOnlyFile(NativeFile, ReadOnlyDirectory):
    """An open file and its top directory."""

    _directory_class = ReadOnlyDirectory

    def _factory(self) -> Factory:
        from .objects import Factory

        return Factory()

    @property
    def _tree_class(self) -> type[Tree]:
        return TTree

    def _tree_class_of(self, core: Any) -> type[Tree]:
        if core.class_name != "ROOT::RNTuple" or self._tree_class is not TTree:
            return self._tree_class
        from .ntuple import RNTuple

        return RNTuple

    def _chain(self, stored: Any) -> Any:
        # as in uproot, an object with members
        return stored

    @property
    def path(self) -> tuple[str, ...]:  # type: ignore[override]
        """The top directory is in no other: ()."""
        return ()

    @property
    def compression(self) -> Compression | None:  # type: ignore[override]
        """The compression of new objects; None for none."""
        return compression_of(super().compression)

    def __repr__(self) -> str:
        return f"<ReadOnlyDirectory '/' at {id(self):#014x}>"

    def __reduce__(self) -> Any:
        _, given = super().__reduce__()
        return functools.partial(_reopened, options=self._options), given


def _reopened(path: Any, options: Options) -> Any:
    return open_as(ReadOnlyFile, path, options)
