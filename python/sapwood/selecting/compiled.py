"""Selectors that numba compiles: a loop over entries, as in a selector of ROOT in C++."""

from __future__ import annotations

import copy
import sys
from collections import namedtuple
from collections.abc import Callable
from typing import Any, overload

import numpy as np

from ..errors import InvalidError, UnsupportedError, require
from ..public import public
from .selector import Selector


class CompiledSelector(Selector):
    """A function that numba compiles, run on each batch. Made by :func:`sapwood.selector`."""

    def __init__(self, function: Callable[..., Any], result: Any, options: dict[str, Any]) -> None:
        #: The function in Python.
        self.function = function
        #: What the function fills, or the sum of what it returned.
        self.result = result
        self._options = options
        self._fills = result is not None
        self._compiled: Any = None
        self._made: Any = None
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        for name in ("branches", "filter_name", "cut", "aliases", "library"):
            if options[name] is not None:
                setattr(self, name, options[name])

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled function."""
        self._prepare()
        return self._compiled(*arguments)

    def _prepare(self) -> None:
        if self._compiled is None:
            numba = require("numba", "@sapwood.selector")
            self._compiled = numba.njit(nogil=True, error_model="numpy")(self.function)

    def __deepcopy__(self, memo: dict[int, Any]) -> CompiledSelector:
        # the function is compiled once for all copies
        self._prepare()
        own = copy.copy(self)
        own.result = copy.deepcopy(self.result, memo)
        return own

    def __copy__(self) -> CompiledSelector:
        own = object.__new__(CompiledSelector)
        own.__dict__.update(self.__dict__)
        return own

    def __reduce__(self):
        # numba's functions are compiled again elsewhere
        return _found, (self.function.__module__, self.function.__qualname__, self.result, self.partition)

    def process(self, batch: Any) -> None:
        """Run the function on a batch."""
        if isinstance(batch, dict):
            batch = self._tuple(batch)
        elif hasattr(batch, "layout"):
            _register_awkward()
        if self._fills:
            self(batch, self.result)
        else:
            self.result = self(batch)

    def _tuple(self, columns: dict[str, np.ndarray]) -> Any:
        """numpy arrays as the attributes of a named tuple, which numba knows."""
        for name, column in columns.items():
            if not name.isidentifier():
                raise InvalidError(f"{name!r} is not an identifier: rename the column with aliases=")
            if column.dtype.kind not in "biuf":
                raise UnsupportedError(f'{name!r} has no fixed shape; use library="ak"')
        if self._made is None or self._made._fields != tuple(columns):
            self._made = _batch_type(tuple(columns))
        return self._made(*columns.values())

    def merge(self, other: CompiledSelector) -> None:
        """Add the results of another copy."""
        merge = self._options["merge"]
        self.result = _added(self.result, other.result) if merge is None else merge(self.result, other.result)

    def end(self) -> Any:
        """The result."""
        end = self._options["end"]
        return self.result if end is None else end(self.result)

    def __repr__(self) -> str:
        return f"<CompiledSelector {self.__name__}>"


_TYPES: dict[tuple[str, ...], Any] = {}


def _batch_type(names: tuple[str, ...]) -> Any:
    # one type for all batches: numba compiles once for each
    return _TYPES.setdefault(names, namedtuple("Batch", names))


def _register_awkward() -> None:
    from awkward.numba import register_and_check

    register_and_check()


def _found(module: str, name: str, result: Any, partition: Any) -> CompiledSelector:
    """The selector of this name in a module, with a result of its own."""
    from importlib import import_module

    found: Any = sys.modules.get(module) or import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    if not isinstance(found, CompiledSelector):
        raise InvalidError(f"{module}.{name} is not the selector, but {found!r}")
    own = copy.copy(found)
    own.result, own.partition = result, partition
    return own


def _added(a: Any, b: Any) -> Any:
    """The sum of two results: numbers, arrays, or tuples of these."""
    if isinstance(a, tuple):
        parts = [_added(x, y) for x, y in zip(a, b, strict=True)]
        return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
    if isinstance(a, list):
        raise InvalidError("lists are not added: return numbers or arrays, or pass merge=")
    if isinstance(a, np.ndarray):
        a += b
        return a
    if a is None or b is None:
        raise InvalidError("the function returned nothing: return numbers or arrays, or pass result= and fill it")
    return a + b


@overload
def selector(function: Callable[..., Any]) -> CompiledSelector: ...
@overload
def selector(
    *,
    branches: Any = ...,
    result: Any = ...,
    cut: str | None = ...,
    filter_name: Any = ...,
    aliases: Any = ...,
    library: str | None = ...,
    merge: Callable[[Any, Any], Any] | None = ...,
    end: Callable[[Any], Any] | None = ...,
) -> Callable[[Callable[..., Any]], CompiledSelector]: ...
@public
def selector(
    function: Callable[..., Any] | None = None,
    *,
    branches: Any = None,
    result: Any = None,
    cut: str | None = None,
    filter_name: Any = None,
    aliases: Any = None,
    library: str | None = None,
    merge: Callable[[Any, Any], Any] | None = None,
    end: Callable[[Any], Any] | None = None,
) -> Any:
    """Decorate a function to make a selector that numba compiles.

    The function gets a batch and loops over its entries. With ``library="ak"``, ``for entry in batch`` gives records
    with the columns as attributes. With ``library="np"``, the columns are numpy arrays: ``batch.px[i]``. numba must be
    installed when the selector runs.

    Args:
        branches, cut, filter_name, aliases, library: see :class:`Selector`.
        result: an array, or a tuple of arrays, that the function gets as its second argument and fills. Each batch has
            a copy. Without it, the function returns numbers or arrays.
        merge: a function of two results that returns both as one; by default they are added.
        end: a function that turns the merged result into what :meth:`Tree.process` returns.
    """
    options = {
        "branches": branches,
        "cut": cut,
        "filter_name": filter_name,
        "aliases": aliases,
        "library": library,
        "merge": merge,
        "end": end,
    }

    def decorate(function: Callable[..., Any]) -> CompiledSelector:
        return CompiledSelector(function, result, options)

    return decorate if function is None else decorate(function)
