"""Descriptions of the fields of an ntuple as parameters of awkward arrays, also of fields in fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Field:
    """A field of an ntuple, and what uproot tells of it. Items of lists are fields, which have no path."""

    name: str
    path: str | None
    typename: str
    description: str
    below: dict[str, Field] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """As of a branch."""
        return self.description

    def member(self, name: str) -> Field | None:
        """A member of a record; also of a base class."""
        found = self.below.get(name) or self.below.get(f"_{name}")
        bases = (base for key, base in self.below.items() if key.startswith(":_"))
        return found or next((m for base in bases if (m := base.member(name))), None)

    def at(self, path: Sequence[str]) -> Field | None:
        """The field with this path, which has no names of items."""
        if not path:
            return self
        items = self.below.get("_0")
        inner = self.member(path[0])
        return inner.at(path[1:]) if inner else items.at(path) if items else None

    @property
    def is_record(self) -> bool:
        """Whether it has members, and not items."""
        return bool(self.below) and "_0" not in self.below


def fields_of(rows: Sequence[tuple[int | None, str, str, str]]) -> dict[str, Field]:
    """The fields at the top by name, of the rows of all fields: number of the one above, name, type, description."""
    top: dict[str, Field] = {}
    made: list[Field] = []
    #: By field: the path of its members.
    outer: list[str] = []
    for above, name, typename, description in rows:
        path = name if above is None else f"{outer[above]}.{name.removeprefix('_')}"
        is_item = above is not None and name == "_0" and not typename_of_record(made[above].typename)
        made.append(Field(name, None if is_item else path, typename, description))
        outer.append(outer[above] if above is not None and (is_item or name.startswith(":_")) else path)
        if above is None:
            top[name] = made[-1]
        else:
            made[above].below[name] = made[-1]
    return top


def typename_of_record(typename: str) -> bool:
    """Whether members of this type have numbers as names."""
    return typename.startswith(("std::pair<", "std::tuple<", "std::variant<"))


def with_descriptions(layout: Any, of: Field, names: dict[str, str] | None, line: Sequence[str] = ()) -> Any:
    """The layout of a field with its description as ``__doc__``, and those of the fields in it; or with ``names``,
    attributes of fields by parameter. ``line``: the members to which records are reduced."""
    if of.is_record and not layout.is_record and not layout.is_option:
        inner = of.member(line[0]) if line else None
        return layout if inner is None else with_descriptions(layout, inner, names, line[1:])
    if layout.is_union:
        return layout
    is_text = layout.parameter("__array__") in ("string", "bytestring")
    if layout.is_record:
        members = [of.member(name) for name in layout.fields]
        contents = zip(members, layout.contents, strict=True)
        layout = layout.copy(contents=[c if m is None else with_descriptions(c, m, names, line) for m, c in contents])
    elif (layout.is_list or layout.is_option) and not is_text and (item := of.below.get("_0")):
        layout = layout.copy(content=with_descriptions(layout.content, item, names, line))
    return with_parameters(layout, parameters_of(of, names))


def parameters_of(of: Field, names: dict[str, str] | None) -> dict[str, Any]:
    """What arrays of this field have."""
    if names is None:
        return {"__doc__": of.description} if of.description else {}
    return {parameter: getattr(of, attribute, None) for parameter, attribute in names.items()}


def with_parameters(layout: Any, found: dict[str, Any]) -> Any:
    """The layout with more parameters."""
    return layout.copy(parameters={**(layout._parameters or {}), **found}) if found else layout
