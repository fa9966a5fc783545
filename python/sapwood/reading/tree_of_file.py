"""The tree of a file, by its name or as the only one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import InvalidError
from .branches import HasBranches

if TYPE_CHECKING:
    from .. import ReadOnlyFile, Tree


def tree_of(file: ReadOnlyFile, name: str | None) -> Tree:
    """The tree with this name; without a name, the only one of the file.

    Raises:
        KeyInFileError: there is no such object.
        InvalidError: it is not a tree; or without a name, there is no tree, or more than one.
    """
    if name is not None:
        found = file[name]
        # a branch of a tree has the same mapping
        if not isinstance(found, HasBranches) or found.tree is not found:
            raise InvalidError(f"{file.file_path}: {name} is not a tree but {found!r}", file=file.file_path)
        return found.tree
    names = file.keys(cycle=False, filter_classname=["TTree", "TNtuple", "TNtupleD", "ROOT::RNTuple"])
    if len(names) == 1:
        return file[names[0]]
    what = f"trees {', '.join(names)}" if names else "no tree"
    raise InvalidError(f"{file.file_path} contains {what}; specify one: file.root:tree", file=file.file_path)
