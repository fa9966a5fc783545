"""Which columns an ntuple takes, and the types of their fields.

A type is ``("number", dtype)``, ``("text",)``, ``("array", item, n)``, ``("vector", item)``, ``("map", key, value)``,
``("class", name, [(name, type), ...])`` for records, whose name is not used, ``("optional", item)``,
``("tuple", [type, ...])``, ``("variant", [type, ...])`` or ``("reduced", dtype, kind, numbers...)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InvalidError, KeyInFileError
from .columns import Column, is_map_item, is_tuple
from .field_types import of_declared_field
from .from_data import any_column
from .layout import declared_types, is_data
from .tables import tables
from .types import Type, numpy_name
from .variant_values import fit_data

#: Name, description, type, and descriptions of fields in it by path.
Field = tuple[str, str, Type, list[tuple[str, str]]]


class NtupleLayout:
    """The columns that an ntuple takes, one for each field."""

    def __init__(self, types: Any, descriptions: Mapping[str, str]) -> None:
        #: The types of the fields, under the name that :class:`sapwood.writing.tree.Entries` uses.
        self.branches: dict[str, Type] = {}
        for name, t in declared_types(types).items():
            self.branches[str(name)] = _field_type(t, str(name))
        self._descriptions: dict[str, str] = {}
        #: Of fields in fields: by the field at the top, and the path in it.
        self._inside: dict[str, list[tuple[str, str]]] = {}
        for path, text in descriptions.items():
            self._describe(path, text)

    @classmethod
    def existing(cls, inputs: list[tuple[str, str]]) -> NtupleLayout:
        """The layout of an existing ntuple, from the types of its fields."""
        return cls(dict(inputs), {})

    def _describe(self, path: str, text: str) -> None:
        # new fields of an ntuple are members of others: their names have dots, too
        name = max((n for n in self.branches if path == n or path.startswith(f"{n}.")), key=len, default=None)
        if name is None:
            raise KeyInFileError(f"no field is named {path}; the fields are {', '.join(self.branches)}")
        if path == name:
            self._descriptions[name] = text
        else:
            self._inside.setdefault(name, []).append((path[len(name) + 1 :], text))

    def specs(self) -> list[Field]:
        """The fields in the terms of the core."""
        return [
            (name, self._descriptions.get(name, ""), t, self._inside.get(name, [])) for name, t in self.branches.items()
        ]

    def columns(self, data: Any) -> list[tuple[str, Column]]:
        """The given columns, converted to the types of the fields."""
        given = {str(name): value for name, value in tables(data).items()}
        unknown = [name for name in given if name not in self.branches]
        if unknown:
            raise KeyInFileError(f"the ntuple has no field {unknown[0]}; it has {', '.join(self.branches)}")
        missing = [name for name in self.branches if name not in given]
        if missing:
            raise InvalidError(f"field {missing[0]} is missing from the batch", branch=missing[0])
        out = []
        for name, value in given.items():
            out.append((name, fit_data(value, self.branches[name], f"field {name}")))
        return out


def _field_type(t: Any, name: str) -> Type:
    if is_data(t):
        return _of_column(any_column(t, f"field {name}"), name)
    return of_declared_field(t, name)


def _of_column(column: Column, name: str) -> Type:
    """The type of the field for a column, which keeps its structure."""
    kind = column[0]
    if kind == "flat":
        return "number", numpy_name(column[1].dtype)
    if kind == "text":
        return ("text",)
    if kind == "regular":
        return "array", _of_column(column[3], name), column[1]
    if kind == "list" and is_map_item(column[2]):
        (_, keys), (_, values) = column[2][2]
        return "map", _of_column(keys, name), _of_column(values, name)
    if kind == "list":
        return "vector", _of_column(column[2], name)
    if kind == "option":
        item = _of_column(column[2], name)
        # a variant may be without a value
        return item if item[0] == "variant" else ("optional", item)
    if kind == "union":
        # so are its types
        inner = [part[2] for _, part in column[2]]
        return "variant", [_of_column(c[2] if c[0] == "option" else c, name) for c in inner]
    if is_tuple(column):
        return "tuple", [_of_column(content, name) for _, content in column[2]]
    return "class", name, [(n, _of_column(content, n)) for n, content in column[2]]
