"""Files that are written."""

from __future__ import annotations

import os
import weakref
from typing import IO, TYPE_CHECKING, Any

from .. import _core
from ..arguments.checks import string, thread_count
from ..arguments.paths import local_path
from ..errors import InvalidError, unicode_only
from ..public import public
from .directory import WritableDirectory
from .file_object import FileObjectTarget, target_of
from .ntuple import WritableNtuple
from .options import Compression, Format, compression_text, format_of_data
from .refusal import is_refusal
from .tree import WritableTree

if TYPE_CHECKING:
    from .objects import Write


@public
@unicode_only
def recreate(
    path: str | os.PathLike[str] | IO[bytes],
    *,
    compression: Compression = "zlib:1",
    title: str = "",
    threads: int | None = None,
    sync: bool = True,
    format: Format = "tree",
) -> WritableFile:
    """Create a file. An existing file is replaced when the new one is closed, and unchanged until then.

    Use it in a ``with`` block: the file appears when the block ends, and does not appear if it fails.

    Args:
        path: a local path, or a binary file object such as ``io.BytesIO()``, which gets its contents on closing and
            stays open.
        compression: ``"zlib:1"``, ``"zstd:5"``, ``"lz4:4"``, ``"lzma:7"``, ROOT's number, uproot's objects, or None.
        title: title of the file.
        threads: number of compression threads; None for one per core.
        sync: wait on closing until file and name are on the disk. Otherwise a power failure soon after may leave an
            empty file, and a network file system that runs out of space late may lose it without an error.
        format: what ``file[name] = data`` writes: ``"tree"``, or ``"ntuple"`` for ROOT's RNTuple.
    """
    kept = format_of_data(format)
    target = target_of(path)
    core = _create(path if target is None else target.path, compression, title, threads, replace=True, sync=sync)
    file = WritableFile(core, path, target=target)
    file._format = kept
    return file


@public
@unicode_only
def create(
    path: str | os.PathLike[str],
    *,
    compression: Compression = "zlib:1",
    title: str = "",
    threads: int | None = None,
    sync: bool = True,
    format: Format = "tree",
) -> WritableFile:
    """Create a file that must not exist yet; otherwise like :func:`recreate`.

    Raises:
        FileThereError: (a FileExistsError) the file exists.
    """
    kept = format_of_data(format)
    file = WritableFile(_create(path, compression, title, threads, replace=False, sync=sync), path)
    file._format = kept
    return file


@public
@unicode_only
def update(path: str | os.PathLike[str] | IO[bytes], *, format: Format = "tree") -> WritableFile:
    """Open a file to add objects, trees, ntuples, or entries to existing ones.

    Args:
        path: a local path, or a binary file object that can be read and written.
        format: what ``file[name] = data`` writes: ``"tree"``, or ``"ntuple"`` for ROOT's RNTuple.

    Other readers see the file unchanged until it is closed. If the ``with`` block fails or the process dies, the file
    stays unchanged.

    Raises:
        FileMissingError: (a FileNotFoundError) no such file.
    """
    kept = format_of_data(format)
    target = target_of(path, existing=True)
    core = _core.Writer.update(local_path(path if target is None else target.path))
    file = WritableFile(core, path, existed=True, target=target)
    file._format = kept
    return file


def _create(
    path: Any, compression: Compression, title: str, threads: int | None, *, replace: bool, sync: bool
) -> _core.Writer:
    options = compression_text(compression), string(title, "title"), (replace, bool(sync)), thread_count(threads)
    return _core.Writer.create(local_path(path), *options)


def _close(
    core: _core.Writer, trees: dict[Any, WritableTree], process: int, target: FileObjectTarget | None = None
) -> None:
    if os.getpid() != process:
        return  # a forked child has a copy of the file, which only its parent may write
    for tree in list(trees.values()):
        tree._finish()
    trees.clear()
    core.finish()
    if target is not None:
        target.complete()


@public
class WritableFile(WritableDirectory):
    """A file that is open for writing, and its top directory. A context manager.

    It is complete when it is closed: by :meth:`close`, at the end of a ``with`` block, or when Python ends. A block
    that ends with an exception discards the changes: a new file does not appear, an existing one is unchanged. If the
    exception is that an object or batch of a new file was refused (its type cannot be written), what was written before
    it is kept.
    """

    #: The classes of its directories and trees.
    _directory_class: type[WritableDirectory] = WritableDirectory
    _tree_class: type[WritableTree] = WritableTree
    _ntuple_class: type[WritableNtuple] = WritableNtuple
    #: Whether branches of text are C strings (TLeafC) or std::string.
    _text_as_c_strings = False
    #: What data become that are assigned to a name.
    _format: Format = "tree"

    def __init__(
        self,
        core: _core.Writer,
        path: str | os.PathLike[str] | IO[bytes],
        existed: bool = False,
        target: FileObjectTarget | None = None,
    ) -> None:
        self._core = core
        self._target = target
        self._given_path = target.name if target is not None else os.fspath(path)  # type: ignore[arg-type]
        #: The file on the disk, to read what was in it before.
        self._path_on_disk = target.path if target is not None else self._given_path
        self._trees: dict[str, WritableTree] = {}
        #: What writes again an object other than a tree, by path and cycle, to read it back.
        self._written: dict[str, Write] = {}
        #: Trees that got branches: the tree that they were copied from, and the branches, by key.
        self._with_added: dict[str, tuple[str, dict[str, Any]]] = {}
        #: Whether the file has contents from before.
        self._existed = existed
        #: members of the classes written so far, by name
        self._classes: dict[str, Any] = {}
        self._process = os.getpid()
        self._finalizer = weakref.finalize(self, _close, core, self._trees, self._process, target)
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

    def _scratch(self, path: str) -> WritableFile:
        """A file for one object, to read it back."""
        return recreate(path, compression=None, sync=False)

    def _finish_tree(self, full: str, reason: str) -> None:
        """End the tree of this name and cycle, or those of all cycles; later use of them says why."""
        self._check_open()
        # a new tree has no cycle yet
        names = (full, full.partition(";")[0])
        named = [n for n in self._trees if n in names or n.partition(";")[0] == full]
        for name in named:
            tree = self._trees.pop(name)
            tree._finish()
            tree._finished_by = reason

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
        # from now on new data may take the place of the trees that these were copied from
        self._with_added.clear()

    def close(self) -> None:
        """Complete and close the file. Do nothing if it is closed already, or in a forked child of the process that
        opened it."""
        if self._finalizer.detach() is not None:
            try:
                _close(self._core, self._trees, self._process, self._target)
            except BaseException:
                self._core.abandon()
                if self._target is not None:
                    self._target.discard()
                raise

    def abandon(self) -> None:
        """Discard the changes: a new file does not appear, an existing one is unchanged."""
        if self._finalizer.detach() is not None and os.getpid() == self._process:
            for tree in self._trees.values():
                tree._give_up()
            self._trees.clear()
            self._core.abandon()
            if self._target is not None:
                self._target.discard()

    def __enter__(self) -> WritableFile:
        return self

    def __exit__(self, kind: object, error: object = None, *_: object) -> None:
        if kind is None or (not self._existed and is_refusal(error, self.file_path)):
            # of a new file, one refused object does not cost those that were written before
            self.close()
        else:
            self.abandon()

    def __repr__(self) -> str:
        return f"<WritableFile {self.file_path!r}{' (closed)' if self.closed else ''}>"
