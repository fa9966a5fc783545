"""Trees as Arrow streams and lazy frames of polars."""

import os
import shutil
import time
import warnings

import numpy as np
import pytest

import sapwood

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")

ENTRIES = 4000


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two files with numbers, lists, text and booleans in clusters of 500."""
    import awkward as ak

    folder = tmp_path_factory.mktemp("tables")
    random = np.random.default_rng(7)
    made = []
    for number, name in enumerate("ab"):
        path = folder / f"{name}.root"
        with sapwood.recreate(path) as out:
            kinds = {"n": "i4", "x": "f8", "wide": ("f4", (2,)), "l": "vector<float>", "s": "string", "b": "bool"}
            tree = out.mktree("Events", kinds, auto_flush=500)
            counts = random.integers(0, 4, ENTRIES)
            tree.extend(
                {
                    "n": np.arange(ENTRIES, dtype="i4") + number * ENTRIES,
                    "x": random.normal(size=ENTRIES),
                    "wide": random.random((ENTRIES, 2), dtype="f4"),
                    "l": ak.unflatten(random.random(counts.sum(), dtype="f4"), counts),
                    "s": np.array([f"é{i % 10}" for i in range(ENTRIES)]),
                    "b": random.random(ENTRIES) > 0.5,
                }
            )
        made.append(f"{path}:Events")
    return made


def table_of(stream):
    return pa.RecordBatchReader.from_stream(stream).read_all()


def test_a_tree_is_a_stream(files):
    tree = sapwood.open(files[0])
    expected = tree.arrays(library="pa")
    assert table_of(tree).equals(expected)
    assert pa.table(tree).equals(expected)
    # a tree is a mapping, which polars takes for columns
    assert pl.DataFrame(tree.record_batches()).equals(pl.from_arrow(expected))
    batches = tree.record_batches(step_size=900)
    for _ in range(2):
        # each use reads again
        lengths = [batch.num_rows for batch in pa.RecordBatchReader.from_stream(batches)]
        assert lengths == [900] * 4 + [400]


@pytest.mark.parametrize(
    ("expressions", "cut", "options"),
    [
        (["n", "l"], None, {}),
        (["l", "n"], None, {"entry_start": 10, "entry_stop": -5}),
        (["x", "s"], "n > 3000", {}),
        (["n"], "n > 3000", {}),
        (["x*2", "n"], "x > 0", {}),
        (["y"], None, {"aliases": {"y": "x + n"}}),
        (["n"], None, {"entries": [5, 700, 3999]}),
        (["n"], "n < 0", {}),
        (None, None, {"filter_name": "[nl]"}),
        (["n"], None, {"entry_start": 7, "entry_stop": 7}),
    ],
)
def test_streams_have_what_arrays_has(files, expressions, cut, options):
    tree = sapwood.open(files[0])
    expected = tree.arrays(expressions, cut, library="pa", **options)
    got = table_of(tree.record_batches(expressions, cut, step_size=1000, **options))
    assert got.schema == expected.schema
    assert got.combine_chunks().equals(expected.combine_chunks())


def test_a_chain_is_a_stream(files):
    chain = sapwood.chain(files)
    expected = chain.arrays(["n", "s"], "n % 7 == 0", library="pa")
    assert table_of(chain.record_batches(["n", "s"], "n % 7 == 0", step_size=999)).equals(expected)
    assert table_of(chain).num_rows == 2 * ENTRIES
    assert table_of(chain.record_batches(["n"], "n < 0")).schema == chain.arrays(["n"], library="pa").schema
    with pytest.raises(sapwood.InvalidError, match="no option 'how'"):
        chain.record_batches(how="zip")


def test_duckdb_reads_streams(files):
    duckdb = pytest.importorskip("duckdb")
    events = sapwood.chain(files).record_batches(["n", "s", "x"], step_size=1000)  # noqa: F841
    query = "select s, count(*), max(n) from events where x > 0 group by s order by s"
    with duckdb.connect() as connection:
        got = connection.sql(query).fetchall()
        again = connection.sql(query).fetchall()
    whole = sapwood.concatenate(files, ["n", "s", "x"], library="pl").filter(pl.col("x") > 0)
    expected = whole.group_by("s").agg(pl.len(), pl.col("n").max()).sort("s").rows()
    assert got == again == expected


def test_pandas_with_arrow_types(files):
    pd = pytest.importorskip("pandas")
    tree = sapwood.open(files[0])
    frame = tree.arrays(["n", "l", "s", "b"], "x > 0", library="pd[pyarrow]")
    assert all(isinstance(kind, pd.ArrowDtype) for kind in frame.dtypes)
    expected = tree.arrays(["n", "l", "s", "b"], "x > 0", library="pa")
    assert pa.Table.from_pandas(frame, preserve_index=False).to_pylist() == expected.to_pylist()
    assert frame.index.to_list() == tree.arrays(["n"], "x > 0", library="pd").index.to_list()
    parts = list(sapwood.iterate(files, ["n", "s"], step_size=3000, library="pandas[pyarrow]"))
    assert parts[-1].index[0] == ENTRIES + 3000
    assert sapwood.concatenate(files, ["n", "l"], library="pd[pyarrow]")["l"].dtype == frame["l"].dtype


def test_wrong_requests_fail_at_once(files):
    tree = sapwood.open(files[0])
    with pytest.raises(sapwood.KeyInFileError):
        tree.record_batches(["nothing"])
    with pytest.raises(sapwood.InvalidError):
        tree.record_batches(step_size=0)


QUERIES = {
    "all": lambda f: f,
    "columns": lambda f: f.select("x", "n"),
    "filter": lambda f: f.filter(pl.col("n") % 1000 > 990),
    "filter, other columns": lambda f: f.filter(pl.col("n") % 1000 > 990).select("s", "l"),
    "filter on two": lambda f: f.filter((pl.col("x") > 1) & (pl.col("s") == "é3")).select("n"),
    "filter on its column": lambda f: f.filter(pl.col("n") > 3990).select("n"),
    "head": lambda f: f.head(1234).select("n", "b"),
    "head, then filter": lambda f: f.head(1234).filter(pl.col("x") > 0).select("n"),
    "filter, then head": lambda f: f.filter(pl.col("x") > 0).head(1234).select("n"),
    "slice": lambda f: f.slice(3900, 300).select("n", "l"),
    "sums": lambda f: f.group_by("s").agg(pl.col("x").sum(), pl.len()).sort("s"),
    "length": lambda f: f.select(pl.len()),
    "lists": lambda f: f.filter(pl.col("l").list.len() > 2).select("l"),
    "nothing": lambda f: f.filter(pl.col("n") < 0),
}


def same(got, expected):
    from polars.testing import assert_frame_equal

    # sums depend on the order
    assert_frame_equal(got, expected, rel_tol=1e-12)


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_lazy_frames_give_what_eager_ones_give(files, query, engine):
    tree = sapwood.open(files[0])
    expected = query(tree.arrays(library="pl").lazy()).collect()
    same(query(tree.scan_polars(step_size=700)).collect(engine=engine), expected)
    whole = sapwood.concatenate(files, library="pl")
    expected = query(whole.lazy()).collect()
    same(query(sapwood.scan_polars(files, step_size=700)).collect(engine=engine), expected)


def test_only_the_baskets_of_a_query_are_read(files):
    tree = sapwood.open(files[0])

    def payload(query):
        with sapwood.perf_stats() as stats:
            query.collect()
        return stats.packed_bytes

    frame = tree.scan_polars()
    few, all_of_it = payload(frame.select("n")), payload(frame)
    assert few < all_of_it / 5
    # the filter's column, and one basket of eight of the other
    lists = payload(frame.select("l"))
    assert payload(frame.filter(pl.col("n") < 100).select("l")) <= few + lists / 7
    with sapwood.perf_stats() as stats:
        frame.collect_schema()
    assert stats.packed_bytes == 0


def test_of_many_columns_only_the_baskets_of_those_that_are_used_are_read(tmp_path):
    """5 of 1100 columns, counted: their baskets, and no other."""
    path = tmp_path / "wide.root"
    names = [f"x{i}" for i in range(1100)]
    with sapwood.recreate(path) as out:
        tree = out.mktree("t", dict.fromkeys(names, "f4"), auto_flush=100)
        tree.extend({name: np.arange(300, dtype="f4") + i for i, name in enumerate(names)})
    chosen = ["x3", "x500", "x501", "x777", "x1099"]
    with sapwood.open(path) as file:
        baskets = sum(file["t"][name].num_baskets for name in chosen)
    with sapwood.perf_stats() as stats:
        made = sapwood.scan_polars(f"{path}:t").select(chosen).collect()
    assert made["x777"].to_list() == [i + 777 for i in range(300)]
    assert stats.baskets == baskets == 15
    assert sorted(b["name"].rpartition("/")[2] for b in stats.branches if b["baskets"]) == sorted(chosen)


def test_strings_that_are_not_utf8_are_refused(tmp_path):
    path = tmp_path / "raw.root"
    with sapwood.recreate(path) as out:
        out["t"] = {"n": np.arange(3), "s": np.array(["a", b"\xff".decode("utf-8", "surrogateescape"), "b"], object)}
    frame = sapwood.scan_polars(f"{path}:t")
    assert frame.select("n").collect()["n"].to_list() == [0, 1, 2]
    with pytest.raises(Exception, match="not UTF-8"):
        frame.collect()


def test_missing_branches_of_later_files_are_errors(files, tmp_path):
    other = tmp_path / "other.root"
    with sapwood.recreate(other) as out:
        out["Events"] = {"n": np.arange(3, dtype="i4")}
    frame = sapwood.scan_polars([files[0], f"{other}:Events"])
    assert frame.select("n").collect().height == ENTRIES + 3
    with pytest.raises(Exception, match=r"other\.root.*no branch 'x'"):
        frame.select("x").collect()
    lenient = sapwood.scan_polars([f"{tmp_path}/absent.root:Events", files[0]], skip_bad_files=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sapwood.SkippedFileWarning)
        assert lenient.select("n").collect().height == ENTRIES


def test_a_query_that_ends_early_closes_its_files(files, tmp_path):
    # other tests may have these open
    own = [shutil.copy(file.removesuffix(":Events"), tmp_path) for file in files]

    def held():
        return [n for n in os.listdir("/proc/self/fd") if os.path.realpath(f"/proc/self/fd/{n}") in own]

    frame = sapwood.scan_polars(own, step_size=100)
    assert frame.head(10).select("n").collect().height == 10
    # a file that was being opened ahead is closed as soon as it is open
    for _ in range(600):
        if not held():
            break
        time.sleep(0.1)
    assert not held()
