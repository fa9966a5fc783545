"""Files and directories."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _core
from . import cache as _local_cache
from ._errors import Error, InvalidError, KeyInFileError, NotAFileError, RecoveredFileWarning, UnverifiedFileWarning
from ._filters import Filter, matcher
from ._paths import Where, split
from ._sizes import Size, optional_seconds, size_in_bytes, whole

if TYPE_CHECKING:
    from ._tree import Tree

_TREES = frozenset(("TTree", "TNtuple", "TNtupleD"))
_DIRECTORIES = frozenset(("TDirectory", "TDirectoryFile"))


@dataclass(frozen=True)
class Options:
    """Options for reading a file."""

    cache_size: int | None
    timeout: float | None
    threads: int
    recover: bool | None = None
    insecure_redirects: bool = False
    local_cache: str | bool | None = None
    offline: bool = False
    cacheread: bool = False


def open(
    path: Where,
    *,
    cache_size: Size | None = None,
    timeout: float | None = 60,
    threads: int | None = None,
    recover: bool | None = None,
    insecure_redirects: bool = False,
    local_cache: _local_cache.Folder | None = None,
    offline: bool = False,
    cacheread: bool = False,
) -> Any:
    """Open a file, or an object in it.

    Args:
        path: a path or URL (``http://``, ``https://``, ``root://``); ``"url:object"``, ``{url: object}``, or a
            ``pathlib.Path``. The object may be a branch: ``"url:tree/branch"``.
        cache_size: size of the tree cache (``"100 MB"``); 0 reads one basket per request, None lets Sapwood choose.
        timeout: seconds without any progress after which a read fails; None or infinity to wait indefinitely.
        threads: number of decompression threads; None for one per core.
        recover: recover a file that was not closed, was truncated or lost its directory, by scanning all of it.
            None: local files, and remote files up to 64 MB.
        insecure_redirects: follow redirects from ``https`` to ``http``, and from other hosts to this machine or a
            link-local address. ``SAPWOOD_INSECURE_REDIRECTS=1`` in the environment allows this for all files.
        local_cache: folder of the local cache that keeps what is read of remote files; False for none, None for what is
            configured (see :mod:`sapwood.cache`).
        offline: read remote files from the local cache only; do not ask whether they have changed.
        cacheread: fetch all of a remote file into the local cache in the background, until the file is closed. Reading
            works at once; what is not there yet is read remotely, also if the download fails.

    Returns:
        A :class:`ReadOnlyFile`, or the object if ``path`` names one.

    Raises:
        FileMissingError: (a FileNotFoundError) no such file.
        KeyInFileError: (a KeyError) no such object in the file.
        CorruptError, UnsupportedError, ReadError, StalledError, DeniedError: the file cannot be read.
    """
    where, name = split(path)
    number = None if threads is None else whole(threads)
    if threads is not None and (number is None or number < 1):
        raise InvalidError(f"threads must be at least 1, or None for one per core, not {threads!r}")
    patience = optional_seconds(timeout, "timeout")
    cache = None if cache_size is None else size_in_bytes(cache_size, "cache_size")
    kept = _local_cache.folder(local_cache, "local_cache")
    file = ReadOnlyFile(
        where, Options(cache, patience, number or 0, recover, insecure_redirects, kept, offline, cacheread)
    )
    return file if name is None else file[name]


class Directory(Mapping):
    """A directory of a file: a mapping from names to objects.

    Keys are ``"name"``, ``"name;cycle"`` or ``"directory/name"``.
    """

    def __init__(self, file: ReadOnlyFile | None, path: str) -> None:
        # none for the file itself: a file that held itself would stay until a collection of cycles
        self._owner = file
        self._path = path
        self._listings: dict[bool, list[tuple[str, int, str]]] = {}

    @property
    def _file(self) -> ReadOnlyFile:
        return self._owner  # type: ignore[return-value]

    @property
    def file(self) -> ReadOnlyFile:
        """The file that contains this directory."""
        return self._file

    @property
    def file_path(self) -> str:
        """Path or URL of the file."""
        return self._file.file_path

    @property
    def path(self) -> str:
        """Path in the file; empty for the top directory."""
        return self._path

    def _rows(self, recursive: bool) -> list[tuple[str, int, str]]:
        """(path below here, cycle, class)."""
        rows = self._listings.get(recursive)
        if rows is None:
            self._file._check_open()
            listed = self._file._core.list(self._path, recursive)
            front = self._path + "/" if self._path else ""
            rows = [(r[0].removeprefix(front), r[1], r[2]) for r in listed]
            self._listings[recursive] = rows
            self._file._warn_of_damage()
        return rows

    def _passing(
        self, recursive: bool, cycle: bool, filter_name: Filter, filter_classname: Filter
    ) -> Iterator[tuple[str, str, str]]:
        """(key, path with cycle, class)."""
        name_passes = matcher(filter_name, "filter_name")
        class_passes = matcher(filter_classname, "filter_classname")
        seen: set[str] = set()
        for path, number, classname in self._rows(recursive):
            full = f"{path};{number}"
            key = full if cycle else path
            if key in seen:
                continue
            if name_passes and not (name_passes(path) or name_passes(path.rpartition("/")[2]) or name_passes(full)):
                continue
            if class_passes and not class_passes(classname):
                continue
            seen.add(key)
            yield key, full, classname

    def iterkeys(
        self,
        *,
        recursive: bool = True,
        cycle: bool = True,
        filter_name: Filter = None,
        filter_classname: Filter = None,
    ) -> Iterator[str]:
        """Iterate over the paths of the objects.

        Args:
            recursive: include subdirectories.
            cycle: include ``;cycle``; otherwise each name appears once.
            filter_name: filter on the name or path, with or without cycle (glob, ``/regex/i``, callable, list).
            filter_classname: filter on the C++ class.
        """
        return (key for key, _, _ in self._passing(recursive, cycle, filter_name, filter_classname))

    def itervalues(
        self, *, recursive: bool = True, filter_name: Filter = None, filter_classname: Filter = None
    ) -> Iterator[Any]:
        """Iterate over the objects; see :meth:`iterkeys`."""
        return (self[full] for _, full, _ in self._passing(recursive, True, filter_name, filter_classname))

    def iteritems(
        self,
        *,
        recursive: bool = True,
        cycle: bool = True,
        filter_name: Filter = None,
        filter_classname: Filter = None,
    ) -> Iterator[tuple[str, Any]]:
        """Iterate over (path, object) pairs; see :meth:`iterkeys`."""
        return ((key, self[full]) for key, full, _ in self._passing(recursive, cycle, filter_name, filter_classname))

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

    def keys(self, **options) -> list[str]:  # type: ignore[override]
        """Return the paths of the objects; takes the arguments of :meth:`iterkeys`."""
        return list(self.iterkeys(**options))

    def values(self, **options) -> list[Any]:  # type: ignore[override]
        """Return the objects; takes the arguments of :meth:`itervalues`."""
        return list(self.itervalues(**options))

    def items(self, **options) -> list[tuple[str, Any]]:  # type: ignore[override]
        """Return (path, object) pairs; takes the arguments of :meth:`iteritems`."""
        return list(self.iteritems(**options))

    def classnames(self, **options) -> dict[str, str]:
        """Return the C++ classes by path; takes the arguments of :meth:`iterclassnames`."""
        return dict(self.iterclassnames(**options))

    def classname_of(self, where: str) -> str:
        """Return the C++ class of one object.

        Raises:
            KeyInFileError: no such object.
        """
        return self._find(where)[2]

    def title_of(self, where: str) -> str:
        """Return the title of one object.

        Raises:
            KeyInFileError: no such object.
        """
        path, cycle, _ = self._find(where)
        return self._file._core.find(f"{path};{cycle}")[3]

    def _find(self, where: str) -> tuple[str, int, str]:
        if not isinstance(where, str):
            raise InvalidError(f"an object name must be a string, not {where!r}")
        self._file._check_open()
        path = "/".join(p for p in (self._path, *where.split("/")) if p)
        row = self._file._core.find(path)
        return row[0], row[1], row[2]

    def __getitem__(self, where: str) -> Any:
        """Return a :class:`Tree`, a :class:`Directory`, or any other object as an :class:`Object`.

        Raises:
            KeyInFileError: no object with this name.
            UnsupportedError: the file does not describe the class of the object.
        """
        if isinstance(where, str) and not where.strip("/"):
            return self
        if isinstance(where, str) and ":" in where and where not in self:
            # as in uproot, tree:branch
            tree, _, branch = where.rpartition(":")
            if tree in self:
                return self[tree][branch]
        if isinstance(where, str) and "/" in where.strip("/") and where not in self:
            # as in uproot, tree/branch
            above = where.strip("/")
            while "/" in above:
                above = above.rpartition("/")[0]
                if above in self and self.classname_of(above) in _TREES:
                    return self[above][where.strip("/")[len(above) + 1 :]]
        path, cycle, kind = self._find(where)
        if kind in _TREES:
            return self._file._tree(path, cycle)
        if kind in _DIRECTORIES:
            return Directory(self._file, path)
        from ._objects import Factory

        made = self._file._core.object(f"{path};{cycle}", Factory())[0]
        self._file._warn_of_damage()
        return made

    def __contains__(self, where: object) -> bool:
        if not isinstance(where, str):
            return False
        try:
            self._find(where)
        except KeyInFileError:
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        return self.iterkeys()

    def __len__(self) -> int:
        return len(self._rows(True))

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @property
    def closed(self) -> bool:
        """Whether the file is closed."""
        return self._file.closed

    def __repr__(self) -> str:
        return f"<Directory {self._path!r} in {self.file_path!r}>"

    def __reduce__(self):
        return Directory, (self._file, self._path)

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(f"<tr><td>{escape(key)}</td><td>{escape(kind)}</td></tr>" for key, kind in self.iterclassnames())
        head = "<tr><th>object</th><th>class</th></tr>"
        return f"<p>{escape(repr(self))}</p><table><thead>{head}</thead><tbody>{rows}</tbody></table>"


class ReadOnlyFile(Directory):
    """An open file and its top directory. A context manager; can be pickled (unpickling opens the file again)."""

    def __init__(self, path: str, options: Options) -> None:
        self._options = options
        try:
            self._core = _core.open(
                path,
                options.cache_size,
                options.timeout,
                options.threads,
                options.recover,
                options.insecure_redirects,
                options.local_cache,
                options.offline,
                options.cacheread,
            )
        except Error:
            if "://" not in path and os.path.isdir(path):
                raise NotAFileError(f"{path} is a directory, not a file", file=path) from None
            raise
        if self._core.recovered is not None:
            self._warn_of_recovery(*self._core.recovered)
        for remark in self._core.remarks:
            import warnings

            warnings.warn(remark, UnverifiedFileWarning, stacklevel=3)
        self._warned = 0
        self._closed = False
        self._scans: weakref.WeakSet[_core.Scan] = weakref.WeakSet()
        self._given_path = path
        self._trees: weakref.WeakValueDictionary[tuple[str, int], Tree] = weakref.WeakValueDictionary()
        super().__init__(None, "")

    def _warn_of_recovery(self, found: int, lost: list[str]) -> None:
        import warnings

        more = f"; and {len(lost) - 5} more" if len(lost) > 5 else ""
        known = "; ".join(lost[:5]) + more if lost else "no known losses"
        words = f"{self.file_path} was not closed or was truncated; {found} objects were found in it. {known}"
        warnings.warn(words, RecoveredFileWarning, stacklevel=4)

    def _warn_of_damage(self) -> None:
        """Says once what looks damaged in what was read."""
        for doubt in self._core.integrity_warnings[self._warned :]:
            import warnings

            self._warned += 1
            words = f"{self.file_path} is damaged: {doubt}; other parts may be damaged as well: run `sapwood doctor`"
            warnings.warn(words, RecoveredFileWarning, stacklevel=4)

    @property
    def _file(self) -> ReadOnlyFile:
        return self

    def _check_open(self) -> None:
        if self._closed:
            raise InvalidError(f"{self.file_path} was closed; open it again", file=self.file_path)

    def _tree(self, path: str, cycle: int) -> Tree:
        from ._tree import Tree

        tree = self._trees.get((path, cycle))
        if tree is None:
            tree = Tree(self, self._core.tree(f"{path};{cycle}"), cycle)
            self._warn_of_damage()
            self._trees[path, cycle] = tree
        return tree

    @property
    def file_path(self) -> str:
        """Path or URL, without credentials."""
        return self._core.url

    @property
    def size(self) -> int:
        """File size in bytes."""
        return self._core.size

    @property
    def closed(self) -> bool:
        """Whether the file is closed."""
        return self._closed

    def close(self) -> None:
        """Close the file: running reads end and later reads fail; arrays stay valid."""
        self._closed = True
        for scan in list(self._scans):
            scan.close()
        self._core.close()

    def io(self) -> dict[str, float]:
        """Return I/O counters so far: requests, ranges, round trips, bytes, baskets, seconds."""
        return self._core.io()

    def __repr__(self) -> str:
        return f"<ReadOnlyFile {self.file_path!r}{' (closed)' if self._closed else ''}>"

    def __reduce__(self):
        return ReadOnlyFile, (self._given_path, self._options)
