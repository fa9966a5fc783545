"""Descriptions of fields of ntuples that are written, from awkward's parameter ``__doc__``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_DOC = "__doc__"


def described(data: Any) -> tuple[str, dict[str, str]]:
    """The description of an ntuple, and those of its fields by path, from a form, an array or columns by name.

    Items have the description of their list, unless they have their own, as in uproot.
    """
    if isinstance(data, Mapping):
        found: dict[str, str] = {}
        for name, column in data.items():
            form = _form_of(column)
            if form is not None:
                found |= dict(_below(form, str(name), ""))
        return "", found
    form = _form_of(data)
    if form is None or not form.is_record:
        return "", {}
    fields: dict[str, str] = {}
    for name in form.fields:
        fields |= dict(_below(form.content(name), name, ""))
    return str(form.parameter(_DOC) or ""), fields


def _form_of(data: Any) -> Any:
    """The form of an array of awkward, or the form itself; of records that are indexed, that of the records."""
    if type(data).__module__.partition(".")[0] != "awkward":
        return None
    form = data.layout.form if hasattr(data, "layout") else data
    if not hasattr(form, "is_indexed"):
        return None
    while form.is_indexed and not form.is_option:
        form = form.content
    return form


def _below(form: Any, path: str, inherited: str) -> Iterator[tuple[str, str]]:
    own = form.parameter(_DOC)
    text = inherited if own is None else str(own)
    # these are no fields of their own
    while (form.is_indexed and not form.is_option) or (form.is_option and form.content.is_union):
        form = form.content
        own = form.parameter(_DOC)
        text = text if own is None else str(own)
    if text:
        yield path, text
    if form.is_record:
        for i, name in enumerate(form.fields):
            yield from _below(form.content(name), f"{path}.{f'_{i}' if form.is_tuple else name}", "")
    elif form.is_union:
        for i, content in enumerate(form.contents):
            yield from _below(content.content if content.is_option else content, f"{path}._{i}", "")
    elif (form.is_list or form.is_option) and form.parameter("__array__") not in ("string", "bytestring"):
        yield from _below(form.content, f"{path}._0", text)
