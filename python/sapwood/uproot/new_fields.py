"""Fields that an ntuple gets: where in it, and those of batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ..errors import InvalidError, KeyInFileError
from ..writing.columns import length
from ..writing.ntuple_layout import NtupleLayout
from ..writing.tables import is_stream, tables
from ..writing.types import Type


def full_names(names: list[str], types: Mapping[str, Type]) -> dict[str, str]:
    """The path of each new field. In a name with one dot, what precedes it may be the name of any field of the ntuple.

    Raises:
        InvalidError: several fields have that name.
    """
    return {name: _full_name(str(name), types) for name in names}


def _full_name(name: str, types: Mapping[str, Type]) -> str:
    parts = name.split(".")
    if len(parts) != 2:
        return name
    found = [path for path in _paths(types.items()) if path[-1] == parts[0]]
    if len(found) > 1:
        there = ", ".join(".".join(path) for path in found)
        raise InvalidError(f"field {parts[0]} is ambiguous: the ntuple has {there}; write all of the path of {name}")
    return ".".join((*found[0], parts[1])) if found else name


def _paths(fields: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of all fields, as ROOT names them: items are `_0`."""
    for name, of in fields:
        path = (*above, name)
        yield path
        while of[0] in ("vector", "array", "optional"):
            path, of = (*path, "_0"), of[1]
        if of[0] == "class":
            yield from _paths(of[2], path)


@contextmanager
def missing_is_invalid() -> Iterator[None]:
    """A field that does not exist is a ValueError, as in uproot."""
    try:
        yield
    except KeyInFileError as e:
        raise InvalidError(e.message, file=e.file, branch=e.branch) from None


def unknown_fields(data: Any, layout: Any, accepted: bool) -> dict[str, Any]:
    """The columns of a batch that the ntuple has no fields for, if all of the batch can be appended once it has.

    Raises:
        InvalidError: they are not accepted, or columns differ in length.
    """
    if is_stream(data):
        return {}
    given = {str(name): value for name, value in tables(data).items()}
    new = {name: value for name, value in given.items() if name not in layout.branches}
    if new and not accepted:
        raise InvalidError(
            f"the data have fields that are not in this RNTuple: {', '.join(new)}; add them with add_fields, or pass "
            "accept_new_fields=True"
        )
    for name in new:
        if "." in name:
            raise InvalidError(
                f"the data have the column {name}, but members are given in their records; add it with add_fields, and "
                f"pass it in {name.partition('.')[0]}"
            )
    if new:
        _check(given, new, layout)
    return new


def _check(given: dict[str, Any], new: dict[str, Any], layout: NtupleLayout) -> None:
    """Refuse a batch before the ntuple gets fields for it."""
    later = type(layout)(new, {})
    later.branches = {**layout.branches, **later.branches}
    lengths = {name: length(column) for name, column in later.columns(given)}
    first = next(iter(lengths))
    for name, entries in lengths.items():
        if entries != lengths[first]:
            raise InvalidError(f"field {name}: {entries} values, but {first} has {lengths[first]}", branch=name)
