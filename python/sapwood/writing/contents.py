"""What a directory that is written contains: as a mapping, and read back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..arguments.filters import Filter
from ..arguments.rename import Rename, renamer
from ..errors import InvalidError, KeyInFileError, UnsupportedError
from ..reading.listing import ObjectListing

if TYPE_CHECKING:
    from .. import WritableDirectory
    from ..reading.directory import Directory

_DIRECTORIES = frozenset(("TDirectory", "TDirectoryFile"))
_TREES = frozenset(("TTree", "TNtuple", "TNtupleD"))


class Contents(ObjectListing):
    """The mapping of a directory that is written: names to trees, directories and objects."""

    def _as_directory(self) -> WritableDirectory:
        raise NotImplementedError

    def _rows(self, recursive: bool) -> Iterator[tuple[str, int, str]]:
        """(path below here, cycle, class) of each object, and of trees that are being written."""
        here = self._as_directory()
        file = here._file
        file._check_open()

        def below(path: str, front: str) -> Iterator[tuple[str, int, str]]:
            found = [(name, number, kind) for name, number, kind in file._core.keys(path)]
            for full, tree in list(file._trees.items()):
                above, _, last = full.rpartition("/")
                # one that exists in the file already is among its keys
                if above == path and ";" not in last and not tree._in_file:
                    found.append((last, 1 + max((c for name, c, _ in found if name == last), default=0), "TTree"))
            for name, number, kind in found:
                yield front + name, number, kind
                if recursive and kind in _DIRECTORIES:
                    yield from below(f"{path}/{name}" if path else name, f"{front}{name}/")

        # a directory of two cycles is one directory
        return iter(dict.fromkeys(below(here._path, "")))

    def get(self, name: str, default: Any = None) -> Any:
        """Return the object with this name, or the default if there is none."""
        try:
            return self._as_directory()[name]
        except KeyInFileError:
            return default

    def update(self, objects: Mapping[str, Any] | Iterable[tuple[str, Any]] = (), **more: Any) -> None:
        """Write several objects by name; see :meth:`WritableDirectory.__setitem__`."""
        here = self._as_directory()
        for name, value in {**dict(objects), **more}.items():
            here[name] = value

    def copy_from(
        self,
        source: Directory,
        *,
        filter_name: Filter = None,
        filter_classname: Filter = None,
        rename: Rename = None,
        require_matches: bool = True,
    ) -> None:
        """Write histograms, graphs, texts and trees of another file, read with Sapwood or uproot, under the same paths.

        Args:
            source: a directory that is read.
            filter_name, filter_classname: see :meth:`Directory.iterkeys`; directories are made as they are needed.
            rename: the path to write in place of a path, without cycle: a function, a dict,
                ``"/pattern/replacement/"``, or a list of these, of which the first that changes the path counts.
            require_matches: raise an exception if nothing passes the filters.

        Raises:
            KeyInFileError: nothing passes the filters.
            UnsupportedError: an object has a class that cannot be written.
        """
        here, new_name = self._as_directory(), renamer(rename)
        found = dict(source.iterclassnames(filter_name=filter_name, filter_classname=filter_classname, cycle=False))
        if not found and require_matches:
            raise KeyInFileError(f"{source.file_path}: nothing passes the filters", file=source.file_path)
        for path, kind in found.items():
            target = new_name(path)
            if not isinstance(target, str):
                raise InvalidError(f"rename must return a path, not {target!r}")
            if kind in _DIRECTORIES:
                here.mkdir(target)
            else:
                here[target] = source[path]


def read_back(directory: WritableDirectory, full: str, kind: str) -> Any:
    """An object that was written before, with its path and cycle, read from a file.

    What this file was given is written to a file of its own and read from there, because the file is not complete.
    What an existing file had before is read from it: it is unchanged until it is closed.
    """
    from ..reading.file import open

    file = directory._file
    write = file._written.get(full)
    if write is not None:
        import os
        import tempfile

        with tempfile.TemporaryDirectory(prefix="sapwood-") as folder:
            path = os.path.join(folder, "object.root")
            with file._scratch(path) as scratch:
                write(scratch._core, scratch._core.mkdir(""))
            with open(path) as made:
                (found,) = made.values()
                return found
    if file._existed:
        with open({file._path_on_disk: None}) as before:
            return before[full]
    raise UnsupportedError(f"{file.file_path}: {full} is a {kind}, which can be read when the file is closed")
