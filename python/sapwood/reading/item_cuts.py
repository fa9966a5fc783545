"""Cuts with one boolean for each item of a list: ``cut="Muon_pt > 20"`` keeps items, not entries."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import Error, InvalidError

if TYPE_CHECKING:
    from .. import Tree
    from ..columns.libraries import Library
    from ..expressions.binding import Bound


def is_by_item(cut: Bound, tree: Tree) -> bool:
    """Whether a cut has a boolean for each item of a list. No basket is read: it is evaluated for no entries."""
    numbers = set(cut.branches())
    if any(n not in tree._places for n in numbers):
        # branches of friends may lack entries
        return False
    try:
        if not any("var *" in tree._core.column_type(n) for n in numbers):
            return False
        value = cut.evaluate(lambda n: tree._loose_branch(n).array(entry_start=0, entry_stop=0, library="ak"))
    except (Error, ImportError):
        # errors are reported when it is evaluated for the entries
        return False
    return getattr(value, "ndim", 1) == 2 and str(getattr(value, "type", "")).endswith("var * bool")


def item_picker(cut: Bound, operand: Callable[[int], Any], lib: Library) -> Callable[[str, Any], Any]:
    """A function that keeps of a column, by its name, the items that pass the cut.

    Raises:
        InvalidError: a column without the lists of the cut; or a library without lists.
    """
    text = cut.expression.text
    if lib.name != "ak":
        raise InvalidError(
            f"the cut {text!r} evaluates to a boolean for each item of a list, not to one boolean per entry; reduce "
            'lists to one value per entry with any(…), all(…) or num(…), or use library="ak"'
        )
    import awkward as ak

    mask = cut.evaluate(operand)
    counts = ak.num(mask)

    def picked(name: str, column: Any) -> Any:
        column = ak.Array(column) if isinstance(column, ak.contents.Content) else column
        if column.ndim < 2 or "var *" not in str(column.type) or not ak.all(ak.num(column) == counts):
            raise InvalidError(
                f"the cut {text!r} evaluates to a boolean for each item of a list, not to one boolean per entry, and "
                f"{name!r} has no such lists; reduce lists to one value per entry with any(…), all(…) or num(…)"
            )
        return column[mask]

    return picked
