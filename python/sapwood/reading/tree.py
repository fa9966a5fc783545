"""Trees and branches."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, overload

from ..arguments.checks import string
from ..arguments.sizes import Size, size_in_bytes
from ..public import public
from ..uproot_registration import stands_for
from .branch import Branch
from .context import ClosesFile
from .friends import Friend, friend_from
from .given_aliases import HasGivenAliases
from .stored import HasStoredMembers
from .table import HasTable

if TYPE_CHECKING:
    import os
    from concurrent.futures import Executor
    from typing import Literal

    import hist
    import polars as pl

    from .. import _core
    from ..arguments.entries import Entries as Chosen
    from ..arguments.filters import Filter
    from ..arguments.paths import Where
    from ..arguments.progress import Progress
    from ..drawing.histogram import Histogram
    from ..errors import SelectorError
    from ..objects.object import Object
    from ..reports.file_map import FileMap
    from ..selecting.selector import Selector
    from .entries import Entries
    from .file import ReadOnlyFile
    from .rows import Rows


@public
@stands_for("TTree")
class Tree(ClosesFile, HasStoredMembers, HasGivenAliases, HasTable):
    """A TTree: a mapping from names to branches. Returned by ``file["name"]``."""

    #: Whether tables have top-level fields, as uproot reads ntuples, and not the fields with values.
    nests_fields = False

    #: The class of its branches.
    _branch_class: type[Branch] = Branch
    #: What makes the reports of steps, of (start, stop, tree, offset), if it is another class.
    _report: Callable[..., Any] | None = None

    def __init__(self, file: ReadOnlyFile, core: _core.Tree, cycle: int) -> None:
        self._file = file
        self._core = core
        self._cycle = cycle
        #: Size of the tree cache in bytes; None lets the engine choose.
        self._cache_size = file._options.cache_size
        #: Branches that loops over entries read ahead without learning, and the number of entries to learn from.
        self._cached_branches: list[str] = []
        self._learn_entries: int | None = None
        #: Friends given by :meth:`add_friend`, aliases by :meth:`set_alias`.
        self._friends: list[Friend] = []
        self._given_aliases: dict[str, str] = {}
        #: Their first entry for this tree, and the core's tree without them.
        self._first_entry, self._own_core = 0, core
        self._places = {place[0]: place for place in core.branches()}
        self._made: dict[int, Branch] = {}
        self._by_path: dict[str, int] = {}
        self._by_name: dict[str, int] = {}
        #: Branches with several leaves, by the leaves' names.
        self._leaves: dict[str, list[int]] = {}
        self._object: Object | None = None
        for number, name, path, _, _ in self._places.values():
            # of duplicate names the first one counts
            self._by_path.setdefault(path, number)
            self._by_name.setdefault(name, number)
        for name, number in core.leaves():
            self._leaves.setdefault(name, []).append(number)

    @property
    def tree(self) -> Tree:
        """The tree itself."""
        return self

    @property
    def _prefix(self) -> str:
        return ""

    @property
    def _self_name(self) -> str:
        return f"tree {self.name!r}"

    def _branch(self, number: int) -> Branch:
        branch = self._made.get(number)
        if branch is None:
            branch = self._made.setdefault(number, self._branch_class(self, *self._places[number]))
        return branch

    def _loose_branch(self, number: int) -> Branch:
        """A branch that the tree does not keep: it and the tree do not refer to each other."""
        return self._made.get(number) or self._branch_class(self, *self._places[number])

    def _forget_branches(self) -> None:
        """Release the branches: they and the tree refer to each other, and would keep the file open until the garbage
        collector runs."""
        self._made.clear()

    @property
    def branches(self) -> list[Branch]:
        """The top-level branches."""
        return [self._branch(n) for n, (_, _, _, parent, _) in self._places.items() if parent is None]

    @property
    def name(self) -> str:
        """Name of the tree."""
        return self._core.name

    @property
    def title(self) -> str:
        """Title of the tree."""
        return self._core.title

    @property
    def classname(self) -> str:
        """C++ class: TTree, TNtuple, …"""
        return self._core.class_name

    @property
    def object_path(self) -> str:
        """Path in the file, with cycle."""
        return f"{self._core.path.partition(';')[0]};{self._cycle}"

    @property
    def num_entries(self) -> int:
        """Number of entries."""
        return self._core.entries

    @property
    def file(self) -> ReadOnlyFile:
        """The file that contains the tree."""
        return self._file

    @property
    def file_path(self) -> str:
        """Path or URL of the file."""
        return self._file.file_path

    @property
    def parent(self) -> ReadOnlyFile:
        """The file that contains the tree."""
        return self._file

    @property
    def cache_key(self) -> str:
        """A name for the tree that differs between files: their identifier and the path."""
        return f"{self._file.uuid}:/{self.object_path}"

    def _stored(self) -> Object:
        if self._object is None:
            from ..objects.factory import Factory

            self._object = self._file._core.object(self.object_path, Factory())[0]
        return self._object

    @property
    def aliases(self) -> dict[str, str]:
        """Aliases stored in the tree, and those of :meth:`set_alias`: expressions by name."""
        return {**dict(self._core.aliases), **self._given_aliases}

    @property
    def _is_ntuple(self) -> bool:
        """Whether it is an ntuple, whose fields are branches here."""
        return self._core.class_name == "ROOT::RNTuple"

    @property
    def user_info(self) -> list[Any]:
        """The objects in ``TTree::GetUserInfo()``, in their order; empty if there are none, and for an ntuple.

        Objects have the types of ``file[name]``: a ``TParameter`` has ``value``, a ``TNamed`` has members.
        """
        if self._is_ntuple:
            return []
        stored = self._stored().all_members.get("fUserInfo")
        return [] if stored is None else list(stored)

    @property
    def friends(self) -> list[dict[str, str]]:
        """Friends stored in the tree: name, tree and file ("": the same file) of each. See :meth:`add_friend`."""
        return [dict(zip(("name", "tree", "file"), friend, strict=True)) for friend in self._core.friends]

    def add_friend(
        self,
        tree: str,
        files: Where | Iterable[Where],
        alias: str | None = None,
        index: str | Iterable[str] | None = None,
    ) -> None:
        """Read the branches of another tree with those of this one, like ``TTree::AddFriend``.

        Expressions and cuts name them ``alias.branch`` or ``tree.branch``; a name that this tree does not have is
        searched in the friends in order. Entries belong together by number, or by the friend's index. An entry that the
        friend does not have is missing: it has no rows in :meth:`draw` and is None in :meth:`arrays`.

        Friends stored in the file (:attr:`friends`) are read in the same way, without this method; a friend with the
        name of one of them replaces it.

        Args:
            tree: name of the friend tree.
            files: its file, or several, whose entries are read one after another.
            alias: another name for it in expressions.
            index: one or two expressions that both trees have, such as ``("run", "event")``: entries belong together if
                the values are the same. None for the index stored in the friend, if any.
        """
        self._set_friends([*self._friends, friend_from(tree, files, alias, index)])

    def _set_friends(self, friends: list[Friend], first_entry: int = 0, total: int | None = None) -> None:
        """Use these friends besides the stored ones; ``first_entry`` is that of the tree in its chain, ``total`` the
        entries of the chain."""
        options = self._file._options
        core = self._own_core.with_friends(
            list(friends), first_entry, options.cache_size, options.timeout, options.threads, total
        )
        self._core, self._friends, self._first_entry = core, friends, first_entry

    @property
    def clusters(self) -> list[int]:
        """First entry of each cluster, and the number of entries."""
        return list(self._core.clusters)

    @property
    def uncompressed_bytes(self) -> int:
        """Uncompressed size of all branches in bytes."""
        return self._core.bytes[0]

    @property
    def compressed_bytes(self) -> int:
        """Compressed size of all branches in bytes."""
        return self._core.bytes[1]

    @property
    def compression_ratio(self) -> float:
        """Uncompressed over compressed size; 1 for an empty tree."""
        before, after = self._core.bytes
        return before / after if after else 1.0

    def set_cache_size(self, cache_size: Size | None) -> None:
        """Set the size of the tree cache for later reads (``"10 MB"``).

        0 reads one basket per request, None lets Sapwood choose."""
        self._cache_size = None if cache_size is None else size_in_bytes(cache_size, "cache_size")

    @property
    def cache_size(self) -> int | None:
        """Size of the tree cache in bytes; None if Sapwood chooses."""
        return self._cache_size

    @property
    def automatic_cache_size(self) -> int:
        """ROOT's default cache size for this tree, in bytes; also used by :meth:`entries`."""
        return self._core.automatic_cache_size()

    def add_branch_to_cache(self, name: str) -> None:
        """Read this branch, or all branches that match a pattern, ahead without learning in later loops over entries.

        Raises:
            KeyInFileError: no such branch.
        """
        self._core.entry_reader().add_branch(string(name, "name"))
        self._cached_branches.append(name)

    def set_cache_learn_entries(self, entries: int) -> None:
        """Set the number of entries from which later loops over entries learn; the default is 100."""
        from .entries import _count

        self._learn_entries = _count(entries)

    def stop_cache_learning_phase(self) -> None:
        """Disable learning in later loops over entries: only branches of :meth:`add_branch_to_cache` are read ahead."""
        self._learn_entries = 0

    def entries(self, entry_start: int | None = None, entry_stop: int | None = None) -> Entries:
        """Iterate over single entries, from ``entry_start`` to ``entry_stop`` (as in a slice).

        Reading columns (:meth:`arrays`) is much faster where possible.
        """
        from .entries import Entries

        return Entries(self, entry_start, entry_stop)

    @overload
    def draw(
        self,
        expression: str,
        cut: str = "",
        bins: Any = None,
        option: str = "",
        *,
        aliases: Mapping[str, str] | None = ...,
        entry_start: int | None = ...,
        entry_stop: int | None = ...,
        entries: Chosen = ...,
        progress: Progress = ...,
        scheduler: Any = ...,
        partial: Callable[[Any], object] | None = ...,
    ) -> Any: ...

    @overload
    def draw(
        self,
        *,
        draws: Iterable[str | tuple[Any, ...] | dict[str, Any]],
        aliases: Mapping[str, str] | None = ...,
        entry_start: int | None = ...,
        entry_stop: int | None = ...,
        entries: Chosen = ...,
        progress: Progress = ...,
        scheduler: Any = ...,
        partial: Callable[[Any], object] | None = ...,
    ) -> list[hist.Hist | Histogram]: ...

    def draw(
        self,
        expression: str | None = None,
        cut: str = "",
        bins: Any = None,
        option: str = "",
        *,
        draws: Iterable[str | tuple[Any, ...] | dict[str, Any]] | None = None,
        aliases: Mapping[str, str] | None = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        entries: Chosen = None,
        progress: Progress = None,
        scheduler: Any = None,
        partial: Callable[[Any], object] | None = None,
    ) -> hist.Hist | Histogram | list[hist.Hist | Histogram]:
        """Fill a histogram of an expression in ROOT's syntax, like ``TTree::Draw``.

        Args:
            expression: such as ``"sqrt(px**2+py**2)"``; ``"y:x"`` and ``"z:y:x"`` for two and three dimensions; a
                string gets a bin for each of its values. The tree's :attr:`aliases` can be used. The path of a Python
                script (``"script.py"``) runs the selector in it and returns its result (see :meth:`process`), or fills
                a histogram with what its function of branches returns.
                ``">>list"`` without an expression makes a list of the entries that pass the cut.
            cut: a condition or weight, such as ``"pt>20 && abs(eta)<2.4"``.
            bins: a number of bins, ``(number, low, high)``, an array of edges, or an axis of hist; for several
                dimensions one of these or None for each axis, x first. What is left open follows from the values as
                in ROOT.
            option: as in ROOT: ``"entrylist"`` or ``"entrylistarray"`` for the class of a list (the default is
                TEventList); ``"prof"`` for the means of the first variable (``"profs"``, ``"profi"``, ``"profg"``
                are the same here: they differ in how ROOT shows errors), ``"norm"`` to scale the sum to 1.
            draws: several draws in place of one: each an expression, a tuple ``(expression, cut, bins, option)`` of
                which the last ones can be omitted, or a dict with these keys. The tree is read once for all of them.
            aliases: names for expressions in ROOT's syntax, for this draw; see :meth:`set_alias`.
            entries: entry numbers, a boolean for each entry, or an entry list of a file: only these are drawn, and
                only their baskets are fetched.
            scheduler: where parts of the entries are drawn: a ``distributed.Client``, the address of a Dask scheduler,
                or a ``concurrent.futures.Executor``. Workers open the files. The parts depend on the file alone and are
                added in order: the result is the same however they are scheduled.
            partial: with a scheduler, called with the histogram (the list, with ``draws``) of the entries so far.

        Returns:
            A list with one histogram for each of ``draws``; without them, one histogram. It is a ``hist.Hist`` if hist
            is installed, otherwise a :class:`sapwood.Histogram` with the same protocol (``values()``, ``variances()``,
            ``axes``, ``to_numpy()``). Profiles have weighted means as their storage. ``">>list"`` returns a
            :class:`sapwood.EntryList`, which can be passed as ``entries`` or written to a file.
        """
        from ..drawing.draw import draw, drawings_from, without_partial
        from ..selecting.script import is_script

        if expression is not None and is_script(expression, self.keys):
            from ..drawing.function import draw_script

            span = entry_start, entry_stop
            return draw_script(self, expression, cut, bins, option, span, entries, progress, scheduler)
        drawings, single = drawings_from(expression, cut, bins, option, draws, self._aliases_with(aliases))
        span = entry_start, entry_stop
        if drawings and scheduler is not None:
            from ..drawing.parts import draw_parts

            self.file._check_open()
            drawn = draw_parts(self, drawings, span, entries, progress, partial, scheduler, single=single)
            return drawn[0] if single else drawn
        without_partial(partial)
        drawn = draw(self, drawings, span, progress, entries) if drawings else []
        return drawn[0] if single else drawn

    def query(
        self,
        expressions: str,
        cut: str = "",
        *,
        aliases: Mapping[str, str] | None = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        entries: Chosen = None,
        progress: Progress = None,
        scheduler: Any = None,
    ) -> Rows:
        """Return rows of values, like ``TTree::Query`` and ``TTree::Scan``.

        Args:
            expressions: in ROOT's syntax, separated by colons (``"run:event:Muon_pt"``); ``"*"`` for all leaves.
            cut: a condition; rows for which it is 0 are skipped.
            aliases: names for expressions in ROOT's syntax; see :meth:`set_alias`.
            entry_start, entry_stop, entries: see :meth:`arrays`.
            scheduler: where parts of the entries are read, see :meth:`draw`.

        Returns:
            A list with a tuple for each row: Python numbers and strings. A list has one row for each of its elements,
            single values are repeated, and shorter lists are None after their end. Its attributes are ``columns``,
            and as arrays ``entries`` and ``instances``, the numbers of entry and element for each row.
        """
        from .rows import asked, query

        span = entry_start, entry_stop
        if scheduler is not None:
            from ..drawing.parts import query_parts

            self.file._check_open()
            texts = *asked(expressions, cut), self._aliases_with(aliases)
            return query_parts(self, texts, span, entries, progress, scheduler)
        return query(self, expressions, cut, aliases, span, entries, progress)

    def process(
        self,
        selector: Selector | type[Selector] | str | os.PathLike[str],
        *,
        executor: Executor | Literal["threads", "processes"] | None = None,
        workers: int | None = None,
        step_size: Size = "20 MB",
        entry_start: int | None = None,
        entry_stop: int | None = None,
        entries: Chosen = None,
        progress: Progress = None,
        on_error: Callable[[SelectorError], None] | None = None,
        scheduler: Any = None,
    ) -> Any:
        """Run a selector over the entries, like ``TTree::Process``, and return its result.

        Args:
            selector: a :class:`Selector`, an instance or a class; a function with :func:`sapwood.selector`; or the path
                of a Python script that contains one.
            executor: None to process batches one after another; ``"threads"`` to process them on threads, which get
                them without copies; ``"processes"`` for processes, which read their own batches; or a
                ``concurrent.futures.Executor``.
            workers: number of threads or processes; one per core by default.
            step_size: size of a batch; see :meth:`iterate`.
            entry_start, entry_stop, entries, progress: see :meth:`iterate`.
            on_error: called with the :class:`SelectorError` of each batch that the selector or its worker process
                failed on, in the order of entries; that batch is not in the result. Without it, the first error
                ends the run. Errors in reading always do.
            scheduler: in place of ``executor``, a ``distributed.Client`` or the address of a Dask scheduler.

        The result is the same for every executor and number of workers.

        Raises:
            SelectorError: the selector raised an exception, or a worker process died; the message names the file and
                the entries.
        """
        from ..selecting.process import process

        return process(
            self, selector, executor=executor, workers=workers, step_size=step_size, span=(entry_start, entry_stop),
            entries=entries, progress=progress, on_error=on_error, scheduler=scheduler,
        )  # fmt: skip

    def scan_polars(
        self,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        filter_branch: Callable[[Branch], object] | None = None,
        step_size: Size = "100 MB",
    ) -> pl.LazyFrame:
        """Return a lazy frame of polars over this tree; see :func:`sapwood.scan_polars`."""
        from ..tables.lazy_frames import lazy_frame

        filters = {"filter_name": filter_name, "filter_typename": filter_typename, "filter_branch": filter_branch}
        return lazy_frame(self, filters, step_size)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any:
        """All columns that can be read, as a stream of Arrow's PyCapsule interface; see :meth:`record_batches`."""
        return self.record_batches().__arrow_c_stream__(requested_schema)

    def map(self, branches: str | Iterable[str] = ()) -> FileMap:
        """Return where the baskets of this tree are in its file; see :func:`sapwood.map`."""
        from ..reports.file_map import FileMap, patterns

        return FileMap(self._core.map(patterns(branches)))

    def __repr__(self) -> str:
        return f"<Tree {self.name!r} ({len(self._places)} branches, {self.num_entries} entries)>"

    def __reduce__(self):
        if self._friends or self._given_aliases:
            given = (self._friends, self._first_entry, self._given_aliases)
            return _as_given, (self._file, self.object_path, *given)
        return operator.getitem, (self._file, self.object_path)


def _as_given(file: ReadOnlyFile, path: str, friends: list[Friend], first_entry: int, aliases: dict[str, str]) -> Tree:
    """A tree of a file with the friends and aliases that it was given."""
    tree = file[path]
    if friends:
        tree._set_friends(friends, first_entry)
    tree._given_aliases = aliases
    return tree
