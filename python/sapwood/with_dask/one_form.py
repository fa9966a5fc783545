"""One type for columns whose types differ between files: that of :func:`sapwood.concatenate`."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import awkward as ak
import numpy as np
from awkward import contents, forms

from ..columns.casting import common, fits, numbers

#: The extents of lists and fixed arrays in the text of a column's type.
_EXTENT = re.compile(r"\b(var|\d+) \*")


def joined(form: Any, told: Iterable[Mapping[str, str]], *, sizes: bool, unions: bool = False) -> Any:
    """The form of the first file with types that hold the values of all files, whose types of columns are told.

    Columns for which there is no such type stay as they are: reading those of the other files fails. ``sizes``: whether
    fixed arrays of different sizes become lists. ``unions``: whether awkward joins what is left, as in
    :mod:`sapwood.uproot`.
    """
    types: dict[str, list[str]] = {}
    for of_file in told:
        for name, kind in of_file.items():
            known = types.setdefault(name, [])
            if kind not in known:
                known.append(kind)
    changed = {name: kinds for name, kinds in types.items() if len(kinds) > 1 and name in form.fields}
    if not changed:
        return form
    make = _concatenated if unions else functools.partial(_column, sizes=sizes)
    parts = [make(form.content(n), changed[n]) if n in changed else form.content(n) for n in form.fields]
    return forms.RecordForm(parts, form.fields, parameters=form.parameters)


def _concatenated(form: Any, kinds: list[str]) -> Any:
    """The form that awkward gives columns of these types when it concatenates them."""
    try:
        made = [forms.from_type(ak.types.from_datashape(kind, highlevel=False)) for kind in kinds]
    except (ValueError, TypeError):
        return form
    if made[0].type != form.type:
        return form
    return ak.concatenate([ak.Array(part.length_zero_array()) for part in made]).layout.form


def _column(form: Any, kinds: list[str], sizes: bool) -> Any:
    if not all(fits(kind, kinds[0], "sizes" if sizes else "") for kind in kinds):
        return form
    found = [common(set(at)) for at in zip(*map(numbers, kinds), strict=True)]
    # numpy takes None for a type, and finds it equal to float64
    if any(dtype is None for dtype in found):
        return form
    extents = [at[0] if len(set(at)) == 1 else "var" for at in zip(*map(_EXTENT.findall, kinds), strict=True)]
    dtypes, left = iter(found), iter(extents)
    made = _with(form, dtypes, left)
    # the text has all parts of the form
    return made if next(dtypes, None) is None and next(left, None) is None else form


def _with(form: Any, dtypes: Iterator[Any], extents: Iterator[str]) -> Any:
    if form.is_numpy and not form.inner_shape:
        dtype = next(dtypes, None)
        return form if dtype is None else forms.NumpyForm(dtype.name, parameters=form.parameters)
    if form.is_list and form.parameter("__array__") not in ("string", "bytestring"):
        extent = next(extents, None)
        inner = _with(form.content, dtypes, extents)
        if form.is_regular and extent != "var":
            return forms.RegularForm(inner, form.size, parameters=form.parameters)
        return forms.ListOffsetForm("i64", inner, parameters=form.parameters)
    if form.is_record:
        parts = [_with(part, dtypes, extents) for part in form.contents]
        return forms.RecordForm(parts, None if form.is_tuple else form.fields, parameters=form.parameters)
    if form.is_option:
        return form.copy(content=_with(form.content, dtypes, extents))
    if form.is_union:
        return form.copy(contents=[_with(part, dtypes, extents) for part in form.contents])
    return form


def sample(form: Any, entries: int = 1) -> Any:
    """A column with some values, as the core would read it (see :mod:`sapwood.columns.conversion`): without any, pandas
    would not know strings from lists."""
    each = np.arange(entries + 1, dtype=np.int64)
    if form.is_numpy:
        made: Any = ("flat", np.zeros(entries * int(np.prod(form.inner_shape, dtype=int)), form.primitive))
        for i in reversed(range(len(form.inner_shape))):
            rows = entries * int(np.prod(form.inner_shape[:i], dtype=int))
            made = ("regular", form.inner_shape[i], rows, made)
        return made
    if is_text(form):
        return "text", each * 0, np.zeros(0, np.uint8)
    if form.is_regular:
        return "regular", form.size, entries, sample(form.content, entries * form.size)
    if form.is_list:
        return "list", each, sample(form.content, entries)
    if form.is_record:
        return "record", entries, [(name, sample(form.content(name), entries)) for name in form.fields]
    if form.is_option:
        return "list", each, sample(form.content, entries), "optional"
    if form.is_union:
        # the first part is for variants without a value
        parts = [part.content if part.is_option else part for part in form.contents[1:]]
        lists = [(f"_{i}", ("list", each, sample(part, entries))) for i, part in enumerate(parts)]
        return "record", entries, lists, "variant"
    return "flat", np.zeros(entries)


def is_text(form: Any) -> bool:
    """Whether its values are strings, or none."""
    while form.is_option:
        form = form.content
    return form.is_list and form.parameter("__array__") in ("string", "bytestring")


def concatenated(layout: Any, form: Any) -> Any:
    """The same, with what awkward makes of the column when it is concatenated with others of the form."""
    made = fitted(layout, form)
    if made is None:
        made = ak.concatenate([ak.Array(layout), ak.Array(form.length_zero_array())]).layout
    return made if made.form.type == form.type else None


def fitted(layout: Any, form: Any) -> Any:
    """A column in a form; None if it has another shape, or its values would change."""
    if layout.form.type == form.type:
        return layout
    if layout.is_numpy and form.is_numpy:
        one, other = layout.dtype, np.dtype(form.primitive)
        made = common([one, other])
        if made is None or made != other or layout.inner_shape:
            return None
        return contents.NumpyArray(np.asarray(layout.data).astype(other), parameters=layout.parameters)
    if layout.is_list and form.is_list:
        if not form.is_regular:
            layout = layout.to_ListOffsetArray64(True)
        elif not layout.is_regular or layout.size != form.size:
            return None
        inner = fitted(layout.content, form.content)
        return None if inner is None else layout.copy(content=inner)
    if layout.is_record and form.is_record and layout.fields == form.fields:
        parts = [fitted(a, b) for a, b in zip(layout.contents, form.contents, strict=True)]
        return None if any(part is None for part in parts) else layout.copy(contents=parts)
    if layout.is_option and form.is_option:
        inner = fitted(layout.content, form.content)
        return None if inner is None else layout.copy(content=inner)
    if layout.is_union and form.is_union and len(layout.contents) == len(form.contents):
        parts = [fitted(a, b) for a, b in zip(layout.contents, form.contents, strict=True)]
        return None if any(part is None for part in parts) else layout.copy(contents=parts)
    return None
