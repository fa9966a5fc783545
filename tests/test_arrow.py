"""Scans as streams of Arrow's PyCapsule interface."""

import gc
from itertools import pairwise

import numpy as np
import pytest

import sapwood

pa = pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("arrow") / "a.root"
    n = 5000
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 4, n)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    jagged = np.array([np.arange(a, b, dtype="f4") for a, b in pairwise(offsets)], dtype=object)
    kinds = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "bool"]
    branches = {kind: kind for kind in kinds} | {"fixed": ("f4", (3,)), "jagged": "vector<float>", "text": "string"}
    data = {kind: rng.integers(0, 100, n).astype(kind) for kind in kinds}
    data |= {"fixed": rng.random((n, 3), dtype="f4"), "jagged": jagged, "text": np.array([f"é{i}" for i in range(n)])}
    with sapwood.recreate(path) as out:
        tree = out.mktree("t", branches, auto_flush=1000)
        tree.extend(data)
    return path


def scan(tree, *names, cut=None, size=1000):
    core = tree._core
    branches = [core.find(name) for name in names or tree.keys()]
    return core.scan(branches, 0, tree.num_entries, "entries", size, cut=cut)


def same(table, tree):
    expected = tree.arrays(library="pa")
    assert table.schema == expected.schema
    assert table.combine_chunks().equals(expected.combine_chunks())
    table.validate(full=True)


def test_pyarrow_reads_what_arrays_gives(path):
    tree = sapwood.open(path)["t"]
    reader = pa.RecordBatchReader.from_stream(scan(tree))
    batches = list(reader)
    assert [b.num_rows for b in batches] == [1000] * 5
    table = pa.Table.from_batches(batches)
    same(table, tree)
    for name, values in tree.arrays(["i4", "f8", "bool"], library="np").items():
        assert np.array_equal(table[name].to_numpy(), values)
    # batches outlive reader, scan and file
    del reader, tree
    gc.collect()
    assert table["text"][4999].as_py() == "é4999"


def test_polars_reads_it(path):
    pl = pytest.importorskip("polars")
    tree = sapwood.open(path)["t"]
    frame = pl.DataFrame(scan(tree, "i4", "jagged", "text", "bool"))
    for name in ("i4", "bool"):
        assert np.array_equal(frame[name].to_numpy(), tree.arrays([name], library="np")[name])
    assert frame["jagged"].to_list() == tree.arrays(["jagged"], library="pa")["jagged"].to_pylist()


def test_a_stream_that_nobody_reads_is_freed(path):
    tree = sapwood.open(path)["t"]
    for _ in range(20):
        capsule = scan(tree).__arrow_c_stream__()
        del capsule
    reader = pa.RecordBatchReader.from_stream(scan(tree))
    reader.read_next_batch()
    reader.close()


def test_a_scan_is_over_once_it_is_a_stream(path):
    tree = sapwood.open(path)["t"]
    core = scan(tree)
    next(core)
    assert pa.RecordBatchReader.from_stream(core).read_all().num_rows == 4000
    assert list(core) == []
    with pytest.raises(sapwood.InvalidError, match="needs a new one"):
        core.__arrow_c_stream__()


def test_an_empty_tree_has_its_schema(tmp_path):
    with sapwood.recreate(tmp_path / "e.root") as out:
        out.mktree("t", {"x": "f8", "s": "string"})
    tree = sapwood.open(tmp_path / "e.root")["t"]
    table = pa.RecordBatchReader.from_stream(scan(tree)).read_all()
    assert table.schema == pa.schema([("x", pa.float64()), ("s", pa.large_string())])
    assert table.num_rows == 0


def test_a_cut_in_python_runs_while_arrow_reads(path):
    tree = sapwood.open(path)["t"]
    i4 = tree._core.find("i4")

    def passes(start, stop, selected, columns):
        return np.asarray(columns[0][1]) > 50

    table = pa.RecordBatchReader.from_stream(scan(tree, "i4", "f8", cut=([i4], passes))).read_all()
    values = tree.arrays(["i4", "f8"], library="np")
    assert np.array_equal(table["f8"].to_numpy(), values["f8"][values["i4"] > 50])


def test_an_error_in_the_middle_is_raised(path, tmp_path):
    data = bytearray(path.read_bytes())
    seeks = sapwood.open(path)["t"]._core.branch(sapwood.open(path)["t"]._core.find("f8"))["basket_seek"]
    data[seeks[-1] + 200 : seeks[-1] + 400] = bytes(200)
    broken = tmp_path / "broken.root"
    broken.write_bytes(data)
    tree = sapwood.open(broken)["t"]
    reader = pa.RecordBatchReader.from_stream(scan(tree, "f8"))
    with pytest.raises(OSError, match=r"broken\.root.*f8"):
        reader.read_all()


def test_tables_of_whole_branches_are_streamed_from_the_core(path, monkeypatch):
    """No column is converted in Python, and the table is the one that conversion makes."""
    from sapwood.columns.libraries import Arrow

    tree = sapwood.open(path)["t"]
    names = tree.keys()
    everything = np.arange(tree.num_entries)
    converted = tree.arrays(names, library="pa", entries=everything)
    with monkeypatch.context() as patch:
        patch.setattr(Arrow, "_arrow", lambda *_: pytest.fail("a column was converted"))
        streamed = tree.arrays(names, library="pa")
        assert streamed.schema == converted.schema and streamed.equals(converted)
        part = tree.arrays(names, library="pa", entry_start=900, entry_stop=2100)
        assert part.equals(converted.slice(900, 1200))
        pl = pytest.importorskip("polars")
        assert tree.arrays(names, library="pl").equals(pl.from_arrow(converted))
    assert converted.schema.field("text").type == pa.large_string()


@pytest.mark.parametrize("last", ["z", "\udcff"])
def test_the_type_of_streamed_text_depends_on_all_of_it(tmp_path, last):
    texts = [f"é{i}" for i in range(3000)] + [last]
    with sapwood.recreate(tmp_path / "s.root") as f:
        f.mktree("t", {"s": "string"}, auto_flush=500).extend({"s": texts})
    tree = sapwood.open(tmp_path / "s.root")["t"]
    streamed, converted = tree.arrays(library="pa"), tree.arrays(library="pa", entries=np.arange(3001))
    kind = pa.large_string() if last == "z" else pa.large_binary()
    assert streamed.schema == converted.schema == pa.schema({"s": kind})
    assert streamed.equals(converted)
    assert streamed["s"][3000].as_py() in ("z", b"\xff")
    assert tree.arrays(library="pa", entry_stop=3000).schema.field("s").type == pa.large_string()


def test_streamed_tables_report_progress(path):
    seen = []
    tree = sapwood.open(path)["t"]
    tree.arrays(["i4", "f8"], library="pa", progress=lambda *done: seen.append(done))
    assert seen and seen[-1][:2] == (tree.num_entries, tree.num_entries)
