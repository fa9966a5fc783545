"""Directories of files that are written."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..arguments.checks import string
from ..arguments.sizes import Size, size_in_bytes
from ..errors import Error, InvalidError, KeyInFileError, unicode_only
from ..public import public
from .contents import Contents, read_back
from .layout import Layout
from .ntuple import WritableNtuple
from .ntuple_layout import NtupleLayout
from .options import Compression, cluster_size, compression_text, split_level
from .refusal import refusing
from .tree import WritableTree

if TYPE_CHECKING:
    from .. import WritableFile


@public
class WritableDirectory(Contents):
    """A directory of a file that is open for writing."""

    def __init__(self, file: WritableFile | None, path: str) -> None:
        self._owner = file
        self._path = path

    @property
    def _file(self) -> WritableFile:
        return self._owner  # type: ignore[return-value]

    @property
    def file(self) -> WritableFile:
        """The file that contains this directory."""
        return self._file

    def _as_directory(self) -> WritableDirectory:
        return self

    @property
    def file_path(self) -> str:
        """Path of the file."""
        return self._file.file_path

    @property
    def closed(self) -> bool:
        """Whether the file is closed."""
        return self._file.closed

    def close(self) -> None:
        """Complete and close the file."""
        self._file.close()

    @property
    def path(self) -> str:
        """Path in the file; empty for the top directory."""
        return self._path

    def _join(self, name: str) -> str:
        if not isinstance(name, str):
            raise InvalidError(f"an object name must be a string, not {name!r}")
        if not name.strip("/"):
            raise InvalidError(f"an object name must not be empty: {name!r}")
        return "/".join(p for p in (*self._path.split("/"), *name.split("/")) if p)

    def _place(self, name: str) -> tuple[int, str]:
        """Directory and name of an object; missing directories are created."""
        above, _, last = self._join(name).rpartition("/")
        if ";" in last:
            raise InvalidError(f"{name}: cycle numbers are assigned by the file; omit {last[last.index(';') :]}")
        return self._file._core.mkdir(above), last

    @unicode_only
    def mkdir(self, path: str) -> WritableDirectory:
        """Return the directory with this path; create it if it does not exist."""
        full = self._join(path)
        self._file._core.mkdir(full)
        return self._file._directory_class(self._file, full)

    @unicode_only
    @refusing
    def mktree(
        self,
        name: str,
        branch_types: Any,
        title: str = "",
        *,
        counter_name: Callable[[str], str] | None = None,
        field_name: Callable[[str, str], str] | None = None,
        compression: Compression | Mapping[str, Compression] = "",
        basket_size: Size | Mapping[str, Size] | None = None,
        auto_flush: int | str | None = None,
        titles: Mapping[str, str] | None = None,
        split: bool | int | Mapping[str, bool | int] = True,
        member_wise: bool | Mapping[str, bool] = False,
        optimize_baskets: bool = True,
        auto_save: Size | None = None,
    ) -> WritableTree:
        """Create a tree.

        If the file has an object of this name already, the tree gets the next cycle, as in ROOT, and the object is
        kept (``"name;1"``). A tree of this name that is still open for writing is finished first: it keeps the
        entries that it has.

        Args:
            name: name, optionally with directories (``"a/b/tree"``).
            branch_types: types by branch: numpy's (``"f4"``, ``("f4", (3,))``), awkward's (``"var * float32"``), C++
                names (``"vector<vector<float>>"``, ``"string"``, ``"char*"`` for ROOT's C strings, which have a
                ``TLeafC``, ``"map<string,int>"``), type hints (``list[float]``),
                dataclasses and typed dicts. Or one of these classes for the whole tree, or data with the same types.
            title: title of the tree.
            counter_name: function from a branch to the name of its counter; default ``"n" + branch``.
            field_name: function from a record and a field to the name of the branch; default ``record + "_" + field``.
            compression: of all branches, or by branch; default: the compression of the file.
            basket_size: bytes of a basket before compression, of all branches or by branch.
            auto_flush: entries per cluster; or the compressed size of the first cluster, as text ("30 MB") or a
                negative number, where later clusters have as many entries; 0 for no clusters. Default: 30 MB.
            titles: titles of branches.
            split: whether classes and collections of classes get a branch for each member, or a number of levels, like
                ROOT's split level; for all branches or by branch.
            member_wise: whether unsplit collections of classes are written member by member, as ROOT does: smaller, but
                not readable by uproot; for all branches or by branch.
            optimize_baskets: whether to choose basket sizes at the first flush, as ROOT does.
            auto_save: compressed bytes after which the file is made complete, which limits the loss if the process is
                killed; 0 for never. Default: 30 MB.
        """
        options: dict[str, Any] = {"optimize_baskets": bool(optimize_baskets)}
        if auto_flush is not None:
            options["auto_flush"] = cluster_size(auto_flush)
        if auto_save is not None:
            options["auto_save_bytes"] = size_in_bytes(auto_save, "auto_save")
        by_branch: dict[str, dict[str, Any]] = {}

        def option(key: str, value: Any, convert: Callable[[Any], Any]) -> None:
            if isinstance(value, Mapping):
                for branch, v in value.items():
                    by_branch.setdefault(branch, {})[key] = convert(v)
            else:
                options[key] = convert(value)

        if compression != "":
            option("compression", compression, compression_text)
        if basket_size is not None:
            option("basket_bytes", basket_size, lambda v: size_in_bytes(v, "basket_size", 2**31))
        if isinstance(split, Mapping):
            option("split", split, split_level)
        if member_wise is not False:
            option("member_wise", member_wise, bool)
        level = 99 if isinstance(split, Mapping) else split_level(split)
        layout = Layout(
            branch_types,
            counter_name,
            field_name,
            titles or {},
            by_branch,
            level,
            c_strings=self._file._text_as_c_strings,
        )
        directory, last = self._place(name)
        self._file._finish_tree(self._join(name), "a later mktree has the same name")
        core = self._file._core.tree(
            directory, last, string(title, "title"), layout.specs(self._file._classes), options
        )
        tree = self._file._tree_class(self._file, self._join(name), title, core, layout)
        self._file._trees[self._join(name)] = tree
        return tree

    @unicode_only
    @refusing
    def mkntuple(
        self,
        name: str,
        field_types: Any,
        title: str = "",
        *,
        compression: Compression = "",
        cluster_size: Size | None = None,
        page_size: Size | None = None,
        descriptions: Mapping[str, str] | None = None,
        auto_save: Size | None = None,
    ) -> WritableNtuple:
        """Create an ntuple (ROOT's RNTuple).

        If the file has an object of this name already, the ntuple gets the next cycle, as for trees.

        Args:
            name: name, optionally with directories (``"a/b/ntuple"``).
            field_types: types by field, as :meth:`mktree` takes them; or data with the same types. Records and lists
                of records are one field each.
            title: description of the ntuple.
            compression: of all fields; default: the compression of the file.
            cluster_size: compressed size of a cluster, about; its pages are in memory until it is written. Default:
                128 MiB.
            page_size: size of the largest page before compression. Default: 1 MiB.
            descriptions: descriptions of fields; those of members and of members of items by path (``"jets.pt"``).
            auto_save: compressed bytes after which the file is made complete, which limits the loss if the process is
                killed; 0 for never. Default: 128 MiB.
        """
        options: dict[str, Any] = {}
        if compression != "":
            options["compression"] = compression_text(compression)
        if cluster_size is not None:
            options["cluster_bytes"] = size_in_bytes(cluster_size, "cluster_size")
        if page_size is not None:
            options["page_bytes"] = size_in_bytes(page_size, "page_size", 2**31)
        if auto_save is not None:
            options["auto_save_bytes"] = size_in_bytes(auto_save, "auto_save")
        layout = self._ntuple_layout(field_types, descriptions or {})
        directory, last = self._place(name)
        self._file._finish_tree(self._join(name), "a later mkntuple has the same name")
        core = self._file._core.ntuple(directory, last, string(title, "title"), layout.specs(), options)
        ntuple = self._file._ntuple_class(self._file, self._join(name), title, core, layout)
        self._file._trees[self._join(name)] = ntuple
        return ntuple

    _ntuple_layout = NtupleLayout

    #: uproot's name of :meth:`mkntuple`.
    mkrntuple = mkntuple

    @unicode_only
    @refusing
    def add_branches(self, name: str, branches: Any) -> None:
        """Add branches to a tree that the file had when it was opened with :func:`update`.

        The tree is written again with the new branches, under its name and cycle, and the old one is deleted: this
        takes as long as copying the tree.

        Args:
            name: name of the tree.
            branches: columns by name, each with as many entries as the tree.

        Raises:
            InvalidError: (a ValueError) another number of entries, or a branch that exists already.
            UnsupportedError: the tree was changed since the file was opened, or it has what a copy would lose: split
                branches, leaf lists of several leaves, aliases, friends, an index, user information or a weight.
        """
        from .add_branches import add_branches

        add_branches(self, name, branches, WritableDirectory.mktree)

    @unicode_only
    @refusing
    def __setitem__(self, name: str, value: Any) -> None:
        """Write an object: a tree from a dict of arrays, a table, data frame or record array, or an ntuple if the file
        was opened with ``format="ntuple"``; a histogram, graph or text."""
        from .copy_tree import batches, is_tree, with_counters_first
        from .objects import write_object
        from .tables import is_table

        self._file._check_open()
        if is_tree(value):
            made: WritableTree | None = None
            for batch in batches(value):
                made = made or self._make(name, with_counters_first(batch), value.title)
                made.extend(batch)
            return
        if write_object(self, name, value):
            return
        if not is_table(value):
            from ..errors import UnsupportedError

            raise UnsupportedError(
                f"{name}: values of type {type(value).__name__} cannot be written; pass a dict of arrays, a table, a "
                "data frame, a record array, a histogram, a graph or text"
            )
        tree = self._make(name, value)
        try:
            tree.extend(value)
        except BaseException:
            # none of it is kept; the file and its other trees are unchanged
            self._file._trees.pop(self._join(name), None)
            with contextlib.suppress(Error):
                # a disk that failed once is reported once
                tree._abandon()
            raise

    def _make(self, name: str, data: Any, title: str = "") -> WritableTree:
        """A tree or an ntuple, as the file was opened, with the types of these data."""
        make = self.mkntuple if self._file._format == "ntuple" else self.mktree
        return make(name, data, title)

    @unicode_only
    def __getitem__(self, name: str) -> Any:
        """Return a new or existing tree to extend, optionally with its cycle (``"name;1"``), a directory, or any other
        object, read from the file."""
        self._file._check_open()
        full = self._join(name)
        tree = self._file._trees.get(full)
        if tree is not None:
            return tree
        try:
            cycle, kind = self._key(full)
        except KeyInFileError:
            # the cycle that a tree will have when it is finished
            bare, _, number = full.partition(";")
            tree = self._file._trees.get(bare)
            if number and tree is not None and f"{bare.rpartition('/')[2]};{number}" in self._siblings(bare):
                return tree
            raise
        if kind in ("TDirectory", "TDirectoryFile"):
            return self._file._directory_class(self._file, "/".join(p.partition(";")[0] for p in full.split("/")))
        if kind not in ("TTree", "TNtuple", "TNtupleD", "ROOT::RNTuple"):
            return read_back(self, f"{_bare(full)};{cycle}", kind)
        # an existing tree is identified by its cycle: other cycles are other trees
        full = f"{full.partition(';')[0]};{cycle}"
        tree = self._file._trees.get(full)
        if tree is None:
            if kind == "ROOT::RNTuple":
                ntuple = self._file._core.append_ntuple(full, {})
                layout = self._ntuple_layout.existing(ntuple.inputs())
                tree = self._file._ntuple_class(self._file, full, "", ntuple, layout)
            else:
                core = self._file._core.append(full, {})
                branches = Layout.existing(core.inputs(), core.counters())
                tree = self._file._tree_class(self._file, full, "", core, branches)
            tree._in_file = True
            self._file._trees[full] = tree
        return tree

    def _siblings(self, full: str) -> list[str]:
        """The keys of the directory that contains an object."""
        above = full.rpartition("/")[0]
        return self._file._directory_class(self._file, above).keys(recursive=False)

    def _key(self, full: str) -> tuple[int, str]:
        """Cycle and class of the object with this name: of its highest cycle, or of the given one."""
        above, _, last = full.rpartition("/")
        last, _, wanted = last.partition(";")
        keys = [(cycle, kind) for name, cycle, kind in self._file._core.keys(above) if name == last]
        if wanted:
            keys = [key for key in keys if str(key[0]) == wanted]
        if keys:
            return max(keys)
        raise KeyInFileError(f"{self._file.file_path}: no object {full}", file=self._file.file_path)

    @unicode_only
    def __delitem__(self, name: str) -> None:
        """Delete all cycles of a name, or only the given one (``"name;1"``).

        After the file is closed, new data can reuse their space, and that of a tree's baskets and of an ntuple's
        pages unless another cycle, tree or ntuple uses them.
        """
        full, _, cycle = self._join(name).partition(";")
        if cycle and not (cycle.isascii() and cycle.isdigit() and int(cycle) < 1 << 16):
            raise InvalidError(f"{name}: a cycle must be a number, not {cycle!r}")
        self._file._check_open()
        self._file._finish_tree(self._join(name), "it was deleted")
        gone = f"{full};{int(cycle)}" if cycle else None
        for key in [key for key in self._file._written if key == gone or (gone is None and _bare(key) == full)]:
            del self._file._written[key]
        self._file._core.delete(full, int(cycle) if cycle else None)

    @unicode_only
    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        try:
            return self._join(name) in self._file._trees or bool(self._key(self._join(name)))
        except KeyInFileError:
            return False

    def __repr__(self) -> str:
        return f"<WritableDirectory {self._path!r} in {self._file.file_path!r}>"


def _bare(full: str) -> str:
    """A path without the cycle of its last part."""
    above, _, last = full.rpartition("/")
    return f"{above}/{last.partition(';')[0]}" if above else last.partition(";")[0]
