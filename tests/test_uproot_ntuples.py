"""Ntuples through `sapwood.uproot`, beside uproot: tables, filters of fields, files with different fields, writing."""

import awkward as ak
import numpy as np
import pytest

import sapwood
import sapwood.uproot as ours

uproot = pytest.importorskip("uproot", minversion="5.7")

RECORDS = ak.Array(
    [
        {
            "rec": {"x": k, "lst": [0.5] * k},
            "jets": [{"pt": float(k), "tags": [j] * j} for j in range(k % 4)],
            "deep": [[{"q": k}], []],
            "z": k,
        }
        for k in range(30)
    ]
)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """An ntuple that uproot has written, in several clusters."""
    path = str(tmp_path_factory.mktemp("ntuple") / "n.root")
    with uproot.recreate(path) as file:
        ntuple = file.mkrntuple("nt", RECORDS[:10])
        ntuple.extend(RECORDS[10:])
    return path


SELECTIONS = [
    {},
    {"filter_name": "rec"},
    {"filter_name": "rec.x"},
    {"filter_name": "rec.*"},
    {"filter_name": ["rec", "rec.x", "z"]},
    {"filter_name": "jets.pt"},
    {"filter_name": "jets.tags"},
    {"filter_name": "/(jets|deep)\\..*/"},
    {"filter_name": "deep.q"},
    {"filter_name": "pt"},
    {"filter_typename": "double"},
    {"filter_field": lambda field: field.path in ("rec.lst", "jets.pt")},
    {"expressions": ["rec.x", "jets"]},
    {"expressions": "*.pt"},
]


@pytest.mark.parametrize("selection", SELECTIONS, ids=lambda s: "-".join(s) or "all")
def test_tables_are_those_of_uproot(written, selection):
    with uproot.open(written) as file, ours.open(written) as other:
        theirs, own = file["nt"], other["nt"]
        expected = theirs.arrays(**selection)
        made = own.arrays(**selection)
        assert str(made.type) == str(expected.type)
        assert ak.array_equal(made, expected)
        part = {"entry_start": 7, "entry_stop": 23}
        assert ak.array_equal(own.arrays(**selection, **part), theirs.arrays(**selection, **part))
        steps = list(own.iterate(**selection, step_size=7))
        assert [len(step) for step in steps] == [7, 7, 7, 7, 2]
        assert ak.array_equal(ak.concatenate(steps), expected)
        if "expressions" not in selection:
            assert own.keys(**selection) == theirs.keys(**selection)
    several = {"expressions": None, **selection}
    assert ak.array_equal(ours.concatenate({written: "nt"}, **several), expected)
    assert ak.array_equal(ak.concatenate(list(ours.iterate({written: "nt"}, **several))), expected)


def test_fields_are_those_of_uproot(written):
    with uproot.open(written) as file, ours.open(written) as other:
        theirs, own = file["nt"], other["nt"]
        assert own.typenames() == theirs.typenames()
        assert [type(field).__name__ for field in own.fields] == ["RField"] * 4
        for name, field in theirs.items():
            assert ak.array_equal(own[name].array(), field.array()), name
        assert own["rec"].keys() == theirs["rec"].keys()
        form, path = own.to_akform(filter_name="jets.pt")
        assert str(form.type) == "{jets: var * {pt: float64}}" and path is None
        assert len(own) == len(theirs) == 4
        for name, filters in (("rec", {}), ("rec", {"filter_name": "x"}), ("jets", {}), ("rec.lst", {})):
            a, b = (nt[name].to_akform(**filters) for nt in (own, theirs))
            assert (str(a[0].type), a[1]) == (str(b[0].type), b[1])
        for name in ("rec", "jets"):
            table = own.arrays(filter_name=name, library="np")[name]
            assert repr(table.tolist()) == repr(own[name].array(library="np").tolist()) and len(table) == 30


def test_a_cut_and_rows_apply_to_nested_fields(written):
    with ours.open(written) as file:
        ntuple = file["nt"]
        made = ntuple.arrays(["jets.pt", "rec.x"], "z > 25")
        assert made.tolist() == [{"rec": {"x": k}, "jets": [{"pt": float(k)}] * (k % 4)} for k in (26, 27, 28, 29)]
        assert ntuple.arrays(["jets.pt"], entries=[3, 1]).tolist() == [
            {"jets": [{"pt": 3.0}] * 3}, {"jets": [{"pt": 1.0}]}
        ]  # fmt: skip
        assert ntuple.arrays(["z + 1"], "z > 28").tolist() == [{"z + 1": 30}]


def test_optional_records_and_variants(tmp_path):
    path = str(tmp_path / "o.root")
    data = ak.Array({"o": [{"a": 1, "b": 2.5}, None, {"a": 3, "b": 4.5}], "v": [1.5, "text", 2.5]})
    with uproot.recreate(path) as file:
        file.mkrntuple("nt", data)
    with uproot.open(path) as file, ours.open(path) as other:
        for names in ("o", "o.a", "v"):
            expected = file["nt"].arrays(filter_name=names)
            assert other["nt"].arrays(filter_name=names).tolist() == expected.tolist(), names


def test_sapwoods_own_interface_has_the_fields_with_values(written):
    with sapwood.open(written) as file:
        assert file["nt"].arrays().fields == ["rec.x", "rec.lst", "jets.pt", "jets.tags", "deep.q", "z"]
        assert ak.array_equal(file["nt"].arrays(filter_name="rec").rec, RECORDS.rec)


def test_the_filter_of_fields_is_not_ignored(written):
    made = sapwood.concatenate({written: "nt"}, filter_field=lambda field: field.name == "z")
    assert made.fields == ["z"]


def test_names_of_types_are_uproots_in_several_files(tmp_path):
    """A split map is a group of branches: uproot's name of its type selects it, not its parts."""
    path = str(tmp_path / "t.root")
    with sapwood.recreate(path) as file:
        file.mktree("t", {"i": "int32", "m": "map<string,int>"}).extend({"i": [1], "m": [{"a": 1}]})
    with uproot.open(path) as file:
        spelled = file["t/m"].typename
        expected = file["t"].arrays(filter_typename=spelled)
    assert expected.fields == ["m"]
    assert ours.concatenate({path: "t"}, filter_typename=spelled).m.fields == ["m.first", "m.second"]
    with ours.open(path) as file:
        assert file["t"].arrays(filter_name="m").fields == ["m"]


def test_dask_reads_nested_fields(written):
    pytest.importorskip("dask_awkward")
    made = ours.dask({written: "nt"}, steps_per_file=3)
    assert made.fields == ["rec", "jets", "deep", "z"]
    assert ak.array_equal(made.compute(), RECORDS)
    assert ak.array_equal(made.jets.pt.compute(), RECORDS.jets.pt)
    only = ours.dask({written: "nt"}, filter_name=["rec.x", "jets.tags"]).compute()
    assert only.rec.fields == ["x"] and ak.array_equal(only.jets.tags, RECORDS.jets.tags)


@pytest.mark.parametrize("kind", ["mkrntuple", "mktree"])
def test_dask_reads_what_all_files_have(tmp_path, kind):
    pytest.importorskip("dask_awkward")
    files = []
    for name, other in (("a", "y"), ("b", "z")):
        path = str(tmp_path / f"{name}.root")
        with uproot.recreate(path) as file:
            getattr(file, kind)("t", {"x": np.arange(3), other: np.arange(3)})
        files.append({path: "t"})
    assert (
        ours.dask(files).compute().tolist()
        == uproot.dask(files).compute().tolist()
        == [{"x": 0}, {"x": 1}, {"x": 2}] * 2
    )
    with pytest.raises(KeyError, match="'y'"):
        sapwood.dask(files).compute()


def test_tables_are_written_as_ntuples(tmp_path):
    """As uproot does since 5.7; a tree is written by mktree."""
    path = str(tmp_path / "w.root")
    data = ak.Array({"a": [1, 2, 3], "b": [[1.5], [], [2.5]]})
    with ours.recreate(path) as file:
        file["dict"] = {"a": [1, 2, 3]}
        file["array"] = data
        file["sliced"] = data[data.a > 1]
        file["form"] = data.layout.form
        file["text"] = {"words": ("int32", "not a type")}
        made = file.mkrntuple("more", data)
        assert type(made).__name__ == "WritableNTuple" and made.object_path == "/more"
        made.extend(data)
        with pytest.raises(ValueError, match="no columns"):
            file["types"] = {"a": "int32"}
        for wrong in (data.layout.contents[0], data.layout.contents[0].form):
            with pytest.raises(TypeError):
                file["wrong"] = wrong
    with uproot.open(path) as file:
        assert set(file.classnames().values()) == {"ROOT::RNTuple"}
        assert file["dict"].arrays().tolist() == [{"a": 1}, {"a": 2}, {"a": 3}]
        assert file["array"].arrays().tolist() == data.tolist()
        assert file["sliced"].arrays().tolist() == data[1:].tolist()
        assert file["form"].num_entries == 0 and file["form"].keys() == ["a", "b"]
        assert file["text"].arrays().words.tolist() == ["int32", "not a type"]
        assert file["more"].arrays().tolist() == data.tolist() * 2
        assert "types" not in file and "wrong" not in file


def test_tuples_are_types_only_where_numpy_takes_them(tmp_path):
    with ours.recreate(tmp_path / "a.root") as file:
        file.mktree("types", {"x": ("int32", (2,))})
        file.mktree("data", {"x": ("int32", "not a type")})
    with ours.open(tmp_path / "a.root") as file:
        assert file["types"].num_entries == 0
        assert file["data/x"].array().tolist() == ["int32", "not a type"]
    with sapwood.recreate(tmp_path / "b.root") as file, pytest.raises(sapwood.UnsupportedError, match="branch x"):
        file.mktree("t", {"x": ("int32", "not a type")})


def test_a_field_of_a_record_that_is_named_like_a_counter_is_refused(tmp_path):
    lists = ak.Array([[1.5], []])
    with ours.recreate(tmp_path / "a.root") as file, pytest.raises(ValueError, match="collides"):
        file.mktree("t", {"n": {"x": np.int32}, "x": lists.type}, field_name=lambda outer, inner: outer + inner)


MIXED = {
    "optional records": [{"a": 1, "b": 2.5}, None, {"a": 3, "b": 4.5}],
    "lists of optional records": [[{"a": 1}, None], [], [None]],
    "optional lists of records": [[{"a": 1}], None, []],
    "records in tuples": [(1, {"a": 1, "b": [2.5]}), (2, {"a": 5, "b": []})],
    "tuples of tuples": [((1, {"a": 1}), 2.5), ((2, {"a": 5}), 3.5)],
    "records of optional records": [{"x": {"a": 1}, "y": 1}, {"x": None, "y": 2}],
    "optional numbers in records": [{"x": 1, "y": None}, {"x": None, "y": "text"}],
}


@pytest.mark.parametrize("case", MIXED)
def test_values_that_may_be_missing_are_written_as_by_uproot(tmp_path, case):
    """As data, and as types with entries in several calls."""
    data = ak.Array({"field": MIXED[case]})
    read = []
    for module in (uproot, ours):
        path = str(tmp_path / f"{module.__name__}.root")
        with module.recreate(path) as file:
            file["nt"] = {"field": data.field}
            more = file.mkrntuple("more", {"field": data.field})
            more.extend({"field": data.field})
            more.extend({"field": data.field[:1]})
        for reader in (uproot, ours):
            with reader.open(path) as file:
                read += [(file[name].arrays().tolist(), file[name].typenames()) for name in ("nt", "more")]
                read[-1][0].append(str(file["nt"].arrays().type))
    assert read[:2] == read[2:4] == read[4:6] == read[6:]


def test_variants_without_a_value(tmp_path):
    values = [1, None, "text", None, 4]
    path = str(tmp_path / "v.root")
    with ours.recreate(path) as file:
        file["nt"] = {"v": ak.Array(values), "w": ak.Array([[1, None], [], ["x"], [], []])}
    for reader in (uproot, ours):
        with reader.open(path) as file:
            assert file["nt"].arrays().v.tolist() == values
            assert file["nt"].arrays().w.tolist() == [[1, None], [], ["x"], [], []]
            assert file["nt"]["v"].typename == "std::variant<std::int64_t,std::string>"


def test_what_root_could_not_read_is_refused(tmp_path):
    with ours.recreate(tmp_path / "r.root") as file:
        for data, words in (
            (ak.to_regular(ak.Array([[{"a": 1}], [{"a": 2}]])), "fixed arrays of records"),
            (ak.Array([1, {"a": 1}]), "values of several types, one of them a record"),
        ):
            with pytest.raises(sapwood.UnsupportedError, match=words):
                file["nt"] = {"x": data}
    # nor does Sapwood's own interface make lists of what was none
    given = {"x": ak.Array([{"a": 1}, None])}
    with sapwood.recreate(tmp_path / "s.root") as file, pytest.raises(sapwood.UnsupportedError, match="optional rec"):
        file.mkntuple("nt", given)


def documented_records():
    records = ak.Array(
        [
            {"b": True, "s": [{"x": 1, "y": [1, 2]}], "o": None, "r": {"z": "q"}},
            {"b": False, "s": [{"x": 1, "y": []}], "o": 3, "r": {"z": ""}},
        ]
    )
    top = records.layout
    top.parameters["__doc__"] = "all of it"
    for content, text in (
        (top.contents[0], "a boolean"),
        (top.contents[1].content, "a record in a list"),
        (top.contents[1].content.contents[0], "a member"),
        (top.contents[1].content.contents[1], "a list and its items"),
        (top.contents[2], "an option and its items"),
        (top.contents[3].contents[0], "text"),
    ):
        content.parameters["__doc__"] = text
    return records


def without_keys(form):
    """A form without the names of its buffers, and with indexes of 64 bits."""
    if isinstance(form, dict):
        index = {"offsets": "i64", "index": "i64"}
        return {
            name: index.get(name, without_keys(part))
            for name, part in form.items()
            if name != "form_key" and not (name == "parameters" and not part)
        }
    return [without_keys(part) for part in form] if isinstance(form, list) else form


@pytest.mark.parametrize("as_form", [False, True])
def test_descriptions_are_written_and_read_as_by_uproot(tmp_path, as_form):
    records = documented_records()
    paths = [str(tmp_path / f"{i}.root") for i in range(2)]
    for module, path in zip((uproot, ours), paths, strict=True):
        with module.recreate(path) as file:
            ntuple = file.mkrntuple("n", records.layout.form if as_form else records)
            if as_form:
                ntuple.extend(records)
    with uproot.open(paths[0]) as one, uproot.open(paths[1]) as other:
        told = [[(f.field_name, f.field_desc) for f in file["n"].field_records] for file in (one, other)]
        assert told[0] == told[1]
        assert one["n"].description == other["n"].description == "all of it"
    for path in paths:
        with uproot.open(path) as theirs, ours.open(path) as own:
            pairs = [(theirs["n"], own["n"]), (theirs["n"]["s"], own["n"]["s"]), (theirs["n"]["r"], own["n"]["r"])]
            for wanted in (True, {"typename": "typename", "path": "path", "doc": "description"}):
                for a, b in pairs:
                    forms = [x.arrays(ak_add_doc=wanted).layout.form.to_dict(verbose=False) for x in (a, b)]
                    assert without_keys(forms[0]) == without_keys(forms[1])
                forms = [
                    x["s"].array(ak_add_doc=wanted).layout.form.to_dict(verbose=False) for x in (theirs["n"], own["n"])
                ]
                assert without_keys(forms[0]) == without_keys(forms[1])


def test_a_description_of_no_field(tmp_path):
    with sapwood.recreate(tmp_path / "n.root") as file:
        with pytest.raises(KeyError, match="no field q to describe"):
            file.mkntuple("n", {"s": "var * {x: f4}"}, descriptions={"s.q": "none"})
        file.mkntuple("n", {"s": "var * {x: f4}"}, descriptions={"s.x": "by user's path"})
    with sapwood.open(tmp_path / "n.root") as file:
        assert file["n"]["s.x"].title == "by user's path"


def test_maps_of_records(tmp_path, macro):
    """ROOT's maps of objects are read and appended to. Maps of records without a class have no name in C++:
    `sapwood.uproot` writes lists of pairs, as uproot does, and `sapwood` refuses them."""
    macro("ntuple_maps.C", tmp_path, 0, compiled=True)
    path = tmp_path / "maps.root"
    with uproot.open(path) as file, ours.open(path) as own:
        records = own["n"].arrays()
        assert records.tolist() == file["n"].arrays().tolist()
        assert records["m"].layout.content.parameter("__array__") == "sorted_map"
    with sapwood.update(path) as file:
        file["n"].extend({"m": [{5: {"x": 1.5, "n": 3}, 2: {"x": 2.5, "n": 4}}, {}]})
        with pytest.raises(ValueError, match="key 1 more than once"):
            file["n"].extend({"m": [[(1, {"x": 1, "n": 2}), (1, {"x": 1, "n": 2})]]})
    (tmp_path / "done").unlink()
    macro("ntuple_maps.C", tmp_path, 1, compiled=True)
    assert (tmp_path / "values").read_text() == "|0:0,0 |0:0,0 10:0.5,1 |0:0,0 10:0.5,1 20:1,2 |2:2.5,4 5:1.5,3 ||"
    with uproot.open(path) as file:
        assert file["n"].arrays().tolist()[4:] == [{"m": [(5, {"x": 1.5, "n": 3}), (2, {"x": 2.5, "n": 4})]}, {"m": []}]
    paths = [tmp_path / "own.root", tmp_path / "uproots.root"]
    for module, made in zip((ours, uproot), paths, strict=True):
        with module.recreate(made) as file:
            file["n"] = records
    for module in (ours, uproot):
        with module.open(paths[0]) as one, module.open(paths[1]) as other:
            assert one["n"].typenames() == other["n"].typenames()
            assert one["n"].arrays().tolist() == other["n"].arrays().tolist() == records.tolist()
    with sapwood.recreate(tmp_path / "none.root") as file, pytest.raises(NotImplementedError, match="maps of records"):
        file.mkntuple("n", {"m": "map<int32, {x: float32}>"})
