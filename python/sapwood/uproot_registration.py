"""Trees, branches and directories as instances of uproot's classes, for code that asks ``isinstance``."""

from __future__ import annotations

import sys

_done: object = None


def register() -> None:
    """Register Sapwood's classes with uproot's abstract classes, if uproot has been imported; quick otherwise.

    uproot decides by ``isinstance`` whether a mapping is a tree or a set of file names.
    """
    global _done
    uproot = sys.modules.get("uproot")
    if uproot is None or uproot is _done:
        return
    # another module may stand in for uproot, and an import may not have ended yet
    behaviors = sys.modules.get("uproot.behaviors.TBranch")
    if behaviors is None or not hasattr(uproot, "ReadOnlyDirectory") or not hasattr(behaviors, "TBranch"):
        return
    from .reading.branch import Branch
    from .reading.branches import HasBranches
    from .reading.directory import Directory
    from .reading.tree import Tree

    pairs = [
        (uproot.ReadOnlyDirectory, Directory),
        (behaviors.HasBranches, HasBranches),
        (behaviors.TBranch, Branch),
    ]
    if hasattr(uproot, "TTree"):
        pairs.append((uproot.TTree, Tree))
    for abstract, kind in pairs:
        enrol = getattr(abstract, "register", None)
        if enrol is not None and not issubclass(kind, abstract):
            enrol(kind)
    _done = uproot
