"""Directories of files that are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import InvalidError, KeyInFileError
from ..public import public
from ..uproot_registration import stands_for
from .listing import ObjectListing

if TYPE_CHECKING:
    from datetime import datetime

    from .. import ReadOnlyFile
    from .key import Key

_TREES = frozenset(("TTree", "TNtuple", "TNtupleD", "ROOT::RNTuple"))
_DIRECTORIES = frozenset(("TDirectory", "TDirectoryFile"))


@public
@stands_for("ReadOnlyDirectory")
class Directory(ObjectListing):
    """A directory of a file: a mapping from names to objects.

    Keys are ``"name"``, ``"name;cycle"`` or ``"directory/name"``.
    """

    def __init__(self, file: ReadOnlyFile | None, path: str) -> None:
        # None for the file itself: a reference cycle would keep the file open until a garbage collection
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

    @property
    def object_path(self) -> str:
        """Path in the file, between slashes."""
        return f"/{self._path}/" if self._path else "/"

    @property
    def parent(self) -> Directory | None:
        """The directory that contains this one; None for the top directory."""
        if not self._path:
            return None
        above = self._path.rpartition("/")[0]
        return self._file._directory_class(self._file, above) if above else self._file

    @property
    def name(self) -> str:
        """Name of the directory; that of the top directory is empty."""
        return self._path.rpartition("/")[2]

    @property
    def cache_key(self) -> str:
        """A name for the directory that differs between files: their identifier and the path."""
        return f"{self._file.uuid}:{self.object_path}"

    @property
    def created_on(self) -> datetime | None:
        """When the file was created; ROOT stores no time zone."""
        return self._file.created_on

    @property
    def modified_on(self) -> datetime | None:
        """When the list of the file's objects was changed last; ROOT stores no time zone."""
        return self._file.modified_on

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

    def key(self, where: str) -> Key:
        """Return the key of one object: its name, class, title, cycle and sizes.

        Raises:
            KeyInFileError: no such object.
        """
        path, cycle, _ = self._find(where)
        found, number, kind, title, stored, plain = self._file._core.find(f"{path};{cycle}")
        return self._key_class()(found.rpartition("/")[2], title, kind, number, stored, plain)

    def _key_class(self) -> type[Key]:
        from .key import Key

        return Key

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
            return self._file._directory_class(self._file, path)
        from ..objects.members import HasMembers
        from ..objects.origin import Origin

        made = self._file._core.object(f"{path};{cycle}", self._file._factory())[0]
        if kind == "TChain":
            return self._file._chain(made)
        if isinstance(made, HasMembers):
            made._origin = Origin(self.file_path, path)
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
        return type(self), (self._file, self._path)

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(f"<tr><td>{escape(key)}</td><td>{escape(kind)}</td></tr>" for key, kind in self.iterclassnames())
        head = "<tr><th>object</th><th>class</th></tr>"
        return f"<p>{escape(repr(self))}</p><table><thead>{head}</thead><tbody>{rows}</tbody></table>"
