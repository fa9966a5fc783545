"""The same columns as numpy, awkward, pandas and Arrow."""

import awkward as ak
import numpy as np
import pytest

import sapwood


@pytest.fixture
def tree(flat):
    return sapwood.open(flat)["t"]


@pytest.fixture
def reference(tree):
    return tree.arrays(["x", "n_f4", "vector3", "jagged"], library="ak")


def test_numpy(tree, reference):
    arrays = tree.arrays(["x", "n_f4", "vector3", "jagged"], library="np")
    assert isinstance(arrays, dict)
    assert arrays["x"].dtype == np.int64
    assert arrays["vector3"].shape == (1000, 3)
    assert arrays["jagged"].dtype == object
    assert [row.tolist() for row in arrays["jagged"]] == reference["jagged"].tolist()
    for name in ["x", "n_f4", "vector3"]:
        assert np.array_equal(arrays[name], ak.to_numpy(reference[name]))


def test_numpy_arrays_may_be_written_to(tree):
    array = tree["x"].array(library="np")
    array[0] = -1
    assert tree["x"].array(library="np")[0] == 0


def test_arrays_outlive_their_file(flat):
    with sapwood.open(flat) as file:
        array = file["t"]["n_f4"].array(library="ak")
    del file
    assert len(array) == 1000
    assert float(ak.sum(array)) == pytest.approx(float(np.sum(ak.to_numpy(array), dtype="f8")), rel=1e-3)


def test_pandas(tree, reference):
    pandas = pytest.importorskip("pandas")
    frame = tree.arrays(["x", "n_f4"], library="pd")
    assert isinstance(frame, pandas.DataFrame)
    assert sorted(frame.columns) == ["n_f4", "x"]
    assert frame["x"].tolist() == reference["x"].tolist()
    assert np.array_equal(frame["n_f4"].to_numpy(), ak.to_numpy(reference["n_f4"]))


def test_rows_of_pandas_are_numbered_as_entries(tree, flat):
    pytest.importorskip("pandas")
    span = {"entry_start": 5, "entry_stop": 8, "library": "pd"}
    assert tree.arrays(["x"], **span).index.tolist() == [5, 6, 7]
    assert tree["x"].array(**span).index.tolist() == [5, 6, 7]
    assert tree.arrays(["x"], how=dict, **span)["x"].index.tolist() == [5, 6, 7]
    steps = [len(f) and int(f.index[0]) for f in tree.iterate(["x"], step_size=300, library="pd")]
    assert steps == [0, 300, 600, 900]
    chained = [int(f.index[0]) for f in sapwood.iterate([f"{flat}:t"] * 2, ["x"], step_size=600, library="pd")]
    assert chained == [0, 600, 1000, 1600]
    cut = tree.arrays(["x"], cut="x > 0", library="pd", entry_start=100)
    assert np.array_equal(cut.index, 100 + np.flatnonzero(tree["x"].array(library="np")[100:] > 0))


def test_arrow(tree, reference):
    pyarrow = pytest.importorskip("pyarrow")
    table = tree.arrays(["x", "n_f4", "jagged"], library="pa")
    assert isinstance(table, pyarrow.Table)
    assert sorted(table.column_names) == ["jagged", "n_f4", "x"]
    assert table.num_rows == 1000
    for name in table.column_names:
        assert table.column(name).to_pylist() == reference[name].tolist()


def test_draw_gives_a_histogram_equal_to_numpys(tree, reference):
    pytest.importorskip("hist")
    drawn = tree.draw("n_f4", "x < 500", bins=(50, -2000, 2000))
    expected, _ = np.histogram(ak.to_numpy(reference["n_f4"])[:500], bins=50, range=(-2000, 2000))
    assert drawn.values().tolist() == expected.tolist()


def test_draw_of_jagged_columns(tree, reference):
    pytest.importorskip("hist")
    drawn = tree.draw("jagged", "jagged > 20", bins=(40, 0, 80))
    values = ak.to_numpy(ak.flatten(reference["jagged"])).astype("f8")
    expected, _ = np.histogram(values[values > 20], bins=40, range=(0, 80))
    assert drawn.values().tolist() == expected.tolist()


def test_unknown_library_is_named(tree):
    with pytest.raises(ValueError, match="fortran"):
        tree.arrays(["x"], library="fortran")
