"""Names, objects and classes of a directory, chosen by filters: the same where it is read and where it is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..arguments.filters import Filter, matcher


class ObjectListing(Mapping):
    """A mapping from names to objects that lists them; its class says what there is."""

    def _rows(self, recursive: bool) -> Iterable[tuple[str, int, str]]:
        """(path below here, cycle, class)."""
        raise NotImplementedError

    def __getitem__(self, where: str) -> Any:
        raise NotImplementedError

    def _passing(
        self, recursive: bool, cycle: bool, filter_name: Filter, filter_classname: Filter
    ) -> Iterator[tuple[str, str, str]]:
        """(key, path with cycle, class)."""
        name_passes = matcher(filter_name, "filter_name")
        class_passes = matcher(filter_classname, "filter_classname")
        seen: set[str] = set()
        for path, number, classname in self._rows(recursive):
            full = f"{path};{number}"
            key = full if cycle else path
            if key in seen:
                continue
            if name_passes and not (name_passes(path) or name_passes(path.rpartition("/")[2]) or name_passes(full)):
                continue
            if class_passes and not class_passes(classname):
                continue
            seen.add(key)
            yield key, full, classname

    def iterkeys(
        self,
        *,
        recursive: bool = True,
        cycle: bool = True,
        filter_name: Filter = None,
        filter_classname: Filter = None,
    ) -> Iterator[str]:
        """Iterate over the paths of the objects; in a file that is written, also of trees that are not finished.

        Args:
            recursive: include subdirectories.
            cycle: include ``;cycle``; otherwise each name appears once.
            filter_name: filter on the name or path, with or without cycle (glob, ``/regex/i``, callable, list).
            filter_classname: filter on the C++ class.
        """
        return (key for key, _, _ in self._passing(recursive, cycle, filter_name, filter_classname))

    def itervalues(
        self, *, recursive: bool = True, filter_name: Filter = None, filter_classname: Filter = None
    ) -> Iterator[Any]:
        """Iterate over the objects; see :meth:`iterkeys`."""
        # listed first: what is written meanwhile does not disturb
        passing = list(self._passing(recursive, True, filter_name, filter_classname))
        return (self[full] for _, full, _ in passing)

    def iteritems(
        self,
        *,
        recursive: bool = True,
        cycle: bool = True,
        filter_name: Filter = None,
        filter_classname: Filter = None,
    ) -> Iterator[tuple[str, Any]]:
        """Iterate over (path, object) pairs; see :meth:`iterkeys`."""
        passing = list(self._passing(recursive, cycle, filter_name, filter_classname))
        return ((key, self[full]) for key, full, _ in passing)

    def iterclassnames(
        self,
        *,
        recursive: bool = True,
        cycle: bool = True,
        filter_name: Filter = None,
        filter_classname: Filter = None,
    ) -> Iterator[tuple[str, str]]:
        """Iterate over (path, C++ class) pairs; see :meth:`iterkeys`."""
        return ((key, kind) for key, _, kind in self._passing(recursive, cycle, filter_name, filter_classname))

    def keys(self, **options: Any) -> list[str]:  # type: ignore[override]
        """Return the paths of the objects; takes the arguments of :meth:`iterkeys`."""
        return list(self.iterkeys(**options))

    def values(self, **options: Any) -> list[Any]:  # type: ignore[override]
        """Return the objects; takes the arguments of :meth:`itervalues`."""
        return list(self.itervalues(**options))

    def items(self, **options: Any) -> list[tuple[str, Any]]:  # type: ignore[override]
        """Return (path, object) pairs; takes the arguments of :meth:`iteritems`."""
        return list(self.iteritems(**options))

    def classnames(self, **options: Any) -> dict[str, str]:
        """Return the C++ classes by path; takes the arguments of :meth:`iterclassnames`."""
        return dict(self.iterclassnames(**options))

    def __iter__(self) -> Iterator[str]:
        return self.iterkeys()

    def __len__(self) -> int:
        return sum(1 for _ in self._rows(True))

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__  # type: ignore[assignment]

    def _ipython_key_completions_(self) -> list[str]:
        """The names that IPython completes after ``file["``."""
        return self.keys(cycle=False)
