"""Ntuples that we write are read back by ROOT, uproot and ourselves."""

import json
import subprocess
import sys

import awkward as ak
import numpy as np
import pytest
import uproot

import sapwood
import sapwood.uproot

CODECS = [None, "zlib:1", "zstd:5", "lz4:4", "lzma:1"]

#: Prints the fields of an ntuple in several files as ROOT's RNTupleReader or RDataFrame read them, as JSON.
READ = """
import json, sys
import ROOT
ROOT.gErrorIgnoreLevel = ROOT.kInfo

def plain(value):
    if isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, str) or type(value).__name__ in ("string", "basic_string<char>"):
        return str(value)
    if type(value).__module__.startswith("numpy"):
        return plain(value.item() if not value.shape else value.tolist())
    if hasattr(value, "first") and hasattr(value, "second"):
        return [plain(value.first), plain(value.second)]
    return [plain(item) for item in value]

def by_view(reader, kind, column):
    view = reader.GetView[kind](column)
    # characters in Python
    of = ord if "int8" in kind else plain
    values = [of(view(i)) for i in range(reader.GetNEntries())]
    return [v - 256 if kind == "std::int8_t" and v > 127 else v for v in values]

how, paths, name, columns = sys.argv[1], sys.argv[2].split(","), sys.argv[3], sys.argv[4].split(",")
out = []
for path in paths:
    reader = ROOT.RNTupleReader.Open(name, path)
    found = {"entries": reader.GetNEntries(), "types": {}, "values": {}}
    if how == "frame":
        frame = ROOT.RDataFrame(name, path)
        kinds = {column: str(frame.GetColumnType(column)) for column in columns}
        booked = {column: frame.Take[kind](column) for column, kind in kinds.items()}
        found["values"] = {c: [plain(v) for v in values.GetValue()] for c, values in booked.items()}
    else:
        descriptor = reader.GetDescriptor()
        ids = {column: descriptor.FindFieldId(column) for column in columns}
        kinds = {column: str(descriptor.GetFieldDescriptor(id).GetTypeName()) for column, id in ids.items()}
        found["values"] = {column: by_view(reader, kind, column) for column, kind in kinds.items()}
    found["types"] = kinds
    out.append(found)
print(json.dumps(out))
"""


def by_root(paths, name, columns, how="frame"):
    paths = paths if isinstance(paths, list) else [paths]
    command = [sys.executable, "-W", "ignore", "-c", READ, how, ",".join(map(str, paths)), name, ",".join(columns)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    return found if len(paths) > 1 else found[0]


def hexed(value):
    """Floats as hexadecimal text, by which they are compared bit for bit."""
    if isinstance(value, (list, tuple)):
        return [hexed(v) for v in value]
    return value.hex() if isinstance(value, float) else value


def limits(dtype):
    if np.dtype(dtype).kind == "f":
        info = np.finfo(dtype)
        return [info.min, info.max, info.tiny, info.smallest_subnormal, -0.0, np.inf, -np.inf, np.nan]
    info = np.iinfo(dtype)
    return [info.min, info.max, 0, 1, info.max // 2]


NUMBERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"]


def entries(n):
    random = np.random.default_rng(7)
    data = {name: np.resize(np.array(limits(name), name), n) for name in NUMBERS}
    data["flag"] = np.arange(n) % 3 == 0
    data["text"] = ["" if i % 4 == 0 else "é" * (i % 5) + str(i) for i in range(n)]
    data["fixed"] = np.arange(3 * n, dtype=np.int32).reshape(n, 3)
    data["matrix"] = np.arange(6 * n, dtype=np.float32).reshape(n, 2, 3)
    counts = random.integers(0, 4, n)
    data["jagged"] = ak.unflatten(random.normal(size=counts.sum()).astype(np.float32), counts)
    inner = random.integers(0, 3, counts.sum())
    data["nested"] = ak.unflatten(ak.unflatten(np.arange(inner.sum(), dtype=np.int16), inner), counts)
    data["texts"] = [[str(j) * j for j in range(i % 4)] for i in range(n)]
    data["flags"] = [[bool((i + j) % 2) for j in range(i % 3)] for i in range(n)]
    return data


def assert_same(found, data, n):
    for name, wanted in data.items():
        mine = ak.to_list(found[name])
        assert len(mine) == n
        assert hexed(mine) == hexed(ak.to_list(wanted)), name


def write_all_types(path, codec, data, n):
    with sapwood.recreate(path, compression=codec) as f:
        ntuple = f.mkntuple("n", data, title="all types", page_size=256, cluster_size=20000)
        for start in range(0, n, 90):
            ntuple.extend({name: values[start : start + 90] for name, values in data.items()})
        assert ntuple.num_entries == n


def test_root_uproot_and_we_read_what_was_written(tmp_path):
    n = 700
    data = entries(n)
    paths = [tmp_path / f"{codec or 'none'}.root".replace(":", "") for codec in CODECS]
    for path, codec in zip(paths, CODECS, strict=True):
        write_all_types(path, codec, data, n)
        with sapwood.open(path) as f:
            assert f["n"].num_entries == n
            assert_same(f["n"].arrays(), data, n)
        with uproot.open(path) as f:
            assert len(f["n"].cluster_summaries) > 1
            assert_same(f["n"].arrays(), data, n)
    wanted = {name: hexed(ak.to_list(values)) for name, values in data.items()}
    for path, found in zip(paths, by_root(paths, "n", list(data), "views"), strict=True):
        assert found["entries"] == n
        for name, values in wanted.items():
            assert found["values"][name] == values, (path, name)
    types = found["types"]
    assert types["text"] == "std::string" and types["uint64"] == "std::uint64_t"
    assert types["matrix"] == "std::array<std::array<float,3>,2>"


def test_a_data_frame_of_root(tmp_path):
    path, n = tmp_path / "frame.root", 500
    data = {name: values for name, values in entries(n).items() if name in ("float64", "text", "nested", "flags")}
    write_all_types(path, "zstd:5", data, n)
    found = by_root(path, "n", list(data))
    assert found["values"] == {name: hexed(ak.to_list(values)) for name, values in data.items()}


def test_an_ntuple_without_entries(tmp_path):
    path = tmp_path / "none.root"
    with sapwood.recreate(path) as f:
        f.mkntuple("n", {"x": "f8", "v": "var * int32", "s": "string"})
    with sapwood.open(path) as f:
        assert f["n"].num_entries == 0
        assert ak.to_list(f["n"].arrays()) == []
    with uproot.open(path) as f:
        assert f["n"].num_entries == 0
    # RDataFrame of ROOT 6.40 crashes, also with ntuples of its own without entries
    assert by_root(path, "n", ["x", "v", "s"], "views")["values"] == {"x": [], "v": [], "s": []}


def test_empty_batches_and_empty_lists(tmp_path):
    path = tmp_path / "empty.root"
    with sapwood.recreate(path) as f:
        ntuple = f.mkrntuple("n", {"v": "var * float32", "s": "string"})
        ntuple.extend({"v": [], "s": []})
        ntuple.extend({"v": [[], [], []], "s": ["", "", ""]})
    assert by_root(path, "n", ["v", "s"], "views")["values"] == {"v": [[]] * 3, "s": [""] * 3}
    for module in (sapwood, uproot):
        with module.open(path) as f:
            assert ak.to_list(f["n"].arrays()["v"]) == [[]] * 3


def test_records_and_lists_of_records(tmp_path):
    path = tmp_path / "records.root"
    data = ak.Array(
        [
            {"p": {"x": i, "ys": [i] * (i % 3)}, "hits": [{"id": j, "e": j / 2, "t": "t" * j} for j in range(i % 4)]}
            for i in range(50)
        ]
    )
    with sapwood.recreate(path) as f:
        f.mkntuple("n", {"p": data.p, "hits": data.hits}).extend({"p": data.p, "hits": data.hits})
    for module in (sapwood, uproot):
        with module.open(path) as f:
            for name in data.fields:
                assert ak.to_list(f["n"][name].array()) == ak.to_list(data[name]), (module.__name__, name)
    found = by_root(path, "n", ["p.x", "p.ys", "hits.id", "hits.e"])["values"]
    assert found["p.x"] == list(range(50))
    assert found["hits.id"] == ak.to_list(data.hits.id)
    assert found["hits.e"] == hexed(ak.to_list(data.hits.e))


def test_maps(tmp_path):
    path = tmp_path / "maps.root"
    given = [{str(k): k * i for k in range(i % 3)} for i in range(20)]
    with sapwood.recreate(path) as f:
        f.mkntuple("n", {"m": "map<string,int>"}).extend({"m": given})
    found = by_root(path, "n", ["m"], "views")["values"]["m"]
    assert [dict(map(tuple, pairs)) for pairs in found] == given
    with sapwood.open(path) as f:
        assert [dict(pairs) for pairs in ak.to_list(f["n"]["m"].array())] == given


def test_an_ntuple_beside_a_tree_and_in_a_directory(tmp_path):
    path = tmp_path / "both.root"
    x = np.arange(1000.0)
    with sapwood.recreate(path) as f:
        tree, ntuple = f.mktree("t", {"x": "f8"}), f.mkntuple("a/b/n", {"x": "f8"})
        for start in range(0, 1000, 100):
            tree.extend({"x": x[start : start + 100]})
            ntuple.extend({"x": x[start : start + 100]})
    with sapwood.open(path) as f:
        for name in ("t", "a/b/n"):
            assert (f[name]["x"].array(library="np") == x).all()
    assert by_root(path, "a/b/n", ["x"], "views")["values"]["x"] == hexed(x.tolist())


def test_an_ntuple_is_added_to_an_existing_file(tmp_path):
    path = tmp_path / "more.root"
    x = np.arange(100)
    with sapwood.recreate(path) as f:
        f["t"] = {"x": x}
    for name in ("first", "second", "first"):
        with sapwood.update(path) as f:
            f.mkntuple(name, {"x": "i8"}).extend({"x": x})
    with sapwood.open(path) as f:
        assert f.keys() == ["t;1", "first;2", "first;1", "second;1"] or set(f.keys()) >= {"t;1", "first;2", "second;1"}
        assert all((f[name]["x"].array(library="np") == x).all() for name in f.keys())
    assert by_root(path, "second", ["x"], "views")["values"]["x"] == x.tolist()


def test_the_bytes_depend_on_neither_batches_nor_threads(tmp_path):
    data = {name: values for name, values in entries(600).items() if name != "text"}
    pages = set()
    for threads, step in ((1, 600), (2, 37), (4, 1000)):
        path = tmp_path / f"{threads}.root"
        with sapwood.recreate(path, threads=threads) as f:
            ntuple = f.mkntuple("n", data, page_size=512, cluster_size=10000)
            for start in range(0, 600, step):
                ntuple.extend({name: values[start : start + step] for name, values in data.items()})
        # without the labels of records, which have the time
        written = path.read_bytes()
        with uproot.open(path) as f:
            columns = [column for cluster in f["n"].page_link_list for column in cluster]
        spans = [(p.locator.offset, p.locator.num_bytes + 8) for column in columns for p in column.pages]
        assert len(spans) > 100
        pages.add(tuple((at, written[at : at + size]) for at, size in spans))
    assert len(pages) == 1


def test_equal_pages_are_written_once(tmp_path):
    counts = np.arange(20000) % 7
    same = ak.unflatten(np.random.default_rng(1).normal(size=counts.sum()), counts)
    sizes = []
    for names in (["a"], ["a", "b", "c"]):
        path = tmp_path / f"{len(names)}.root"
        with sapwood.recreate(path, compression="zstd:5") as f:
            f.mkntuple("n", dict.fromkeys(names, same)).extend(dict.fromkeys(names, same))
        sizes.append(path.stat().st_size)
    assert sizes[1] < sizes[0] + 2000


def test_what_is_refused_is_named_and_leaves_the_ntuple_intact(tmp_path):
    path = tmp_path / "refused.root"
    with sapwood.recreate(path) as f:
        with pytest.raises(ValueError, match=r"ROOT refuses '\.'"):
            f.mkntuple("n", {"a.b": "f8"})
        with pytest.raises(NotImplementedError, match="fixed arrays of records"):
            f.mkntuple("n", {"a": ak.to_regular(ak.Array([[{"x": 1}] * 2] * 2))})
        ntuple = f.mkntuple("n", {"x": "i4", "v": "var * f4"})
        ntuple.extend({"x": [1], "v": [[1.5]]})
        with pytest.raises(ValueError, match="x has 1"):
            ntuple.extend({"x": [2], "v": [[1], [2]]})
        with pytest.raises(KeyError, match="no field y"):
            ntuple.extend({"x": [2], "v": [[1]], "y": [1]})
        with pytest.raises(ValueError, match="does not fit in int32"):
            ntuple.extend({"x": [1 << 40], "v": [[1]]})
        ntuple.fill(x=2, v=[])
    with sapwood.open(path) as f:
        assert ak.to_list(f["n"].arrays()) == [{"x": 1, "v": [1.5]}, {"x": 2, "v": []}]


def test_a_failed_block_leaves_no_file(tmp_path):
    path = tmp_path / "none.root"
    f = sapwood.recreate(path)
    f.mkntuple("n", {"x": "f8"}).extend({"x": [1.0]})
    f.__exit__(RuntimeError, RuntimeError())
    assert not path.exists() and not list(tmp_path.iterdir())


def test_uproots_mkrntuple(tmp_path):
    path = tmp_path / "up.root"
    data = ak.Array([{"x": i, "v": [i] * (i % 3)} for i in range(10)])
    with sapwood.uproot.recreate(path) as f:
        f.mkrntuple("filled", data, description="some")
        f.mkrntuple("declared", data.layout.form).extend(data)
    with sapwood.open(path) as f:
        assert all(ak.to_list(f[name].arrays()) == ak.to_list(data) for name in ("filled", "declared"))


KILLED = """
import os, sys
import numpy as np, sapwood
f = sapwood.recreate(sys.argv[1])
ntuple = f.mkntuple("n", {"x": "i8"}, cluster_size=10000, auto_save=int(sys.argv[2]))
for start in range(0, 100000, 1000):
    ntuple.extend({"x": np.arange(start, start + 1000)})
os._exit(7)
"""


@pytest.mark.parametrize("auto_save", [0, 3000])
def test_a_killed_process_leaves_the_clusters_that_were_saved(tmp_path, auto_save):
    path = tmp_path / "killed.root"
    assert subprocess.run([sys.executable, "-c", KILLED, str(path), str(auto_save)]).returncode == 7
    assert not path.exists()
    (part,) = tmp_path.iterdir()
    if not auto_save:
        with pytest.raises(sapwood.CorruptError, match="not a ROOT file"):
            sapwood.open(part)
        return
    for module in (sapwood, uproot):
        with module.open(part) as f:
            n = f["n"].num_entries
            assert 0 < n < 100000
            assert (f["n"].arrays()["x"] == np.arange(n)).to_numpy().all()


@pytest.mark.parametrize("selected", [slice(None), slice(1, None), slice(0, 1), [1, 4]])
def test_variants_that_were_read_are_written(tmp_path, selected):
    """An array that was read has a part for variants without a value, which was taken for one of their types."""
    values = [1, "a", None, 2, "b"]
    with sapwood.recreate(tmp_path / "in.root") as file:
        ntuple = file.mkntuple("n", {"u": "union[int32, string]", "v": "var * union[int32, string]"})
        ntuple.extend({"u": values, "v": [values[:i] for i in range(5)]})
    with sapwood.open(f"{tmp_path}/in.root:n") as ntuple:
        read = ntuple.arrays()[selected]
    with sapwood.update(tmp_path / "in.root") as file:
        file["n"].extend(read)
    with sapwood.open(f"{tmp_path}/in.root:n") as ntuple:
        assert ntuple.arrays(entry_start=5).tolist() == read.tolist()


def test_variants_of_several_integers_keep_their_types(tmp_path):
    """Small int64 became int32, the first type that they fit."""
    path = f"{tmp_path}/n.root:n"
    with sapwood.recreate(tmp_path / "n.root") as file:
        ntuple = file.mkntuple("n", {"u": "union[int32, int64]"})
        ntuple.extend({"u": np.array([1, 2], "i8")})
        ntuple.extend({"u": np.array([3], "i4")})
    with sapwood.open(path) as ntuple:
        read = ntuple["u"].array()
    with sapwood.update(tmp_path / "n.root") as file:
        file["n"].extend({"u": read[1:]})
    kinds = ["i8", "i8", "i4", "i8", "i4"]
    with sapwood.open(path) as ntuple:
        found = ntuple["u"].array()
        assert found.tolist() == [1, 2, 3, 2, 3]
        tags = np.asarray(found.layout.tags)
        assert [{"int64": "i8", "int32": "i4"}[str(found.layout.contents[t].form.type.content)] for t in tags] == kinds
