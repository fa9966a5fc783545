"""Dask collections of trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..arguments.checks import flag
from ..arguments.filters import Filter
from ..arguments.uproot_options import OF_FILES, without_effect
from ..errors import InvalidError, UnsupportedError, require
from ..public import public
from .opened import with_tree
from .partitions import Source, Steps, absolute, all_facts, counts_of, partitions, sources, steps_of, unopened
from .settings import options_of, settings

if TYPE_CHECKING:
    from ..reading.branch import Branch

_LIBRARIES = ("ak", "np", "pd")


@public
def dask(
    files: Any,
    filter_name: Filter = None,
    *,
    filter_typename: Filter = None,
    filter_branch: Callable[[Branch], object] | None = None,
    recursive: bool = True,
    full_paths: bool = False,
    step_size: int | str | None = None,
    steps_per_file: int | None = None,
    library: str = "ak",
    ak_add_doc: bool | Mapping[str, str] = False,
    custom_classes: object = None,
    allow_missing: bool = False,
    open_files: bool = True,
    form_mapping: Any = None,
    allow_read_errors_with_report: bool | tuple[type[BaseException], ...] = False,
    known_base_form: Any = None,
    decompression_executor: object = None,
    interpretation_executor: object = None,
    interp_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Any:
    """Return Dask collections of the branches, like ``uproot.dask``: nothing is read until they are computed.

    Args:
        files: see :func:`sapwood.iterate`; also ``{file: {"object_path": tree, "steps": [[0, 100], [100, 200]]}}`` with
            the entries of each partition.
        filter_name, filter_typename, filter_branch, recursive, full_paths: see :meth:`Tree.keys`.
        step_size: entries of a partition, or bytes (``"100 MB"``), which makes partitions of whole clusters where
            possible. Needs ``open_files``.
        steps_per_file: partitions of each file; one by default. They end where clusters end, if there are enough.
        library: ``"ak"`` for a ``dask_awkward.Array``, which reads only the columns that are used; ``"np"`` for a dict
            of ``dask.array``; ``"pd"`` for a ``dask.dataframe.DataFrame``.
        ak_add_doc: see :meth:`Tree.arrays`; also as ``interp_options={"ak_add_doc": ...}``.
        allow_missing: partitions of files without the tree are empty.
        open_files: open all files now, to count their entries: on the workers of the current Dask client, or on
            threads. With False only the first file is opened, for the types; workers open the others.
        form_mapping: an object with uproot's protocol of form mappings, as coffea has them.
        allow_read_errors_with_report: True, or a tuple of exceptions (``OSError`` for True): a partition that fails so
            is empty. Returns the array and an array of reports, with the exception of each partition.
        known_base_form: an awkward form to use instead of opening a file; with ``open_files=False``.
        custom_classes, decompression_executor, interpretation_executor: accepted, without effect.
        options: ``cache_size``, ``timeout``, ``threads``, ``local_cache`` and others of :func:`sapwood.open`, used by
            workers, too.

    A partition fails if its file has changed since then. Where files are opened, a column has the type that
    :func:`sapwood.concatenate` gives it if types differ; otherwise it has that of the first file. A partition fails if
    its values would change.

    Workers that have no settings of their own use those of this process: the local cache, and the proxies in the
    environment. Tokens and passwords are not sent, except as a part of URLs that are given.
    """
    return collections(
        files, True, filter_name=filter_name, filter_typename=filter_typename, filter_branch=filter_branch,
        recursive=recursive, full_paths=full_paths, step_size=step_size, steps_per_file=steps_per_file, library=library,
        ak_add_doc=ak_add_doc, allow_missing=allow_missing, open_files=open_files, form_mapping=form_mapping,
        allow_read_errors_with_report=allow_read_errors_with_report, known_base_form=known_base_form,
        interp_options=interp_options, **options,
    )  # fmt: skip


def collections(
    files: Any,
    along_clusters: bool,
    *,
    filter_name: Filter = None,
    filter_typename: Filter = None,
    filter_branch: Any = None,
    recursive: bool = True,
    full_paths: bool = False,
    step_size: Any = None,
    steps_per_file: Any = None,
    library: str = "ak",
    ak_add_doc: Any = False,
    allow_missing: bool = False,
    open_files: bool = True,
    form_mapping: Any = None,
    allow_read_errors_with_report: Any = False,
    known_base_form: Any = None,
    interp_options: Mapping[str, Any] | None = None,
    opened_as: type[Any] | None = None,
    **options: Any,
) -> Any:
    """See :func:`dask`; partitions end where clusters end, or are of equal numbers of entries.

    With a class of files, opened files may have different branches: those are read that all of them have.
    """
    own = options_of(options)
    if opened_as is not None and library == "ak":
        own = {**own, "opened_as": opened_as}
    without_effect(options, OF_FILES | {"interpretation_executor", "decompression_executor"}, "dask")
    if library not in _LIBRARIES:
        raise InvalidError(f'library must be "ak", "np" or "pd", not {library!r}')
    if known_base_form is not None and open_files:
        raise InvalidError("known_base_form is for open_files=False")
    if library != "ak" and (form_mapping is not None or allow_read_errors_with_report or known_base_form is not None):
        raise InvalidError('form_mapping, known_base_form and allow_read_errors_with_report are for library="ak" only')
    doc = (interp_options or {}).get("ak_add_doc", ak_add_doc)
    return _Collections(
        absolute(sources(files)),
        {"filter_name": filter_name, "filter_typename": filter_typename, "filter_branch": filter_branch},
        own, library, flag(open_files, "open_files"), flag(allow_missing, "allow_missing"), recursive, full_paths,
    ).made(
        steps_of(step_size, steps_per_file, open_files=open_files, along_clusters=along_clusters),
        known_base_form, form_mapping, _errors(allow_read_errors_with_report), doc,
    )  # fmt: skip


def _errors(allowed: Any) -> tuple[type[BaseException], ...]:
    if allowed is True:
        return (OSError,)
    if not allowed:
        return ()
    given = allowed if isinstance(allowed, tuple) else (allowed,)
    if all(isinstance(e, type) and issubclass(e, BaseException) for e in given):
        return given
    raise InvalidError(f"allow_read_errors_with_report must be a bool or a tuple of exceptions, not {allowed!r}")


@dataclass(frozen=True)
class _Wanted:
    """The branches of the columns; of ntuples the fields without fields below them, by path."""

    paths: list[str]
    nested: bool = False

    def by_field(self) -> dict[str, list[str]] | None:
        """The paths below each top-level field of an ntuple."""
        if not self.nested:
            return None
        found: dict[str, list[str]] = {}
        for path in self.paths:
            found.setdefault(path.partition(".")[0], []).append(path)
        return found

    def reduced(self, common: frozenset[str]) -> _Wanted:
        """Those that are in all files, in the order of their names, which is the same for all."""
        return _Wanted(sorted(common.intersection(self.paths)), self.nested)


def _leaves(branch: Any) -> Iterator[str]:
    """The paths of the fields below a field that have none below them."""
    if not branch.branches:
        yield branch.path
    for below in branch.branches:
        yield from _leaves(below)


class _Collections:
    """The collections of a request."""

    def __init__(
        self,
        given: list[Source],
        filters: dict[str, Any],
        options: dict[str, Any],
        library: str,
        open_files: bool,
        allow_missing: bool,
        recursive: bool,
        full_paths: bool,
    ) -> None:
        require(
            {"ak": "dask_awkward", "np": "dask.array", "pd": "dask.dataframe"}[library], f"dask(library={library!r})"
        )
        self._given, self._filters, self._options = given, filters, options
        self._library, self._open_files, self._allow_missing = library, open_files, allow_missing
        self._recursive, self._full_paths = recursive, full_paths
        self._environment = settings()

    def made(self, steps: Steps, known_form: Any, mapping: Any, errors: tuple[Any, ...], doc: Any) -> Any:
        """The collections."""
        if known_form is None:
            first, (form, wanted) = self._first(self._wanted, doc)
        else:
            first, form, wanted = 0, known_form, _Wanted(list(known_form.fields))
        if not self._open_files:
            parts = unopened(self._given, steps)
            counts = counts_of(parts)
        else:
            named = Steps(steps.size, steps.per_file, tuple(wanted.paths), steps.along_clusters)
            found = [None] * first + all_facts(
                self._given[first:], named, self._options, self._environment, self._allow_missing
            )
            common = frozenset.intersection(*(known.present for known in found if known is not None))
            if "opened_as" in self._options and not common.issuperset(wanted.paths):
                wanted = wanted.reduced(common)
                _, (form, wanted) = self._first(lambda tree, doc: (self._form_of(tree, wanted, doc), wanted), doc)
            from .one_form import joined

            # arrays of numpy and columns of pandas have no lists of several fixed arrays
            form = joined(
                form, (f.types for f in found if f is not None), sizes=self._library == "ak",
                unions="opened_as" in self._options,
            )  # fmt: skip
            parts = partitions(self._given, found)
            counts = counts_of(parts)
        rest = (self._options, self._environment)
        if self._library == "pd":
            from .frames import data_frame

            return data_frame(form, parts, counts, *rest)
        if self._library == "np":
            from .frames import arrays

            return arrays(form, parts, counts, *rest)
        import dask_awkward
        from numpy import cumsum

        from .awkward_reader import AwkwardReader

        common_options = {"doc": doc, "allow_missing": self._allow_missing, "errors": errors}
        if mapping is None:
            reader = AwkwardReader(form, *rest, **common_options, fields=wanted.by_field())
        else:
            from .mapped_reader import MappedReader

            reader = MappedReader(form, mapping, *rest, **common_options)
        # the entries of a partition that may fail are not known
        divisions = None if counts is None or errors else (0, *(int(n) for n in cumsum(counts)))
        return dask_awkward.from_map(reader, parts, label="from-sapwood", divisions=divisions)

    def _first(self, use: Callable[[Any, Any], Any], doc: Any) -> tuple[int, Any]:
        """The position of the first file that has the tree, and the result of a function of the tree."""
        for position, source in enumerate(self._given):
            try:
                return position, with_tree(
                    source.file, source.tree, self._options, self._environment, lambda tree: use(tree, doc)
                )
            except KeyError:
                if not self._allow_missing or position == len(self._given) - 1:
                    raise
        raise InvalidError("no files given")

    def _wanted(self, tree: Any, doc: Any) -> tuple[Any, _Wanted]:
        """The form of what passes the filters, and its branches."""
        if tree.nests_fields:
            chosen = tree.filtered(**self._filters, recursive=self._recursive)
            wanted = _Wanted(list(dict.fromkeys(p for branch in chosen for p in _leaves(branch))), nested=True)
        else:
            wanted = _Wanted(list(dict.fromkeys(self._names(tree))))
        return self._form_of(tree, wanted, doc), wanted

    def _form_of(self, tree: Any, wanted: _Wanted, doc: Any) -> Any:
        """The form of the columns; no basket is read."""
        if not wanted.paths:
            raise InvalidError(f"{tree.file_path}: no branch of {tree.name!r} passes the filters", file=tree.file_path)
        if wanted.nested:
            from ..reading.told_types import read_fields

            names = list(wanted.by_field() or ())
            return read_fields(tree, wanted.paths, 0, 0, doc)[names].layout.form
        return tree.arrays(wanted.paths, entry_start=0, entry_stop=0, library="ak", ak_add_doc=doc).layout.form

    def _names(self, tree: Any) -> list[str]:
        """The branches with values that pass the filters, and those without whose sub-branches do not."""
        from ..reading.selection import _all, groups_alone

        filters = {**self._filters, "recursive": self._recursive}
        groups = groups_alone(tree, filters)
        try:
            flat = list(_all(tree, filters))
        except UnsupportedError:
            if not groups:
                raise
            flat = []
        own = [tree._branch(number).path if self._full_paths else name for name, number in flat]
        return own + [b.path if self._full_paths else b.name for b in groups]


__all__ = ["dask"]
