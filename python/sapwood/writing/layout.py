"""Which columns a tree takes, and which branches they become."""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..errors import InvalidError, KeyInFileError, UnsupportedError
from .columns import Column, length
from .convert import fit, with_pairs
from .from_data import from_any
from .split_branches import joined
from .tables import is_stream, is_table, tables
from .types import Names, Type, as_cpp, fields_of, numpy_name, of_column, of_declared, with_own_names


def _checked(name: Any) -> str:
    if not isinstance(name, str):
        raise InvalidError(f"a branch name must be a string, not {name!r}")
    return name


class Layout:
    """The columns that a tree takes, and the branches that each of them becomes."""

    def __init__(
        self,
        types: Any,
        counter_name: Callable[[str], str] | None,
        field_name: Callable[[str, str], str] | None,
        titles: Mapping[str, str],
        options: Mapping[str, Mapping[str, Any]],
        split: int,
        *,
        c_strings: bool = False,
    ) -> None:
        names = Names()
        self._c_strings = c_strings
        names.counter = counter_name or names.counter
        names.field = field_name or names.field
        self.types: dict[str, Type] = {}
        for name, t in declared_types(types).items():
            self.types[name] = _type_of(t, _checked(name), names)
        self.branches: dict[str, Type] = {}
        #: names of the branches for fields of records; kept because functions cannot be sent to another process
        self._fields: dict[tuple[str, str], str] = {}
        for name, t in self.types.items():
            self._add(name, t, names)
        #: counters are optional; the core compares given ones with the lists that they count
        self._counters = {}
        for counter in (b[2] for b in self.branches.values() if b[0] == "jagged"):
            declared = self.branches.get(counter, ("", ""))
            self._counters[counter] = declared[1] if declared[0] == "scalar" else "int32"
        self._divided = False
        self._titles, self._options, self._split = titles, options, split
        unknown = [n for n in (*titles, *options) if n not in self.branches]
        if unknown:
            raise KeyInFileError(f"no branch is named {unknown[0]}; the branches are {', '.join(self.branches)}")

    @classmethod
    def existing(cls, inputs: list[tuple[str, str]], counters: list[tuple[str, str]]) -> Layout:
        """The layout of an existing tree, from the types of its columns and its counters."""
        layout = cls({}, None, None, {}, {}, 99)
        layout._counters = dict(counters)
        layout._divided = True
        for name, text in inputs:
            layout.types[name] = layout.branches[name] = _of_existing(text)
        return layout

    def _add(self, name: str, t: Type, names: Names) -> None:
        if t[0] in ("group", "lists"):
            if not t[1]:
                raise UnsupportedError(f"branch {name}: records without fields cannot be stored in a ROOT tree")
            for field, inner in t[1].items():
                self._fields[name, field] = full = names.field(name, field)
                self._add(full, inner, names)
        elif name in self.branches:
            raise InvalidError(f"there are two branches named {name}")
        else:
            self.branches[name] = ("cstring",) if self._c_strings and t == ("object", ("text",)) else t

    def specs(self, classes: dict[str, Any]) -> list[tuple[str, str | None, Type, dict[str, Any]]]:
        """The branches in the terms of the core. Classes that are new to the file are added to ``classes``."""
        out = []
        for name, t in self.branches.items():
            options = dict(self._options.get(name, {}))
            if t[0] == "fixed" and len(t[3]) > 1:
                options["extents"] = list(t[3])
            options.setdefault("split", self._split)
            out.append((name, self._titles.get(name), with_own_names(t[:3], classes), options))
        return out

    def columns(self, data: Any) -> list[tuple[str, Column]]:
        """The given columns, branch by branch, converted to the types of the branches."""
        given = tables(data)
        out: list[tuple[str, Column]] = []
        # a split branch of an existing tree is read as its sub-branches
        whole, parts = joined(self.types, given) if self._divided else ({}, set())
        seen = {*given, *whole}
        for name, column in whole.items():
            self._spread(name, self.types[name], column, out)
        for name, value in given.items():
            if name in parts:
                continue
            t = self.types.get(_checked(name))
            if t is None:
                if name in self._counters:
                    counts = fit(from_any(value, f"branch {name}"), ("scalar", self._counters[name]), f"branch {name}")
                    out.append((name, counts))
                    continue
                fields = self._of_records(name, value)
                if not fields:
                    raise KeyInFileError(f"the tree has no branch {name}; it has {', '.join(self.types)}")
                for full, column in fields:
                    seen.add(full)
                    self._spread(full, self.types[full], column, out)
                continue
            if _is_ready(value, t):
                out.append((name, ("flat", value)))
                continue
            self._spread(name, t, from_any(with_pairs(value, t), f"branch {name}"), out)
        counted = self._counts([name for name in self.types if name not in seen and name in self._counters], out)
        out += counted.items()
        missing = [name for name in self.types if name not in seen and name not in counted]
        if missing:
            raise InvalidError(f"branch {missing[0]} is missing from the batch", branch=missing[0])
        return out

    def _counts(self, omitted: list[str], given: list[tuple[str, Column]]) -> dict[str, Column]:
        """Declared counters that were omitted: from the first branch that each of them counts."""
        made: dict[str, Column] = {}
        for name, column in given:
            t = self.branches.get(name, ("",))
            if t[0] == "jagged" and t[2] in omitted and t[2] not in made and column[0] == "list":
                sizes = ("flat", np.diff(column[1]))
                made[t[2]] = fit(sizes, ("scalar", self._counters[t[2]]), f"branch {t[2]}")
        return made

    def _of_records(self, name: str, value: Any) -> list[tuple[str, Column]]:
        """The fields of records, if an existing tree has a branch for each of them; otherwise nothing."""
        column = from_any(value, f"branch {name}")
        records = column[2] if column[0] == "list" else column
        if records[0] != "record":
            return []
        field = Names().field
        lists = column[0] == "list"
        out = [(field(name, f), ("list", column[1], c) if lists else c) for f, c in records[2]]
        return out if all(full in self.types for full, _ in out) else []

    def _spread(self, name: str, t: Type, column: Column, out: list[tuple[str, Column]]) -> None:
        if t[0] not in ("group", "lists"):
            out.append((name, fit(column, t, f"branch {name}")))
            return
        records = column[2] if t[0] == "lists" and column[0] == "list" else column
        if t[0] == "lists" and column[0] != "list" and length(column):
            raise InvalidError(f"branch {name}: each entry must be a list of records")
        fields = dict(records[2]) if records[0] == "record" else {}
        if records[0] != "record" and length(column) and length(records):
            raise InvalidError(f"branch {name}: each entry must be a record")
        for field, inner in t[1].items():
            if field in fields:
                content = fields[field]
            elif records[0] == "record":
                raise InvalidError(f"branch {name}: the records have no field {field}")
            else:
                content = ("flat", np.zeros(0))
            if t[0] == "lists" and column[0] == "list":
                content = ("list", column[1], content)
            self._spread(self._fields[name, field], inner, content, out)


def _is_ready(value: Any, t: Type) -> bool:
    """Whether this is the column of a branch as it is. It usually is, and is not looked at any further."""
    return (
        type(value) is np.ndarray
        and t[0] == "scalar"
        and value.ndim == 1
        and numpy_name(value.dtype) == t[1]
        and value.dtype.isnative
        and value.flags.c_contiguous
    )


def declared_types(types: Any) -> dict[str, Any]:
    """Types by name, from any description of a whole tree."""
    fields = fields_of(types)
    if fields is not None:
        return fields
    if isinstance(types, Mapping):
        return dict(types)
    if isinstance(types, np.dtype) and types.names is not None:
        return {name: types[name] for name in types.names}
    if is_stream(types):
        types = types.schema
    if type(types).__module__.partition(".")[0] == "pyarrow" and hasattr(types, "empty_table"):
        return tables(types.empty_table())
    if is_table(types):
        return tables(types)
    if isinstance(types, (list, tuple)) and all(isinstance(t, (list, tuple)) and len(t) == 2 for t in types):
        return dict(types)
    raise InvalidError(f"describe the branches of a tree by a dict of types, not by a {type(types).__name__}")


def _type_of(t: Any, name: str, names: Names) -> Type:
    if is_data(t):
        return of_column(from_any(t, f"branch {name}"), name, names)
    return of_declared(t, name, names)


def is_data(t: Any) -> bool:
    """Whether this is the data of a column, also as columns by name, and not its type."""
    if isinstance(t, Mapping) and t and all(_is_column(v) for v in t.values()):
        return True
    hint = isinstance(t, (str, tuple, Mapping, np.dtype, type)) or typing.get_origin(t) is not None
    return not hint and (isinstance(t, np.ndarray) or hasattr(t, "__len__"))


def _is_column(value: Any) -> bool:
    """Whether this is the data of a column, and not its type."""
    types = (str, tuple, Mapping, np.dtype, type)
    return not isinstance(value, types) and typing.get_origin(value) is None and hasattr(value, "__len__")


def _of_existing(text: str) -> Type:
    """The type of a column of an existing tree, from the text of the core."""
    t = of_declared(text, "", Names())
    if t[0] in ("group", "lists", "object"):
        return "object", _with_maps(as_cpp(t, ""))
    return t


def _with_maps(t: Type) -> Type:
    """The type with maps in place of lists of pairs, which is the type of split maps."""
    if t[0] == "class":
        return "class", t[1], [(n, _with_maps(m)) for n, m in t[2]]
    if t[0] == "vector" and t[1][0] == "class" and [n for n, _ in t[1][2]] == ["first", "second"]:
        return "map", *(_with_maps(m) for _, m in t[1][2])
    return (t[0], *map(_with_maps, t[1:])) if t[0] in ("vector", "map") else t
