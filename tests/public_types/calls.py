"""What mypy must make of calls to Sapwood: checked by tests/python_unit/test_public_types.py, never run.

The libraries are those of stubs/, so that their classes are known whether or not they come with types.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
import pyarrow as pa
from typing_extensions import assert_type

import sapwood

Table = dict[str, npt.NDArray[Any]]


def files() -> None:
    assert_type(sapwood.open(Path("f.root")), sapwood.ReadOnlyFile)
    assert_type(sapwood.open(b"f.root", cache_size="10 MB"), sapwood.ReadOnlyFile)
    assert_type(sapwood.open({"f.root": None}, timeout=None), sapwood.ReadOnlyFile)
    assert_type(sapwood.open({"f.root": "t"}), Any)
    assert_type(sapwood.open("f.root:t", recover=True), Any)


def arrays(t: sapwood.Tree, library: str) -> None:
    assert_type(t.arrays(), ak.Array)
    assert_type(t.arrays(["x"], "x > 1", library="ak", entry_stop=3), ak.Array)
    assert_type(t.arrays("x", library="awkward"), ak.Array)
    assert_type(t.arrays(library="np", filter_name="x*"), Table)
    assert_type(t.arrays(library="numpy", how=None), Table)
    assert_type(t.arrays(library="pd", aliases={"a": "x"}), pd.DataFrame)
    assert_type(t.arrays(library="pa", entries=np.arange(3)), pa.Table)
    assert_type(t.arrays(library="pl", progress=True), pl.DataFrame)
    assert_type(t.arrays(how="tuple"), tuple[Any, ...])
    assert_type(t.arrays(library="np", how=tuple), tuple[Any, ...])
    assert_type(t.arrays(library="pd", how=list), list[Any])
    assert_type(t.arrays(library="pa", how="dict"), dict[str, Any])
    assert_type(t.arrays(how="zip"), ak.Array)
    assert_type(t.arrays(library=library), Any)


def array(b: sapwood.Branch, leaf: sapwood.Leaf, library: str) -> None:
    assert_type(b.array(), ak.Array)
    assert_type(b.array(None, 0, 10, library="np"), npt.NDArray[Any])
    assert_type(b.array(library="pd", entry_stop=3), pd.Series | pd.DataFrame)
    assert_type(b.array(library="arrow"), pa.Array)
    assert_type(b.array(library="polars"), pl.Series)
    assert_type(leaf.array(library="np", entries=[1, 2]), npt.NDArray[Any])
    assert_type(b.array(library=library), Any)
    assert_type(b.arrays(library="np"), Table)


def iterate(t: sapwood.Tree, library: str, report: bool) -> None:
    assert_type(t.iterate(step_size="10 MB"), Iterator[ak.Array])
    assert_type(t.iterate(["x"], library="np", report=False), Iterator[Table])
    assert_type(t.iterate(library="pd"), Iterator[pd.DataFrame])
    assert_type(t.iterate(library="pa"), Iterator[pa.Table])
    assert_type(t.iterate(library="pl"), Iterator[pl.DataFrame])
    assert_type(t.iterate(report=True), Iterator[tuple[ak.Array, sapwood.Report]])
    assert_type(t.iterate(library="np", report=True), Iterator[tuple[Table, sapwood.Report]])
    assert_type(t.iterate(library=library, report=report), Iterator[Any])


def several() -> None:
    assert_type(sapwood.iterate("*.root:t"), Iterator[ak.Array])
    assert_type(sapwood.iterate(["a.root", "b.root"], library="np", skip_bad_files=True), Iterator[Table])
    assert_type(sapwood.iterate({"a.root": "t"}, report=True), Iterator[tuple[ak.Array, sapwood.Report]])
    assert_type(sapwood.iterate("a.root", library="pl", report=True), Iterator[tuple[pl.DataFrame, sapwood.Report]])
    assert_type(sapwood.concatenate("*.root:t", "x"), ak.Array)
    assert_type(sapwood.concatenate("*.root:t", library="np", casting="unsafe"), Table)
    assert_type(sapwood.concatenate("*.root:t", library="pd"), pd.DataFrame)


def chain(c: sapwood.Chain) -> None:
    assert_type(c.arrays("x"), ak.Array)
    assert_type(c.arrays("x", library="pa"), pa.Table)
    assert_type(c.iterate("x", library="np", step_size=100), Iterator[Table])
    assert_type(c.iterate("x", library="pd", report=True), Iterator[tuple[pd.DataFrame, sapwood.Report]])
    assert_type(c.draw("x"), Any)


def draw(t: sapwood.Tree) -> None:
    assert_type(t.draw("x", "y > 1", bins=(10, 0, 1)), Any)


def write() -> None:
    assert_type(sapwood.recreate("f.root"), sapwood.WritableFile)
    assert_type(sapwood.recreate("f.root").mktree("t", {"x": "f8"}), sapwood.WritableTree)


def refused(t: sapwood.Tree) -> None:
    """Each of these is an error: the comment would be unused if it were not."""
    t.arrays(library=3)  # type: ignore[call-overload]
    t.arrays(librery="np")  # type: ignore[call-overload]
    t.iterate(step=3)  # type: ignore[call-overload]
    sapwood.open("f.root", cash_size=3)  # type: ignore[call-overload]
    sapwood.concatenate("f.root:t", report=True)  # type: ignore[call-overload]
