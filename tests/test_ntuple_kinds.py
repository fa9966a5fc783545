"""Ntuples with optional values, tuples, several types, fewer bits; and ntuples that entries are appended to."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
import uproot

import sapwood

ak = pytest.importorskip("awkward")

N = 200
TYPES = {
    "o": "?float32",
    "os": "std::optional<std::string>",
    "lo": "var * ?int32",
    "p": "std::pair<int,double>",
    "t": "(int32, float64, string)",
    "w": "std::variant<int32,std::string>",
}


def rows(first, n=N):
    return {
        "o": [float(i) if i % 3 else None for i in range(first, first + n)],
        "os": [None if i % 4 else f"s{i}" for i in range(first, first + n)],
        "lo": [[k if k % 2 else None for k in range(i % 5)] for i in range(first, first + n)],
        "p": [(i, i / 4) for i in range(first, first + n)],
        "t": [(i, i / 8, str(i)) for i in range(first, first + n)],
        "w": [i if i % 2 else f"v{i}" for i in range(first, first + n)],
    }


#: Reads the fields above with ROOT's views and prints them as JSON.
ROOT_READS = r"""
import json, sys, ROOT
ROOT.gErrorIgnoreLevel = ROOT.kInfo
ROOT.gInterpreter.Declare('''
#include <ROOT/RNTupleReader.hxx>
#include <sstream>
std::string all(const char *path) {
    auto reader = ROOT::RNTupleReader::Open("n", path);
    auto o = reader->GetView<std::optional<float>>("o");
    auto os = reader->GetView<std::optional<std::string>>("os");
    auto lo = reader->GetView<std::vector<std::optional<std::int32_t>>>("lo");
    auto p = reader->GetView<std::pair<std::int32_t, double>>("p");
    auto t = reader->GetView<std::tuple<std::int32_t, double, std::string>>("t");
    auto w = reader->GetView<std::variant<std::int32_t, std::string>>("w");
    std::ostringstream s;
    s << "[";
    for (auto i : reader->GetEntryRange()) {
        if (i) s << ",";
        s << "{\\"o\\":"; if (o(i)) s << *o(i); else s << "null";
        s << ",\\"os\\":"; if (os(i)) s << '"' << *os(i) << '"'; else s << "null";
        s << ",\\"lo\\":[";
        const auto &list = lo(i);
        for (size_t k = 0; k < list.size(); ++k) { if (k) s << ","; if (list[k]) s << *list[k]; else s << "null"; }
        s << "],\\"p\\":[" << p(i).first << "," << p(i).second << "]";
        const auto &tuple = t(i);
        s << ",\\"t\\":[" << std::get<0>(tuple) << "," << std::get<1>(tuple) << ",\\"" << std::get<2>(tuple) << "\\"]";
        const auto &v = w(i);
        s << ",\\"w\\":";
        if (v.index() == 0) s << std::get<0>(v); else s << '"' << std::get<1>(v) << '"';
        s << "}";
    }
    s << "]";
    return s.str();
}
''')
print(ROOT.all(sys.argv[1]))
"""


def by_root(path, script=ROOT_READS):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, path], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Warning" not in done.stderr and "Error" not in done.stderr, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def expected(data):
    names = list(data)
    listed = [[list(v) if isinstance(v, tuple) else v for v in data[name]] for name in names]
    return [dict(zip(names, row, strict=True)) for row in zip(*listed, strict=True)]


@pytest.mark.parametrize("codec", [None, "zstd:5"])
def test_root_uproot_and_we_read_them(tmp_path, root_here, codec):
    path = tmp_path / "kinds.root"
    data = rows(0)
    with sapwood.recreate(path, compression=codec) as file:
        ntuple = file.mkntuple("n", TYPES)
        for first in (0, 77):
            ntuple.extend({name: values[first : 77 if first == 0 else N] for name, values in data.items()})
            ntuple.flush()
    ours, theirs = sapwood.open(path)["n"], uproot.open(path)["n"]
    for name, values in data.items():
        assert ak.to_list(ours[name].array()) == values, name
        # positions of variants count from the beginning of a cluster; uproot 5.7 takes them for those of the ntuple
        if name != "w":
            assert theirs[name].array().to_list() == values, name
        assert ours[name].typename == theirs[name].typename
    assert theirs["w"].array(entry_stop=77).to_list() == data["w"][:77]
    assert by_root(path) == expected(data)


def test_types_of_python_and_of_arrays(tmp_path):
    path = tmp_path / "python.root"
    option = ak.Array([1.5, None, 2.5])
    union = ak.Array([1, "two", 3])
    masked = np.ma.masked_array([1, 2, 3], [False, True, False])
    with sapwood.recreate(path) as file:
        declared = file.mkntuple("declared", {"a": float | None, "b": tuple[int, float], "c": int | str})
        declared.extend({"a": [None, 1.0], "b": [(1, 2.0), (3, 4.0)], "c": ["x", 2]})
        given = file.mkntuple("given", {"option": option, "union": union, "masked": masked})
        given.extend({"option": option, "union": union, "masked": masked})
        # values that are all there, and values of one of the types
        given.extend({"option": [1.0], "union": [7], "masked": [5]})
    read = sapwood.open(path)
    declared = {"a": [None, 1.0], "b": [(1, 2.0), (3, 4.0)], "c": ["x", 2]}
    assert {name: ak.to_list(read["declared"][name].array()) for name in declared} == declared
    assert ak.to_list(read["given"]["option"].array()) == [1.5, None, 2.5, 1.0]
    assert ak.to_list(read["given"]["union"].array()) == [1, "two", 3, 7]
    assert ak.to_list(read["given"]["masked"].array()) == [1, None, 3, 5]


def test_missing_values_of_tables(tmp_path):
    pa, pd = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    path = tmp_path / "tables.root"
    table = pa.table({"x": pa.array([1, None, 3]), "s": pa.array(["a", None, "c"])})
    frame = pd.DataFrame({"x": pd.array([1, None, 3], dtype="Int64")})
    with sapwood.recreate(path) as file:
        file.mkntuple("arrow", table).extend(table)
        file.mkntuple("pandas", {"x": "?int64"}).extend(frame)
        with pytest.raises(NotImplementedError, match="missing values"):
            file.mktree("t", table)
    read = sapwood.open(path)
    assert ak.to_list(read["arrow"]["x"].array()) == [1, None, 3] == ak.to_list(read["pandas"]["x"].array())
    assert ak.to_list(read["arrow"]["s"].array()) == ["a", None, "c"]


def test_fewer_bits_are_those_of_root(tmp_path, root_here):
    path = tmp_path / "precision.root"
    x = np.linspace(-5, 5, 1001).astype("f4")
    types = {"half": "Real16", "truncated": "Real32Trunc<20>", "quantized": "Real32Quant<12, -5, 5>"}
    with sapwood.recreate(path) as file:
        ntuple = file.mkntuple("n", types)
        ntuple.extend(dict.fromkeys(types, x))
        with pytest.raises(ValueError, match=r"5\.5 is not between -5 and 5"):
            ntuple.extend({"half": [1.0], "truncated": [1.0], "quantized": [5.5]})
    ours = sapwood.open(path)["n"].arrays(library="np")
    assert ours["half"].tolist() == x.astype("f2").astype("f4").tolist()
    assert ours["truncated"].tolist() == (x.view("u4") & 0xFFFFF000).view("f4").tolist()
    assert np.abs(ours["quantized"] - x).max() <= 10 / 4095 / 2 * 1.001
    script = "import json, sys, ROOT\na = ROOT.RDataFrame('n', sys.argv[1]).AsNumpy()\n"
    script += "print(json.dumps({k: v.tolist() for k, v in a.items()}))"
    theirs = by_root(path, script)
    for name in types:
        assert ours[name].tolist() == theirs[name], name


def test_entries_are_appended(tmp_path, root_here):
    path = tmp_path / "appended.root"
    with sapwood.recreate(path, compression="zstd:1") as file:
        file.mkntuple("n", TYPES).extend(rows(0))
        file["other"] = "text"
    for first in (N, 2 * N):
        with sapwood.update(path) as file:
            ntuple = file["n"]
            assert ntuple.num_entries == first
            ntuple.extend(rows(first))
            with pytest.raises(ValueError, match="missing from the batch"):
                ntuple.extend({"o": [1.0]})
    data = rows(0, 3 * N)
    ours, theirs = sapwood.open(path)["n"], uproot.open(path)["n"]
    assert ours.num_entries == theirs.num_entries == 3 * N
    for name, values in data.items():
        assert ak.to_list(ours[name].array()) == values, name
        # as above
        assert name == "w" or theirs[name].array().to_list() == values, name
    assert by_root(path) == expected(data)
    assert sorted(sapwood.open(path).keys()) == ["n;1", "other;1"]


WRITE_WITH_ROOT = r"""
import sys, ROOT
ROOT.gInterpreter.Declare('''
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <bitset>
void make(const char *path, bool odd) {
    auto model = ROOT::RNTupleModel::Create();
    auto x = model->MakeField<float>("x");
    auto v = model->MakeField<std::vector<std::int32_t>>("v");
    auto vv = model->MakeField<std::vector<std::vector<double>>>("vv");
    auto s = model->MakeField<std::string>("s");
    auto m = model->MakeField<std::map<std::string, float>>("m");
    if (odd) model->MakeField<std::bitset<11>>("bits");
    auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "n", path);
    for (int i = 0; i < 300; ++i) {
        *x = i; v->assign(i % 4, i); vv->assign(i % 3, std::vector<double>(i % 2, i)); *s = std::to_string(i);
        m->clear(); if (i % 2) (*m)["a"] = i;
        writer->Fill();
        if (i == 150) writer->CommitCluster();
    }
}
''')
ROOT.make(sys.argv[1], False)
ROOT.make(sys.argv[2], True)
print("null")
"""


def test_entries_are_appended_to_what_root_wrote(tmp_path, root_here):
    path, odd = tmp_path / "root.root", tmp_path / "odd.root"
    words = [sys.executable, "-W", "ignore", "-c", WRITE_WITH_ROOT, path, odd]
    subprocess.run(words, check=True, capture_output=True, timeout=600)

    def data(first, stop):
        return {
            "x": [float(i) for i in range(first, stop)],
            "v": [[i] * (i % 4) for i in range(first, stop)],
            "vv": [[[float(i)] * (i % 2)] * (i % 3) for i in range(first, stop)],
            "s": [str(i) for i in range(first, stop)],
            "m": [{"a": float(i)} if i % 2 else {} for i in range(first, stop)],
        }

    with sapwood.update(path) as file:
        file["n"].extend(data(300, 500))
    script = "import json, sys, ROOT\nd = ROOT.RDataFrame('n', sys.argv[1])\n"
    script += (
        "d = d.Define('k', 'double t = s.size(); for (auto i : v) t += i; for (auto &l : vv) for (auto y : l) t += y;"
    )
    script += " for (auto &p : m) t += p.second; return t + x;')\n"
    script += "print(json.dumps([d.Count().GetValue(), d.Sum('k').GetValue()]))"
    whole = data(0, 500)
    total = sum(map(len, whole["s"])) + sum(map(sum, whole["v"])) + sum(whole["x"])
    total += sum(sum(map(sum, lists)) for lists in whole["vv"]) + sum(sum(m.values()) for m in whole["m"])
    assert by_root(path, script) == [500, total]
    theirs = uproot.open(path)["n"].arrays(["x", "v", "vv", "s"]).to_list()
    assert theirs == [
        dict(zip(["x", "v", "vv", "s"], row, strict=True)) for row in zip(*list(whole.values())[:4], strict=True)
    ]
    before = odd.read_bytes()
    with sapwood.update(odd) as file, pytest.raises(NotImplementedError, match="std::bitset<11> is not written"):
        file["n"]
    assert odd.read_bytes() == before


def test_opening_an_ntuple_without_appending_leaves_it(tmp_path):
    path = tmp_path / "kept.root"
    with sapwood.recreate(path) as file:
        file.mkntuple("n", {"x": "f4"}).extend({"x": [1.0]})
    with sapwood.update(path) as file:
        assert file["n"].num_entries == 1
    assert sapwood.open(path)["n"]["x"].array(library="np").tolist() == [1.0]


def test_a_failed_update_leaves_the_ntuple_as_it_was(tmp_path):
    path = tmp_path / "failed.root"
    with sapwood.recreate(path) as file:
        file.mkntuple("n", {"x": "f4"}).extend({"x": [1.0]})
    before = path.read_bytes()

    def update():
        with sapwood.update(path) as file:
            file["n"].extend({"x": [2.0]})
            raise RuntimeError

    with pytest.raises(RuntimeError):
        update()
    assert sapwood.open(path)["n"]["x"].array(library="np").tolist() == [1.0]
    assert path.read_bytes()[: len(before)] == before


def test_what_cannot_be_is_refused(tmp_path):
    with sapwood.recreate(tmp_path / "refused.root") as file:
        with pytest.raises(NotImplementedError, match="optional records"):
            file.mkntuple("n", {"o": "?{x: float32}"})
        with pytest.raises(ValueError, match="choose 10 to 31 bits"):
            file.mkntuple("n", {"x": "Real32Trunc<5>"})
        with pytest.raises(NotImplementedError, match="write Real16"):
            file.mkntuple("n", {"x": "Real32Quant<5>"})
        with pytest.raises(NotImplementedError, match="missing values"):
            file.mktree("t", {"x": [1, None]})
        ntuple = file.mkntuple("n", {"x": "f4"})
        with pytest.raises(ValueError, match="not optional"):
            ntuple.extend({"x": ak.Array([1.0, None])})


def test_doubles_of_fewer_bits_are_appended(tmp_path, root_here):
    path = tmp_path / "doubles.root"
    types = {
        "half": "float64 as Real16",
        "truncated": "float64 as Real32Trunc<20>",
        "quantized": "float64 as Real32Quant<32, 0, 10>",
    }
    x = np.linspace(0, 10, 11)
    with sapwood.recreate(path) as file:
        file.mkntuple("n", types).extend(dict.fromkeys(types, x))
    with sapwood.update(path) as file:
        file["n"].extend(dict.fromkeys(types, x / 3))
    ours = sapwood.open(path)["n"].arrays(library="np")
    expected = np.concatenate([x, x / 3])
    assert {name: ours[name].dtype for name in types} == dict.fromkeys(types, np.dtype("f8"))
    # more exact than single precision
    assert np.abs(ours["quantized"] - expected).max() <= 10 / (2**32 - 1) / 2 * 1.001
    script = "import json, sys, ROOT\na = ROOT.RDataFrame('n', sys.argv[1]).AsNumpy()\n"
    script += "print(json.dumps({k: v.tolist() for k, v in a.items()}))"
    theirs = by_root(path, script)
    for name in types:
        assert ours[name].tolist() == theirs[name], name


def test_dicts_are_maps_within_tuples_arrays_and_values_of_several_types(tmp_path):
    path = tmp_path / "maps.root"
    types = {
        "in_tuple": tuple[dict[str, int], int],
        "in_array": "2 * map<string,int>",
        "in_union": dict[str, int] | int,
    }
    with sapwood.recreate(path) as file:
        file.mkntuple("n", types).extend(
            {
                "in_tuple": [({"a": 1}, 2), ({}, 3)],
                "in_array": [[{"a": 1}, {"b": 2, "c": 3}], [{}, {}]],
                "in_union": [{"a": 1}, 3],
            }
        )
    read = {name: ak.to_list(sapwood.open(path)["n"][name].array()) for name in types}
    assert read["in_tuple"] == [([("a", 1)], 2), ([], 3)]
    assert read["in_array"] == [[[("a", 1)], [("b", 2), ("c", 3)]], [[], []]]
    assert read["in_union"] == [[("a", 1)], 3]


def test_a_field_has_no_counter_and_no_stored_members(tmp_path):
    path = tmp_path / "a.root"
    with sapwood.recreate(path) as file:
        file.mkntuple("n", {"hits": "var * i4"}).extend({"hits": [[1, 2], []]})
    with sapwood.open(path) as file:
        field = file["n"]["hits"]
        assert field.count_branch is None and field.count_leaf is None
        with pytest.raises(sapwood.UnsupportedError, match="hits is a field of an ntuple"):
            field.member("fLeaves")
