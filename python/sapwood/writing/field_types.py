"""Types of fields of ntuples: from declarations to the types of the core, including those that trees do not have."""

from __future__ import annotations

import re
import types
import typing
from typing import Any

import numpy as np

from ..errors import UnsupportedError
from .type_text import record_fields, split
from .types import Names, Type, fields_of, of_declared

_REDUCED = re.compile(r"(?:(float32|float64) as )?(Real16|Real32Trunc|Real32Quant)\s*(?:<([^>]*)>)?")
_CPP = re.compile(r"(?:std::)?(optional|pair|tuple|variant|vector|array|map)\s*<(.*)>", re.DOTALL)
_HALF: Type = ("reduced", "float32", "half")


def of_declared_field(declared: Any, name: str) -> Type:
    """The type of a field for a declaration: as for branches, and optional values (``float | None``, ``"?float32"``),
    tuples (``tuple[int, float]``, ``"std::pair<int, float>"``), several types (``int | str``) and numbers of fewer bits
    (``"Real16"``, ``"Real32Trunc<20>"``, ``"Real32Quant<12, 0, 100>"``).

    Raises:
        UnsupportedError: an ntuple cannot hold this type.
    """
    if isinstance(declared, str):
        return _of_text(declared.strip(), name)
    if type(declared).__module__.partition(".")[0] == "awkward":
        if hasattr(declared, "content") and type(declared).__name__ == "ArrayType":
            declared = declared.content
        return _of_text(str(declared), name)
    origin, arguments = typing.get_origin(declared), typing.get_args(declared)
    if origin in (typing.Union, types.UnionType):
        there = [of_declared_field(a, name) for a in arguments if a is not type(None)]
        inner = there[0] if len(there) == 1 else ("variant", there)
        return ("optional", inner) if len(there) < len(arguments) else inner
    if origin is tuple and arguments and arguments[-1] is not Ellipsis:
        return "tuple", [of_declared_field(a, name) for a in arguments]
    if origin is list and len(arguments) == 1:
        return "vector", of_declared_field(arguments[0], name)
    if origin is dict and len(arguments) == 2:
        return "map", *(of_declared_field(a, name) for a in arguments)
    fields = fields_of(declared)
    if fields is not None:
        return "class", "", [(n, of_declared_field(t, f"{name}.{n}")) for n, t in fields.items()]
    if declared is np.float16 or (isinstance(declared, np.dtype) and declared == np.float16):
        return _HALF
    return of_tree_type(of_declared(declared, name, Names()))


def _of_text(text: str, name: str) -> Type:
    if text.startswith("?"):
        return "optional", _of_text(text[1:].strip(), name)
    if text in ("float16", "f2"):
        return _HALF
    if reduced := _REDUCED.fullmatch(text):
        return _reduced(reduced[1] or "float32", reduced[2], reduced[3], name)
    if text.startswith("{") and text.endswith("}"):
        return "class", "", [(n, _of_text(t, name)) for n, t in record_fields(text[1:-1])]
    if text.startswith("(") and text.endswith(")"):
        return "tuple", [_of_text(part.strip(), name) for part in split(text[1:-1])]
    for word, kind in (("option[", "optional"), ("union[", "variant")):
        if text.startswith(word) and text.endswith("]"):
            parts = [_of_text(part.strip(), name) for part in split(text[len(word) : -1])]
            return (kind, parts[0]) if kind == "optional" else (kind, parts)
    head, star, rest = text.partition("*")
    if star and head.strip() == "var":
        return "vector", _of_text(rest.strip(), name)
    if star and head.strip().isdigit():
        return "array", _of_text(rest.strip(), name), int(head)
    if match := _CPP.fullmatch(text):
        return _of_cpp(match[1], [part.strip() for part in split(match[2])], name, text)
    return of_tree_type(of_declared(text, name, Names()))


def _of_cpp(kind: str, parts: list[str], name: str, text: str) -> Type:
    expected = {"optional": 1, "vector": 1, "pair": 2, "map": 2, "array": 2}.get(kind, len(parts))
    if not parts or len(parts) != expected or (kind == "array" and not parts[1].isdigit()):
        raise UnsupportedError(f"field {name}: {text!r} is not a known type")
    if kind == "array":
        return "array", _of_text(parts[0], name), int(parts[1])
    inner = [_of_text(part, name) for part in parts]
    if kind in ("pair", "tuple"):
        return "tuple", inner
    return ("variant", inner) if kind == "variant" else (kind, *inner)


def _reduced(dtype: str, kind: str, numbers: str | None, name: str) -> Type:
    given = [part.strip() for part in (numbers or "").split(",") if part.strip()]
    try:
        if kind == "Real16" and not given:
            return "reduced", dtype, "half"
        if kind == "Real32Trunc" and len(given) == 1:
            return "reduced", dtype, "truncated", int(given[0])
        if kind == "Real32Quant" and len(given) == 3:
            return "reduced", dtype, "quantized", int(given[0]), float(given[1]), float(given[2])
    except ValueError:
        pass
    raise UnsupportedError(
        f"field {name}: write Real16, Real32Trunc<bits> or Real32Quant<bits, smallest, largest>, not {kind}<{numbers}>"
    )


def of_tree_type(t: Type) -> Type:
    """The type of the field for a type of a branch."""
    kind = t[0]
    if kind in ("scalar", "number"):
        return "number", t[1]
    if kind in ("text", "cstring"):
        return ("text",)
    if kind == "fixed":
        made: Type = ("number", t[1])
        for n in reversed(t[3]):
            made = ("array", made, n)
        return made
    if kind == "array":
        return "array", ("number", t[1]), t[2]
    if kind == "jagged":
        return "vector", ("number", t[1])
    if kind in ("vector", "map"):
        return (kind, *map(of_tree_type, t[1:]))
    if kind == "group":
        return "class", "", [(n, of_tree_type(member)) for n, member in t[1].items()]
    if kind == "lists":
        return "vector", ("class", "", [(n, ("number", member[1])) for n, member in t[1].items()])
    if kind == "class":
        return "class", t[1], [(n, of_tree_type(member)) for n, member in t[2]]
    return of_tree_type(t[1])
