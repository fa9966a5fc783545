"""Types of branches: from declarations and columns to the types of the core.

A type is ``("scalar", dtype)``, ``("fixed", dtype, n, extents)``, ``("jagged", dtype, counter)`` or
``("object", C++ type)``, or ``("cstring",)`` for ROOT's C strings; the groups ``("group", {field: type})`` and
``("lists", {field: type}, counter)`` become a branch for each field.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import re
import typing
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import InvalidError, UnsupportedError
from .columns import Column, is_map_item, is_tuple
from .type_text import record_fields, split

Type = tuple[Any, ...]

_PYTHON = {bool: "bool", int: "int64", float: "float64"}
_NUMBERS = frozenset(
    ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64")
)


@dataclass
class Names:
    """Names of counters and of fields."""

    counter: Callable[[str], str] = field(default=lambda counted: "n" + counted)
    field: Callable[[str, str], str] = field(default=lambda outer, inner: inner if not outer else f"{outer}_{inner}")


def of_column(column: Column, name: str, names: Names) -> Type:
    """The default type of branch for a column.

    Numbers, fixed arrays and lists of numbers become leaves (lists with a counter), records a branch for each field,
    lists of records of numbers a leaf for each field with a common counter; strings and nested lists become C++
    objects.
    """
    kind = column[0]
    if kind == "flat":
        return "scalar", numpy_name(column[1].dtype)
    if kind == "regular":
        extents, content = extents_of(column)
        if content[0] == "flat":
            return "fixed", numpy_name(content[1].dtype), math.prod(extents), extents
        return "object", _cpp_of(column, name)
    if kind == "list" and column[2][0] == "flat":
        return "jagged", numpy_name(column[2][1].dtype), names.counter(name)
    if (
        kind == "list"
        and not is_tuple(column[2])
        and column[2][0] == "record"
        and all(c[0] == "flat" for _, c in column[2][2])
    ):
        counter = names.counter(name)
        return "lists", {n: ("jagged", numpy_name(c[1].dtype), counter) for n, c in column[2][2]}, counter
    if kind == "record" and not is_tuple(column):
        return "group", {n: of_column(c, names.field(name, n), names) for n, c in column[2]}
    return "object", _cpp_of(column, name)


def extents_of(column: Column) -> tuple[list[int], Column]:
    extents = []
    while column[0] == "regular":
        extents.append(column[1])
        column = column[3]
    return extents, column


def _cpp_of(column: Column, name: str, member: bool = False) -> Type:
    """The C++ type of a column; classes are named after the branch."""
    kind = column[0]
    if kind == "flat":
        return "number", numpy_name(column[1].dtype)
    if kind == "text":
        return ("text",)
    if kind == "regular" and member and column[3][0] == "flat":
        return "array", numpy_name(column[3][1].dtype), column[1]
    if kind == "list" and is_map_item(column[2]):
        (_, keys), (_, values) = column[2][2]
        return "map", _cpp_of(keys, f"{name}_first"), _cpp_of(values, f"{name}_second")
    if kind == "list" and is_tuple(column[2]) and len(column[2][2]) == 2:
        raise UnsupportedError(
            f"branch {name}: trees cannot hold lists of pairs; convert them to records with ak.zip, declare "
            "map<..., ...> where the first ones are keys (sorted, each once), or write an ntuple"
        )
    if is_tuple(column):
        raise UnsupportedError(
            f"branch {name}: tuples have no field names for branches; convert them to records with ak.zip"
        )
    if kind in ("list", "regular"):
        return "vector", _cpp_of(column[2] if kind == "list" else column[3], name)
    clean = re.sub(r"\W", "_", name)
    return "class", clean, [(n, _cpp_of(c, f"{clean}_{n}", True)) for n, c in column[2]], "named here"


def of_declared(declared: Any, name: str, names: Names) -> Type:
    """The type of branch for a declaration: numpy's and Python's types, a shape as in ``("f4", (3,))``, awkward's
    types and their text (``"var * float32"``), C++ names (``"vector<float>"``), dataclasses and typed dicts.

    Raises:
        UnsupportedError: a tree cannot hold this type.
    """
    if isinstance(declared, tuple) and len(declared) == 2 and not isinstance(declared[1], Mapping):
        try:
            declared = np.dtype(declared)
        except (TypeError, ValueError) as e:
            raise UnsupportedError(f"branch {name}: {declared!r} is not a type that a tree can hold ({e})") from None
    if hasattr(declared, "content") and type(declared).__name__ == "ArrayType":
        # the type of an awkward array: that of its entries
        declared = declared.content
    if isinstance(declared, Mapping):
        return "group", {n: of_declared(t, names.field(name, n), names) for n, t in declared.items()}
    if isinstance(declared, str):
        return _of_text(declared, name, names)
    if type(declared).__module__.partition(".")[0] == "awkward":
        return _of_text(str(declared), name, names)
    if declared is str or declared is bytes:
        return "object", ("text",)
    if isinstance(declared, Hashable) and declared in _PYTHON:
        return "scalar", _PYTHON[declared]
    if _is_record(declared) or typing.get_origin(declared) in (list, dict, tuple, typing.Annotated):
        return _of_hint(declared, name, names)
    try:
        if declared is None or isinstance(declared, np.generic):
            # numpy takes them for a type: None for float64
            raise TypeError
        dtype = np.dtype(declared)
    except TypeError:
        raise UnsupportedError(
            f"branch {name}: {declared!r} is not a type that a tree can hold; for records pass arrays with fields"
        ) from None
    return _of_dtype(dtype, name, names)


def _of_dtype(dtype: np.dtype, name: str, names: Names) -> Type:
    if dtype.names is not None:
        return "group", {n: _of_dtype(dtype[n], names.field(name, n), names) for n in dtype.names}
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return "fixed", _number(base, name), math.prod(shape), list(shape)
    if dtype.kind in "US":
        return "object", ("text",)
    return "scalar", _number(dtype, name)


@functools.cache
def numpy_name(dtype: np.dtype) -> str:
    """The name of a numpy type; cached, because numpy computes it slowly."""
    return dtype.name


def _number(dtype: np.dtype, name: str) -> str:
    if numpy_name(dtype) not in _NUMBERS:
        raise UnsupportedError(f"branch {name}: values of type {dtype} cannot be stored in a ROOT file")
    return numpy_name(dtype)


def _of_text(text: str, name: str, names: Names) -> Type:
    """numpy's names, awkward's ``"var * 3 * float32"`` and ``"{x: int32}"``, or C++ names."""
    text = text.strip()
    if text in ("string", "std::string", "str"):
        return "object", ("text",)
    if text in ("char*", "cstring"):
        return ("cstring",)
    if text.startswith("{") and text.endswith("}"):
        return "group", {n: _of_text(t, names.field(name, n), names) for n, t in record_fields(text[1:-1])}
    head, star, rest = text.partition("*")
    if star and head.strip() == "var":
        inner = _of_text(rest, name, names)
        if inner[0] == "scalar":
            return "jagged", inner[1], names.counter(name)
        if inner[0] == "group" and all(t[0] == "scalar" for t in inner[1].values()):
            counter = names.counter(name)
            return "lists", {n: ("jagged", t[1], counter) for n, t in inner[1].items()}, counter
        return "object", ("vector", as_cpp(inner, name))
    if star and head.strip().isdigit():
        n, inner = int(head), _of_text(rest, name, names)
        if inner[0] == "scalar":
            return "fixed", inner[1], n, [n]
        if inner[0] == "fixed":
            return "fixed", inner[1], n * inner[2], [n, *inner[3]]
        return "object", ("vector", as_cpp(inner, name))
    if text in _CPP or "<" in text:
        t = from_cpp_name(text)
        return ("scalar", t[1]) if t[0] == "number" else ("object", t)
    try:
        dtype = np.dtype(text)
    except (TypeError, ValueError, SyntaxError):
        raise UnsupportedError(
            f"branch {name}: {text!r} is not a known type; use the syntax of numpy, awkward or C++: float32, "
            "var * float32, vector<float>"
        ) from None
    return _of_dtype(dtype, name, names)


def as_cpp(t: Type, name: str, member: bool = False) -> Type:
    """A branch's type as a C++ type within another one."""
    if t[0] == "scalar":
        return "number", t[1]
    if t[0] == "fixed":
        return ("array", t[1], t[2]) if member else ("vector", ("number", t[1]))
    if t[0] == "jagged":
        return "vector", ("number", t[1])
    if t[0] == "cstring":
        return ("text",)
    clean = re.sub(r"\W", "_", name)
    if t[0] == "lists":
        return "vector", ("class", clean, [(n, ("number", f[1])) for n, f in t[1].items()], "named here")
    if t[0] == "group":
        return "class", clean, [(n, as_cpp(f, f"{clean}_{n}", True)) for n, f in t[1].items()], "named here"
    return t[1]


def with_own_names(t: Type, taken: dict[str, Any]) -> Type:
    """The type, with classes renamed that were named after branches and have the name of another class."""
    if t[0] == "object":
        return "object", with_own_names(t[1], taken)
    if t[0] in ("vector", "map"):
        return (t[0], *(with_own_names(inner, taken) for inner in t[1:]))
    if t[0] != "class":
        return t
    name, members = t[1], [(n, with_own_names(m, taken)) for n, m in t[2]]
    count = 1
    while taken.setdefault(name, members) != members and len(t) > 3:
        count += 1
        name = f"{t[1]}_{count}"
    return "class", name, members


def _is_record(declared: Any) -> bool:
    return isinstance(declared, type) and (dataclasses.is_dataclass(declared) or typing.is_typeddict(declared))


def fields_of(declared: Any) -> dict[str, Any] | None:
    """The fields of a dataclass or typed dict; None of anything else."""
    if not _is_record(declared):
        return None
    try:
        hints = typing.get_type_hints(declared, include_extras=True)
    except NameError as e:
        raise InvalidError(f"cannot resolve the types of the fields of {declared.__name__}: {e}") from None
    if dataclasses.is_dataclass(declared):
        return {f.name: hints[f.name] for f in dataclasses.fields(declared)}
    return hints


def _of_hint(declared: Any, name: str, names: Names) -> Type:
    """Python's type hints: classes become classes of C++, lists vectors, except lists of numbers."""
    origin, arguments = typing.get_origin(declared), typing.get_args(declared)
    if origin is typing.Annotated:
        return of_declared(arguments[1], name, names)
    if origin is list and len(arguments) == 1:
        inner = _hint_as_cpp(arguments[0], name)
        return ("jagged", inner[1], names.counter(name)) if inner[0] == "number" else ("object", ("vector", inner))
    return "object", _hint_as_cpp(declared, name)


def _hint_as_cpp(declared: Any, name: str, within: tuple[Any, ...] = ()) -> Type:
    """The C++ type for a type hint; ``within`` are the classes around it."""
    origin, arguments = typing.get_origin(declared), typing.get_args(declared)
    if any(declared is outer for outer in within):
        raise UnsupportedError(
            f"branch {name}: {declared.__name__} contains itself; recursive classes cannot be written"
        )
    fields = fields_of(declared)
    if fields is not None:
        return "class", declared.__name__, [(n, _hint_as_cpp(t, n, (*within, declared))) for n, t in fields.items()]
    if origin is list and len(arguments) == 1:
        return "vector", _hint_as_cpp(arguments[0], name, within)
    if origin is dict and len(arguments) == 2:
        return "map", _hint_as_cpp(arguments[0], name, within), _hint_as_cpp(arguments[1], name, within)
    if origin in (list, dict, tuple):
        raise UnsupportedError(
            f"branch {name}: {declared} is not a type that a tree can hold; use list[...], dict[...] or a class"
        )
    return as_cpp(of_declared(declared, name, Names()), name, True)


def from_cpp_name(text: str) -> Type:
    """The parts of a C++ type's name."""
    text = text.strip().removeprefix("std::").strip()
    match = re.fullmatch(r"(vector|map)\s*<(.*)>", text, re.DOTALL)
    if match:
        parts = split(match[2])
        if len(parts) != (2 if match[1] == "map" else 1):
            raise UnsupportedError(f"unknown type {text}; use numbers, string, vector<> and map<,>")
        return (match[1], *(from_cpp_name(p) for p in parts))
    if text == "string":
        return ("text",)
    if text.startswith("{"):
        return as_cpp(_of_text(text, "", Names()), "")
    name = _CPP.get(text, text)
    if name not in _NUMBERS:
        raise UnsupportedError(f"unknown type {text}; use numbers, string, vector<> and map<,>")
    return "number", name


_CPP = {
    "char": "int8", "signed char": "int8", "unsigned char": "uint8", "short": "int16", "unsigned short": "uint16",
    "int": "int32", "unsigned int": "uint32", "unsigned": "uint32", "long": "int64", "unsigned long": "uint64",
    "long long": "int64", "unsigned long long": "uint64", "float": "float32", "double": "float64",
    "Bool_t": "bool", "Char_t": "int8", "UChar_t": "uint8", "Short_t": "int16", "UShort_t": "uint16",
    "Int_t": "int32", "UInt_t": "uint32", "Long_t": "int64", "ULong_t": "uint64", "Long64_t": "int64",
    "ULong64_t": "uint64", "Float_t": "float32", "Double_t": "float64",
} | {f"{n}_t": n for n in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")}  # fmt: skip


def words_of(t: Type) -> str:
    """A type of a branch in words, as awkward writes types."""
    if t[0] in ("scalar", "number"):
        return str(t[1])
    if t[0] == "fixed":
        return "".join(f"{n} * " for n in t[3]) + str(t[1])
    if t[0] == "array":
        return f"{t[2]} * {t[1] if isinstance(t[1], str) else words_of(t[1])}"
    if t[0] == "jagged":
        return f"var * {t[1]}"
    if t[0] in ("text", "cstring"):
        return "string"
    if t[0] == "vector":
        return f"var * {words_of(t[1])}"
    if t[0] == "map":
        return f"map<{words_of(t[1])}, {words_of(t[2])}>"
    if t[0] == "optional":
        return f"?{words_of(t[1])}"
    if t[0] in ("tuple", "variant"):
        inside = ", ".join(map(words_of, t[1]))
        return f"({inside})" if t[0] == "tuple" else f"union[{inside}]"
    if t[0] == "reduced":
        wide = "float64 as " if t[1] == "float64" else ""
        kind = {"half": "Real16", "truncated": "Real32Trunc", "quantized": "Real32Quant"}[t[2]]
        return wide + kind + (f"<{', '.join(map(str, t[3:]))}>" if t[3:] else "")
    if t[0] == "class":
        return "{" + ", ".join(f"{n}: {words_of(m)}" for n, m in t[2]) + "}"
    return words_of(t[1])
