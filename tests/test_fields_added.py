"""Ntuples that get fields while they have entries: read by ROOT, uproot and ourselves, appended to and merged."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import awkward as ak
import numpy as np
import pytest

import sapwood
import sapwood.uproot as ours

uproot = pytest.importorskip("uproot", minversion="5.7.7")

VALUES = Path(__file__).with_name("ntuple_values.C")

#: Fields of all kinds, their values in one entry, and those of the entries before.
ADDED = {
    "y": ("int32", 7, 0),
    "b": ("bool", True, False),
    "v": ("var * float32", [1.5, 2.5], []),
    "s": ("string", "héllo", ""),
    "a": ("3 * int16", [1, -2, 3], [0, 0, 0]),
    "o": ("?float64", 4.5, None),
    "r": ("{a: int32, b: var * int8}", {"a": 1, "b": [1, 2]}, {"a": 0, "b": []}),
    "m": ("2 * 2 * var * int32", [[[1], []], [[2, 3], [4]]], [[[], []], [[], []]]),
    "h": ("Real32Trunc<20>", 0.5, 0.0),
    "j": ("var * {q: int32, t: string}", [{"q": 1, "t": "x"}], []),
    "p.phi": ("float32", 0.25, 0.0),
    "p.hits": ("var * int32", [3, 4], []),
}
BEFORE = {"x": [1.0, 2.0], "p": [{"pt": 1.5}, {"pt": 2.5}], "l": [[1], []]}
TYPES = {"x": "float32", "p": "{pt: float64}", "l": "var * int32"}


def plain(value):
    """As JSON has it: without tuples, and members of records in one order."""
    if isinstance(value, dict):
        return {name: plain(v) for name, v in sorted(value.items())}
    return [plain(v) for v in value] if isinstance(value, (list, tuple)) else value


def by_root(folder, path, name="n"):
    """The entries as ROOT reads them; numbers are in hexadecimal."""
    out = folder / "values"
    root = Path(sys.executable).parent / "root"
    call = f'{VALUES}("{path}", "{name}", 100000, "{out}")'
    words = [root, "-l", "-b", "-q", call]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
    lines = out.read_text().splitlines() if out.exists() else []
    assert lines and lines[-1] == "done", done.stderr[-2000:]
    out.unlink()
    return [plain(numbers(json.loads(line))) for line in lines[:-1]]


def numbers(value):
    if isinstance(value, str) and "0x" in value:
        return float.fromhex(value)
    if isinstance(value, dict):
        return {name: numbers(v) for name, v in value.items()}
    return [numbers(v) for v in value] if isinstance(value, list) else value


def read(path, name="n"):
    """The entries, which uproot reads in the same way."""
    with ours.open(path) as own, uproot.open(path) as other:
        found = own[name].arrays()
        assert str(found.type) == str(other[name].arrays().type)
        assert plain(ak.to_list(other[name].arrays())) == plain(ak.to_list(found))
    return plain(ak.to_list(found))


def row(entry, later=()):
    """The values of an entry with added fields; of `later` ones there were none yet."""
    made = {"x": 3.0, "p": {"pt": 9.0}, "l": [5, 6]}
    for path, (_, there, before) in ADDED.items():
        above, _, name = path.rpartition(".")
        (made[above] if above else made)[name] = before if path in later or entry == "before" else there
    return made


def add_all(ntuple, names=ADDED):
    ntuple.add_fields({name: ADDED[name][0] for name in names})


@pytest.mark.parametrize("codec", [None, "zstd:5"])
@pytest.mark.parametrize("reopened", [False, True])
def test_entries_before_are_zero_or_empty(tmp_path, codec, reopened, root_here):
    path = tmp_path / "n.root"
    with sapwood.recreate(path, compression=codec) as file:
        ntuple = file.mkntuple("n", TYPES)
        ntuple.extend(BEFORE)
        if not reopened:
            add_all(ntuple)
            ntuple.extend(ak.Array([row("there")]))
    if reopened:
        with sapwood.update(path) as file:
            add_all(file["n"])
        assert len(read(path)) == 2 and read(path)[1]["p"] == {"hits": [], "phi": 0.0, "pt": 2.5}
        with sapwood.update(path) as file:
            file["n"].extend(ak.Array([row("there")]))
    first = row("before") | {"x": 1.0, "l": [1]}
    first["p"]["pt"] = 1.5
    found = read(path)
    assert len(found) == 3 and found[0] == plain(first) and found[2] == plain(row("there"))
    assert by_root(tmp_path, path) == json.loads(json.dumps(found).replace("true", "1").replace("false", "0"))


def test_fields_in_several_steps(tmp_path, root_here):
    """Between appended entries, in one file that is open and in later ones; the ntuple keeps its one key."""
    path, names = tmp_path / "n.root", list(ADDED)
    with sapwood.recreate(path) as file:
        ntuple = file.mkntuple("n", TYPES)
        ntuple.extend(BEFORE)
        add_all(ntuple, names[:4])
        ntuple.flush()
        add_all(ntuple, names[4:6])
    for i in range(6, len(names)):
        with sapwood.update(path) as file:
            file["n"].extend({n: ak.Array([row("there")])[n] for n in file["n"].keys() if n != "p"} | part(file["n"]))
            add_all(file["n"], names[i : i + 1])
    found = read(path)
    assert len(found) == 2 + len(names) - 6
    for i, entry in enumerate(found[2:], 6):
        assert entry == plain(row("there", later=names[i:])), i
    assert by_root(tmp_path, path) == json.loads(json.dumps(found).replace("true", "1").replace("false", "0"))
    with sapwood.open(path) as file:
        assert file.keys() == ["n;1"]


def part(ntuple):
    """The record p with the members that it has so far."""
    members = [name for name, _ in ntuple._layout.branches["p"][2]]
    return {"p": ak.Array([row("there")["p"]])[members]}


def test_fields_before_any_entry_are_in_the_header(tmp_path, root_here):
    path = tmp_path / "n.root"
    with sapwood.recreate(path) as file:
        ntuple = file.mkntuple("n", TYPES)
        add_all(ntuple)
        ntuple.extend(ak.Array([row("there")]))
    assert read(path) == [plain(row("there"))]
    with uproot.open(path) as file:
        assert len(file["n"].header.field_records) == len(file["n"].field_records)
    assert len(by_root(tmp_path, path)) == 1


def test_an_ntuple_without_entries_gets_fields(tmp_path, root_here):
    path = tmp_path / "n.root"
    with sapwood.recreate(path) as file:
        file.mkntuple("n", TYPES)
    with sapwood.update(path) as file:
        add_all(file["n"])
    with sapwood.open(path) as file:
        assert file["n"].num_entries == 0 and "p.phi" in file["n"].keys()
    with sapwood.update(path) as file:
        file["n"].extend(ak.Array([row("there")]))
    assert read(path) == [plain(row("there"))] and len(by_root(tmp_path, path)) == 1


def test_descriptions_of_new_fields(tmp_path):
    path = tmp_path / "n.root"
    with sapwood.recreate(path) as file:
        ntuple = file.mkntuple("n", TYPES)
        ntuple.extend(BEFORE)
        ntuple.add_fields({"p.phi": "f4", "j": "var * {q: int32}"}, {"p.phi": "angle", "j.q": "charge", "j": "jets"})
    with sapwood.open(path) as file:
        assert [file["n"][name].title for name in ("p.phi", "j", "j.q")] == ["angle", "jets", "charge"]


def test_wrong_fields_are_refused_and_nothing_is_added(tmp_path):
    path = tmp_path / "n.root"
    with sapwood.recreate(path) as file:
        ntuple = file.mkntuple("n", {**TYPES, "t": "(int32, float32)", "jets": "var * {pt: float32}"})

        def refused(fields, error, words):
            with pytest.raises(error, match=words):
                ntuple.add_fields(fields)

        refused({"x": "f8"}, ValueError, "x already exists")
        refused({"p.pt": "f8"}, ValueError, "p.pt already exists")
        refused({"ok": "f8", "p.ok": "f8", "p.pt": "f8"}, ValueError, "already exists")
        refused({"q.a": "f8"}, KeyError, "field q not found")
        refused({"p.q.a": "f8"}, KeyError, "field p.q not found")
        refused({"x.a": "f8"}, ValueError, "x of type float32 is not a record")
        refused({"jets.eta": "f8"}, ValueError, "jets of type var .* is not a record")
        refused({"t.a": "f8"}, ValueError, "is not a record")
        refused({"p.": "f8"}, ValueError, 'a name in "p." is empty')
        refused({"p._0": "f8"}, ValueError, "ROOT gives it to items")
        refused({"d": "datetime64[s]"}, NotImplementedError, "cannot be stored")
        refused({"z": "2 * {a: int32}"}, NotImplementedError, "fixed arrays of records")
        ntuple.add_fields({})
        entry = {"x": [1.0], "p": [{"pt": 1.0}], "l": [[1]], "t": [(1, 2.0)], "jets": [[{"pt": 3.0}]]}
        ntuple.extend(entry)
        # several at once, of which one is below another
        ntuple.add_fields({"new": "{a: int32}", "new.b": "var * int32"})
        with pytest.raises(ValueError, match="field new is missing"):
            ntuple.extend(entry)
        ntuple.extend(entry | {"new": [{"a": 1, "b": [2]}]})
    with sapwood.open(path) as file:
        assert ak.to_list(file["n"].arrays(["new.a", "new.b"])["new.b"]) == [[], [2]]
        assert "ok" not in file["n"].keys()


def test_arrays_of_too_many_items(tmp_path):
    with sapwood.recreate(tmp_path / "n.root") as file:
        ntuple = file.mkntuple("n", {"x": "u1"})
        ntuple.extend({"x": np.zeros(100_000, "u1")})
        with pytest.raises(NotImplementedError, match="too many items in 100000 entries"):
            ntuple.add_fields({"a": f"{1 << 26} * {1 << 26} * float32"})


def test_several_pages_and_clusters(tmp_path):
    path, n = tmp_path / "n.root", 20_000
    with sapwood.recreate(path) as file:
        ntuple = file.mkntuple("n", {"x": "int32"}, page_size="1 kB", cluster_size="20 kB")
        ntuple.extend({"x": np.arange(n)})
        ntuple.add_fields({"y": "int64", "l": "var * int16", "a": "5 * float32"})
        lists = ak.unflatten(np.arange(2 * n).astype("i2"), np.full(n, 2))
        ntuple.extend({"x": np.arange(n), "y": np.arange(n), "l": lists, "a": np.ones((n, 5), "f4")})
    with sapwood.open(path) as file, uproot.open(path) as other:
        assert len(file["n"].clusters) > 4
        found = file["n"].arrays()
        assert found["y"].tolist() == [0] * n + list(range(n))
        assert ak.all(found["a"][:n] == 0) and ak.all(found["a"][n:] == 1)
        assert ak.all(ak.num(found["l"][:n]) == 0) and ak.array_equal(found["l"][n:], lists)
        assert ak.array_equal(found, other["n"].arrays())
        for start, stop in ((n - 3, n + 3), (0, 10), (2 * n - 5, 2 * n)):
            assert ak.array_equal(file["n"].arrays(entry_start=start, entry_stop=stop), found[start:stop])


def test_a_writer_that_is_killed_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "n.root"
    with sapwood.recreate(path) as file:
        file.mkntuple("n", TYPES).extend(BEFORE)
    before = path.read_bytes()
    script = (
        "import os, sapwood, sys\n"
        "file = sapwood.update(sys.argv[1])\n"
        "file['n'].add_fields({'y': 'var * f4'})\n"
        "file['n'].extend({'x': [1], 'p': [{'pt': 1}], 'l': [[1]], 'y': [[2]]})\n"
        "file['n'].flush()\n"
        "os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, timeout=120)
    assert done.returncode == -9, done.stderr
    # an update writes behind the end and into free space
    with sapwood.open(path) as file:
        assert file["n"].keys() == ["x", "p", "p.pt", "l"] and file["n"].num_entries == 2
    assert path.read_bytes()[: len(before)] == before
    with sapwood.update(path) as file:
        file["n"].add_fields({"y": "var * f4"})
    assert read(path)[1]["y"] == []


def test_a_new_file_whose_writer_is_killed_has_the_fields_of_its_last_cluster(tmp_path):
    script = (
        "import os, sapwood\n"
        "file = sapwood.recreate('k.root')\n"
        "ntuple = file.mkntuple('n', {'x': 'int64'}, cluster_size='1 kB', auto_save=1)\n"
        "ntuple.extend({'x': range(2000)})\n"
        "ntuple.add_fields({'y': 'var * int32'})\n"
        "ntuple.extend({'x': range(2000), 'y': [[1, 2]] * 2000})\n"
        "ntuple.add_fields({'z': 'f4'})\n"
        "os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=120, cwd=tmp_path)
    assert done.returncode == -9, done.stderr
    (part,) = tmp_path.iterdir()
    found = read(part)
    assert len(found) > 2000 and found[1999] == {"x": 1999, "y": []} and found[-1]["y"] == [1, 2]


#: Types, a value for a number, and what is there before.
KINDS = {
    "int32": (lambda i: i, 0),
    "string": (lambda i: "x" * (i % 4), ""),
    "var * int16": (lambda i: list(range(i % 3)), []),
    "2 * uint8": (lambda i: [i % 200, 1], [0, 0]),
    "?int64": (lambda i: i if i % 3 else None, None),
    "{u: int32, w: var * float32}": (lambda i: {"u": i, "w": [0.5] * (i % 2)}, {"u": 0, "w": []}),
    "var * var * int32": (lambda i: [[i] * (i % 2), []][: i % 3], []),
}


@pytest.mark.parametrize("seed", range(8))
def test_any_order_of_fields_and_entries(tmp_path, seed):
    """Beside a list of rows that get the fields, too."""
    random, path = np.random.default_rng(seed), tmp_path / "n.root"
    rows, fields = [], {"x": "int32"}

    def act(ntuple):
        what = random.integers(3)
        if what == 0:
            new = {
                f"f{len(fields) + i}": list(KINDS)[random.integers(len(KINDS))] for i in range(random.integers(1, 4))
            }
            ntuple.add_fields(new)
            fields.update(new)
            for row in rows:
                row.update({name: KINDS[kind][1] for name, kind in new.items()})
        elif what == 1:
            ntuple.flush()
        n = len(rows)
        batch = [{name: KINDS[kind][0](n + i) for name, kind in fields.items()} for i in range(random.integers(40))]
        rows.extend(batch)
        ntuple.extend({name: [row[name] for row in batch] for name in fields})

    sizes = {
        "page_size": [64, "1 MB"][seed % 2],
        "cluster_size": ["1 kB", "10 MB"][seed // 2 % 2],
        "auto_save": seed % 3,
    }
    with sapwood.recreate(path, compression=[None, "zstd:5", "lz4:4"][seed % 3]) as file:
        ntuple = file.mkntuple("n", fields, **sizes)
        for _ in range(random.integers(4)):
            act(ntuple)
    for _ in range(3):
        with sapwood.update(path) as file:
            for _ in range(random.integers(4)):
                act(file["n"])
    assert read(path) == plain(rows)
    sapwood.merge(tmp_path / "twice.root", [path, path])
    assert read(tmp_path / "twice.root") == plain(rows + rows)


def test_abandoned_fields(tmp_path):
    path = tmp_path / "n.root"
    with sapwood.recreate(path) as file:
        file.mkntuple("n", TYPES).extend(BEFORE)
    file = sapwood.update(path)
    file["n"].add_fields({"y": "f4"})
    file.abandon()
    with sapwood.open(path) as file:
        assert "y" not in file["n"].keys()


def test_a_second_writer_waits_its_turn(tmp_path):
    path = tmp_path / "n.root"
    with sapwood.recreate(path) as file:
        file.mkntuple("n", TYPES).extend(BEFORE)
    with sapwood.update(path) as file:
        file["n"].add_fields({"y": "f4"})
        with pytest.raises(sapwood.Error, match="another"):
            sapwood.update(path)
    with sapwood.update(path) as file:
        file["n"].add_fields({"z": "f4"})
    assert read(path)[0] == {"l": [1], "p": {"pt": 1.5}, "x": 1.0, "y": 0, "z": 0}


def test_producers_and_fields(tmp_path):
    """Producers know the fields that there were when their merger began; new ones come before or after it."""
    path = tmp_path / "n.root"
    with sapwood.recreate(path) as file:
        ntuple = file.mkntuple("n", {"x": "f4"})
        ntuple.extend({"x": [1.0]})
        ntuple.add_fields({"y": "var * int32"})
        with ntuple.merger() as merger:
            with pytest.raises(ValueError, match="close their merger first"):
                ntuple.add_fields({"z": "f4"})
            with merger.producer() as producer:
                producer.extend({"x": [2.0], "y": [[3]]})
    assert read(path) == [{"x": 1.0, "y": []}, {"x": 2.0, "y": [3]}]


def test_roots_own_late_fields_are_extended(tmp_path, macro):
    """ROOT added fields within a cluster."""
    macro("ntuples.C", tmp_path)
    path = tmp_path / "late.root"
    before = read(path)
    with sapwood.update(path) as file:
        file["n"].extend({"first": [1000], "number": [0.5], "list": [[1, 2]]})
        file["n"].add_fields({"extra": "var * string"})
        file["n"].extend({"first": [1001], "number": [1.5], "list": [[]], "extra": [["a", "bc"]]})
    found = read(path)
    assert [{n: v for n, v in entry.items() if n != "extra"} for entry in found[:500]] == before
    assert found[500] == {"extra": [], "first": 1000, "list": [1, 2], "number": 0.5}
    assert found[501] == {"extra": ["a", "bc"], "first": 1001, "list": [], "number": 1.5}
    assert by_root(tmp_path, path) == found


def test_uproot_continues_what_we_extended(tmp_path, root_here):
    """A file of uproot keeps its version, by which uproot knows what to write behind."""
    path = tmp_path / "n.root"
    with uproot.recreate(path) as file:
        file.mkrntuple("n", {"x": np.float32([1, 2]), "l": ak.Array([[1], []])})
    with sapwood.update(path) as file:
        file["n"].add_fields({"y": "int32"})
    with uproot.update(path) as file:
        file["n"].extend({"x": np.float32([9]), "l": ak.Array([[7]]), "y": np.int32([5])})
    # uproot 5.7.7 loses entries that it appended before in the same session
    with uproot.update(path) as file:
        file["n"].add_fields({"w": np.float64})
    with sapwood.update(path) as file:
        file["n"].extend({"x": [10], "l": [[8, 8]], "y": [6], "w": [1.25]})
    found = read(path)
    assert [entry["y"] for entry in found] == [0, 0, 5, 6] and [e["w"] for e in found] == [0, 0, 0, 1.25]
    assert by_root(tmp_path, path) == found


def test_merged_and_optimized(tmp_path, root_here):
    late, whole = tmp_path / "late.root", tmp_path / "whole.root"
    with sapwood.recreate(late) as file:
        ntuple = file.mkntuple("n", TYPES)
        ntuple.extend(BEFORE)
        add_all(ntuple)
        ntuple.extend(ak.Array([row("there")]))
    with sapwood.recreate(whole) as file:
        ntuple = file.mkntuple("n", TYPES)
        add_all(ntuple)
        ntuple.extend(ak.Array([row("there"), row("there")]))
    one, other = read(late), read(whole)
    cases = (([late, whole], one + other), ([whole, late], other + one), ([late, late], one + one))
    for i, (inputs, wanted) in enumerate(cases):
        out = tmp_path / f"out{i}.root"
        sapwood.merge(out, inputs)
        assert read(out) == wanted
        assert len(by_root(tmp_path, out)) == len(wanted)
    optimized = tmp_path / "optimized.root"
    sapwood.optimize(late, optimized)
    assert read(optimized) == one
    shutil.copy(late, tmp_path / "again.root")
    with sapwood.update(late) as file:
        file["n"].add_fields({"more": "f4"})
    with pytest.raises(ValueError, match="more"):
        sapwood.merge(tmp_path / "none.root", [late, tmp_path / "again.root"])


class TestAsInUproot:
    """`sapwood.uproot` beside uproot."""

    def test_records_by_their_bare_name(self, tmp_path):
        path = tmp_path / "n.root"
        data = ak.Array([{"a": {"x": 1.0}, "b": {"a": {"y": 2.0}, "c": {"z": 1}}}])
        with ours.recreate(path) as file:
            file["n"] = data
        with ours.update(path) as file:
            with pytest.raises(ValueError, match="ambiguous"):
                file["n"].add_fields({"a.new": np.float32})
            with pytest.raises(ValueError, match="not found"):
                file["n"].add_fields({"none.new": np.float32})
            file["n"].add_fields({"c.new": np.float32, "b.a.new": np.int64})
        assert read(path) == [{"a": {"x": 1.0}, "b": {"a": {"new": 0, "y": 2.0}, "c": {"new": 0.0, "z": 1}}}]

    def test_fields_of_a_batch(self, tmp_path):
        path = tmp_path / "n.root"
        with ours.recreate(path) as file:
            file["n"] = {"x": np.float32([1, 2])}
        with ours.update(path) as file:
            ntuple = file["n"]
            with pytest.raises(ValueError, match="not in this RNTuple: l, y"):
                ntuple.extend({"x": [3.0], "l": [[1]], "y": ["a"]})
            with pytest.raises(ValueError, match="2 values"):
                ntuple.extend({"x": [3.0], "l": [[1], [2]]}, accept_new_fields=True)
            # it was added to the record, and then refused
            with pytest.raises(ValueError, match=r"members are given in their records; .* pass it in p"):
                ntuple.extend({"x": [3.0], "p": [{"a": 1}], "p.b": [2]}, accept_new_fields=True)
            assert ntuple.keys() == ["x"]
            ntuple.extend({"x": [3.0], "l": [[1]], "y": ["a"]}, accept_new_fields=True)
            ntuple.extend({"x": [4.0], "l": [[]], "y": ["b"]})
        assert [(e["l"], e["y"]) for e in read(path)] == [([], ""), ([], ""), ([1], "a"), ([], "b")]
