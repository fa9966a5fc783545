"""Files, directories and trees that are written, as uproot writes them where this differs from Sapwood's own way."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Mapping
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..arguments.paths import local_path
from ..errors import InvalidError, unicode_only
from ..writing.copy_tree import with_counters_first
from ..writing.directory import WritableDirectory as NativeDirectory
from ..writing.file import WritableFile as NativeFile
from ..writing.file import _create
from ..writing.file_object import FileObjectTarget, target_of
from ..writing.ntuple import WritableNtuple
from ..writing.options import compression_text
from ..writing.refusal import refusing
from ..writing.tables import tables
from ..writing.tree import WritableTree as NativeTree
from .compression import ZLIB, Compression
from .descriptions import described
from .new_branches import refusal, unknown_columns, zeros
from .new_fields import full_names, missing_is_invalid, unknown_fields
from .ntuple_layout import WithLists
from .wrapped import Wrapped

if TYPE_CHECKING:
    from ..writing.layout import Layout

#: uproot's compression of new files.
_DEFAULT = ZLIB(1)

#: Options of uproot's that have no effect: how it reserves space and makes identifiers.
_WITHOUT_EFFECT = frozenset(
    ("initial_directory_bytes", "initial_streamers_bytes", "uuid_function", "object_cache", "array_cache", "handler")
)


class WritableBranch:
    """A branch of a tree that is written: its compression."""

    def __init__(self, tree: WritableTree, name: str) -> None:
        self._tree = tree
        #: Name of the branch.
        self.name = name

    @property
    def compression(self) -> Any:
        """The compression of its baskets; set it before entries are appended."""
        chosen = self._tree._chosen
        return chosen.get(self.name, self._tree.compression) if isinstance(chosen, dict) else self._tree.compression

    @compression.setter
    def compression(self, value: Any) -> None:
        chosen = self._tree._chosen
        known = chosen if isinstance(chosen, dict) else dict.fromkeys(self._tree.keys(), self._tree.compression)
        self._tree.compression = {**known, self.name: value}

    @property
    def typename(self) -> str:
        """The type of an entry."""
        from ..writing.types import words_of

        return words_of(self._tree._layout.branches[self.name])

    def __repr__(self) -> str:
        return f"<WritableBranch {self.name!r}>"


class WritableTree(NativeTree):
    """A tree that is written."""

    #: How the tree was made, to make it again with another compression; None once it has entries.
    _arguments: tuple[WritableDirectory, str, Any, str, dict[str, Any]] | None = None
    _chosen: Any = None

    def __init__(self, file: Any, path: str, title: str, core: _core.WriterTree, layout: Layout) -> None:
        super().__init__(file, path, title, core, layout)
        self._default = file.compression
        self._file_of_tree = weakref.ref(file)
        self._extended = 0

    @property
    def object_path(self) -> str:
        """Path in the file."""
        return "/" + self._path

    @property
    def num_baskets(self) -> int:
        """How often entries were appended. In uproot this is the number of baskets; here they are filled to a size."""
        return self._extended

    @property
    def compression(self) -> Any:
        """The compression of the branches, or a dict of it by branch; set it before entries are appended."""
        return self._default if self._chosen is None else self._chosen

    @compression.setter
    def compression(self, value: Any) -> None:
        if self._arguments is None:
            raise InvalidError(f"{self.file_path}: set the compression of tree {self.name} before entries are appended")
        directory, name, types, title, options = self._arguments
        self._chosen = dict(value) if isinstance(value, Mapping) else value
        options = {**options, "compression": self._chosen}
        self._abandon()
        del directory._file._trees[self._path]
        made = NativeDirectory.mktree(directory, name, types, title, **options)
        directory._file._trees[self._path] = self
        self._core, self._layout, self._entries = made._core, made._layout, None

    def __getitem__(self, name: str) -> WritableBranch:
        """Return a branch, to set its compression."""
        if name not in self._layout.branches:
            raise KeyError(name)
        return WritableBranch(self, name)

    def add_branches(self, branches: Any) -> None:
        """Add branches to a tree that was in the file before; see :meth:`sapwood.WritableDirectory.add_branches`.

        Entries can be appended to it afterwards.
        """
        file = self._file_of_tree()
        if file is None:
            raise InvalidError(f"{self.file_path} was closed; open it again with update")
        file.add_branches(self._path, branches)
        again = file[self._path.partition(";")[0]]
        self._path, self._core, self._layout, self._entries = again._path, again._core, again._layout, None
        self._in_file = True
        file._trees[self._path] = self

    @refusing
    def extend(self, data: Any, *, accept_new_fields: bool = False) -> None:
        """Append entries: a dict of arrays, a data frame, a record array or an awkward array.

        Args:
            data: columns by name.
            accept_new_fields: add a branch for each column that the tree does not have; the entries before get zeros.
                Not for lists and text. See :meth:`add_branches`.
        """
        self._check_open()
        unknown = unknown_columns(data, self._layout)
        if unknown and not accept_new_fields:
            raise refusal(unknown, data, self._layout)
        if unknown:
            self.add_branches(zeros(data, unknown, self.num_entries))
        super().extend(data)
        self._arguments = None
        self._extended += 1


class WritableNTuple(WritableNtuple):
    """An ntuple that is written."""

    @property
    def object_path(self) -> str:
        """Path in the file."""
        return "/" + self._path

    def add_fields(self, new_fields: Any, descriptions: Mapping[str, str] | None = None) -> None:
        """Add fields, zero or empty in the entries that the ntuple has; see :meth:`sapwood.WritableNtuple.add_fields`.

        In a name with one dot (``"track.phi"``) the record may be at any depth, if no other field has its name.
        """
        names = full_names(list(new_fields), self._layout.branches)
        types = {names[name]: of for name, of in dict(new_fields).items()}
        described = {names.get(name, name): text for name, text in (descriptions or {}).items()}
        with missing_is_invalid():
            super().add_fields(types, described)

    @refusing
    def extend(self, data: Any, accept_new_fields: bool = False) -> None:
        """Append entries: a dict of arrays, a data frame, a record array or an awkward array.

        Args:
            data: columns by name.
            accept_new_fields: add fields that the ntuple does not have; in the entries before they are zero or empty.
        """
        self._check_open()
        new = unknown_fields(data, self._layout, accept_new_fields)
        if new:
            self.add_fields(new)
        super().extend(data)

    def __repr__(self) -> str:
        return f"<WritableNTuple {self._path!r} at {id(self):#014x}>"


class WritableDirectory(NativeDirectory):
    """A directory that is written."""

    _ntuple_layout = WithLists

    @property
    def path(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the directories from the top of the file to this one."""
        return tuple(part for part in self._path.split("/") if part)

    @property
    def object_path(self) -> str:
        """Path in the file, between slashes."""
        return f"/{self._path}/" if self._path else "/"

    @property
    def compression(self) -> Any:
        """The compression of new trees."""
        return self._file.compression  # type: ignore[attr-defined]

    @compression.setter
    def compression(self, value: Any) -> None:
        self._file.compression = value  # type: ignore[attr-defined]

    def mktree(  # type: ignore[override]
        self,
        name: str,
        branch_types_or_data: Any,
        title: str = "",
        *,
        counter_name: Callable[[str], str] | None = None,
        field_name: Callable[[str, str], str] | None = None,
        initial_basket_capacity: int = 10,
        resize_factor: float = 10.0,
        **options: Any,
    ) -> WritableTree:
        """Create a tree from types; or from data, which are then its first entries.

        ``initial_basket_capacity`` and ``resize_factor`` have no effect. Further options are those of
        :meth:`sapwood.WritableDirectory.mktree`.
        """
        given = branch_types_or_data
        _check_one_kind(name, given)
        _check_counters(given, counter_name, field_name)
        types = _types(given, counter_name)
        if counter_name is not None:
            options["counter_name"] = counter_name
        if field_name is not None:
            options["field_name"] = field_name
        options.setdefault("compression", self._file.compression)  # type: ignore[attr-defined]
        before = self._file._trees.get(self._join(name))
        made = super().mktree(name, types, title, **options)
        assert isinstance(made, WritableTree)
        if _is_data(given):
            self._extend_new(made, _columns(given), self._join(name), before is None)
        else:
            made._arguments = (self, name, types, title, options)
        return made

    def _extend_new(self, made: Any, data: Any, path: str, is_new: bool) -> None:
        """Append data to a tree or ntuple just made; if they are refused and the path ``is_new``, remove it."""
        try:
            made.extend(data)
        except BaseException:
            if is_new:
                self._file._trees.pop(path, None)
                made._abandon()
            raise

    def mkrntuple(  # type: ignore[override]
        self, name: str, type_spec_or_data: Any, description: str = "", **options: Any
    ) -> WritableNTuple:
        """Create an ntuple from types, or an awkward form; or from data, which are then its first entries.

        Further options are those of :meth:`sapwood.WritableDirectory.mkntuple`.
        """
        given = type_spec_or_data
        _check_one_kind(name, given)
        options.setdefault("compression", self._file.compression)  # type: ignore[attr-defined]
        before = self._file._trees.get(self._join(name))
        is_data = not _is_form(given) and _is_data(given)
        title, descriptions = described(given)
        options.setdefault("descriptions", descriptions)
        if _is_form(given):
            form, given = given, _without_entries(given)
            if form.is_tuple or not form.fields:
                raise TypeError(f"an ntuple needs the form of records with field names, not {type(form).__name__}")
        types = _columns(tables(given)) if is_data or _is_awkward(given) else given
        made = super().mkntuple(name, types, description or title, **options)
        assert isinstance(made, WritableNTuple)
        if is_data:
            self._extend_new(made, types, self._join(name), before is None)
        return made

    def __delitem__(self, name: str) -> None:
        """Delete an object: the one with the given cycle (``"name;1"``), or the newest."""
        full = self._join(name)
        if ";" not in full.rpartition("/")[2] and full not in self._file._trees:
            name = f"{name};{self._key(full)[0]}"
        super().__delitem__(name)

    def mkdir(  # type: ignore[override]
        self, name: str, *, initial_directory_bytes: int | None = None
    ) -> WritableDirectory:
        """Return the directory with this path; create it if it does not exist."""
        made = super().mkdir(name)
        assert isinstance(made, WritableDirectory)
        return made

    def __setitem__(self, name: str, value: Any) -> None:
        """Write a histogram, graph or text; or an ntuple from columns by name, or from the form of an awkward array.

        uproot writes ntuples for tables since version 5.7; :meth:`mktree` writes trees.
        """
        from ..writing.copy_tree import is_tree
        from ..writing.tables import is_table

        if isinstance(value, Wrapped):
            value = value.value
        if hasattr(value, "to_backend_array"):
            raise TypeError(f"{name}: columns need names; pass an array of records, not its {type(value).__name__}")
        if _is_form(value) or (_is_data(value) and is_table(value) and not is_tree(value)):
            self.mkrntuple(name, value)
        elif isinstance(value, Mapping):
            raise InvalidError(f"{name}: these are no columns; use mkrntuple or mktree for an ntuple or tree of types")
        elif isinstance(value, list):
            self.mktree(name, value)
        else:
            super().__setitem__(name, value)


class WritableFile(WritableDirectory, NativeFile):
    """A file that is written, and its top directory. At the end of a ``with`` block it is closed as it is, also if the
    block fails."""

    _directory_class = WritableDirectory
    _tree_class = WritableTree
    _ntuple_class = WritableNTuple
    _text_as_c_strings = True

    def __init__(
        self, core: _core.Writer, path: Any, existed: bool, compression: Any, target: FileObjectTarget | None = None
    ) -> None:
        self._compression = compression
        NativeFile.__init__(self, core, path, existed, target)

    @property
    def compression(self) -> Any:
        """The compression of new trees."""
        return self._compression

    @compression.setter
    def compression(self, value: Any) -> None:
        compression_text(value)
        self._compression = value

    @property
    def root_directory(self) -> WritableFile:
        """The top directory: the file itself."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _open(path: Any, compression: Any, options: Mapping[str, Any], function: str, *, replace: bool) -> WritableFile:
    for option in options:
        if option not in _WITHOUT_EFFECT:
            raise TypeError(f"{function}() got an unexpected keyword argument {option!r}")
    target = target_of(path)
    core = _create(path if target is None else target.path, compression, "", None, replace=replace, sync=True)
    return WritableFile(core, path, False, compression, target)


@unicode_only
def recreate(
    file_path: str | os.PathLike[str] | IO[bytes], *, compression: Any = _DEFAULT, **options: Any
) -> WritableFile:
    """Create a file; an existing one is replaced when this one is closed. A file object gets its contents then."""
    return _open(file_path, compression, options, "recreate", replace=True)


@unicode_only
def create(file_path: str | os.PathLike[str], *, compression: Any = _DEFAULT, **options: Any) -> WritableFile:
    """Create a file that must not exist yet."""
    return _open(file_path, compression, options, "create", replace=False)


@unicode_only
def update(file_path: str | os.PathLike[str] | IO[bytes], **options: Any) -> WritableFile:
    """Open a file to add objects, trees, or entries to existing trees."""
    for option in options:
        if option not in _WITHOUT_EFFECT:
            raise TypeError(f"update() got an unexpected keyword argument {option!r}")
    target = target_of(file_path, existing=True)
    path = file_path if target is None else target.path
    return WritableFile(_core.Writer.update(local_path(path)), file_path, True, _compression_of(path), target)


def _compression_of(path: Any) -> Compression | None:
    """The compression setting of an existing file."""
    from .functions import open

    with open({path: None}) as file:
        return Compression.from_code(file.fCompress)


def _is_form(given: Any) -> bool:
    """Whether this is the form of an awkward array."""
    return hasattr(given, "select_columns") and hasattr(given, "length_zero_array")


def _is_awkward(given: Any) -> bool:
    return type(given).__module__.partition(".")[0] == "awkward" and hasattr(given, "layout")


def _without_entries(form: Any) -> Any:
    """An array of a form, without entries."""
    import awkward as ak

    made = form.length_zero_array()
    return made if isinstance(made, ak.Array) else ak.Array(made)


def _is_data(given: Any) -> bool:
    """Whether these are columns, and not types."""
    if isinstance(given, Mapping):
        return bool(given) and all(_is_column(v) for v in given.values())
    module = type(given).__module__.partition(".")[0]
    if module in ("awkward", "pandas", "pyarrow", "polars"):
        return not type(given).__name__.endswith("Type")
    return isinstance(given, np.ndarray)


def _check_one_kind(name: str, given: Any) -> None:
    """Refuse columns beside what is none: they would count as types, and their values would be lost.

    Raises:
        InvalidError: some of it has values.
    """
    if not isinstance(given, Mapping):
        return
    columns = [field for field, value in given.items() if _is_column(value)]
    others = [field for field, value in given.items() if not _is_column(value)]
    if columns and others:
        raise InvalidError(
            f"{name}: {columns[0]!r} is a column of values, but {others[0]!r} is {given[others[0]]!r}; pass either "
            "columns of the same length or types"
        )


def _columns(given: Any) -> Any:
    """Data with lists in place of tuples, which would be types elsewhere."""
    if not isinstance(given, Mapping):
        return given
    return {name: list(value) if isinstance(value, tuple) else _columns(value) for name, value in given.items()}


def _is_column(value: Any) -> bool:
    if isinstance(value, Mapping):
        return bool(value) and all(_is_column(v) for v in value.values())
    if isinstance(value, tuple):
        return not _is_dtype(value)
    return not isinstance(value, (str, np.dtype, type)) and hasattr(value, "__len__")


def _is_dtype(value: tuple[Any, ...]) -> bool:
    """Whether numpy takes a tuple for a type."""
    try:
        np.dtype(value)
    except (TypeError, ValueError):
        return False
    return True


def _types(given: Any, counter_name: Callable[[str], str] | None) -> Any:
    """The types of a tree, or its data, with counters first and as 32-bit integers."""
    if not isinstance(given, Mapping):
        return given
    if _is_data(given):
        given = _columns(given)
    name_of = counter_name or (lambda counted: "n" + counted)
    counters = {name_of(name) for name in given} & set(given)
    ordered = with_counters_first(dict(given), counter_name)
    return {name: np.dtype("int32") if name in counters and _counts(of) else _named(of) for name, of in ordered.items()}


def _named(given: Any) -> Any:
    """A type by a name that numpy and C++ share is numpy's, as in uproot: "float" has 64 bits."""
    return np.dtype(given) if isinstance(given, str) and given in ("float", "int") else given


def _check_counters(
    given: Any, counter_name: Callable[[str], str] | None, field_name: Callable[[str, str], str] | None
) -> None:
    """Refuse a record, or a field of one, that has the name of a counter, as uproot does: ``extend`` could mean either
    by it.

    Raises:
        InvalidError: there is one.
    """
    if not isinstance(given, Mapping):
        return
    name_of = counter_name or (lambda counted: "n" + counted)
    fields = (
        {}
        if field_name is None
        else {field_name(name, field): name for name, of in given.items() for field in _fields(of)}
    )
    for name, of in given.items():
        counter = name_of(name) if isinstance(name, str) and _is_lists(of) else None
        if counter in given and _is_record(given[counter]):
            raise InvalidError(f"record {counter} collides with the counter of branch {name}; rename one of them")
        if counter in fields:
            raise InvalidError(
                f"field {counter} of record {fields[counter]} collides with the counter of branch {name}; "
                "rename one of them"
            )


def _is_lists(of: Any) -> bool:
    """Whether these are lists of any size, or their type."""
    return str(getattr(of, "type", of)).partition(" * ")[2].startswith("var") or str(of).startswith("var ")


def _is_record(of: Any) -> bool:
    """Whether these are records, or their type."""
    return isinstance(of, Mapping) or bool(_fields(of))


def _fields(of: Any) -> list[str]:
    """The fields of records, or of their type."""
    return list(of) if isinstance(of, Mapping) else list(getattr(getattr(of, "content", None), "fields", ()))


def _counts(of: Any) -> bool:
    """Whether these are whole numbers, or their type."""
    try:
        if isinstance(of, (str, type, np.dtype)):
            return np.dtype(of).kind in "iu"
        return np.asarray(of).dtype.kind in "iu"
    except (TypeError, ValueError):
        return False
