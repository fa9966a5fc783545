"""C++ types of branches, spelled as uproot spells them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..reading.branch import Branch

#: Fixed extents before the brackets of a list: uproot writes those of the list first.
_EXTENTS = re.compile(r"^(?P<item>[^\[\]]*)(?P<extents>(?:\[\d+\])+)\[\]$")


def typename_of(branch: Branch, own: str) -> str:
    """uproot's spelling of a branch's type, from Sapwood's own spelling."""
    if own == "BASE":
        return "unknown"
    if branch.branches and own.startswith("std::"):
        # a split collection is named as its class is in the file
        return _class_of_file(own)
    own = own.removeprefix("const ")
    match = _EXTENTS.match(own)
    if match:
        own = f"{match['item']}[]{match['extents']}"
    own = re.sub(r",(?=\S)", ", ", own) if "<" in own else own
    own = own.replace("ROOT::VecOps::RVec<", "RVec<")
    return re.sub(r"^signed int8_t", "int8_t", own)


def _class_of_file(name: str) -> str:
    """ROOT's spelling of a collection: without std::, with a space between closing brackets."""
    bare = name.replace("std::", "")
    while ">>" in bare:
        bare = bare.replace(">>", "> >")
    return bare
