"""What is written is read back by Sapwood and by uproot; what cannot be written is refused and leaves nothing."""

import dataclasses
import os
import subprocess
import sys
import typing

import awkward as ak
import numpy as np
import pytest

import sapwood

uproot = pytest.importorskip("uproot")

ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}

N = 300
RNG = np.random.default_rng(7)
COUNTS = RNG.integers(0, 4, N)
JAGGED = ak.unflatten(RNG.normal(size=COUNTS.sum()).astype("f4"), COUNTS)
TEXT = [f"text {i}" * (1 + 60 * (i % 40 == 39)) for i in range(N)]


def write(path, data, **options):
    with sapwood.recreate(path, **options) as file:
        file["t"] = data
    return path


def both(path, branch, tree="t"):
    """The branch as both read it, which is the same."""
    ours = sapwood.open(path)[tree][branch].array(library="ak")
    theirs = uproot.open(path)[tree][branch].array(library="ak")
    assert ak.to_list(ours) == ak.to_list(theirs), branch
    return ours


DTYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", ">i4", ">f8"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_of_all_widths(tmp_path, dtype):
    kind = np.dtype(dtype)
    values = (np.arange(N) % 2 if kind.kind == "b" else np.arange(N) * 7).astype(dtype)
    write(
        tmp_path / "a.root", {"x": values, "every": values[::2].repeat(2), "grid": values.reshape(N, 1, 1).repeat(6, 1)}
    )
    got = both(tmp_path / "a.root", "x")
    assert ak.to_numpy(got).dtype == kind.newbyteorder("=") and np.array_equal(ak.to_numpy(got), values)
    assert np.array_equal(ak.to_numpy(both(tmp_path / "a.root", "every")), values[::2].repeat(2))
    assert sapwood.open(tmp_path / "a.root")["t"]["grid"].array(library="np").shape == (N, 6, 1)


NESTED = {
    "jagged": JAGGED,
    "two": ak.Array([[[1.0, 2.0], []], [], [[3.0]]] * (N // 3)),
    "three": ak.Array([[[[1], [2, 3]], []], [], [[[4]]]] * (N // 3)),
    "text": ak.Array(TEXT),
    "texts": ak.Array([["a", "bc"], [], ["d" * 300]] * (N // 3)),
    "bools": ak.Array([[True, False], [], [True]] * (N // 3)),
    "sliced": ak.Array([[9.0], *([[1.0, 2.0], []] * (N // 2))])[1:],
    "masked": ak.mask(ak.Array(np.arange(N)), np.ones(N, bool)),
    "picked": ak.Array([[1.5], [2.5, 3.5]])[np.arange(N) % 2],
}


@pytest.mark.parametrize("name", sorted(NESTED))
def test_awkward(tmp_path, name):
    data = NESTED[name]
    write(tmp_path / "a.root", {"x": data, "n": np.arange(N)})
    assert ak.to_list(both(tmp_path / "a.root", "x")) == ak.to_list(data)


def test_records_become_branches_that_share_a_counter(tmp_path):
    muon = ak.zip({"pt": JAGGED, "charge": ak.values_astype(JAGGED > 0, "i4")})
    vertex = ak.zip({"x": np.arange(N), "y": np.arange(N) * 2.0})
    path = write(tmp_path / "a.root", {"Muon": muon, "vertex": vertex})
    tree = uproot.open(path)["t"]
    assert tree.keys() == ["nMuon", "Muon_pt", "Muon_charge", "vertex_x", "vertex_y"]
    assert ak.to_list(both(path, "Muon_pt")) == ak.to_list(muon.pt)
    assert ak.to_list(both(path, "nMuon")) == COUNTS.tolist()
    assert ak.to_list(both(path, "vertex_y")) == ak.to_list(vertex.y)
    with sapwood.recreate(path) as file:
        names = {"counter_name": lambda n: f"{n}_size", "field_name": lambda a, b: f"{a}.{b}"}
        file.mktree("t", {"Muon": muon}, **names).extend({"Muon": muon})
    assert uproot.open(path)["t"].keys() == ["Muon_size", "Muon.pt", "Muon.charge"]


def test_a_structured_array_is_a_tree(tmp_path):
    data = np.array([(1, 2.5, [1, 2]), (3, 4.5, [3, 4])], dtype=[("i", "i4"), ("d", "f8"), ("a", "i2", (2,))])
    path = write(tmp_path / "a.root", data)
    assert both(path, "i").tolist() == [1, 3] and both(path, "a").tolist() == [[1, 2], [3, 4]]


def test_frames_and_tables(tmp_path):
    pd, pa, pl = (pytest.importorskip(name) for name in ("pandas", "pyarrow", "polars"))
    columns = {"i": [1, 2, 3], "f": [0.5, 1.5, 2.5], "s": ["a", "", "ccc"], "b": [True, False, True]}
    lists = {"l": [[1.0], [], [2.0, 3.0]], "ls": [["x"], ["y", "z"], []]}
    chunked = pa.chunked_array([pa.array([1.0]), pa.array([2.0, 3.0])])
    sources = {
        "pandas": (pd.DataFrame(columns), columns),
        "arrow": (pa.table({**columns, **lists, "chunked": chunked}), {**columns, **lists, "chunked": [1.0, 2.0, 3.0]}),
        "batch": (pa.RecordBatch.from_pydict({**columns, **lists}), columns | lists),
        "slice": (pa.table({**columns, **lists}).slice(1, 2), {k: v[1:] for k, v in (columns | lists).items()}),
        "polars": (pl.DataFrame({**columns, **lists}), columns | lists),
    }
    with sapwood.recreate(tmp_path / "a.root") as file:
        for name, (source, _) in sources.items():
            file[name] = source
    for name, (_, expected) in sources.items():
        for key, values in expected.items():
            assert both(tmp_path / "a.root", key, name).tolist() == values, (name, key)
    index = pd.DataFrame({"x": [1.0, 2.0]}, index=pd.Index([5, 7], name="event"))
    assert both(write(tmp_path / "b.root", index), "event").tolist() == [5, 7]


@dataclasses.dataclass
class Point:
    px: np.float32
    py: float


class Event(typing.TypedDict):
    run: np.int32
    vertex: Point
    values: list[float]
    points: list[Point]
    name: str
    deep: list[list[np.float32]]


ROWS = [
    {
        "run": i,
        "vertex": {"px": i, "py": -i},
        "values": [0.5] * (i % 3),
        "points": [{"px": j, "py": i} for j in range(i % 4)],
        "name": f"n{i}",
        "deep": [[1.0], []] * (i % 2),
    }
    for i in range(40)
]


@pytest.mark.parametrize("split", [True, False])
def test_classes_from_type_hints(tmp_path, split):
    with sapwood.recreate(tmp_path / "a.root") as file:
        tree = file.mktree("t", Event, title="events", split=split)
        tree.extend(ROWS[:30])
        for row in ROWS[30:]:
            tree.fill(row)
        assert tree.num_entries == 40
    path = tmp_path / "a.root"
    tree = uproot.open(path)["t"]
    assert tree.title == "events" and ("points/points.px" in tree) == split
    if split:
        assert both(path, "vertex/py").tolist() == [-i for i in range(40)]
        assert both(path, "points/points.px").tolist() == [[p["px"] for p in row["points"]] for row in ROWS]
    else:
        ours = sapwood.open(path)["t"]["points"].array(library="ak")
        assert ours.to_list() == [row["points"] for row in ROWS]
        assert both(path, "vertex").tolist() == [row["vertex"] for row in ROWS]
    for name in ("run", "values", "name", "deep"):
        assert both(path, name).tolist() == [row[name] for row in ROWS], name


def test_collections_of_classes_object_by_object_and_member_by_member(tmp_path):
    path = tmp_path / "a.root"
    with sapwood.recreate(path, compression=None) as file:
        for name, options in {"objects": {}, "members": {"member_wise": {"points": True}}}.items():
            file.mktree(name, Event, split=False, **options).extend(ROWS)
    file = sapwood.open(path)
    for name in ("objects", "members"):
        assert file[name]["points"].array(library="ak").to_list() == [row["points"] for row in ROWS]
    # a version and a byte count for each object, or one for each entry
    sizes = [uproot.open(path)[name]["points"].uncompressed_bytes for name in ("objects", "members")]
    assert sizes[0] - sizes[1] > 6 * sum(len(row["points"]) for row in ROWS) / 2


@dataclasses.dataclass
class Tagged:
    tags: dict[str, float]
    deep: list[dict[int, list[int]]]


def test_dicts_are_maps_where_the_type_says_so(tmp_path):
    rows = [
        {"tags": {"a": 1.0, "b": float(i)} if i % 2 else {}, "deep": [{}, {i: [1, 2], -i - 1: []}][: i % 3]}
        for i in range(9)
    ]
    path = tmp_path / "a.root"
    with sapwood.recreate(path) as file:
        tree = file.mktree("t", Tagged)
        tree.extend(rows[:8])
        tree.fill(Tagged(**rows[8]))
    tree = sapwood.open(path)["t"]
    assert both(path, "tags/tags.first").to_list() == [list(r["tags"]) for r in rows]
    assert both(path, "tags/tags.second").to_list() == [list(r["tags"].values()) for r in rows]
    deep = tree["deep"].array(library="ak").to_list()
    assert [[dict(pairs) for pairs in maps] for maps in deep] == [r["deep"] for r in rows]


def test_arrow_batches_one_after_the_other(tmp_path):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"x": np.arange(100), "l": [[i] * (i % 3) for i in range(100)]})
    path = tmp_path / "a.root"
    with sapwood.recreate(path) as file:
        file.mktree("schema", table.schema).extend(table.to_reader(7))
        file["reader"] = table.to_reader(13)
    for name in ("schema", "reader"):
        assert both(path, "x", name).tolist() == list(range(100))
        assert both(path, "l", name).tolist() == table["l"].to_pylist()


def test_declared_types_in_all_spellings(tmp_path):
    types = {
        "a": "f4", "b": np.int8, "c": float, "d": ("i2", (2, 3)), "e": "var * int64", "f": "3 * float32",
        "g": "std::vector<std::vector<int>>", "h": "string", "i": str, "j": "map<string,vector<float>>",
        "k": "{x: int32, y: var * float64}", "l": list[np.float32], "m": dict[str, int], "n": "unsigned short",
    }  # fmt: skip
    data = {
        "a": [1, 2], "b": [1, -2], "c": [1, 2], "d": np.arange(12).reshape(2, 2, 3), "e": [[1], [2, 3]],
        "f": [[1, 2, 3], [4, 5, 6]], "g": [[[1], []], []], "h": ["x", "y"], "i": ["", "z"],
        "j": ak.Array([[{"first": "k", "second": [1.0]}], []]),
        "k": ak.Array([{"x": 1, "y": []}, {"x": 2, "y": [1.0]}]), "l": [[], [1.5]], "n": [65535, 0],
        "m": ak.Array([[{"first": "q", "second": 4}], []]),
    }  # fmt: skip
    path = tmp_path / "a.root"
    with sapwood.recreate(path) as file:
        file.mktree("t", types, titles={"a": "the first"}).extend(data)
    tree = uproot.open(path)["t"]
    wanted = {"a": "float", "b": "int8_t", "c": "double", "d": "int16_t[2][3]", "e": "int64_t[]", "f": "float[3]"}
    wanted |= {"g": "std::vector<std::vector<int32_t>>", "h": "std::string", "k_x": "int32_t", "n": "uint16_t"}
    assert {name: tree[name].typename for name in wanted} == wanted
    assert tree["a"].title == "the first"
    for name in "abcdefghiln":
        assert both(path, name).tolist() == ak.to_list(data[name]), name
    assert both(path, "j/j.first").tolist() == [["k"], []] and both(path, "m/m.second").tolist() == [[4], []]


def test_batches_do_not_matter(tmp_path):
    data = {"x": np.arange(N), "j": JAGGED, "s": TEXT}
    with sapwood.recreate(tmp_path / "a.root") as file:
        file["whole"] = data
        tree = file.mktree("parts", data)
        for start in range(0, N, 37):
            tree.extend({name: values[start : start + 37] for name, values in data.items()})
        tree.extend({"x": [], "j": [], "s": []})
    file = sapwood.open(tmp_path / "a.root")
    for name, values in data.items():
        assert file["whole"][name].array().to_list() == file["parts"][name].array().to_list() == ak.to_list(values)


def test_layout_options(tmp_path):
    path = tmp_path / "a.root"
    data = {"x": np.arange(10_000), "y": np.arange(10_000) * 1.0}
    with sapwood.recreate(path, compression="zstd:3", title="my file") as file:
        options = {"compression": {"x": "lz4:4"}, "basket_size": {"y": "2 kB"}, "optimize_baskets": False}
        file.mktree("t", data, auto_flush=2500, **options).extend(data)
        file.mktree("bytes", data, auto_flush="5 kB", basket_size="1 kB").extend(data)
        file.mktree("plain", data, compression=None).extend(data)
    file = uproot.open(path)
    tree = file["t"]
    assert tree["x"].compression.code == 404 and tree["y"].compression.code == 503
    assert tree["x"].num_baskets == 4 and tree["y"].num_baskets > 30
    assert tree.member("fAutoFlush") == 2500 and 0 < file["bytes"].member("fAutoFlush") < 10_000
    assert file["plain"].compressed_bytes == file["plain"].uncompressed_bytes
    assert file["t"].num_entries == 10_000
    for name in ("t", "bytes", "plain"):
        assert np.array_equal(file[name]["y"].array(library="np"), data["y"])


def test_numbers_of_any_kind_are_sizes(tmp_path):
    with sapwood.recreate(tmp_path / "a.root") as file:
        tree = file.mktree("t", {"x": "i4"}, auto_flush=np.int64(10), basket_size=np.int32(4000))
        tree.extend({"x": np.arange(30)})
        for options in (
            {"auto_flush": 1.5},
            {"auto_flush": True},
            {"auto_flush": 2**63},
            {"basket_size": "4 GB"},
            {"basket_size": {"x": 2**31}},
            {"basket_size": 1.5},
        ):
            with pytest.raises(sapwood.InvalidError, match=next(iter(options))):
                file.mktree("no", {"x": "i4"}, **options)
    assert uproot.open(tmp_path / "a.root")["t"].member("fAutoFlush") == 10


@pytest.mark.parametrize("compression", ["none", None, "zlib:9", 404, "lzma:1", uproot.ZSTD(2)])
def test_compressions(tmp_path, compression):
    write(tmp_path / "a.root", {"x": np.arange(5000)}, compression=compression)
    assert both(tmp_path / "a.root", "x").to_list() == list(range(5000))


class TestRefused:
    """With the branch and the reason; the tree can go on."""

    @pytest.fixture
    def file(self, tmp_path):
        with sapwood.recreate(tmp_path / "a.root") as file:
            yield file

    @pytest.mark.parametrize(
        ("value", "error", "words"),
        [
            (np.arange(3), sapwood.InvalidError, "but x has 3"),
            (np.array([1, 2**40]), sapwood.InvalidError, "does not fit in int32"),
            (np.array([-1.5, 2.0]), sapwood.InvalidError, "float64"),
            (["a", "b"], sapwood.InvalidError, "string"),
            ([[1], [2]], sapwood.InvalidError, "list"),
            (ak.Array([1, None]), sapwood.UnsupportedError, "missing values"),
            (np.array(["2020-01-01"] * 2, "M8[D]"), sapwood.UnsupportedError, "dates"),
            (np.ones(2, complex), sapwood.UnsupportedError, "complex"),
            (5, sapwood.UnsupportedError, "not an array"),
        ],
    )
    def test_values(self, file, value, error, words):
        tree = file.mktree("t", {"x": "i4", "y": "f8"})
        with pytest.raises(error, match=words) as caught:
            tree.extend({"x": value, "y": np.ones(2)})
        assert "x" in str(caught.value)
        tree.extend({"x": [1, 2], "y": [1, 2]})
        assert tree.num_entries == 2

    def test_branches(self, file):
        tree = file.mktree("t", {"x": "i4", "j": "var * f4"})
        with pytest.raises(sapwood.KeyInFileError, match="no branch z"):
            tree.extend({"x": [1], "j": [[1]], "z": [1]})
        with pytest.raises(sapwood.InvalidError, match="branch j"):
            tree.extend({"x": [1]})
        with pytest.raises(sapwood.InvalidError, match="counter nj disagrees"):
            tree.extend({"x": [1], "j": [[1.0]], "nj": [2]})
        for wrong in ("Hit", "vector<Hit>", "vector<>", "map<int>", "vector<int,int>", object()):
            with pytest.raises(sapwood.UnsupportedError):
                file.mktree("wrong", {"x": wrong})
        with pytest.raises(sapwood.InvalidError, match="has a special meaning"):
            file.mktree("wrong", {"a/b": "i4"})
        with pytest.raises(sapwood.UnsupportedError, match="cannot be written"):
            file["x"] = object()


def fail_in_block(begin, path):
    with begin(path) as file:
        file["other"] = {"x": np.arange(100_000)}
        raise KeyboardInterrupt


def test_nothing_appears_when_the_block_fails(tmp_path):
    path = tmp_path / "a.root"
    with pytest.raises(KeyboardInterrupt):
        fail_in_block(sapwood.recreate, path)
    assert list(tmp_path.iterdir()) == []
    write(path, {"x": np.arange(3)})
    was = path.read_bytes()
    for begin in (sapwood.recreate, sapwood.update):
        with pytest.raises(KeyboardInterrupt):
            fail_in_block(begin, path)
        assert path.read_bytes() == was and list(tmp_path.iterdir()) == [path]
    with pytest.raises(FileExistsError):
        sapwood.create(path)
    with pytest.raises(FileNotFoundError):
        sapwood.update(tmp_path / "none.root")
    with pytest.raises(FileNotFoundError, match="its directory does not exist; create it first"):
        sapwood.recreate(tmp_path / "no folder" / "a.root")
    with pytest.raises(sapwood.Error, match="no/such"):
        sapwood.recreate(tmp_path / "no" / "such" / "a.root")
    with sapwood.recreate(path) as file:
        file["t"] = {"x": [1]}
    with pytest.raises(sapwood.InvalidError, match="closed"):
        file["t"] = {"x": [1]}
    with pytest.raises(sapwood.InvalidError, match="only local files"):
        sapwood.recreate("https://example.org/a.root")


KILLED = """
import os, sys, numpy as np, sapwood
file = sapwood.recreate(sys.argv[1], compression=None)
tree = file.mktree("t", {"x": "f8"}, auto_flush=1000, auto_save="50 kB")
for i in range(40):
    tree.extend({"x": np.arange(1000 * i, 1000 * (i + 1), dtype="f8")})
os._exit(1)
"""

FULL = """
import resource, signal, sys, numpy as np, sapwood
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, 3 << 20))
begin = sapwood.update if len(sys.argv) > 2 else sapwood.recreate
with begin(sys.argv[1]) as file:
    file["big"] = {"x": np.random.default_rng(1).normal(size=1_000_000)}
"""


def test_a_killed_process_leaves_what_was_saved(tmp_path):
    path = tmp_path / "a.root"
    done = subprocess.run([sys.executable, "-c", KILLED, path], timeout=60, env=ENVIRONMENT)
    assert done.returncode == 1 and not path.exists()
    (left,) = tmp_path.iterdir()
    entries = sapwood.open(left)["t"].num_entries
    assert entries >= 20_000 and entries % 1000 == 0
    assert both(left, "x").to_list() == list(range(entries))


def test_a_full_disk(tmp_path):
    path = tmp_path / "a.root"
    words = [sys.executable, "-c", FULL, path]
    done = subprocess.run(words, timeout=60, env=ENVIRONMENT, capture_output=True, text=True)
    assert "WriteError" in done.stderr and "a.root" in done.stderr and "cannot write at byte" in done.stderr
    assert list(tmp_path.iterdir()) == []
    write(path, {"x": np.arange(10)})
    was = path.read_bytes()
    done = subprocess.run([*words, "update"], timeout=60, env=ENVIRONMENT, capture_output=True, text=True)
    assert "WriteError" in done.stderr and path.read_bytes() == was and list(tmp_path.iterdir()) == [path]


def test_updates(tmp_path):
    path = tmp_path / "a.root"
    data = {"x": np.arange(N), "j": JAGGED, "s": TEXT, "two": NESTED["two"]}
    with sapwood.recreate(path) as file:
        file["t"] = data
        file["a/b/t"] = {"x": np.arange(5)}
        file["gone"] = {"x": [1]}
    for _ in range(3):
        with sapwood.update(path) as file:
            assert "t" in file and "gone" in file
            file["t"].extend(data)
            file["a/b/t"].extend({"x": np.arange(2)})
            file["a/b/other"] = {"y": [1.5]}
            del file["gone"]
            file["gone"] = {"x": [2]}
            file["note"] = "words"
            file.mkdir("a/c")
    file = sapwood.open(path)
    assert file["t"].num_entries == 4 * N
    for name, values in data.items():
        assert ak.to_list(both(path, name)) == ak.to_list(values) * 4
    assert both(path, "x", "a/b/t").to_list() == [0, 1, 2, 3, 4, *[0, 1] * 3]
    keys = uproot.open(path).keys()
    assert {"a/b/other;3", "a/b/t;1", "gone;1", "note;3", "a/c;1"} <= set(keys) and "gone;2" not in keys
    assert str(uproot.open(path)["note"]) == "words"
    with sapwood.update(path) as file:
        del file["note;2"]
        with pytest.raises(sapwood.KeyInFileError):
            del file["nothing"]
        with pytest.raises(sapwood.InvalidError, match="not empty"):
            del file["a"]
    assert [k for k in uproot.open(path).keys() if k.startswith("note")] == ["note;3", "note;1"]


def test_a_tree_of_uproot_goes_on(tmp_path):
    path = tmp_path / "a.root"
    with uproot.recreate(path) as file:
        file.mktree("t", {"x": np.int64, "j": "var * float64"})
        file["t"].extend({"x": np.arange(10), "j": ak.Array([[1.0], []] * 5)})
    with sapwood.update(path) as file:
        file["t"].extend({"x": [7], "j": [[5.0]]})
    assert both(path, "x").to_list() == [*range(10), 7]
    assert both(path, "j").to_list() == [[1.0], []] * 5 + [[5.0]]


def test_a_tree_of_uproot_goes_on_as_it_is_compressed(tmp_path):
    path, many = tmp_path / "a.root", 4000
    with uproot.recreate(path, compression=uproot.ZLIB(1)) as file:
        file.mktree("t", {"x": np.int64})
        file["t"].extend({"x": np.arange(many)})
    # it says that it is not
    assert uproot.open(path)["t/x"].member("fCompress") == 0
    with sapwood.update(path) as file:
        file["t"].extend({"x": np.arange(many)})
    branch = uproot.open(path)["t/x"]
    assert [basket.compressed_bytes < 4 * many for basket in map(branch.basket, range(2))] == [True, True]


def test_a_tree_takes_again_what_it_was_made_of(tmp_path):
    path = tmp_path / "again.root"
    lists = ak.Array([[{"pt": 1.5, "q": 1}, {"pt": 2.5, "q": -1}], [], [{"pt": 3.5, "q": 1}]])
    given = {"x": np.arange(3.0), "Muon": lists, "r": ak.Array([{"a": 1, "b": 2.5}] * 3)}
    with sapwood.recreate(path) as f:
        f["t"] = given
    with sapwood.update(path) as f:
        f["t"].extend(given)
        with pytest.raises(ValueError, match="Muon_q"):
            f["t"].extend({**given, "Muon": lists[["pt"]]})
        with pytest.raises(KeyError, match="Moun"):
            f["t"].extend({"x": given["x"], "Moun": lists, "r": given["r"]})
    with uproot.open(path) as f:
        assert f["t"].keys() == ["x", "nMuon", "Muon_pt", "Muon_q", "r_a", "r_b"]
        assert f["t/Muon_pt"].array().tolist() == 2 * lists["pt"].tolist()
        assert f["t/r_b"].array().tolist() == [2.5] * 6


def test_classes_named_after_branches_do_not_take_another_s_name(tmp_path):
    one = ak.Array([[{"x": 1, "v": [2.5]}], []])
    two = ak.Array([[{"y": [[1]], "z": "text"}], []])
    with sapwood.recreate(tmp_path / "a.root") as file:
        for name, data in {"t": one, "u": two, "again": one}.items():
            file.mktree(name, {"b": data}, split=False).extend({"b": data})
    file = sapwood.open(tmp_path / "a.root")
    assert [file[t]["b"].typename for t in ("t", "u", "again")] == [f"std::vector<{c}>" for c in ("b", "b_2", "b")]
    for name, data in {"t": one, "u": two, "again": one}.items():
        assert file[name]["b"].array().to_list() == data.to_list()


def test_maps_are_written_as_they_are_read(tmp_path):
    maps = ak.Array([[("a", [1, 2]), ("b", [])], [], [("c", [3])]])
    declared = "map<string, vector<int64>>"
    with sapwood.recreate(tmp_path / "a.root") as file:
        tree = file.mktree("t", {"split": declared, "whole": declared}, split={"whole": 0})
        tree.extend({"split": maps, "whole": maps})
        with pytest.raises(NotImplementedError, match="tuples have no field names"):
            file["u"] = {"x": ak.Array([(1, 2), (3, 4)])}
    tree = sapwood.open(tmp_path / "a.root")["t"]
    assert tree["whole"].typename == "std::map<std::string,std::vector<int64_t>>"
    assert tree["whole"].array().to_list() == maps.to_list()
    assert tree["split/split.first"].array().to_list() == maps["0"].to_list()
