"""What scripts of uproot rely on without a thought, done with both libraries."""

import dask
import hist
import numpy as np
import pandas as pd
import pytest
import uproot

import sapwood
import sapwood.uproot

BOTH = pytest.mark.parametrize("lib", [uproot, sapwood.uproot])


@pytest.fixture
def two(tmp_path):
    """Two files with trees of 11 and 12 entries."""
    paths = [tmp_path / f"{n}.root" for n in (11, 12)]
    for path, n in zip(paths, (11, 12), strict=True):
        with uproot.recreate(path) as file:
            file.mktree("t", {"x": np.arange(float(n))})
    return [f"{path}:t" for path in paths]


@pytest.mark.parametrize("given", [np.float64(1.0), None, "f", np.int64(3)])
def test_columns_beside_what_is_none_are_not_lost(tmp_path, given):
    with sapwood.uproot.recreate(tmp_path / "a.root") as file:
        with pytest.raises(sapwood.InvalidError, match="'x' is a column of values, but 'y' is"):
            file.mktree("t", {"x": np.arange(3), "y": given})
        with pytest.raises(sapwood.InvalidError, match="'x' is a column"):
            file.mkrntuple("t", {"x": np.arange(3), "y": given})
        assert file.keys() == []
    with sapwood.recreate(tmp_path / "b.root") as file:
        for value in (None, np.float64(1.0)):
            with pytest.raises(sapwood.UnsupportedError, match="is not a type"):
                file.mktree("t", {"x": value})


@BOTH
def test_older_cycles_are_read_back_as_they_are(tmp_path, lib):
    path = tmp_path / "a.root"
    with lib.recreate(path) as file:
        for n in (1, 2):
            file["h"] = np.histogram(np.arange(n), 2)
            file["d/s"] = f"text {n}"
        assert [file[f"h;{n}"].values().sum() for n in (1, 2)] == [1, 2]
        assert [str(file[f"d/s;{n}"]) for n in (1, 2)] == ["text 1", "text 2"]
        assert sorted(v.values().sum() for k, v in file.items() if k.startswith("h")) == [1, 2]
    with lib.update(path) as file:
        file["h"] = np.histogram(np.arange(3), 2)
        assert [file[f"h;{n}"].values().sum() for n in (1, 2, 3)] == [1, 2, 3]
        assert file["h"].values().sum() == 3


def test_objects_are_read_back_as_they_were_written(tmp_path):
    changing = hist.Hist.new.Reg(2, 0, 2).Double()
    with sapwood.recreate(tmp_path / "a.root") as file:
        for x in (0.5, 1.5, 1.5):
            changing.fill([x])
            file["d/h"] = changing
        changing.fill([0.5])
        found = [file[f"d/h;{n}"] for n in (1, 2, 3)]
        assert [h.values().tolist() for h in found] == [[1, 0], [1, 1], [1, 2]]
        assert file["d/h"].member("fName") == "h"
        file["a b"] = "text; with: marks"
        assert str(file["a b"]) == "text; with: marks"
    with sapwood.open(tmp_path / "a.root") as file:
        assert [file[f"d/h;{n}"].values().tolist() for n in (1, 2, 3)] == [[1, 0], [1, 1], [1, 2]]


@BOTH
def test_deleting_a_name_deletes_the_newest(tmp_path, lib):
    with lib.recreate(tmp_path / "a.root") as file:
        file["s"] = "a"
        file["s"] = "b"
        del file["s"]
    with uproot.open(tmp_path / "a.root") as file:
        assert file.keys() == ["s;1"] and str(file["s"]) == "a"


@BOTH
def test_float_and_int_have_64_bits(tmp_path, lib):
    with lib.recreate(tmp_path / "a.root") as file:
        file.mktree("t", {"x": "float", "i": "int"}).extend({"x": np.array([1.1, 1e-50]), "i": np.array([1 << 40, 2])})
    with uproot.open(f"{tmp_path}/a.root:t") as tree:
        assert tree["x"].array(library="np").tolist() == [1.1, 1e-50]
        assert tree["i"].array(library="np").tolist() == [1 << 40, 2]


@BOTH
def test_reports_of_several_files_count_through(two, lib):
    found = [report for _, report in lib.iterate(two, ["x"], step_size=6, report=True)]
    assert [(r.start, r.stop) for r in found] == [(0, 6), (6, 11), (11, 17), (17, 23)]
    assert [(r.tree_entry_start, r.tree_entry_stop) for r in found] == [(0, 6), (6, 11), (0, 6), (6, 12)]
    assert [r.global_offset for r in found] == [0, 0, 11, 11]
    last = found[-1]
    assert last.source is last.tree and last.file_path == two[1].removesuffix(":t")
    assert last.to_global(100).start == 106


@BOTH
def test_a_branch_counts_more_than_an_alias_of_its_name(two, lib):
    with lib.open(two[0]) as tree:
        with pytest.warns(Warning, match="'x' is both an alias and a branch"):
            x = tree.arrays(["x"], aliases={"x": "x + 100"}).x
        assert x.tolist() == list(range(11))
        with pytest.warns(Warning, match="'x' is both an alias and a branch"):
            y = tree.arrays(["y"], "x > 8", aliases={"x": "x + 100", "y": "2 * x"}).y
        assert y.tolist() == [18, 20]
        with pytest.warns(Warning, match="'x' is both an alias and a branch"):
            step = next(tree.iterate(["x"], aliases={"x": "x + 100"}))
        assert step.x.tolist() == list(range(11))


@BOTH
def test_an_index_that_is_no_count_is_a_branch(tmp_path, lib):
    with lib.recreate(tmp_path / "a.root") as file:
        file["t"] = pd.DataFrame({"x": [1, 2, 3]}).query("x > 1")
    with lib.open(tmp_path / "a.root") as file:
        assert file["t"].arrays()["index"].tolist() == [1, 2]


@BOTH
def test_categories_of_numbers_keep_their_labels(tmp_path, lib):
    with lib.recreate(tmp_path / "a.root") as file:
        file["c"] = hist.Hist.new.IntCat([1, 5]).Double().fill([1, 5, 5])
        file["i"] = hist.Hist.new.Integer(0, 3).Double().fill([1, 2, 2])
    with uproot.open(tmp_path / "a.root") as file:
        assert file["c"].axis().labels() == ["1", "5"] and file["c"].values().tolist() == [1, 2]
        assert file["i"].axis().labels() is None and file["i"].axis().edges().tolist() == [0, 1, 2, 3]


@BOTH
def test_a_file_is_a_directory(two, lib):
    with lib.open(two[0].removesuffix(":t")) as file:
        assert isinstance(file, lib.ReadOnlyDirectory)


@BOTH
@pytest.mark.parametrize("rename", [{"h": "g"}, "/h/g/", lambda name: name.replace("h", "g"), ["/x/y/", "/h/g/"]])
def test_names_of_copies(tmp_path, lib, rename):
    with lib.recreate(tmp_path / "a.root") as file:
        file["h"] = np.histogram([1.0], 2)
    with lib.open(tmp_path / "a.root") as source, lib.recreate(tmp_path / "b.root") as file:
        file.copy_from(source, rename=rename)
    with uproot.open(tmp_path / "b.root") as file:
        assert "g;1" in file.keys() and "h;1" not in file.keys()


def test_damaged_files_are_empty_partitions_where_asked_for(tmp_path, two):
    damaged, empty = tmp_path / "damaged.root", tmp_path / "empty.root"
    damaged.write_bytes((tmp_path / "11.root").read_bytes()[:200])
    empty.write_bytes(b"")
    files = [two[0], f"{damaged}:t", f"{empty}:t"]
    array, report = sapwood.uproot.dask(files, open_files=False, allow_read_errors_with_report=True)
    x, report = dask.compute(array.x, report)
    assert x.tolist() == list(range(11))
    assert report.exception.tolist() == [None, "OSError", "OSError"]


def test_an_open_tree_makes_a_collection(two):
    assert sapwood.uproot.dask(sapwood.uproot.open(two[0])).x.compute().tolist() == list(range(11))
    assert sapwood.dask([sapwood.open(two[0])]).x.compute().tolist() == list(range(11))


@pytest.mark.parametrize("lib", [uproot, sapwood.uproot])
def test_steps_of_a_tree_whose_baskets_are_in_its_header(public, lib):
    ROOT = pytest.importorskip("ROOT")
    path = str(public / "in-its-header.root")
    file = ROOT.TFile(path, "recreate")
    tree, x = ROOT.TTree("t", ""), np.zeros(1)
    tree.Branch("x", x, "x/D")
    for i in range(200):
        x[0] = i
        tree.Fill()
    # without FlushBaskets, as a streamed object
    file.WriteObject(tree, "t")
    file.Close()
    with lib.open(f"{path}:t") as read:
        assert [len(part) for part in read.iterate()] == [200]
        assert [len(part) for part in read.iterate(step_size="1 GB", entry_stop=150)] == [150]
        assert lib is uproot or read.num_entries_for("800 B") in range(50, 101)
