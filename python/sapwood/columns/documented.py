"""Titles of branches as parameters of awkward arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InvalidError


def documented(owner: Any, made: Any, wanted: bool | Mapping[str, str]) -> Any:
    """The array with parameters from the branches: of each column those of its branch, of a table those of its owner.

    Args:
        owner: the tree, branch or leaf that was read.
        made: what was read; anything but an awkward array is returned as it is.
        wanted: True for ``{"__doc__": "title"}``; or names of attributes by names of parameters.
    """
    layout = getattr(made, "layout", None)
    if layout is None or type(made).__module__.partition(".")[0] != "awkward":
        return made
    if wanted is not True and not isinstance(wanted, Mapping):
        raise InvalidError(f"ak_add_doc must be True, False or attributes by parameter, not {wanted!r}")
    import awkward as ak

    names = None if wanted is True else dict(wanted)
    if owner.tree.nests_fields:
        return ak.Array(_of_fields(owner, layout, names), behavior=made.behavior)
    names = names or {"__doc__": "title"}

    def with_parameters(content: Any, of: Any) -> Any:
        found = {parameter: getattr(of, attribute, None) for parameter, attribute in names.items()}
        found = {parameter: value for parameter, value in found.items() if value is not None}
        return content.copy(parameters={**content._parameters, **found} if content._parameters else found)

    if layout.is_record and hasattr(owner, "branch_number"):
        contents = []
        for field, content in zip(layout.fields, layout.contents, strict=True):
            number = owner.branch_number(field)
            contents.append(content if number is None else with_parameters(content, owner.tree._branch(number)))
        layout = layout.copy(contents=contents)
    return ak.Array(with_parameters(layout, owner), behavior=made.behavior)


def _of_fields(owner: Any, layout: Any, names: dict[str, str] | None) -> Any:
    """What was read of an ntuple as uproot reads it. Fields without a description have no parameter for it."""
    from .documented_fields import fields_of, parameters_of, with_descriptions, with_parameters

    top = fields_of(owner.tree._core.ntuple_fields())
    if owner is not owner.tree:
        first, *line = owner.path.split(".")
        if layout.is_record and layout.fields == [owner.name] and (line or not top[first].member(owner.name)):
            content = with_descriptions(layout.content(0), top[first], names, line)
            own = top[first].at(line)
            return with_parameters(layout.copy(contents=[content]), {} if own is None else parameters_of(own, names))
        return with_descriptions(layout, top[first], names, line)
    pairs = zip(layout.fields, layout.contents, strict=True)
    contents = [with_descriptions(c, top[name], names) if name in top else c for name, c in pairs]
    doc = {"__doc__": owner.title} if names is None and owner.title else {}
    return with_parameters(layout.copy(contents=contents), doc)
