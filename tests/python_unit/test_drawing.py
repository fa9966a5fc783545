"""Histograms that the core fills."""

import json
import sys

import numpy as np
import pytest

import sapwood


def test_counts_and_weights(codecs):
    pytest.importorskip("hist")
    n = codecs["n"].array(library="np")
    drawn = codecs.draw("n", "n > 3", bins=(5, 0, 10))
    assert drawn.values(flow=True).tolist() == [0, *np.histogram(n[n > 3], 5, (0, 10))[0], 0]
    weighted = codecs.draw("n", "n * 0.5", bins=(5, 0, 5))
    expected, _ = np.histogram(n, [0, 1, 2, 3, 4, 5 - 1e-9], weights=n * 0.5)
    assert weighted.values().tolist() == expected.tolist()
    squares, _ = np.histogram(n, [0, 1, 2, 3, 4, 5 - 1e-9], weights=(n * 0.5) ** 2)
    assert weighted.variances().tolist() == squares.tolist()
    assert drawn.axes[0].label == "n"


def test_binning_in_the_expression_and_found_from_the_values(codecs):
    given = codecs.draw("n>>h(5,0,10)")
    assert given.axes[0].edges.tolist() == [0, 2, 4, 6, 8, 10]
    found = codecs.draw("n")
    assert found.values().sum() == 60


def test_lists_entries_and_ranges(codecs):
    zstd = codecs["zstd"].array(library="np")
    values = np.concatenate(list(zstd[10:50]))
    values = values[values < 100]  # numpy's last bin holds its upper edge, ROOT's does not
    drawn = codecs.draw("zstd", bins=(10, 0, 100), entry_start=10, entry_stop=-10)
    assert drawn.values().tolist() == np.histogram(values, 10, (0, 100))[0].tolist()
    assert codecs.draw("Entry$", bins=(6, 0, 60)).values().tolist() == [10] * 6


def test_members_of_records(leaves, collections):
    y = leaves["point"].array(library="np")["y"]
    assert leaves.draw("point.y", bins=(40, -20, 20)).values().sum() == ((y >= -20) & (y < 20)).sum()
    cells = collections["cells"].array(library="np")
    rows = np.concatenate([c["row"] for c in cells])
    drawn = collections.draw("cells.row", bins=(12, 0, 12))
    assert drawn.values().tolist() == np.histogram(rows, 12, (0, 12))[0].tolist()


def test_two_dimensions(leaves):
    a = leaves.arrays(["n", "u16"], library="np")
    top = int(a["u16"].max()) + 1
    drawn = leaves.draw("u16:n", bins=[(5, 0, 5), (4, 0, top)])
    inside = a["n"] < 5
    expected = np.histogram2d(a["n"][inside], a["u16"][inside], [5, 4], [[0, 5], [0, top]])[0]
    assert drawn.values().tolist() == expected.tolist()
    assert [axis.label for axis in drawn.axes] == ["n", "u16"]
    found = leaves.draw("u16:n")
    assert found.values().sum() == len(a["n"])
    assert [len(axis) for axis in leaves.draw("u16:n", bins=(3, (4, 0, top))).axes] == [3, 4]


@pytest.mark.parametrize(
    "bins", [0, (3, 1), (0, 0, 1), (-3, 0, 1), (3, 1, 0), (3, 0, float("nan")), "abc", (1.5, 0, 1)]
)
def test_bins_that_make_no_sense(codecs, bins):
    with pytest.raises(ValueError, match=r"bins|range"):
        codecs.draw("n", bins=bins)


def test_errors_show_the_place(codecs):
    with pytest.raises(ValueError, match=r"\^"):
        codecs.draw("sqrt(n")
    with pytest.raises(KeyError, match="lzm4"):
        codecs.draw("lzm4")


def test_without_hist_there_is_the_protocol(codecs, monkeypatch):
    with_hist = None
    if "hist" in sys.modules or _installed("hist"):
        with_hist = codecs.draw("n", "n > 1", bins=(5, 0, 5))
    monkeypatch.setitem(sys.modules, "hist", None)
    drawn = codecs.draw("n", "n > 1", bins=(5, 0, 5))
    assert isinstance(drawn, sapwood.Histogram)
    assert drawn.kind == "COUNT"
    axis = drawn.axes[0]
    assert (len(axis), axis[0], axis[-1], list(axis)[1]) == (5, (0, 1), (4, 5), (1, 2))
    assert not axis.traits.circular
    assert not axis.traits.discrete
    assert drawn.values().shape == (5,)
    assert drawn.values(flow=True).shape == (7,)
    assert drawn.entries == sum(i % 10 > 1 for i in range(60))
    values, edges = drawn.to_numpy()
    assert edges.tolist() == [0, 1, 2, 3, 4, 5]
    assert "5 bins" in repr(drawn)
    if with_hist is not None:
        assert values.tolist() == with_hist.values().tolist()
        assert drawn.variances(flow=True).tolist() == with_hist.variances(flow=True).tolist()


def _installed(name):
    import importlib.util

    return importlib.util.find_spec(name) is not None


def test_values_are_roots(data, collections):
    expected = json.loads((data / "collections.root.json").read_text())["branches"]["vf"]
    flat = [x for row in expected for x in row]
    assert collections.draw("vf", bins=(10, 0, 20)).values().tolist() == np.histogram(flat, 10, (0, 20))[0].tolist()
