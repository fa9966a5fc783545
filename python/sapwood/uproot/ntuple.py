"""Ntuples and their fields with uproot's attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..reading.branch import Branch
from ..reading.nested_fields import line_of
from ..reading.tree import Tree
from .read import TBranch, TTree

if TYPE_CHECKING:
    from collections.abc import Iterator


class RField(TBranch):
    """A field of an ntuple."""

    @property
    def typename(self) -> str:
        """C++ type of its values."""
        return Branch.typename.__get__(self)

    def reads_as_group(self) -> bool:
        """No: a field is read with those below it."""
        return False

    def array(self, *args: Any, filter_field: Any = None, **options: Any) -> Any:
        """Read the field, with those below it; takes the options of :meth:`sapwood.Branch.array`."""
        return super().array(*args, **options)

    def _read(self, span: Any, library: str, progress: Any, interpretation: object, entries: Any) -> Any:
        return Branch._read(self, span, library, progress, interpretation, entries)

    def arrays(self, expressions: Any = None, cut: Any = None, *, filter_field: Any = None, **options: Any) -> Any:
        """Read this field, or fields below it, in the field itself; takes the options of
        :meth:`sapwood.Branch.arrays`."""
        return super().arrays(expressions, cut, **_with_field(filter_field, options))

    def iterate(self, expressions: Any = None, cut: Any = None, *, filter_field: Any = None, **options: Any) -> Any:
        """Read this field, or fields below it, in steps; takes the options of :meth:`sapwood.Branch.iterate`."""
        return super().iterate(expressions, cut, **_with_field(filter_field, options))

    def iteritems(self, *, filter_field: Any = None, **options: Any) -> Iterator[tuple[str, Any]]:
        """Iterate over (name, field) pairs; takes the options of :meth:`sapwood.Branch.iteritems`."""
        return super().iteritems(**_with_field(filter_field, options))

    def to_akform(self, **filters: Any) -> tuple[Any, list[str]]:
        """Return the awkward form of a table with this field, or with the fields below it that pass the filters, and
        where in the form this field is."""
        chosen = {b.number for b in self.itervalues(**filters)} if filters else {self.number}
        form, _ = self.tree.to_akform(filter_branch=lambda field: field.number in chosen)  # type: ignore[attr-defined]
        if not self.top_level:
            from awkward.forms import RecordForm

            for field in line_of(self):
                while not form.is_record:
                    form = form.content
                form = form.content(field.name)
            form = RecordForm([form], [self.name])
        return form, [self.name]

    def __repr__(self) -> str:
        below = f" ({len(self.branches)} subfields)" if self.branches else ""
        return f"<RField {self.name!r}{below} at {id(self):#014x}>"


class RNTuple(TTree):
    """An ntuple of a file. Tables have its top-level fields; of those with fields that do not pass the filters, the
    others."""

    _branch_class = RField
    nests_fields = True

    @property
    def fields(self) -> list[Branch]:
        """The top-level fields."""
        return self.branches

    def __len__(self) -> int:
        """The number of top-level fields."""
        return len(self.branches)

    def arrays(self, expressions: Any = None, cut: Any = None, *, filter_field: Any = None, **options: Any) -> Any:
        """Read entries; takes the options of :meth:`sapwood.Tree.arrays`.

        Args:
            expressions: also patterns of names, as uproot takes them.
            filter_field: a function of a field.
        """
        return Tree.arrays(self, expressions, cut, **_with_field(filter_field, options))

    def iterate(self, expressions: Any = None, cut: Any = None, *, filter_field: Any = None, **options: Any) -> Any:
        """Read in steps; takes the options of :meth:`TTree.iterate` and of :meth:`arrays`."""
        return super().iterate(expressions, cut, **_with_field(filter_field, options))

    def iteritems(self, *, filter_field: Any = None, **options: Any) -> Iterator[tuple[str, Any]]:
        """Iterate over (name, field) pairs; takes the options of :meth:`sapwood.Tree.iteritems`."""
        return super().iteritems(**_with_field(filter_field, options))

    def to_akform(self, **filters: Any) -> tuple[Any, None]:
        """Return the awkward form of :meth:`arrays` with these filters, and None: all of the form is read."""
        return self.arrays(entry_start=0, entry_stop=0, **filters).layout.form, None

    def __repr__(self) -> str:
        return f"<RNTuple {self.name!r} ({len(self.branches)} fields) at {id(self):#014x}>"


def _with_field(filter_field: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The filter of fields as one of branches, which is the same here."""
    return options if filter_field is None else {**options, "filter_branch": filter_field}
