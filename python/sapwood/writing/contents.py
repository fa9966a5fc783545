"""What a directory that is written contains: as a mapping, and read back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..arguments.filters import Filter, matcher
from ..errors import InvalidError, KeyInFileError, UnsupportedError

if TYPE_CHECKING:
    from .. import WritableDirectory
    from ..reading.directory import Directory

_DIRECTORIES = frozenset(("TDirectory", "TDirectoryFile"))
_TREES = frozenset(("TTree", "TNtuple", "TNtupleD"))


class Contents:
    """The mapping of a directory that is written: names to trees, directories and objects."""

    def _as_directory(self) -> WritableDirectory:
        raise NotImplementedError

    def _listed(self, recursive: bool, cycle: bool) -> Iterator[tuple[str, str, str]]:
        """(key, path below here with cycle, class) of each object, and of trees that are being written."""
        here = self._as_directory()
        file = here._file
        file._check_open()

        def below(path: str, front: str) -> Iterator[tuple[str, str, str]]:
            found = [(name, number, kind) for name, number, kind in file._core.keys(path)]
            for full, tree in list(file._trees.items()):
                above, _, last = full.rpartition("/")
                # one that exists in the file already is among its keys
                if above == path and ";" not in last and not tree._in_file:
                    found.append((last, 1 + max((c for name, c, _ in found if name == last), default=0), "TTree"))
            for name, number, kind in found:
                full = f"{front}{name};{number}"
                yield (full if cycle else front + name), full, kind
                if recursive and kind in _DIRECTORIES:
                    yield from below(f"{path}/{name}" if path else name, f"{front}{name}/")

        seen: set[str] = set()
        for key, full, kind in below(here._path, ""):
            if key not in seen:
                seen.add(key)
                yield key, full, kind

    def _passing(
        self, recursive: bool, cycle: bool, filter_name: Filter, filter_classname: Filter
    ) -> Iterator[tuple[str, str, str]]:
        name_passes, class_passes = matcher(filter_name, "filter_name"), matcher(filter_classname, "filter_classname")
        for key, full, kind in self._listed(recursive, cycle):
            bare = full.rpartition(";")[0]
            names = (bare, bare.rpartition("/")[2], full)
            if (not name_passes or any(map(name_passes, names))) and (not class_passes or class_passes(kind)):
                yield key, full, kind

    def iterkeys(
        self,
        *,
        recursive: bool = True,
        cycle: bool = True,
        filter_name: Filter = None,
        filter_classname: Filter = None,
    ) -> Iterator[str]:
        """Iterate over the paths of the objects, also of trees that are being written.

        Args:
            recursive: include subdirectories.
            cycle: include ``;cycle``; otherwise each name appears once.
            filter_name: filter on the name or path, with or without cycle (glob, ``/regex/i``, callable, list).
            filter_classname: filter on the C++ class.
        """
        return (key for key, _, _ in self._passing(recursive, cycle, filter_name, filter_classname))

    def iterclassnames(
        self,
        *,
        recursive: bool = True,
        cycle: bool = True,
        filter_name: Filter = None,
        filter_classname: Filter = None,
    ) -> Iterator[tuple[str, str]]:
        """Iterate over (path, C++ class) pairs; see :meth:`iterkeys`."""
        return ((key, kind) for key, _, kind in self._passing(recursive, cycle, filter_name, filter_classname))

    def iteritems(
        self,
        *,
        recursive: bool = True,
        cycle: bool = True,
        filter_name: Filter = None,
        filter_classname: Filter = None,
    ) -> Iterator[tuple[str, Any]]:
        """Iterate over (path, object) pairs; see :meth:`iterkeys`."""
        here = self._as_directory()
        passing = list(self._passing(recursive, cycle, filter_name, filter_classname))
        return ((key, here[full]) for key, full, _ in passing)

    def itervalues(
        self, *, recursive: bool = True, filter_name: Filter = None, filter_classname: Filter = None
    ) -> Iterator[Any]:
        """Iterate over the objects; see :meth:`iterkeys`."""
        pairs = self.iteritems(recursive=recursive, filter_name=filter_name, filter_classname=filter_classname)
        return (value for _, value in pairs)

    def keys(self, **options: Any) -> list[str]:
        """Return the paths of the objects; takes the arguments of :meth:`iterkeys`."""
        return list(self.iterkeys(**options))

    def classnames(self, **options: Any) -> dict[str, str]:
        """Return the C++ classes by path; takes the arguments of :meth:`iterclassnames`."""
        return dict(self.iterclassnames(**options))

    def items(self, **options: Any) -> list[tuple[str, Any]]:
        """Return (path, object) pairs; takes the arguments of :meth:`iteritems`."""
        return list(self.iteritems(**options))

    def values(self, **options: Any) -> list[Any]:
        """Return the objects; takes the arguments of :meth:`itervalues`."""
        return list(self.itervalues(**options))

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

    def __iter__(self) -> Iterator[str]:
        return self.iterkeys()

    def __len__(self) -> int:
        return sum(1 for _ in self._listed(True, True))

    def __bool__(self) -> bool:
        return True

    def _ipython_key_completions_(self) -> list[str]:
        """The names that IPython completes after ``file["``."""
        return self.keys(cycle=False)

    def copy_from(
        self,
        source: Directory,
        *,
        filter_name: Filter = None,
        filter_classname: Filter = None,
        rename: Callable[[str], str] | None = None,
        require_matches: bool = True,
    ) -> None:
        """Write histograms, graphs, texts and trees of another file, read with Sapwood or uproot, under the same paths.

        Args:
            source: a directory that is read.
            filter_name, filter_classname: see :meth:`Directory.iterkeys`; directories are made as they are needed.
            rename: function from a path, without cycle, to the path to write.
            require_matches: raise an exception if nothing passes the filters.

        Raises:
            KeyInFileError: nothing passes the filters.
            UnsupportedError: an object has a class that cannot be written.
        """
        here = self._as_directory()
        found = dict(source.iterclassnames(filter_name=filter_name, filter_classname=filter_classname, cycle=False))
        if not found and require_matches:
            raise KeyInFileError(f"{source.file_path}: nothing passes the filters", file=source.file_path)
        for path, kind in found.items():
            target = path if rename is None else rename(path)
            if not isinstance(target, str):
                raise InvalidError(f"rename must return a path, not {target!r}")
            if kind in _DIRECTORIES:
                here.mkdir(target)
            else:
                here[target] = source[path]


def read_back(directory: WritableDirectory, full: str, kind: str) -> Any:
    """An object that was written before, read from a file.

    What this file was given is written to a file of its own and read from there, because the file is not complete.
    What an existing file had before is read from it: it is unchanged until it is closed.
    """
    from ..reading.file import open

    file = directory._file
    bare = full.partition(";")[0]
    if bare in file._written:
        import os
        import tempfile

        with tempfile.TemporaryDirectory(prefix="sapwood-") as folder:
            path = os.path.join(folder, "object.root")
            with file._scratch(path) as scratch:
                scratch["object"] = file._written[bare]
            with open(path) as made:
                found = made["object"]
        if getattr(found, "_members", None) is not None and "fName" in getattr(found, "all_members", {}):
            _renamed(found, bare.rpartition("/")[2])
        return found
    if file._existed:
        with open({file._path_on_disk: None}) as before:
            return before[full]
    raise UnsupportedError(f"{file.file_path}: {full} is a {kind}, which can be read when the file is closed")


def _renamed(made: Any, name: str) -> None:
    """Set the name of an object that was written under another one."""
    for part in (made, *getattr(made, "_bases", ())):
        if isinstance(getattr(part, "_members", None), dict) and "fName" in part._members:
            part._members["fName"] = name
            return
        for base in getattr(part, "_bases", ()):
            if isinstance(getattr(base, "_members", None), dict) and "fName" in base._members:
                base._members["fName"] = name
                return
