"""Functions for expressions: elementwise functions of numpy, and reductions within an entry."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import require

_ELEMENTWISE = [
    "abs", "absolute", "add", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh",
    "bitwise_and", "bitwise_or", "bitwise_xor", "cbrt", "ceil", "conjugate", "copysign", "cos", "cosh", "deg2rad",
    "degrees", "divide", "equal", "exp", "exp2", "expm1", "fabs", "floor", "floor_divide", "fmax", "fmin", "fmod",
    "greater", "greater_equal", "heaviside", "hypot", "invert", "isfinite", "isinf", "isnan", "less", "less_equal",
    "log", "log10", "log1p", "log2", "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor",
    "maximum", "minimum", "mod", "multiply", "negative", "nextafter", "not_equal", "positive", "power", "rad2deg",
    "radians", "reciprocal", "remainder", "rint", "round", "sign", "signbit", "sin", "sinh", "sqrt", "square",
    "subtract", "tan", "tanh", "trunc", "where", "clip", "nan_to_num",
]  # fmt: skip

_TYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"]

#: C++ names of functions.
_SYNONYMS = {
    "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan",
    "atan2": "arctan2", "atanh": "arctanh", "pow": "power",
}  # fmt: skip

#: Reductions over the items of each entry, unless axis= says otherwise.
_REDUCTIONS = [
    "sum", "prod", "min", "max", "any", "all", "mean", "std", "var", "count", "count_nonzero", "argmin", "argmax",
    "num",
]  # fmt: skip

#: Other functions of awkward that work entry by entry.
_AWKWARD = [
    "firsts", "flatten", "fill_none", "is_none", "local_index", "sort", "argsort", "combinations", "cartesian",
    "pad_none", "drop_none",
]  # fmt: skip

#: Constants; a branch with such a name takes precedence.
CONSTANTS = {"pi": np.pi, "inf": np.inf, "nan": np.nan}


def lookup(name: str) -> Callable | None:
    """The function of this name, with or without ``np.``, ``numpy.`` or ``ak.`` in front; None when not allowed."""
    module, _, bare = name.rpartition(".")
    if module in ("", "np", "numpy"):
        bare = _SYNONYMS.get(bare, bare)
        if bare in _ELEMENTWISE:
            return getattr(np, bare)
        if bare in _TYPES:
            return lambda array: _cast(array, np.dtype(bare))
    if module in ("", "ak") and (bare in _REDUCTIONS or bare in _AWKWARD):
        return _reduction(bare) if bare in _REDUCTIONS and not module else _awkward(bare)
    return None


def reduces(name: str) -> bool:
    """Whether a function makes one value of an entry's list."""
    return name in _REDUCTIONS


def works_by_entry(name: str) -> bool:
    """Whether a function's value for an entry depends on that entry alone: then it may be computed for some of them.

    Functions with the prefix ``ak.`` reduce whole columns; those that sort or count do so for flat columns.
    """
    module, _, bare = name.rpartition(".")
    bare = _SYNONYMS.get(bare, bare)
    return (module in ("", "np", "numpy") and (bare in _ELEMENTWISE or bare in _TYPES)) or (
        not module and bare in _REDUCTIONS
    )


def _cast(array, dtype: np.dtype):
    return array.astype(dtype) if isinstance(array, np.ndarray) else _awkward("values_astype")(array, dtype)


def _awkward(name: str) -> Callable:
    return getattr(require("awkward", f"the function {name}"), name)


def _reduction(name: str) -> Callable:
    def reduce(array, axis: int = 1):
        if isinstance(array, np.ndarray) and hasattr(np, name):
            return getattr(np, name)(array, axis=axis)
        options = {"mask_identity": False} if name in ("min", "max") else {}
        return _awkward(name)(array, axis=axis, **options)

    return reduce


def names() -> list[str]:
    """All names, for error messages."""
    return sorted({*_ELEMENTWISE, *_TYPES, *_SYNONYMS, *_REDUCTIONS, *_AWKWARD})
