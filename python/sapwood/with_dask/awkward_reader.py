"""The function that dask-awkward calls for each partition, and asks which columns it needs."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import awkward as ak
from dask_awkward.lib.io.columnar import ColumnProjectionMixin

from ..errors import KeyInFileError, UnsupportedError
from ..reading.told_types import read_fields
from .one_form import concatenated, fitted
from .partitions import Partition, columns_of, read


class AwkwardReader(ColumnProjectionMixin):
    """Reads partitions as arrays of records of the projected columns.

    dask-awkward replaces it by a copy with fewer columns; only that copy is sent to workers.
    """

    behavior = None
    attrs = None
    use_optimization = True

    def __init__(
        self,
        form: Any,
        options: Mapping[str, Any],
        environment: Mapping[str, str],
        *,
        doc: bool | Mapping[str, str] = False,
        allow_missing: bool = False,
        errors: tuple[type[BaseException], ...] = (),
        fields: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.form = form
        self._options = dict(options)
        self._environment = dict(environment)
        self._doc = doc
        self._allow_missing = allow_missing
        self._errors = errors
        #: Of an ntuple: the paths of the fields that are read for each column.
        self._fields = fields

    @property
    def return_report(self) -> bool:
        """Whether each partition is read with a report of its errors."""
        return bool(self._errors)

    @property
    def columns(self) -> list[str]:
        """The columns that are read."""
        return self.form.fields

    def necessary_columns(self, report: Any, state: Any) -> frozenset[str]:
        """The columns that were used, of their parts the whole columns."""
        used = super().necessary_columns(report, state)
        return frozenset(name for name in self.form.fields if any(c == name or c.startswith(name + ".") for c in used))

    def project_columns(self, columns: frozenset[str]) -> AwkwardReader:
        """The same for the columns that are used; names of their parts (``"Muons.fPt"``) may follow a dot."""
        kept = [name for name in self.form.fields if any(c == name or c.startswith(name + ".") for c in columns)]
        made: AwkwardReader = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        contents = [self.form.content(name) for name in kept]
        made.form = ak.forms.RecordForm(contents, kept, parameters=self.form.parameters)
        return made

    def __call__(self, partition: Partition) -> Any:
        """Read a partition."""
        if not self.return_report:
            return self._read(partition)
        began, clock = time.time_ns(), time.monotonic()
        try:
            made = self._read(partition)
        except self._errors as e:
            return self.mock_empty(), _failed(e, began, partition)
        return made, _succeeded(time.monotonic() - clock, partition)

    def _read(self, partition: Partition) -> Any:
        try:
            return read(partition, self._options, self._environment, self._paths(), self._arrays)
        except KeyInFileError:
            if self._allow_missing and not _has_tree(partition, self._options):
                return self.mock_empty()
            raise

    def _paths(self) -> list[str]:
        names = self.columns or []
        return names if self._fields is None else [path for name in names for path in self._fields[name]]

    def _arrays(self, tree: Any, start: int, stop: int) -> Any:
        names = self.columns
        if not names:
            return ak.Array(ak.contents.RecordArray([], [], length=stop - start))
        if self._fields is None:
            made = columns_of(tree, names, start, stop, "ak", self._doc)
        else:
            made = read_fields(tree, self._paths(), start, stop, self._doc)[names]
        return _fitted(tree, made, self.form, concatenated if "opened_as" in self._options else fitted)


def _fitted(tree: Any, made: Any, form: Any, fit: Callable[[Any, Any], Any]) -> Any:
    """The columns in the types of the collection; those are refused whose values would change."""
    if made.layout.form.type == form.type:
        return made
    columns = []
    for name in form.fields:
        column = fit(made.layout.content(name), form.content(name))
        if column is None:
            there, expected = made.layout.content(name).form.type, form.content(name).type
            raise UnsupportedError(
                f"{tree.file_path}: branch {name!r} is {there}, but {expected} in the form of the collection",
                file=tree.file_path,
                branch=name,
            )
        columns.append(column)
    return ak.Array(made.layout.copy(contents=columns), behavior=made.behavior)


def _has_tree(partition: Partition, options: Mapping[str, Any]) -> bool:
    from ..reading.tree_of_file import tree_of
    from .opened import open_file

    with open_file(partition.file, options) as file:
        try:
            tree_of(file, partition.tree)
        except KeyInFileError:
            return False
        return True


def _report(**fields: Any) -> Any:
    names = (
        "call_time", "duration", "performance_counters", "args", "kwargs", "exception", "message", "fqdn", "hostname",
    )  # fmt: skip
    return ak.Array([{name: fields.get(name) for name in names}])


def _described(partition: Partition) -> list[str]:
    return [repr(part) for part in (partition.file, partition.tree, partition.start, partition.stop)]


def _succeeded(duration: float, partition: Partition) -> Any:
    return _report(duration=duration, args=_described(partition), kwargs=[])


def _plain_name(e: BaseException) -> str:
    """The name of an error in a report. Errors of files have those of Python, which code that reads reports expects."""
    if not isinstance(e, OSError):
        return type(e).__name__
    return next(c.__name__ for c in type(e).__mro__ if c.__module__ == "builtins")


def _failed(e: BaseException, began: int, partition: Partition) -> Any:
    return _report(
        call_time=began, args=_described(partition), kwargs=[], exception=_plain_name(e),
        message=str(e), fqdn=socket.getfqdn(), hostname=socket.gethostname(),
    )  # fmt: skip
