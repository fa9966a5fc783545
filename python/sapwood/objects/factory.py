"""Python classes for C++ classes, and the factory that the core calls to build objects."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from .object import Object
from .text import ObjString
from .unread import Unread

#: Module and name of the Python class for each C++ class; templates without arguments.
_KINDS = {
    "TList": ("collections", "Listed"),
    "THashList": ("collections", "Listed"),
    "TSortedList": ("collections", "Listed"),
    "TObjArray": ("collections", "Listed"),
    "TClonesArray": ("collections", "Listed"),
    "TRefArray": ("collections", "Listed"),
    "TCollection": ("collections", "Listed"),
    "TSeqCollection": ("collections", "Listed"),
    "THashTable": ("collections", "Listed"),
    "RooLinkedList": ("collections", "Listed"),
    "TOrdCollection": ("collections", "Listed"),
    "vector": ("collections", "Listed"),
    "list": ("collections", "Listed"),
    "deque": ("collections", "Listed"),
    "set": ("collections", "Listed"),
    "multiset": ("collections", "Listed"),
    "unordered_set": ("collections", "Listed"),
    "TMap": ("collections", "Mapped"),
    "map": ("collections", "Mapped"),
    "multimap": ("collections", "Mapped"),
    "unordered_map": ("collections", "Mapped"),
    "TArrayC": ("collections", "Array"),
    "TArrayS": ("collections", "Array"),
    "TArrayI": ("collections", "Array"),
    "TArrayL": ("collections", "Array"),
    "TArrayL64": ("collections", "Array"),
    "TArrayF": ("collections", "Array"),
    "TArrayD": ("collections", "Array"),
    "TH1": ("histogram", "TH1"),
    "TH2": ("histogram", "TH2"),
    "TH3": ("histogram", "TH3"),
    "TH2Poly": ("histogram", "TH2Poly"),
    "TProfile": ("profile", "TProfile"),
    "TProfile2D": ("profile", "TProfile2D"),
    "TProfile3D": ("profile", "TProfile3D"),
    "TAxis": ("axis", "TAxis"),
    "TGraph": ("graph", "TGraph"),
    "TGraphErrors": ("graph", "TGraphErrors"),
    "TGraphAsymmErrors": ("graph", "TGraphAsymmErrors"),
    "TEfficiency": ("efficiency", "TEfficiency"),
    "TMatrixT": ("matrix", "Matrix"),
    "TMatrixTSym": ("matrix", "Matrix"),
    "TVectorT": ("matrix", "Vector"),
    "TParameter": ("parameter", "Parameter"),
    "TDatime": ("datime", "Datime"),
    "TEntryList": ("entry_list", "EntryList"),
    "TEventList": ("entry_list", "EntryList"),
}


def kind_of(classname: str, bases: Sequence[str]) -> type[Object]:
    """The Python class for a C++ class, or for the nearest base class that has one."""
    for name in (classname, *bases):
        found = _KINDS.get(name.partition("<")[0].removeprefix("std::"))
        if found:
            module, kind = found
            return getattr(import_module(f".{module}", __package__), kind)
    return Object


class Factory:
    """Builds objects for the core."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[str, ...], type[Object]] = {}

    def make(self, classname: str, bases: list[str]) -> Object:
        """An empty object."""
        key = (classname, *bases)
        kind = self._kinds.get(key)
        if kind is None:
            kind = self._kinds[key] = kind_of(classname, bases)
        made = kind()
        made.classname = classname
        made._members = {}
        return made

    def fill(self, made: Object, version: int, bases: list[Any], members: dict[str, Any], content: Any) -> None:
        """Set version, base classes, members and content of an object."""
        made._fill(version, bases, members, content)

    def text(self, data: bytes) -> str:
        """Text; bytes that are not UTF-8 are kept as lone surrogates, as in file names."""
        return data.decode("utf-8", "surrogateescape")

    def string(self, data: bytes, unique_id: int) -> ObjString:
        """A TObjString."""
        text = ObjString(self.text(data))
        text.unique_id = unique_id
        return text

    def array(self, buffer: Any, shape: list[int]) -> np.ndarray:
        """Numbers."""
        flat = np.asarray(buffer)
        return flat if len(shape) == 1 else flat.reshape(shape)

    def pairs(self, pairs: list[tuple[Any, Any]]) -> Any:
        """A dict; the list of pairs if keys are duplicates or cannot be hashed."""
        try:
            out = dict(pairs)
        except TypeError:
            return pairs
        return out if len(out) == len(pairs) else pairs

    def refused(self, classname: str, why: str) -> Unread:
        """The placeholder for a part that cannot be read."""
        return Unread(classname, why)
