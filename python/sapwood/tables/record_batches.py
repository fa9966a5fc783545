"""Streams of Arrow record batches (the PyCapsule interface)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ..errors import UnsupportedError, require
from ..public import public

if TYPE_CHECKING:
    from .. import Chain
    from ..reading.branches import HasBranches
    from ..reading.selection import Selection


@public
@dataclass(frozen=True)
class RecordBatches:
    """Columns of a tree or chain for any library that takes Arrow streams; see :meth:`Tree.record_batches`.

    ``pyarrow.RecordBatchReader.from_stream``, ``pyarrow.table``, ``polars.DataFrame``, DuckDB and DataFusion take it.
    Nothing is read before; each use reads again.
    """

    #: Begins a stream: a capsule of Arrow's C stream interface.
    _begin: Callable[[object], Any]

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any:
        """Begin to read, as a stream of Arrow's PyCapsule interface."""
        return self._begin(requested_schema)


def of_branches(owner: HasBranches, expressions: Any, cut: str | None, options: Mapping[str, Any]) -> RecordBatches:
    """See :meth:`HasTable.record_batches`. An invalid request fails here, not when the stream begins."""
    from ..reading.arrays import _step, _wanted
    from ..reading.selection import select

    filters = {name: options[name] for name in ("filter_name", "filter_typename", "filter_branch")}
    selection = select(owner, expressions, cut, options["aliases"], filters)
    step, span, tree = _step(options["step_size"]), (options["entry_start"], options["entry_stop"]), owner.tree

    def begin(requested: object) -> Any:
        wanted = _wanted(tree, selection, span, options["entries"])
        guided = selection.cut is None or wanted.cut is not None
        if guided and wanted.branches and wanted.rows and _is_plain(owner, selection, wanted.branches):
            # batches go from the core to the consumer; pyarrow is not needed
            return wanted.begin(tree, step, None).__arrow_c_stream__(requested)
        of_types = {**_without_steps(options), "entry_start": 0, "entry_stop": 0, "entries": None}
        none: Any = cast(Any, owner).arrays(expressions, cut, library="pa", **of_types)
        steps = cast(Any, owner).iterate(expressions, cut, library="pa", **options)
        return stream_of(none.schema, steps, requested)

    return RecordBatches(begin)


def _is_plain(owner: HasBranches, selection: Selection, read: list[int]) -> bool:
    """Whether the outputs are what the core streams: branches, by the names that it gives them."""
    numbers = [what for _, what in selection.outputs]
    if numbers != read or any(n not in owner.tree._places for n in read):
        # expressions, or branches of friends
        return False
    names = [owner.tree._branch(n).name for n in read]
    return names == [name for name, _ in selection.outputs]


def of_chain(chain: Chain, expressions: Any, cut: str | None, options: Mapping[str, Any]) -> RecordBatches:
    """See :meth:`Chain.record_batches`."""

    def begin(requested: object) -> Any:
        steps = chain.iterate(expressions, cut, library="pa", **options)
        # the types are those of the first batch, or of the first file if there is none
        first = next(steps, None)
        if first is None:
            none = chain.arrays(expressions, cut, library="pa", **_without_steps(options))
            return stream_of(none.schema, iter(()), requested)

        def all_steps() -> Iterator[Any]:
            held = [first]
            yield held.pop()
            yield from steps

        return stream_of(first.schema, all_steps(), requested)

    return RecordBatches(begin)


def _check_floats(pa: Any, name: str, given: Any, wanted: Any) -> None:
    """Refuse doubles where the first file has floats: Arrow checks integers when it casts, and rounds floats."""
    if given == wanted:
        return
    if pa.types.is_float64(given) and pa.types.is_float32(wanted):
        raise UnsupportedError(
            f"{name!r} is float64 in a later file, and would be rounded as float32, its type in the first file; put a "
            'file with float64 first, or read with arrays(library="pa"), which has the common type',
            branch=name,
        )
    for i in range(min(given.num_fields, wanted.num_fields)):
        _check_floats(pa, name, given.field(i).type, wanted.field(i).type)


def _without_steps(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name != "step_size"}


def stream_of(schema: Any, tables: Iterator[Any], requested: object) -> Any:
    """A capsule of a stream of tables with this schema."""
    pa = require("pyarrow", "a stream of expressions or chains")

    def batches() -> Iterator[Any]:
        for table in tables:
            if table.schema != schema:
                for given, wanted in zip(table.schema, schema, strict=True):
                    _check_floats(pa, given.name, given.type, wanted.type)
            yield from table.cast(schema).to_batches()

    return pa.RecordBatchReader.from_batches(schema, batches()).__arrow_c_stream__(requested)
