"""Descriptions of C++ classes in a file: ROOT's TStreamerInfo and TStreamerElement, by uproot's names."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..errors import InvalidError, KeyInFileError
from ..public import public

if TYPE_CHECKING:
    from .. import _core

#: Members that every element has, and those of some classes of elements.
_COMMON = ("fName", "fTitle", "fType", "fSize", "fArrayLength", "fArrayDim", "fMaxIndex", "fTypeName")
_COUNTED = ("fCountVersion", "fCountName", "fCountClass")
_OWN = {
    "TStreamerBase": ("fBaseVersion",),
    "TStreamerBasicPointer": _COUNTED,
    "TStreamerLoop": _COUNTED,
    "TStreamerSTL": ("fSTLtype", "fCtype"),
    "TStreamerSTLstring": ("fSTLtype", "fCtype"),
}
#: Elements whose class is described in the file, if it is described at all.
_OF_CLASSES = ("TStreamerObject", "TStreamerObjectAny", "TStreamerObjectPointer", "TStreamerObjectAnyPointer")

#: ROOT's number of the type of collections and strings of the C++ library, in files (kStreamer).
_STL_IN_FILES = 500

_Streamers = dict[str, dict[int, "StreamerInfo"]]


@public
@dataclass(frozen=True)
class StreamerElement:
    """A base class or member of a class."""

    #: The class of the element: TStreamerBase, TStreamerBasicType, …
    classname: str
    _members: dict[str, Any]

    @property
    def name(self) -> str:
        """Name of the member or base class."""
        return self._members["fName"]

    @property
    def title(self) -> str:
        """The comment beside the member."""
        return self._members["fTitle"]

    @property
    def typename(self) -> str:
        """C++ type; "BASE" for a base class."""
        return self._members["fTypeName"]

    @property
    def array_length(self) -> int:
        """Number of items of a fixed array."""
        return self._members["fArrayLength"]

    @property
    def base_version(self) -> int:
        """Version of a base class; 0 for members."""
        return self._members["fBaseVersion"]

    @property
    def members(self) -> dict[str, Any]:
        """ROOT's members of the element."""
        names = (*_COMMON, *_OWN.get(self.classname, ()))
        return {name: self._members[name] for name in names}

    def member(self, name: str) -> Any:
        """Return a member of the element by its C++ name, for example ``"fSize"``."""
        try:
            return self.members[name]
        except KeyError:
            raise KeyInFileError(f"{self.classname} has no member {name}; it has {', '.join(self.members)}") from None

    def tojson(self) -> dict[str, Any]:
        """Return the element in ROOT's JSON form."""
        return {"_typename": self.classname, "fUniqueID": 0, "fBits": 0, **self.members}

    def show(self, stream: Any = None) -> None:
        """Print the member; nothing for a base class."""
        if self.classname != "TStreamerBase":
            (stream or sys.stdout).write(f"    {self.name}: {self.typename} ({self.classname})\n")

    def __repr__(self) -> str:
        return f"<{self.classname} {self.name!r}: {self.typename}>"


@public
@dataclass(frozen=True)
class StreamerInfo:
    """A class in one version."""

    #: C++ name, without blanks around brackets and colons.
    name: str
    #: C++ name as it is in the file.
    typename: str
    #: Version of the class.
    class_version: int
    #: ROOT's checksum of the members.
    checksum: int
    #: Base classes and members, in the order in which they are written.
    elements: list[StreamerElement]

    @property
    def member_names(self) -> list[str]:
        """Names of the members, without base classes."""
        return [e.name for e in self.elements if e.classname != "TStreamerBase"]

    @property
    def base_names_versions(self) -> list[tuple[str, int]]:
        """Names and versions of the base classes."""
        return [(e.name, e.base_version) for e in self.elements if e.classname == "TStreamerBase"]

    def tojson(self) -> dict[str, Any]:
        """Return the description in ROOT's JSON form."""
        elements = {"_typename": "TObjArray", "name": "TObjArray", "arr": [e.tojson() for e in self.elements]}
        return {
            "_typename": "TStreamerInfo",
            "fUniqueID": 0,
            "fBits": 0,
            "fName": self.typename,
            "fTitle": "",
            "fCheckSum": self.checksum,
            "fClassVersion": self.class_version,
            "fElements": elements,
        }

    def show(self, stream: Any = None) -> None:
        """Print the class with its base classes and members."""
        out = stream or sys.stdout
        bases = ", ".join(f"{name} (v{version})" for name, version in self.base_names_versions)
        out.write(f"{self.name} (v{self.class_version}){': ' + bases if bases else ''}\n")
        for element in self.elements:
            element.show(out)

    def __repr__(self) -> str:
        return f"<TStreamerInfo for {self.name} version {self.class_version}>"


def _regular(classname: str) -> str:
    """The name of a class in one spelling: ``vector<vector<int>>`` for ``vector<vector<int> >``."""
    return re.sub(r"\s*([<>]|::)\s*", r"\1", classname).replace("Long64_t", "long long")


class HasClassDescriptions:
    """A file whose descriptions of classes are read when first asked."""

    if TYPE_CHECKING:
        _core: _core.File

    @cached_property
    def streamers(self) -> _Streamers:
        """The descriptions of C++ classes in the file, by name and version."""
        out: _Streamers = {}
        for name, version, checksum, elements in self._core.streamers():
            for element in elements:
                # the core gives these types the numbers that ROOT has in memory; in files they have another one
                if element["kind"].startswith("TStreamerSTL"):
                    element["fType"] = _STL_IN_FILES
            parts = [StreamerElement(e["kind"], {k: v for k, v in e.items() if k != "kind"}) for e in elements]
            regular = _regular(name)
            out.setdefault(regular, {})[version] = StreamerInfo(regular, name, version, checksum, parts)
        return out

    def streamers_named(self, classname: str) -> list[StreamerInfo]:
        """Return the descriptions of all versions of a class."""
        return list(self.streamers.get(_regular(classname), {}).values())

    def streamer_named(self, classname: str, version: int | str = "max") -> StreamerInfo | None:
        """Return the description of a class; None if the file has none.

        Args:
            version: a number, ``"min"`` or ``"max"``.
        """
        versions = self.streamers.get(_regular(classname))
        if not versions:
            return None
        if version == "min" or version == "max":
            return versions[min(versions) if version == "min" else max(versions)]
        if isinstance(version, str):
            raise InvalidError(f'version must be a number, "min" or "max", not {version!r}')
        return versions.get(version)

    def streamer_dependencies(self, classname: str, version: int | str = "max") -> list[tuple[str, int]]:
        """Return (name, version) of a class and the classes that its description needs, these first."""
        found: list[tuple[str, int]] = []
        first = self.streamer_named(classname, version)
        if first is not None:
            self._add_needed(first, found)
        return found[::-1]

    def _add_needed(self, info: StreamerInfo, found: list[tuple[str, int]]) -> None:
        found.append((info.name, info.class_version))
        for element in info.elements:
            if element.classname == "TStreamerBase":
                versions = self.streamers.get(_regular(element.name), {})
                wanted = versions.get(element.base_version) or (versions[max(versions)] if versions else None)
                needed = [wanted] if wanted is not None else []
            elif element.classname in (*_OF_CLASSES, "TStreamerString"):
                needed = self.streamers_named(element.typename.rstrip("*"))
            else:
                needed = []
            for more in needed:
                if (more.name, more.class_version) not in found:
                    self._add_needed(more, found)

    def show_streamers(self, classname: str | None = None, version: int | str = "max", stream: Any = None) -> None:
        """Print the descriptions of all classes, or of one class and those that it needs.

        Args:
            classname: the C++ class; None for all.
            version: see :meth:`streamer_named`.
            stream: output stream; None for standard output.
        """
        out = stream or sys.stdout
        if classname is None:
            shown = [info for versions in self.streamers.values() for info in versions.values()]
        else:
            shown = [self.streamers[name][number] for name, number in self.streamer_dependencies(classname, version)]
        for i, info in enumerate(shown):
            if i:
                out.write("\n")
            info.show(out)

    def class_named(self, classname: str, version: int | str | None = None) -> StreamerInfo:
        """Return the description of a class.

        Raises:
            KeyInFileError: (a KeyError) the file does not describe it.
        """
        found = self.streamer_named(classname, "max" if version is None else version)
        if found is None:
            words = f"{classname} version {version}" if version is not None else classname
            raise KeyInFileError(f"the file does not describe {words}; it describes {', '.join(self.streamers)}")
        return found
