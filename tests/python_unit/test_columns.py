"""Columns in every library, and the owner of their memory."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sapwood

LIBRARIES = {"ak": "awkward", "np": "numpy", "pd": "pandas", "pa": "pyarrow", "pl": "polars"}
FILES = {"leaves": "deep/er/Events", "collections": "t"}


def plain(value):
    """Lists, numbers and text all the way down; records as dicts."""
    if isinstance(value, np.void):
        return {name: plain(value[name]) for name in value.dtype.names}
    if isinstance(value, np.ndarray) or type(value).__name__ in ("Array", "Series"):
        return [plain(v) for v in (value.to_list() if hasattr(value, "to_list") else value)]
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, tuple):
        # a key and its value, as awkward has them
        return dict(zip(("key", "value"), map(plain, value), strict=True))
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value.item() if isinstance(value, np.generic) else value


def as_root(value):
    """As plain(), numbers rounded to what single precision and ROOT's decimals agree on."""
    if isinstance(value, list):
        return [as_root(v) for v in value]
    if isinstance(value, dict):
        return {k: as_root(v) for k, v in value.items()}
    return pytest.approx(value, rel=1e-6) if isinstance(value, float) else value


@pytest.fixture(params=FILES)
def tree(request, data):
    return sapwood.open({data / f"{request.param}.root": FILES[request.param]})


@pytest.fixture
def expected(tree):
    values = json.loads(Path(tree.file_path + ".json").read_text(encoding="utf-8"))["branches"]
    return {name: values[name] for name in tree.keys() if name in values}


@pytest.mark.parametrize("library", LIBRARIES)
def test_single_columns_are_roots_values(tree, expected, library):
    pytest.importorskip(LIBRARIES[library])
    assert len(expected) >= 7
    for name, values in expected.items():
        if library == "pd" and tree[name].column_type.startswith("{"):
            continue  # becomes several columns
        given = tree[name].array(library=library)
        rows = given.to_pylist() if library == "pa" else list(given)
        rows = given.to_list() if library in ("ak", "pl") else rows
        rows = plain(rows)
        assert rows == as_root(values), name


@pytest.mark.parametrize("library", LIBRARIES)
def test_tables_have_every_column(tree, library):
    module = pytest.importorskip(LIBRARIES[library])
    table = tree.arrays(library=library)
    kind = {
        "ak": lambda: module.Array,
        "np": lambda: dict,
        "pd": lambda: module.DataFrame,
        "pa": lambda: module.Table,
        "pl": lambda: module.DataFrame,
    }[library]()
    assert isinstance(table, kind)
    names = {
        "ak": lambda: table.fields,
        "np": lambda: list(table),
        "pd": lambda: list(dict.fromkeys(c.split(".")[0] for c in table.columns)),
        "pa": lambda: table.column_names,
        "pl": lambda: table.columns,
    }[library]()
    assert names == tree.keys()
    assert (len(next(iter(table.values()))) if library == "np" else len(table)) == tree.num_entries


@pytest.mark.parametrize("library", LIBRARIES)
def test_tables_without_entries_keep_their_types(tree, library):
    pytest.importorskip(LIBRARIES[library])
    some, none = (tree.arrays(library=library, entry_stop=n) for n in (1, 0))
    types = {
        "ak": lambda t: str(t.type).partition("*")[2],
        "np": lambda t: [(n, a.dtype, a.shape[1:]) for n, a in t.items()],
        "pd": lambda t: list(t.columns),
        "pa": lambda t: t.schema,
        "pl": lambda t: t.schema,
    }[library]
    assert types(some) == types(none)


def test_numpy_dtypes_and_shapes(leaves):
    a = leaves.arrays(library="np")
    assert (a["i8"].dtype, a["u64"].dtype, a["flag"].dtype) == (np.int8, np.uint64, np.bool_)
    assert (a["grid"].dtype, a["grid"].shape) == (np.float32, (20, 2, 2))
    assert a["pairs"].dtype == object
    assert a["pairs"][2].shape[1:] == (3,)
    assert a["point"].dtype == np.dtype([("x", "f4"), ("y", "i4"), ("z", "f8")])
    assert isinstance(a["text"][0], str)


def test_awkward_types(leaves, collections):
    pytest.importorskip("awkward")
    assert str(leaves["pairs"].array().type) == "20 * var * 3 * float32"
    assert str(leaves["grid"].array().type) == "20 * 2 * 2 * float32"
    assert str(leaves["text"].array().type) == "20 * string"
    assert str(collections["vvi"].array().type) == "12 * var * var * int32"
    assert str(collections["cells"].array().type) == "12 * var * Cell[row: int16, charge: float64]"
    table = '12 * var * tuple[[int32, float32], parameters={"__array__": "sorted_map"}]'
    assert str(collections["table"].array().type) == table


def test_how_puts_columns_together(leaves):
    for how in ("tuple", tuple, "list", list):
        a, b = leaves.arrays(["n", "i8"], library="np", how=how)
        assert (a.dtype, b.dtype) == (np.int32, np.int8)
    assert type(leaves.arrays(["n"], library="np", how=tuple)) is tuple
    assert list(leaves.arrays(["n", "i8"], library="np", how=dict)) == ["n", "i8"]
    with pytest.raises(ValueError, match="zip"):
        leaves.arrays(["n"], library="np", how="zip")


def test_memory_is_the_cores_own_and_may_be_written(codecs):
    array = codecs["n"].array(library="np")
    assert not array.flags.owndata
    assert array.flags.writeable
    assert type(array.base).__name__ == "Buffer"
    before = array.copy()
    array += 1
    assert np.array_equal(codecs["n"].array(library="np"), before)


def test_awkward_and_arrow_do_not_copy(codecs):
    ak, pa = pytest.importorskip("awkward"), pytest.importorskip("pyarrow")
    from sapwood.columns import conversion, libraries

    column = next(codecs._core.scan([codecs["lz4"].number], 0, 60))[2][0]
    address = np.asarray(column[2][1]).__array_interface__["data"][0]
    layout = ak.to_layout(conversion.to_awkward(column))
    assert layout.content.data.__array_interface__["data"][0] == address
    arrow = libraries.library("pa").array(column, "x")
    assert arrow.values.buffers()[1].address == address
    assert pa.types.is_large_list(arrow.type)


def test_arrays_outlive_file_tree_and_scan(data):
    import gc

    with sapwood.open(data / "codecs.root") as file:
        arrays = file["t"].arrays(library="np")
    del file
    gc.collect()
    assert arrays["n"].sum() == sum(i % 10 for i in range(60))


def test_text_that_is_not_utf8():
    pa = pytest.importorskip("pyarrow")
    from sapwood.columns import libraries

    column = ("text", np.array([0, 2, 3]), np.frombuffer(b"\xff\xfea", "u1"))
    assert libraries.library("pa").array(column, "x").type == pa.large_binary()
    assert libraries.library("np").array(column, "x").tolist() == ["\udcff\udcfe", "a"]


def test_iterate_is_the_whole_in_steps(codecs):
    whole = codecs["n"].array(library="np")
    steps = list(codecs.iterate("n", step_size=7, library="np", report=True))
    assert [(r.start, r.stop) for _, r in steps] == [(i, min(i + 7, 60)) for i in range(0, 60, 7)]
    assert np.array_equal(np.concatenate([a["n"] for a, _ in steps]), whole)
    for size in ("1 kB", "cluster"):
        parts = [a["n"] for a in codecs.iterate(["n", "lz4"], step_size=size, library="np")]
        assert np.array_equal(np.concatenate(parts), whole)
    assert list(codecs.iterate("n", entry_start=3, entry_stop=3, library="np")) == []
    assert len(list(codecs.iterate("n", step_size=np.int64(7)))) == 9
    for size in (0, -1, "some", 1.5, True):
        with pytest.raises(ValueError, match="step_size"):
            codecs.iterate("n", step_size=size)


def test_many_files(data, tmp_path):
    where = {data / "codecs.root": "t;2", str(data / "codecs.root"): "t"}
    n = sapwood.concatenate([{k: v} for k, v in where.items()], "n", library="np")["n"]
    assert len(n) == 120
    reports = [
        r for _, r in sapwood.iterate([f"{data}/codecs.root:t"] * 2, "n", step_size=40, library="np", report=True)
    ]
    assert [(r.global_entry_start, r.global_entry_stop) for r in reports] == [(0, 40), (40, 60), (60, 100), (100, 120)]
    with pytest.raises(ValueError, match="friend"):
        sapwood.concatenate(data / "codecs.root", "n")
    # one tree needs no name
    assert len(sapwood.concatenate(data / "leaves.root", "n", library="np")["n"]) == 20


@pytest.mark.parametrize("library", [n for n in LIBRARIES if n != "np"])
def test_concatenate_in_every_library(data, library):
    pytest.importorskip(LIBRARIES[library])
    both = sapwood.concatenate([f"{data}/codecs.root:t"] * 2, ["n", "lz4"], "n > 2", library=library)
    assert len(both) == 2 * sum(i % 10 > 2 for i in range(60))


def test_progress(codecs, capsys, monkeypatch):
    told = []
    codecs.arrays(library="np", progress=lambda *numbers: told.append(numbers))
    entries, total, nbytes = told[-1]
    assert (entries, total) == (60, 60)
    assert nbytes > 0
    for tqdm in (True, False):
        if not tqdm:
            monkeypatch.setitem(sys.modules, "tqdm.auto", None)
        codecs.arrays("n", library="np", progress=True)
        assert "60" in capsys.readouterr().err
    with pytest.raises(ValueError, match="progress"):
        codecs.arrays("n", library="np", progress=3)


def test_import_is_light():
    heavy = ["awkward", "numpy", "pandas", "pyarrow", "polars", "hist", "tqdm"]
    code = f"import sys, sapwood; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_numpy_alone_is_enough(data):
    blocked = ["awkward", "pandas", "pyarrow", "polars", "hist", "tqdm"]
    code = f"""
import sys
for name in {blocked}: sys.modules[name] = None
import sapwood
tree = sapwood.open({str(data / "leaves.root")!r})["deep/er/Events"]
assert len(tree.arrays(library="np")) == 14
assert len(tree.arrays("sqrt(n)", "(n > 1) & flag", library="np")["sqrt(n)"]) > 0
assert tree.draw("n", bins=(5, 0, 5)).values().sum() == 20
try: tree["n"].array()
except ImportError as e: print(e)
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert "pip install awkward" in done.stdout
