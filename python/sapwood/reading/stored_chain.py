"""TChain objects in files, opened as chains."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .. import Chain, ReadOnlyFile

_SCHEME = re.compile(r"[A-Za-z][\w+.-]*://")


def chain_of(kind: type[Chain], file: ReadOnlyFile, stored: Any) -> Chain:
    """The chain of the files that a TChain names, with its friends.

    A relative name is a file in the working directory or, if there is none, beside the file with the TChain, like a
    name in a list of files. Weights and entry lists of the TChain are not used: the trees have their own weights.
    """
    members = stored.all_members
    files = [(_place(file, element), element.all_members["fName"]) for element in members["fFiles"]]
    given = file._options
    options = {"cache_size": given.cache_size, "timeout": given.timeout, "threads": given.threads or None}
    chain = kind(files, options, False)
    for friend in members.get("fFriends") or ():
        of = friend.all_members
        if of["fTitle"]:
            alias = of["fName"] if of["fName"] != of["fTreeName"] else None
            chain.add_friend(of["fTreeName"], _place(file, friend), alias=alias)
    return chain


def _place(file: ReadOnlyFile, element: Any) -> str:
    name: str = element.all_members["fTitle"]
    place = file.file_path
    remote = _SCHEME.match(place) is not None
    if _SCHEME.match(name) or os.path.isabs(name) or (not remote and os.path.exists(name)):
        return name
    if remote:
        return place.partition("?")[0].rpartition("/")[0] + "/" + name
    return os.path.join(os.path.dirname(place), name)
