"""Optional values of ntuples in each library, beside uproot and awkward: None is null, masked or NaN."""

import numpy as np
import pytest

import sapwood

ak = pytest.importorskip("awkward")
pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

ENTRIES = 300
NESTED = ["lists", "of_lists", "deep", "words"]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """An ntuple with optional values of many types in clusters of different lengths."""
    random = np.random.default_rng(11)

    def some(values):
        return [value if random.random() < 0.6 else None for value in values]

    def lists(make):
        return [make(random.integers(0, 4)) for _ in range(ENTRIES)]

    data = {
        "x": some(random.normal(size=ENTRIES)),
        "f": some(random.normal(size=ENTRIES)),
        "i": some((2**60 + random.integers(0, 9, ENTRIES)).tolist()),
        "b": some((random.random(ENTRIES) > 0.5).tolist()),
        "s": some([f"é{i % 10}" * (i % 3) for i in range(ENTRIES)]),
        "lists": some(lists(lambda n: random.integers(0, 9, n).tolist())),
        "of_lists": lists(lambda n: some(random.normal(size=n))),
        "deep": some(lists(lambda n: some([[1, 2][:k] for k in range(n)]))),
        "pairs": some(random.normal(size=(ENTRIES, 2)).tolist()),
        "words": lists(lambda n: some([str(k) for k in range(n)])),
        "never": [None] * ENTRIES,
        "always": random.normal(size=ENTRIES).tolist(),
        "plain": list(range(ENTRIES)),
    }
    types = {
        "x": "?float64",
        "f": "?float32",
        "i": "?int64",
        "b": "?bool",
        "s": "?string",
        "lists": "option[var * int32]",
        "of_lists": "var * ?float64",
        "deep": "option[var * option[var * int64]]",
        "pairs": "option[2 * float64]",
        "words": "var * ?string",
        "never": "?int16",
        "always": "?float64",
        "plain": "int64",
    }
    made = tmp_path_factory.mktemp("optional") / "a.root"
    with sapwood.recreate(made) as out:
        tree = out.mkntuple("t", types)
        for start, stop in ((0, 90), (90, 91), (91, ENTRIES)):
            tree.extend({name: values[start:stop] for name, values in data.items()})
    return made, data


@pytest.fixture(scope="module")
def tree(path):
    return sapwood.open(path[0])["t"]


def plain(value):
    """Values as Python's: None for what is missing."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(v) for v in (value if isinstance(value, list) else value.tolist())]
    return None if value is pd.NA or value is np.ma.masked or (isinstance(value, float) and value != value) else value


def expected_of(tree):
    return tree.arrays(library="ak").to_list()


def test_awkward_is_the_measure(path, tree):
    _, data = path
    for name in data:
        made = tree[name].array().to_list()
        assert made == pytest.approx(data[name]) if name == "f" else made == data[name], name


def test_arrow_has_nulls_as_awkwards_own(tree):
    table = tree.arrays(library="pa")
    assert table.to_pylist() == expected_of(tree)
    for name in tree.keys():
        theirs = ak.to_arrow(tree[name].array(), extensionarray=False, list_to32=False)
        ours = table[name].combine_chunks()
        assert ours.null_count == theirs.null_count, name
        assert ours.to_pylist() == theirs.to_pylist(), name
        ours.validate(full=True)
    assert table.schema.field("x").type == pa.float64()
    assert table.schema.field("deep").type == pa.large_list(pa.large_list(pa.int64()))


@pytest.mark.parametrize("span", [(None, None), (85, 95), (3, 3), (91, None)])
def test_streams_and_arrays_agree(tree, span):
    options = {"entry_start": span[0], "entry_stop": span[1]}
    expected = tree.arrays(**options).to_list()
    streamed = pa.table(tree.record_batches(step_size=40, **options))
    converted = pa.table({name: tree[name].array(library="pa", **options) for name in tree.keys()})
    for table in (streamed, converted, tree.arrays(library="pa", **options)):
        table.validate(full=True)
        assert table.schema == streamed.schema
        assert table.to_pylist() == expected


def test_streams_to_duckdb(tree):
    duckdb = pytest.importorskip("duckdb")
    stream = pa.RecordBatchReader.from_stream(tree)
    missing, total = duckdb.from_arrow(stream).aggregate("count(*) - count(x), sum(plain)").fetchall()[0]
    assert missing == tree["x"].array().to_list().count(None) > 0
    assert total == sum(range(ENTRIES))


def test_polars(path, tree):
    expected = expected_of(tree)
    assert tree.arrays(library="pl").to_dicts() == expected
    lazy = tree.scan_polars()
    assert lazy.collect().to_dicts() == expected
    there = lazy.filter(pl.col("x").is_not_null()).select("plain", "s").collect()
    assert there.to_dicts() == [{"plain": e["plain"], "s": e["s"]} for e in expected if e["x"] is not None]
    assert list(lazy.collect_schema().values())[:5] == [pl.Float64, pl.Float32, pl.Int64, pl.Boolean, pl.String]


@pytest.mark.parametrize("library", ["pd", "pd[pyarrow]"])
def test_pandas(tree, library):
    frame = tree.arrays(library=library)
    for name in tree.keys():
        assert plain(frame[name].tolist()) == tree[name].array().to_list(), name
        assert frame[name].isna().sum() == tree[name].array().to_list().count(None), name
    numbers = {"pd": ["float64", "float32", "Int64", "boolean", "Int16", "float64"]}
    numbers["pd[pyarrow]"] = [f"{k}[pyarrow]" for k in ("double", "float", "int64", "bool", "int16", "double")]
    assert [str(frame[name].dtype) for name in ("x", "f", "i", "b", "never", "always")] == numbers[library]


@pytest.mark.parametrize("name", ["x", "f", "i", "b", "s", "never", "always", "pairs"])
def test_numpy_is_masked_as_with_uproot(path, tree, name):
    uproot = pytest.importorskip("uproot")
    theirs = uproot.open(path[0])["t"].arrays([name], library="np")[name]
    ours = tree[name].array(library="np")
    assert isinstance(ours, np.ma.MaskedArray)
    assert ours.tolist() == theirs.tolist()
    assert np.ma.getmaskarray(ours).tolist() == np.ma.getmaskarray(theirs).tolist()
    assert name == "s" or ours.dtype == theirs.dtype
    joined = sapwood.concatenate([f"{path[0]}:t", f"{path[0]}:t"], [name], library="np")[name]
    assert joined.tolist() == [*ours.tolist(), *ours.tolist()]


@pytest.mark.parametrize("name", NESTED)
def test_numpy_nested(tree, name):
    assert plain(tree[name].array(library="np")) == tree[name].array().to_list()


def test_records_and_variants(tmp_path):
    """Alternatives of a variant, and optional members of records, are nullable."""
    made = tmp_path / "b.root"
    with sapwood.recreate(made) as out:
        tree = out.mkntuple("t", {"v": "union[int64, string]", "r": "{a: ?int64, b: float64}"})
        tree.extend({"v": [1, "two", 3], "r": [{"a": None, "b": 1.0}, {"a": 2, "b": 2.0}, {"a": None, "b": 3.0}]})
    tree = sapwood.open(made)["t"]
    table = pa.table(tree.record_batches(["v"]))
    assert [list(row["v"].values()) for row in table.to_pylist()] == [[1, None], [None, "two"], [3, None]]
    assert tree["v"].array(library="pa").equals(table["v"].combine_chunks())
    assert [list(row) for row in tree["v"].array(library="np").tolist()] == [[1, None], [None, "two"], [3, None]]
    frame = tree.arrays(["v", "r.a"], library="pd")
    assert [plain(row) for row in frame.to_numpy()] == [[1, None, None], [None, "two", 2], [3, None, None]]
    assert sapwood.open(made)["t"]["r"].array(library="np").tolist() == [(None, 1.0), (2, 2.0), (None, 3.0)]


def test_expressions_and_entries(tree):
    expected = tree["x"].array().to_list()
    twice = [None if x is None else 2 * x for x in expected]
    for library in ("np", "pa", "pl", "pd[pyarrow]"):
        made = tree.arrays(["x * 2"], library=library)["x * 2"]
        assert plain(made.to_list() if library == "pl" else made.tolist() if library != "pa" else made.to_pylist()) == (
            twice
        )
    assert [entry.x for entry in tree.entries()] == expected
    assert tree.arrays(["x"], "plain > 200", library="pd")["x"].isna().sum() == expected[201:].count(None)
