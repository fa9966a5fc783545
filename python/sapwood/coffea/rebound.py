"""Functions of coffea in which global names stand for something else: for ``uproot.open``, Sapwood's ``open``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType, ModuleType
from typing import Any


def function(original: Callable[..., Any], names: Mapping[str, Any], home: str, path: str) -> Callable[..., Any]:
    """The function with other meanings of global names; pickle finds it as ``path`` in the module ``home``."""
    if not isinstance(original, FunctionType):
        raise TypeError(f"{original!r} is not a function: this version of coffea is not supported")
    return _copied(original, {**original.__globals__, **names}, home, path)


def functions(module: ModuleType, names: Mapping[str, Any], home: str, classes: tuple[str, ...] = ()) -> dict[str, Any]:
    """All functions of a module, and some of its classes, with other meanings of global names; they use each other."""
    values = {**vars(module), **names}
    made: dict[str, Any] = {
        name: _copied(value, values, home, name)
        for name, value in vars(module).items()
        if isinstance(value, FunctionType) and value.__module__ == module.__name__
    }
    for name in classes:
        made[name] = _copied_class(getattr(module, name), values, home)
    values.update(made)
    return made


def _copied_class(original: type, values: dict[str, Any], home: str) -> type:
    """A subclass whose own methods have other meanings of global names."""
    methods = {
        name: _copied(value, values, home, f"{original.__name__}.{name}")
        for name, value in vars(original).items()
        if isinstance(value, FunctionType)
    }
    return type(original.__name__, (original,), {**methods, "__module__": home, "__qualname__": original.__name__})


def _copied(original: FunctionType, values: dict[str, Any], home: str, path: str) -> FunctionType:
    made = FunctionType(original.__code__, values, original.__name__, original.__defaults__, original.__closure__)
    made.__kwdefaults__ = original.__kwdefaults__
    made.__doc__, made.__annotations__ = original.__doc__, original.__annotations__
    made.__module__, made.__qualname__ = home, path
    return made
