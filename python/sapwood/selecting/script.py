"""Selectors in Python scripts, what macros are in ROOT."""

from __future__ import annotations

import importlib.util
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import FileMissingError, InvalidError, UnsupportedError
from .selector import Selector, checked

#: Names of files with C++ code; a plus sign makes ROOT compile them.
_MACRO = re.compile(r"\.(C|cc|cpp|cxx)\+{0,2}[gO]*$")
#: What may also be a branch and its members.
_MEMBER = re.compile(r"\w+(\.\w+)+")
_PARTS = re.compile(r"[./]")
_CPP = re.compile(r"\.(c|cc|cpp|cxx|h|hh)\+{0,2}[gO]*$", re.IGNORECASE)


def is_script(what: Any, branches: Callable[[], Iterable[str]]) -> bool:
    """Whether this names a script, in Python or C++, rather than an expression.

    ``p.py`` may also be a member of a branch, and then it is; a path object always names a script. ``branches`` is
    called only for a text that may be either.
    """
    if isinstance(what, os.PathLike):
        return True
    if not isinstance(what, str):
        return False
    if what.endswith(".py"):
        # p.px:p.py, x/p.py and the like
        if _MEMBER.fullmatch(what) is None:
            return os.path.isfile(what)
        parts = {part for name in branches() for part in _PARTS.split(name)}
        return what.split(".")[0] not in parts
    # px.C likewise
    return _MACRO.search(what) is not None and (what.endswith(("+", "+g", "+O")) or os.path.exists(what))


def selector_of(what: Any) -> tuple[Selector, str | None]:
    """The selector, and the script that contains it if a script is given."""
    if isinstance(what, (str, os.PathLike)):
        path = os.path.abspath(os.fsdecode(what))
        return load(path), path
    return checked(what), None


def load(path: str) -> Selector:
    """The selector in a Python script.

    Raises:
        UnsupportedError: C++ code.
        InvalidError: the script contains no selector, or several.
    """
    found = _selector_in(run(path), path)
    if found is None:
        raise InvalidError(
            f"{path} contains no selector: define a class derived from sapwood.Selector, or a function with "
            "@sapwood.selector"
        )
    return found


def selector_or_function(path: str) -> Selector | Callable[..., Any]:
    """The selector in a Python script; of a script without one the function that computes what is drawn.

    That is the function with the name of the script, ``draw``, or the only one of the script.

    Raises:
        UnsupportedError: C++ code.
        InvalidError: there is neither, or there are several.
    """
    module = run(path)
    found = _selector_in(module, path)
    if found is not None:
        return found
    functions = {
        name: value
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
    }
    for name in (Path(path).stem, "draw"):
        if name in functions:
            return functions[name]
    if len(functions) == 1:
        return next(iter(functions.values()))
    raise InvalidError(
        f"{path} contains no selector and nothing to draw: define a class derived from sapwood.Selector, or a function "
        "`draw` of branches that returns the values of a histogram"
    )


def run(path: str) -> ModuleType:
    """Execute a Python script."""
    if _CPP.search(path):
        raise UnsupportedError(
            f"{os.path.basename(path)}: C++ macros cannot be run; write the selector in Python. "
            "`sapwood skeleton FILE:TREE` prints one to start from"
        )
    if not path.endswith(".py"):
        raise InvalidError(f"{path} is not a Python script: its name must end in .py")
    if not os.path.isfile(path):
        raise FileMissingError(f"{path}: no such script", file=path)
    # other processes find its classes by this name
    name = f"sapwood_script_{Path(path).stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _selector_in(module: ModuleType, path: str) -> Selector | None:
    if "selector" in vars(module) and not _is_decorator(module.selector):
        return checked(module.selector)
    found = [(n, v) for n, v in vars(module).items() if _is_selector(v, module.__name__)]
    if len(found) > 1:
        names = ", ".join(n for n, _ in found)
        raise InvalidError(f"{path} contains several selectors ({names}): choose one with `selector = {found[0][0]}`")
    return checked(found[0][1]) if found else None


def _is_decorator(value: Any) -> bool:
    from .compiled import selector

    return value is selector


def _is_selector(value: Any, module: str) -> bool:
    if isinstance(value, type):
        return issubclass(value, Selector) and value.__module__ == module
    return isinstance(value, Selector)
