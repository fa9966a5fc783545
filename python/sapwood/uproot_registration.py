"""Trees, branches and directories as instances of uproot's classes, for code that asks ``isinstance``.

uproot decides by ``isinstance`` whether a mapping is a tree or a set of file names.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type)

#: Sapwood's classes that have been defined so far, by the name of uproot's class.
_stand_ins: list[tuple[str, type]] = []
#: The module and the number of classes that are registered.
_done: tuple[object, int] = (None, 0)


def stands_for(name: str) -> Callable[[Class], Class]:
    """Decorates a class whose objects are to be instances of ``uproot.NAME`` as well."""

    def decorated(kind: Class) -> Class:
        _stand_ins.append((name, kind))
        register()
        return kind

    return decorated


def register() -> None:
    """Register Sapwood's classes with uproot's abstract classes, if uproot has been imported; quick otherwise."""
    global _done
    uproot = sys.modules.get("uproot")
    done = uproot, len(_stand_ins)
    if uproot is None or done == _done:
        return
    # another module may stand in for uproot, and an import may not have ended yet
    behaviors = sys.modules.get("uproot.behaviors.TBranch")
    if behaviors is None or not hasattr(uproot, "ReadOnlyDirectory") or not hasattr(behaviors, "TBranch"):
        return
    for name, kind in _stand_ins:
        module, _, last = name.rpartition(".")
        abstract: Any = getattr(sys.modules.get(f"uproot.{module}".rstrip(".")), last, None)
        if hasattr(abstract, "register") and not issubclass(kind, abstract):
            abstract.register(kind)
    _done = done
