"""Files that are written."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from .. import _core
from ..arguments.sizes import Size, size_in_bytes, whole
from ..errors import InvalidError, KeyInFileError, unicode_only
from .tree import Layout, WritableTree

Compression = Any


def compression_text(compression: Compression) -> str:
    """``"zstd:5"``, ROOT's number 505, or an object of uproot's (``uproot.ZSTD(5)``) as the core takes it."""
    if compression is None:
        return "none"
    if isinstance(compression, str):
        return compression
    if (number := whole(compression)) is not None:
        return str(number)
    code = getattr(compression, "code", None)
    if isinstance(code, int):
        return str(code)
    raise InvalidError(f'compression is text such as "zstd:5", ROOT\'s number 505 or None, not {compression!r}')


def _flush(auto_flush: int | str) -> int:
    """Entries of a cluster, or its bytes as a negative number, as ROOT has it."""
    if isinstance(auto_flush, str):
        return -size_in_bytes(auto_flush, "auto_flush")
    number = whole(auto_flush)
    if number is None or not -(2**63) < number < 2**63:
        raise InvalidError(f'auto_flush is a number of entries or bytes as text ("30 MB"), not {auto_flush!r}')
    return number


def _level(split: bool | int) -> int:
    """ROOT's split level."""
    level = 99 if split is True else int(split)
    if not 0 <= level <= 99:
        raise InvalidError(f"there is no split level {split}; choose 0 to 99")
    return level


@unicode_only
def recreate(
    path: str | os.PathLike[str],
    *,
    compression: Compression = "zlib:1",
    title: str = "",
    threads: int | None = None,
    sync: bool = True,
) -> WritableFile:
    """Create a file. An existing file is replaced when the new one is closed, and unchanged until then.

    Use it in a ``with`` block: the file appears when the block ends, and does not appear if it fails.

    Args:
        path: a local path.
        compression: ``"zlib:1"``, ``"zstd:5"``, ``"lz4:4"``, ``"lzma:7"``, ROOT's number, uproot's objects, or None.
        title: title of the file.
        threads: number of compression threads; None for one per core.
        sync: wait on closing until file and name are on the disk. Otherwise a power failure soon after may leave an
            empty file, and a network file system that runs out of space late may lose it without an error.
    """
    return WritableFile(
        _core.Writer.create(_path(path), compression_text(compression), title, (True, bool(sync)), threads or 0), path
    )


@unicode_only
def create(
    path: str | os.PathLike[str],
    *,
    compression: Compression = "zlib:1",
    title: str = "",
    threads: int | None = None,
    sync: bool = True,
) -> WritableFile:
    """Create a file that must not exist yet; otherwise like :func:`recreate`.

    Raises:
        FileThereError: (a FileExistsError) the file exists.
    """
    return WritableFile(
        _core.Writer.create(_path(path), compression_text(compression), title, (False, bool(sync)), threads or 0), path
    )


@unicode_only
def update(path: str | os.PathLike[str]) -> WritableFile:
    """Open a file to add objects, trees, or entries to existing trees.

    Other readers see the file unchanged until it is closed. If the ``with`` block fails or the process dies, the file
    stays unchanged.

    Raises:
        FileMissingError: (a FileNotFoundError) no such file.
    """
    return WritableFile(_core.Writer.update(_path(path)), path)


def _path(path: str | os.PathLike[str]) -> str:
    try:
        text = os.fsdecode(path)
    except TypeError:
        raise InvalidError(f"a file name must be a string, bytes or a Path, not {path!r}") from None
    if "://" in text and not text.startswith("file://"):
        raise InvalidError(f"{_core.redacted(text)}: only local files can be written; write a local file and copy it")
    return text.removeprefix("file://")


def _close(core: _core.Writer, trees: dict[Any, WritableTree], process: int) -> None:
    if os.getpid() != process:
        return  # a forked child has a copy of the file, which is its parent's to write
    for tree in list(trees.values()):
        tree._finish()
    trees.clear()
    core.finish()


class WritableDirectory:
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

    @property
    def path(self) -> str:
        """Path in the file; empty for the top directory."""
        return self._path

    def _join(self, name: str) -> str:
        if not isinstance(name, str) or not name.strip("/"):
            raise InvalidError(f"an object name must be a string, not {name!r}")
        return "/".join(p for p in (*self._path.split("/"), *name.split("/")) if p)

    def _place(self, name: str) -> tuple[int, str]:
        """Directory and name of an object; directories are made."""
        above, _, last = self._join(name).rpartition("/")
        if ";" in last:
            raise InvalidError(f"{name}: cycles are numbered by the file; leave {last[last.index(';') :]} out")
        return self._file._core.mkdir(above), last

    @unicode_only
    def mkdir(self, path: str) -> WritableDirectory:
        """Return the directory with this path; create it if it does not exist."""
        full = self._join(path)
        self._file._core.mkdir(full)
        return WritableDirectory(self._file, full)

    @unicode_only
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

        Args:
            name: name, optionally with directories (``"a/b/tree"``).
            branch_types: types by branch: numpy's (``"f4"``, ``("f4", (3,))``), awkward's (``"var * float32"``), C++
                names (``"vector<vector<float>>"``, ``"string"``, ``"map<string,int>"``), type hints (``list[float]``),
                dataclasses and typed dicts; or one of those classes for the whole tree; or data to be like.
            title: title of the tree.
            counter_name: what the counter of a branch is called; ``"n" + branch``.
            field_name: what the branch of a record's field is called; ``record + "_" + field``.
            compression: of all branches, or by branch; the file's when not given.
            basket_size: bytes of a basket before compression, of all branches or by branch.
            auto_flush: entries of a cluster; or compressed bytes, negative or as text ("30 MB"), that the first cluster
                has, and then again after as many entries; 0 for none. 30 MB when not given.
            titles: of branches.
            split: whether classes and collections of classes get a branch for each member, or for how many levels of
                classes, as ROOT's split level; for all or by branch.
            member_wise: whether collections of classes that are not split are written member by member, as ROOT does:
                smaller, but not read by uproot; for all or by branch.
            optimize_baskets: whether basket sizes are chosen at the first flush, as ROOT does.
            auto_save: compressed bytes after which the file is made whole, so that a killed process loses no more;
                0 for never. 30 MB when not given.
        """
        options: dict[str, Any] = {"optimize_baskets": bool(optimize_baskets)}
        if auto_flush is not None:
            options["auto_flush"] = _flush(auto_flush)
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
            option("split", split, _level)
        if member_wise is not False:
            option("member_wise", member_wise, bool)
        level = 99 if isinstance(split, Mapping) else _level(split)
        layout = Layout(branch_types, counter_name, field_name, titles or {}, by_branch, level)
        directory, last = self._place(name)
        self._file._finish_tree(self._join(name))
        core = self._file._core.tree(directory, last, title, layout.specs(self._file._classes), options)
        tree = WritableTree(self._file, self._join(name), title, core, layout)
        self._file._trees[self._join(name)] = tree
        return tree

    @unicode_only
    def __setitem__(self, name: str, value: Any) -> None:
        """Write an object: a tree from a dict of arrays, table, frame or record array; a histogram, graph or text."""
        from .columns import is_table
        from .objects import write_object

        self._file._check_open()
        if write_object(self, name, value):
            return
        if not is_table(value):
            from ..errors import UnsupportedError

            raise UnsupportedError(
                f"{name}: values of type {type(value).__name__} cannot be written; give a dict of arrays, a table, a "
                "frame, a record array, a histogram, a graph or text"
            )
        tree = self.mktree(name, value)
        try:
            tree.extend(value)
        except BaseException:
            self._file._trees.pop(self._join(name), None)
            raise

    @unicode_only
    def __getitem__(self, name: str) -> WritableTree | WritableDirectory:
        """Return a new or existing tree to extend, optionally with its cycle (``"name;1"``), or a directory."""
        self._file._check_open()
        full = self._join(name)
        tree = self._file._trees.get(full)
        if tree is not None:
            return tree
        cycle, kind = self._key(full)
        if kind in ("TDirectory", "TDirectoryFile"):
            return WritableDirectory(self._file, full)
        # a tree that was there is known by its cycle: others of its name are trees of their own
        full = f"{full.partition(';')[0]};{cycle}"
        tree = self._file._trees.get(full)
        if tree is None:
            core = self._file._core.append(full, {})
            tree = WritableTree(self._file, full, "", core, Layout.existing(core.inputs(), core.counters()))
            self._file._trees[full] = tree
        return tree

    def _key(self, full: str) -> tuple[int, str]:
        """Cycle and class of what has this name: of its highest cycle, or of that which is named."""
        above, _, last = full.rpartition("/")
        last, _, wanted = last.partition(";")
        keys = [(cycle, kind) for name, cycle, kind in self._file._core.keys(above) if name == last]
        if wanted:
            keys = [key for key in keys if str(key[0]) == wanted]
        if keys:
            return max(keys)
        raise KeyInFileError(f"{self._file.file_path}: no {full} in it", file=self._file.file_path)

    @unicode_only
    def __delitem__(self, name: str) -> None:
        """Delete all cycles of a name, or only the given one (``"name;1"``).

        After the file is closed, new data can reuse their space, and that of a tree's baskets unless another cycle or
        tree uses them.
        """
        full, _, cycle = self._join(name).partition(";")
        if cycle and not (cycle.isascii() and cycle.isdigit() and int(cycle) < 1 << 16):
            raise InvalidError(f"{name}: a cycle is a number, not {cycle!r}")
        self._file._check_open()
        self._file._finish_tree(self._join(name))
        self._file._core.delete(full, int(cycle) if cycle else None)

    @unicode_only
    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        try:
            return self._join(name) in self._file._trees or bool(self._key(self._join(name)))
        except KeyInFileError:
            return False

    def keys(self) -> list[str]:
        """Return ``name;cycle`` of each object; trees that are being written appear when the file is closed."""
        return [f"{name};{cycle}" for name, cycle, _ in self._file._core.keys(self._path)]

    def classnames(self) -> dict[str, str]:
        """Return the C++ classes by ``name;cycle``."""
        return {f"{name};{cycle}": kind for name, cycle, kind in self._file._core.keys(self._path)}

    def __repr__(self) -> str:
        return f"<WritableDirectory {self._path!r} in {self._file.file_path!r}>"


class WritableFile(WritableDirectory):
    """A file that is open for writing, and its top directory. A context manager.

    It is complete when it is closed: by :meth:`close`, at the end of a ``with`` block, or when Python ends. A block
    that ends with an exception discards the changes: a new file does not appear, an existing one is unchanged.
    """

    def __init__(self, core: _core.Writer, path: str | os.PathLike[str]) -> None:
        self._core = core
        self._given_path = os.fspath(path)
        self._trees: dict[str, WritableTree] = {}
        #: members of the classes that were written, by name
        self._classes: dict[str, Any] = {}
        self._process = os.getpid()
        self._finalizer = weakref.finalize(self, _close, core, self._trees, self._process)
        super().__init__(None, "")

    @property
    def _file(self) -> WritableFile:
        return self

    def _check_open(self) -> None:
        if self.closed:
            raise InvalidError(f"{self.file_path} was closed; open it again with update", file=self.file_path)
        if os.getpid() != self._process:
            raise InvalidError(
                f"{self.file_path} can only be written by the process that opened it", file=self.file_path
            )

    def _finish_tree(self, full: str) -> None:
        """End the tree of this name and cycle, or those of all cycles."""
        self._check_open()
        # a new tree has no cycle yet
        names = (full, full.partition(";")[0])
        named = [n for n in self._trees if n in names or n.partition(";")[0] == full]
        for name in named:
            self._trees.pop(name)._finish()

    @property
    def file_path(self) -> str:
        """Path of the file."""
        return str(self._given_path)

    @property
    def closed(self) -> bool:
        """Whether the file is closed."""
        return not self._finalizer.alive

    def commit(self) -> None:
        """Save everything written so far as a complete file; trees up to their last :meth:`WritableTree.close`.

        For a new file this is the temporary file, which remains if the process is killed.
        """
        self._check_open()
        self._core.commit()

    def close(self) -> None:
        """Complete and close the file. Do nothing if it is closed already, or in a forked child of the process that
        opened it."""
        if self._finalizer.detach() is not None:
            try:
                _close(self._core, self._trees, self._process)
            except BaseException:
                self._core.abandon()
                raise

    def abandon(self) -> None:
        """Discard the changes: a new file does not appear, an existing one is unchanged."""
        if self._finalizer.detach() is not None and os.getpid() == self._process:
            for tree in self._trees.values():
                tree._give_up()
            self._trees.clear()
            self._core.abandon()

    def __enter__(self) -> WritableFile:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()

    def __repr__(self) -> str:
        return f"<WritableFile {self.file_path!r}{' (closed)' if self.closed else ''}>"
