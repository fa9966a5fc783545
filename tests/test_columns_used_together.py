"""Virtual arrays read the columns that were used together before in one scan."""

from __future__ import annotations

import awkward as ak
import numpy as np
import pytest

import sapwood


@pytest.fixture
def path(tmp_path):
    """A file of six columns, one of them of lists."""
    path = str(tmp_path / "columns.root")
    data = {f"x{n}": np.arange(100.0) + n for n in range(5)}
    with sapwood.recreate(path) as file:
        tree = file.mktree("t", {**dict.fromkeys(data, "float64"), "lists": "var * float64"})
        tree.extend({**data, "lists": ak.unflatten(np.arange(200.0), 2)})
    return path


@pytest.fixture
def scans(monkeypatch):
    """The numbers of branches of each scan of entries."""
    from sapwood.reading import arrays, touched

    monkeypatch.setattr(touched, "_history", touched._History())
    seen = []
    begin = arrays.Wanted.begin

    def noted(self, *args, **options):
        if self.last > self.first:
            seen.append(len(self.branches))
        return begin(self, *args, **options)

    monkeypatch.setattr(arrays.Wanted, "begin", noted)
    return seen


def test_columns_of_the_next_range_are_one_scan(path, scans):
    tree = sapwood.open(path)["t"]
    for start, expected in [(0, [1, 1, 1]), (50, [3])]:
        del scans[:]
        array = tree.arrays(virtual=True, entry_start=start, entry_stop=start + 50)
        assert array.x1.to_list() == [start + n + 1.0 for n in range(50)]
        assert array.x3.to_list() == [start + n + 3.0 for n in range(50)]
        assert array.lists[0].to_list() == [2.0 * start, 2.0 * start + 1]
        assert scans == expected


def test_a_column_no_longer_used_is_no_longer_read(path, scans):
    tree = sapwood.open(path)["t"]
    read = []
    for used in [("x0", "x1"), ("x0",), ("x0",), ("x0",), ("x0",)]:
        del scans[:]
        array = tree.arrays(virtual=True)
        for name in used:
            ak.materialize(array[name])
        read.append(list(scans))
    # half of the ranges so far, then fewer
    assert read == [[1, 1], [2], [2], [1], [1]]


def test_a_companion_that_cannot_be_read_does_not_fail_another_column(path, monkeypatch):
    from sapwood.reading.touched import TouchedColumns

    tree = sapwood.open(path)["t"]
    array = tree.arrays(virtual=True)
    for name in ("x0", "x1"):
        ak.materialize(array[name])
    scan = TouchedColumns._scan

    def damaged(self, branches):
        if any(b.name == "x1" for b in branches):
            raise sapwood.CorruptError("x1 is damaged")
        scan(self, branches)

    monkeypatch.setattr(TouchedColumns, "_scan", damaged)
    array = tree.arrays(virtual=True)
    assert array.x0.to_list() == list(np.arange(100.0))
    with pytest.raises(sapwood.CorruptError):
        ak.materialize(array.x1)
