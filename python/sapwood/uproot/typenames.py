"""C++ types of branches, spelled as uproot spells them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..errors import UnsupportedError

if TYPE_CHECKING:
    from ..reading.branch import Branch

#: Fixed extents before the brackets of a list: uproot writes those of the list first.
_EXTENTS = re.compile(r"^(?P<item>[^\[\]]*)(?P<extents>(?:\[\d+\])+)\[\]$")

#: A class without template arguments, perhaps in a list.
_CLASS = re.compile(r"(?!BASE|unknown|Double32_t|Float16_t|TString)[A-Z][\w:]*(\[\])?$")
#: A column of integers, or of lists of integers.
_INTEGER = re.compile(r"(?P<list>var \* )?(?P<type>u?int\d+)")
#: ROOT's number of `Double32_t`, of fixed arrays of them, and of arrays with a counter.
_DOUBLE32 = (9, 29, 49)
#: A title whose first brackets have the range of packed numbers: two limits, and perhaps a number of bits.
_RANGE = re.compile(r"[^\[]*\[[^\],]+,[^\],]+(,[^\],]+)?\]")
#: fType of a branch whose sub-branches are the members of a TClonesArray's objects.
_CLONES = 3


def typename_of(branch: Branch, own: str) -> str:
    """uproot's spelling of a branch's type, from Sapwood's own spelling."""
    if own == "TLeafObject":
        own = str(branch.member("fClassName", none_if_missing=True) or own)
    if branch.branches and branch.reads_as_group():
        declared = _declared(branch)
        if declared is None:
            parts = ", ".join(f"{below.name}:{below.typename}" for below in branch.branches)
            return f"(group of {parts})"
        return declared
    if own == "BASE" or not (branch.top_level or _is_readable(branch)):
        return "unknown"
    if own.startswith("TClonesArray<") and branch.branches and branch.member("fType", none_if_missing=True) == _CLONES:
        # its values are the numbers of objects
        declared = _declared(branch) or ""
        return declared if declared.endswith("*") else "int32_t"
    own = own.removeprefix("const ")
    if _CLASS.match(own) and not branch.top_level and (_declared(branch) or "").endswith("*"):
        own = re.sub(r"^[^\[]*", r"\g<0>*", own)
    if _CLASS.match(own) and (number := _INTEGER.fullmatch(branch.column_type)):
        # an enumeration, or another name of an integer type
        own = f"{number['type']}_t{'[]' if number['list'] else ''}"
    match = _EXTENTS.match(own)
    if match:
        own = f"{match['item']}[]{match['extents']}"
    own = re.sub(r",(?=\S)", ", ", own) if "<" in own else own
    if own.startswith(("Double32_t", "double")) and _is_stored_as_float(branch, own):
        own = re.sub("^(Double32_t|double)", "float", own)
    own = own.replace("ROOT::VecOps::RVec<", "RVec<")
    return re.sub(r"^signed int8_t", "int8_t", own)


def _is_stored_as_float(branch: Branch, own: str) -> bool:
    """Whether a `Double32_t`, or a `double` of a class that was stored with it, has no range: uproot names what is
    stored."""
    kind = branch.member("fStreamerType", none_if_missing=True)
    if kind is None:
        leaves = branch.member("fLeaves", none_if_missing=True) or ()
        return own.startswith("Double32_t") and not any(_RANGE.match(leaf.member("fTitle")) for leaf in leaves)
    if kind not in _DOUBLE32:
        return False
    element = _element(branch)
    return element is None or not _RANGE.match(element.title)


def _element(branch: Branch) -> Any:
    """The description of the member that a branch is; None if there is none."""
    name, version, number = (branch.member(m, none_if_missing=True) for m in ("fClassName", "fClassVersion", "fID"))
    if name is None or number is None or number < 0:
        return None
    info = branch.file.streamer_named(name, version) or branch.file.streamer_named(name)
    return None if info is None or number >= len(info.elements) else info.elements[number]


def _declared(branch: Branch) -> str | None:
    """The class of a split branch as the file spells it; None if it is a base class, which the file only names."""
    if branch.top_level and branch.has_member("fClassName"):
        return str(branch.member("fClassName"))
    if not branch.has_member("fID") or branch.member("fID") < 0:
        return None
    info = branch.file.streamer_named(branch.member("fClassName"), branch.member("fClassVersion"))
    info = info or branch.file.streamer_named(branch.member("fClassName"))
    number = branch.member("fID")
    if info is None or number >= len(info.elements) or info.elements[number].classname == "TStreamerBase":
        return None
    return info.elements[number].typename


def _is_readable(branch: Branch) -> bool:
    try:
        return branch.column_type != "{}"
    except UnsupportedError:
        return False
