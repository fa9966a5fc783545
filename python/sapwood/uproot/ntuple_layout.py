"""The types of fields that uproot writes differently."""

from __future__ import annotations

from ..writing.ntuple_layout import Field, NtupleLayout
from ..writing.types import Type


class WithLists(NtupleLayout):
    """A layout with optional records as lists of at most one record, and with maps of records as lists of pairs: ROOT
    has no name for the type of others. They are read as lists, too, also by uproot."""

    def specs(self) -> list[Field]:
        return [(name, description, _with_lists(t), inside) for name, description, t, inside in super().specs()]


def _with_lists(t: Type) -> Type:
    kind = t[0]
    if kind == "class":
        return kind, t[1], [(name, _with_lists(member)) for name, member in t[2]]
    if kind in ("tuple", "variant"):
        return kind, [_with_lists(item) for item in t[1]]
    if kind == "array":
        return kind, _with_lists(t[1]), t[2]
    if kind == "map":
        key, value = map(_with_lists, t[1:])
        # keys and values are given in the same way
        return ("vector", ("tuple", [key, value])) if _has_records(t) else (kind, key, value)
    if kind in ("vector", "optional"):
        # an optional value and such a list are given in the same way
        return ("vector" if kind == "vector" or _has_records(t[1]) else kind), _with_lists(t[1])
    return t


def _has_records(t: Type) -> bool:
    if t[0] == "class":
        return True
    inner = t[1] if t[0] in ("tuple", "variant") else t[1:]
    return any(isinstance(item, tuple) and _has_records(item) for item in inner)
