"""uproot's names for how values of classes and collections are read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..reading.branch import Branch

_NUMBERS = {
    "bool": "bool", "int8_t": "int8", "uint8_t": "uint8", "int16_t": ">i2", "uint16_t": ">u2", "int32_t": ">i4",
    "uint32_t": ">u4", "int64_t": ">i8", "uint64_t": ">u8", "float": ">f4", "double": ">f8", "int": ">i4",
    "unsigned int": ">u4", "short": ">i2", "unsigned short": ">u2", "long": ">i8", "unsigned long": ">u8",
    "char": "int8", "unsigned char": "uint8", "Long64_t": ">i8", "ULong64_t": ">u8",
}  # fmt: skip
_COLLECTIONS = {"vector": "AsVector", "RVec": "AsRVec", "set": "AsSet", "list": "AsList", "map": "AsMap"}
_COLLECTION = re.compile(r"^(?:std::)?(\w+)<(.*)>$", re.DOTALL)


def encoded(classname: str) -> str:
    """A C++ class as a name of Python: runs of characters other than letters and digits become hexadecimal."""
    return re.sub(r"[^a-zA-Z0-9]+", lambda found: f"_{found[0].encode().hex()}_", classname)


def is_member(branch: Branch) -> bool:
    """Whether the branch is a member of a class in a split branch."""
    return branch.classname == "TBranchElement" and branch.member("fID") >= 0


def strided_model(branch: Branch, kind: str) -> str | None:
    """The name of the class if its members are numbers alone, at any depth; None for anything else."""
    name = branch.typename
    if not kind.endswith("}") or _COLLECTION.match(name) or "var *" in kind or "string" in kind or "[" in name:
        return None
    if name.startswith("struct {"):
        return None
    return _with_version(branch, name)


def strided_item(branch: Branch, kind: str) -> str | None:
    """The same for the items of a vector."""
    found = _COLLECTION.match(branch.typename)
    if found is None or found[1] != "vector" or not kind.startswith("var * ") or not kind.endswith("}"):
        return None
    item = kind.removeprefix("var * ")
    if "var *" in item or "string" in item or "<" in found[2].partition("<")[0]:
        return None
    return _with_version(branch, found[2].strip())


def _with_version(branch: Branch, name: str) -> str | None:
    info = branch.file.streamer_named(name)
    return None if info is None else f"Model_{encoded(name)}_v{info.class_version}"


def model_of(branch: Branch) -> str:
    """The name of the class or collection that a branch holds."""
    name = branch.typename
    if name.endswith("[]"):
        return f"AsArray(True, False, {_model(name[:-2], True)}, ())"
    return _model(name, True)


def _model(typename: str, header: bool) -> str:
    typename = typename.strip()
    if typename in _NUMBERS:
        return f"dtype({_NUMBERS[typename]!r})"
    if typename in ("string", "std::string"):
        return f"AsString({header})"
    if typename == "TString":
        return "AsString(False)"
    if typename.endswith("*"):
        return f"AsPointer(Model_{encoded(typename[:-1].strip())})"
    found = _COLLECTION.match(typename)
    if found is None:
        return f"Model_{encoded(typename)}"
    kind, inside = found[1], found[2]
    if kind == "bitset":
        return f"AsBitSet({header}, dtype('bool'))"
    if kind not in _COLLECTIONS:
        return f"Model_{encoded(typename)}"
    parts = _arguments(inside)
    if kind == "map":
        return f"AsMap({header}, {', '.join(_model(part, header) for part in parts)})"
    return f"{_COLLECTIONS[kind]}({header}, {_model(parts[0], False)})"


def _arguments(inside: str) -> list[str]:
    """The parts between the commas outside of inner brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(inside):
        depth += (c == "<") - (c == ">")
        if c == "," and depth == 0:
            parts.append(inside[start:i])
            start = i + 1
    return [*parts, inside[start:]]
