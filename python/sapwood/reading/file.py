"""Files that are read."""

from __future__ import annotations

import dataclasses
import functools
import os
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast, overload

from .. import _core
from .. import cache as _local_cache
from ..arguments.checks import flag, thread_count
from ..arguments.paths import Where, split
from ..arguments.sizes import Size, optional_seconds, size_in_bytes
from ..errors import ClosedError, Error, NotAFileError, RecoveredFileWarning, UnverifiedFileWarning, WholeFileWarning
from ..public import public
from ..uproot_registration import register
from .class_descriptions import HasClassDescriptions
from .directory import Directory
from .file_facts import FileFacts
from .file_objects import BinaryFile, Reader, of_url, reader_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Unpack

    from .. import Tree
    from ..arguments.signatures import OpenOptions
    from ..arguments.uproot_options import UprootOpenOptions
    from ..objects.factory import Factory


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
    #: not shown: it may hold credentials
    storage_options: dict[str, Any] | None = dataclasses.field(default=None, repr=False)
    #: opening waits for the keys only, not for the bytes where a tree's header usually is
    keys_only: bool = False

    @classmethod
    def checked(
        cls,
        cache_size: Size | None = None,
        timeout: float | None = 60,
        threads: int | None = None,
        recover: bool | None = None,
        insecure_redirects: bool = False,
        local_cache: _local_cache.Folder | None = None,
        offline: bool = False,
        cacheread: bool = False,
        storage_options: Mapping[str, Any] | None = None,
    ) -> Options:
        """Options as users give them; see :func:`open`."""
        number = thread_count(threads, 1)
        patience = optional_seconds(timeout, "timeout")
        return cls(
            None if cache_size is None else size_in_bytes(cache_size, "cache_size"),
            patience,
            number,
            None if recover is None else flag(recover, "recover"),
            flag(insecure_redirects, "insecure_redirects"),
            _local_cache.folder(local_cache, "local_cache"),
            flag(offline, "offline"),
            flag(cacheread, "cacheread"),
            None if storage_options is None else dict(storage_options),
        )


@overload
def open(
    path: bytes | os.PathLike[Any] | BinaryFile | Mapping[Any, None], **options: Unpack[OpenOptions]
) -> ReadOnlyFile: ...
@overload
def open(path: str | Mapping[Any, str | None], **options: Unpack[OpenOptions]) -> Any: ...
@public
def open(
    path: Where | BinaryFile | Mapping[Any, str | None],
    *,
    cache_size: Size | None = None,
    timeout: float | None = 60,
    threads: int | None = None,
    recover: bool | None = None,
    insecure_redirects: bool = False,
    local_cache: _local_cache.Folder | None = None,
    offline: bool = False,
    cacheread: bool = False,
    storage_options: Mapping[str, Any] | None = None,
    **uproot_options: Unpack[UprootOpenOptions],
) -> Any:
    """Open a file, or an object in it.

    Args:
        path: a path or URL (``http://``, ``https://``, ``root://``, ``s3://``, or one that fsspec can open);
            ``"url:object"``, ``{url: object}``, or a ``pathlib.Path``. The object may be a branch:
            ``"url:tree/branch"``. Or a binary file object (``open(..., "rb")``, ``io.BytesIO``) or a file of fsspec
            (``fsspec.open(...)``), which Sapwood leaves open.
        cache_size: size of the tree cache (``"100 MB"``); 0 reads one basket per request, None lets Sapwood choose.
        timeout: seconds without any progress after which a read fails; None or infinity to wait indefinitely.
        threads: number of decompression threads; None for one per core.
        recover: recover a file that was not closed, was truncated or lost its directory, by scanning all of it.
            None: local files, and remote files up to 64 MB.
        insecure_redirects: follow redirects from ``https`` to ``http``, and from other hosts to this machine or a
            link-local address. ``SAPWOOD_INSECURE_REDIRECTS=1`` in the environment allows this for all files.
        local_cache: directory of the local cache, which keeps what is read of remote files; False for none, None for
            the configured one (see :mod:`sapwood.cache`).
        offline: read remote files from the local cache only; do not ask whether they have changed.
        cacheread: fetch all of a remote file into the local cache in the background, until the file is closed. Data
            that have not arrived are read from the server, also if the download fails.
        storage_options: how the store of an ``s3://`` URL is reached: ``endpoint``, ``region``, ``profile``,
            ``anonymous``, ``addressing_style``, ``key``, ``secret``, ``token``; by default as the environment and the
            AWS configuration files say. For a URL that fsspec opens, the options of its file system.
        uproot_options: options of uproot that are accepted and have no effect: ``object_cache``,
            ``array_cache``, ``custom_classes``, ``handler``, ``num_workers``, ``decompression_executor``, and others
            (``sapwood.arguments.uproot_options``). Threads, connections and caches are chosen by Sapwood.

    Returns:
        A :class:`ReadOnlyFile`, or the object if ``path`` names one.

    Raises:
        FileMissingError: (a FileNotFoundError) no such file.
        KeyInFileError: (a KeyError) no such object in the file.
        CorruptError, UnsupportedError, ReadError, StalledError, DeniedError: the file cannot be read.
    """
    if uproot_options:
        from ..arguments.uproot_options import OF_FILES, without_effect

        without_effect(uproot_options, OF_FILES, "open")
    options = Options.checked(
        cache_size=cache_size, timeout=timeout, threads=threads, recover=recover, insecure_redirects=insecure_redirects,
        local_cache=local_cache, offline=offline, cacheread=cacheread, storage_options=storage_options,
    )  # fmt: skip
    return open_as(ReadOnlyFile, path, options)


def open_as(kind: type[ReadOnlyFile], path: Where | BinaryFile | Mapping[Any, str | None], options: Options) -> Any:
    """The file as an instance of a class, or the object in it if one is named."""
    where, name = reader_of(path) or split(cast(Where, path))
    if isinstance(where, str) and (":" in where or options.storage_options):
        where = of_url(where, options.storage_options)
    register()
    file = kind(where, dataclasses.replace(options, keys_only=name is None))
    return file if name is None else file[name]


@public
class ReadOnlyFile(HasClassDescriptions, FileFacts, Directory):
    """An open file and its top directory. A context manager; can be pickled (unpickling opens the file again)."""

    #: The class of its directories.
    _directory_class: type[Directory] = Directory
    #: Returns the class of trees or chains by its public name. Their modules import this one, so the package sets it.
    _public_class: ClassVar[staticmethod[[str], Any]]

    def __init__(self, path: str | Reader, options: Options) -> None:
        self._options = options
        try:
            self._core = self._open(path) if isinstance(path, str) else self._open_reader(path)
        except Error:
            if isinstance(path, str) and "://" not in path and os.path.isdir(path):
                raise NotAFileError(f"{path} is a directory, not a file", file=path) from None
            raise
        if self._core.recovered is not None:
            self._warn_of_recovery(*self._core.recovered)
        self._remarked: set[str] = set()
        self._warn_of_remarks(stacklevel=4)
        if self._core.whole_file_remark is not None:
            import warnings

            warnings.warn(self._core.whole_file_remark, WholeFileWarning, stacklevel=3)
        self._warned = 0
        self._closed = False
        self._scans: weakref.WeakSet[_core.Scan] = weakref.WeakSet()
        self._given_path = path
        self._trees: weakref.WeakValueDictionary[tuple[str, int], Tree] = weakref.WeakValueDictionary()
        super().__init__(None, "")

    def _open(self, path: str) -> _core.File:
        options, s3 = self._options, None
        if options.storage_options:
            from ..arguments.storage_options import of_s3

            s3 = of_s3(options.storage_options)
        return _core.open(
            path,
            options.cache_size,
            options.timeout,
            options.threads,
            options.recover,
            options.insecure_redirects,
            options.keys_only,
            options.local_cache,
            options.offline,
            options.cacheread,
            s3,
        )

    def _open_reader(self, reader: Reader) -> _core.File:
        options = self._options
        return _core.open_reader(
            reader, reader.name, reader.size, options.cache_size, options.timeout, options.threads, options.recover
        )

    def _warn_of_recovery(self, summary: str, lost: list[str]) -> None:
        import warnings

        more = f"; and {len(lost) - 5} more" if len(lost) > 5 else ""
        known = "; ".join(lost[:5]) + more if lost else "no known losses"
        words = f"{self.file_path}: {summary}; {known}"
        warnings.warn(words, RecoveredFileWarning, stacklevel=4)

    def _warn_of_damage(self) -> None:
        """Warn once of each damage found so far."""
        for doubt in self._core.integrity_warnings[self._warned :]:
            import warnings

            self._warned += 1
            words = f"{self.file_path} is damaged: {doubt}; other parts may be damaged as well: run `sapwood doctor`"
            warnings.warn(words, RecoveredFileWarning, stacklevel=4)

    @property
    def _file(self) -> ReadOnlyFile:
        return self

    def _as_file(self) -> ReadOnlyFile:
        return self

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError(f"{self.file_path} is closed; open it again", file=self.file_path)

    def _factory(self) -> Factory:
        """What builds its objects."""
        from ..objects.factory import Factory

        return Factory()

    @property
    def _tree_class(self) -> type[Tree]:
        return self._public_class("Tree")

    def _tree_class_of(self, core: _core.Tree) -> type[Tree]:
        """The class for a tree or ntuple of this file."""
        return self._tree_class

    def _tree(self, path: str, cycle: int) -> Tree:
        tree = self._trees.get((path, cycle))
        if tree is None:
            core = self._core.tree(f"{path};{cycle}")
            tree = self._tree_class_of(core)(self, core, cycle)
            self._warn_of_damage()
            self._trees[path, cycle] = tree
        return tree

    def _chain(self, stored: Any) -> Any:
        """What stands for a TChain of the file."""
        from .stored_chain import chain_of

        return chain_of(self._public_class("Chain"), self, stored)

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
        """Close the file; arrays stay valid.

        Reads that run in other threads end with ``ClosedError``, as later ones do; draws that run come to their end.
        """
        self._closed = True
        for scan in list(self._scans):
            scan.close()
        for tree in list(self._trees.values()):
            tree._forget_branches()
        self._core.close()
        # what was noticed only while the file was read
        self._warn_of_remarks(stacklevel=3)

    def _warn_of_remarks(self, stacklevel: int) -> None:
        for remark in self._core.remarks:
            if remark not in self._remarked:
                import warnings

                self._remarked.add(remark)
                warnings.warn(remark, UnverifiedFileWarning, stacklevel=stacklevel)

    def io(self) -> dict[str, float]:
        """Return I/O counters so far: requests, ranges, round trips, bytes, baskets, seconds."""
        return self._core.io()

    def __repr__(self) -> str:
        return f"<ReadOnlyFile {self.file_path!r}{' (closed)' if self._closed else ''}>"

    def __reduce__(self):
        # by public names alone: a module may be called otherwise where this is read
        options = {**dataclasses.asdict(self._options), "threads": self._options.threads or None}
        del options["keys_only"]
        path = self._given_path if isinstance(self._given_path, str) else self._given_path.given
        return functools.partial(open, **options), ({path: None} if isinstance(path, str) else path,)
