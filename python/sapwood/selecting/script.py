"""Selectors in Python scripts, what macros are in ROOT."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from pathlib import Path
from typing import Any

from ..errors import FileMissingError, InvalidError, UnsupportedError
from .selector import Selector, checked

#: Names of files with C++ code; a plus sign makes ROOT compile them.
_MACRO = re.compile(r"\.(C|cc|cpp|cxx)\+{0,2}[gO]*$")
_CPP = re.compile(r"\.(c|cc|cpp|cxx|h|hh)\+{0,2}[gO]*$", re.IGNORECASE)


def is_script(what: Any) -> bool:
    """Whether this names a script, in Python or C++, rather than an expression."""
    if isinstance(what, os.PathLike):
        return True
    if not isinstance(what, str) or _MACRO.search(what) is None:
        return isinstance(what, str) and what.endswith(".py")
    # px.C may also be a member of a branch
    return what.endswith(("+", "+g", "+O")) or os.path.exists(what)


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
    if "selector" in vars(module) and not _is_decorator(module.selector):
        return checked(module.selector)
    found = [(n, v) for n, v in vars(module).items() if _is_selector(v, name)]
    if len(found) == 1:
        return checked(found[0][1])
    if not found:
        raise InvalidError(
            f"{path} contains no selector: define a class derived from sapwood.Selector, or a function with "
            "@sapwood.selector"
        )
    names = ", ".join(n for n, _ in found)
    raise InvalidError(f"{path} contains several selectors ({names}): name the one to run `selector`")


def _is_decorator(value: Any) -> bool:
    from .compiled import selector

    return value is selector


def _is_selector(value: Any, module: str) -> bool:
    if isinstance(value, type):
        return issubclass(value, Selector) and value.__module__ == module
    return isinstance(value, Selector)
