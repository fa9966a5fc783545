"""Objects other than trees: text, histograms, graphs and entry lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..errors import InvalidError, UnsupportedError
from ..objects.entry_list import EntryList
from ..public import public
from .histograms import histogram_of
from .parts import NOT_SET, Part, attributes, counted, tnamed, tobject

if TYPE_CHECKING:
    from .. import WritableDirectory


#: Writes an object into a directory of a file, given by number; returns its cycle.
Write = Callable[[_core.Writer, int], int | None]


def write_object(directory: WritableDirectory, name: str, value: Any) -> bool:
    """Write text, a histogram, a graph or an entry list; return False for anything else."""
    write = _prepared(name, value)
    if write is None:
        return False
    place, _ = directory._place(name)
    cycle = write(directory._file._core, place)
    directory._file._written[f"{directory._join(name)};{cycle}"] = write
    return True


def _prepared(name: str, value: Any) -> Write | None:
    """What writes the object as it is now, also if it changes later; None if it is none that can be written."""
    last = name.rpartition("/")[2].partition(";")[0]
    if type(value).__module__.partition(".")[0] in ("ROOT", "cppyy"):
        value = _of_pyroot(name, value)
    if isinstance(value, EntryList):
        list_class, list_title = value.classname, value.title or ""
        given = [part.for_core() for part in value.parts]
        trees = [(tree, file, numbers.copy(), instances) for tree, file, numbers, instances in given]
        return lambda core, place: core.entry_list(place, list_class, last, list_title, trees)
    if isinstance(value, str):
        made = "TObjString", "Collectable string class", [("versioned", 1, [*tobject(), ("text", value)])]
    elif isinstance(value, Graph) or str(getattr(value, "classname", "")).startswith("TGraph"):
        if not isinstance(value, Graph):
            value = _graph_of_root(value)
        made = value._parts(last)
    else:
        try:
            histogram = histogram_of(value)
        except (InvalidError, UnsupportedError) as e:
            raise type(e)(f"{name}: {e}") from None
        if histogram is None:
            return None
        made = histogram.parts(last)
    # parts have bytes of their own
    kind, title, parts = made
    return lambda core, place: core.object(place, kind, last, title, parts)


def _of_pyroot(name: str, value: Any) -> Any:
    """An object of PyROOT, read from a file that ROOT writes."""
    import os
    import tempfile

    from ..errors import require
    from ..reading.file import open

    if not hasattr(value, "Write") or not hasattr(value, "ClassName"):
        raise UnsupportedError(f"{name}: PyROOT's {type(value).__name__} is not a ROOT object that can be written")
    root = require("ROOT", "an object of PyROOT")
    with tempfile.TemporaryDirectory(prefix="sapwood-") as folder:
        path = os.path.join(folder, "object.root")
        current = root.gDirectory.func() if hasattr(root.gDirectory, "func") else None
        file = root.TFile(path, "recreate")
        file.WriteTObject(value, "object")
        file.Close()
        if current:
            current.cd()
        with open(path) as written:
            return written["object"]


def _graph_of_root(graph: Any) -> Graph:
    """A graph that was read from a file, by Sapwood or by uproot."""

    def errors(axis: str) -> Any:
        if graph.classname == "TGraphErrors":
            return graph.member(f"fE{axis}")
        if graph.classname == "TGraphAsymmErrors":
            return graph.member(f"fE{axis}low"), graph.member(f"fE{axis}high")
        return None

    if graph.classname not in ("TGraph", "TGraphErrors", "TGraphAsymmErrors"):
        raise UnsupportedError(f"graphs of class {graph.classname} cannot be written")
    title = graph.member("fTitle")
    return Graph(graph.member("fX"), graph.member("fY"), x_errors=errors("X"), y_errors=errors("Y"), title=title)


def _floats(values: Any, what: str) -> np.ndarray:
    try:
        return np.asarray(values, float)
    except (TypeError, ValueError):
        raise InvalidError(f"{what} of a graph must be an array of numbers, not {values!r}") from None


@public
class Graph:
    """Points with or without errors, written as TGraph, TGraphErrors or TGraphAsymmErrors.

    Args:
        x: x values.
        y: y values.
        x_errors: errors of x; None, one array, or (below, above).
        y_errors: errors of y; None, one array, or (below, above).
        title: as in ROOT, with axis titles after semicolons.
    """

    def __init__(self, x: Any, y: Any, *, x_errors: Any = None, y_errors: Any = None, title: str = "") -> None:
        self.x, self.y = _floats(x, "x"), _floats(y, "y")
        self.title = title
        if self.x.ndim != 1 or self.x.shape != self.y.shape:
            raise InvalidError(f"x and y of a graph must have the same length, not {self.x.shape} and {self.y.shape}")
        self.x_errors = self._errors(x_errors)
        self.y_errors = self._errors(y_errors)

    def _errors(self, given: Any) -> np.ndarray | tuple[np.ndarray, np.ndarray] | None:
        if given is None:
            return None
        errors = tuple(_floats(e, "errors") for e in given) if isinstance(given, tuple) else (_floats(given, "errors"),)
        if len(errors) > 2 or any(e.shape != self.x.shape for e in errors):
            raise InvalidError("errors must be an array or a tuple (below, above), with one value per point")
        return errors if len(errors) == 2 else errors[0]  # type: ignore[return-value]

    def _attributes(self) -> list[Part]:
        """Line, fill and marker."""
        return attributes()

    def _limits(self) -> tuple[float, float]:
        """The range of y to show."""
        return NOT_SET, NOT_SET

    def _parts(self, name: str) -> tuple[str, str, list[Part]]:
        least, most = self._limits()
        members = [tnamed(name, self.title), *self._attributes(), ("i4", len(self.x)), counted(self.x), counted(self.y)]
        members += [("i4", 0), ("i4", 0), ("f8", least), ("f8", most), ("text", "")]
        graph = ("versioned", 5, members)
        none = np.zeros(len(self.x))
        both: list[Any] = [none if e is None else e for e in (self.x_errors, self.y_errors)]
        if any(isinstance(e, tuple) for e in both):
            tables = [counted(e[i] if isinstance(e, tuple) else e) for e in both for i in (0, 1)]
            return "TGraphAsymmErrors", self.title, [("versioned", 3, [graph, *tables])]
        if self.x_errors is None and self.y_errors is None:
            return "TGraph", self.title, [graph]
        return "TGraphErrors", self.title, [("versioned", 3, [graph, *(counted(e) for e in both)])]
