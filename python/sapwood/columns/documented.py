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
    names = {"__doc__": "title"} if wanted is True else wanted
    if not isinstance(names, Mapping):
        raise InvalidError(f"ak_add_doc must be True, False or attributes by parameter, not {wanted!r}")
    import awkward as ak

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
