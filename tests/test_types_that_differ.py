"""Files in which a branch has different types, joined: beside uproot, and in each library."""

from __future__ import annotations

import awkward as ak
import numpy as np
import pytest

import sapwood
import sapwood.uproot as ours

LISTS = ak.Array([[1.0, 2.0], [], [3.0]])
CASES = {
    "float, double": (np.array([0.5, 1, 2], "f4"), np.array([0.1, 1, 2])),
    "int32, int64": (np.array([1, 2, -3], "i4"), np.array([1, 2**60, -3])),
    "uint64, int64": (np.array([1, 2, 3], "u8"), np.array([1, 2, -3])),
    "int64, double": (np.array([1, 2, 3]), np.array([0.5, 1, 2])),
    "bool, int32": (np.array([True, False, True]), np.array([5, 6, 7], "i4")),
    "lists": (ak.values_astype(LISTS, "f4"), ak.Array([[1, 2], [], [3]])),
    "lists of lists": (ak.Array([[[1.5], []], [], [[2.5]]]), ak.values_astype(ak.Array([[[1], [7]], [], [[3]]]), "i4")),
    "fixed, list": (np.arange(6.0).reshape(3, 2), LISTS),
    "fixed, fixed": (np.arange(6.0).reshape(3, 2), np.arange(9, dtype="f4").reshape(3, 3)),
    "list, number": (LISTS, np.arange(3.0)),
    "string, number": (ak.Array(["a", "b", "c"]), np.arange(3.0)),
}
#: Types of numbers that differ, of which every value has its place in a common type.
EXACT = ("float, double", "int32, int64", "bool, int32", "lists of lists")
SIZES = ("fixed, list", "fixed, fixed")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("differ")

    def of(case):
        made = []
        for i, values in enumerate(CASES[case]):
            path = folder / f"{list(CASES).index(case)}-{i}.root"
            if not path.exists():
                with sapwood.recreate(path) as file:
                    file["t"] = {"x": values, "y": np.arange(3)}
            made.append(f"{path}:t")
        return made

    return of


def plain(value):
    """Arrays in arrays, and vectors of uproot, as lists."""
    return [plain(v) for v in value] if not isinstance(value, str) and hasattr(value, "__len__") else value


@pytest.mark.parametrize("case", CASES)
def test_as_uproot(written, case):
    theirs = pytest.importorskip("uproot")
    files = written(case)
    for read in ("concatenate", "iterate"):
        for backwards in (False, True):
            given = files[::-1] if backwards else files
            a, b = (getattr(module, read)(given, ["x"]) for module in (ours, theirs))
            a, b = (list(x) if read == "iterate" else [x] for x in (a, b))
            assert [str(x.type) for x in a] == [str(x.type) for x in b]
            assert [x.tolist() for x in a] == [x.tolist() for x in b]
    if case in SIZES:
        for module, error in ((theirs, ValueError), (ours, sapwood.UnsupportedError)):
            with pytest.raises(error, match="dimension"):
                module.concatenate(files, ["x"], library="np")
        return
    a, b = (module.concatenate(files, ["x"], library="np")["x"] for module in (ours, theirs))
    assert a.dtype == b.dtype
    assert [plain(v) for v in a] == [plain(v) for v in b]


@pytest.mark.parametrize("case", EXACT)
def test_each_library_has_the_common_type(written, case):
    pytest.importorskip("pyarrow")
    pytest.importorskip("polars")
    files = written(case)
    expected = sapwood.concatenate(files, ["x"])["x"]
    assert expected.tolist() == ak.concatenate([ak.Array(x) for x in CASES[case]]).tolist()
    arrow = sapwood.concatenate(files, ["x"], library="pa")["x"]
    assert arrow.to_pylist() == expected.tolist()
    awkwards = ak.to_arrow(expected, extensionarray=False, list_to32=False).type
    assert str(arrow.type) == str(awkwards).replace(" not null", "")
    polars = sapwood.concatenate(files, ["x"], library="pl")["x"]
    assert polars.to_list() == expected.tolist()
    assert polars.to_arrow().type == arrow.type


def test_what_sapwood_itself_refuses(written):
    for case in SIZES:
        made = sapwood.concatenate(written(case), ["x"])["x"]
        assert made.tolist() == [row for values in CASES[case] for row in values.tolist()]
        with pytest.raises(sapwood.UnsupportedError, match=r"'x' is .*, but 2 \* float64"):
            sapwood.concatenate(written(case), ["x"], library="pa")
    for case in ("list, number", "string, number"):
        with pytest.raises(sapwood.UnsupportedError, match="'x' is float64, but"):
            sapwood.concatenate(written(case), ["x"])
    for case in ("uint64, int64", "int64, double"):
        for library in ("ak", "pa", "pl"):
            with pytest.raises(sapwood.UnsupportedError, match="large integers would be rounded"):
                sapwood.concatenate(written(case), ["x"], library=library)
            made = sapwood.concatenate(written(case), ["x"], library=library, casting="same_kind")["x"]
            assert (
                made.to_list() == [float(v) for values in CASES[case] for v in values]
                if library != "pa"
                else (str(made.type) == "double")
            )


@pytest.mark.parametrize("library", ["pa", "pl", "pd[pyarrow]"])
def test_columns_without_a_common_type_are_named(written, library):
    """The text of polars and Arrow came through, or an AttributeError; expressions are not compared before."""
    pytest.importorskip("pyarrow")
    pytest.importorskip("polars")
    pytest.importorskip("pandas")
    for case in ("list, number", "string, number"):
        one, other = written(case)
        with pytest.raises(sapwood.UnsupportedError) as caught:
            sapwood.concatenate([one, other], ["e"], aliases={"e": "x"}, library=library)
        told, path = str(caught.value), other.removesuffix(":t")
        assert told.startswith(f"{path}: 'e' is ") and f" in {one.removesuffix(':t')}, and library={library!r}" in told
        assert told.endswith('read the files separately, select other columns, or use library="ak"')
        assert (caught.value.file, caught.value.branch) == (path, "e")
    for expressions in ({"x": "x"}, {"e": "x + 0"}):
        (name,) = expressions
        files, aliases = written("int64, double"), {} if name == "x" else expressions
        with pytest.raises(sapwood.UnsupportedError, match="large integers would be rounded"):
            sapwood.concatenate(files, [name], aliases=aliases, library=library)
        made = sapwood.concatenate(files, [name], aliases=aliases, library=library, casting="same_kind")[name]
        assert "ouble" in str(made.dtype if library != "pa" else made.type) or "Float64" in str(made.dtype)


def test_large_integers_are_rounded_where_casting_allows_it(tmp_path):
    """With Arrow they were refused: "not in range"."""
    pytest.importorskip("pyarrow")
    for name, x in (("a", np.array([2**60 + 1])), ("b", np.array([0.5]))):
        with sapwood.recreate(tmp_path / f"{name}.root") as file:
            file["t"] = {"x": x}
    files = [f"{tmp_path / name}.root:t" for name in "ab"]
    for library in ("np", "pa", "pd[pyarrow]"):
        made = sapwood.concatenate(files, ["x"], library=library, casting="same_kind")["x"]
        assert (made.to_pylist() if library == "pa" else made.tolist()) == [float(2**60), 0.5]


def test_lazy_frames(written):
    """A lazy frame has the types of the first file. The message was about text that is not UTF-8."""
    pl = pytest.importorskip("polars")

    def read(files):
        found = sapwood.scan_polars(files).filter(pl.col("y") >= 0).select("x").collect()["x"]
        return str(found.dtype), found.to_list()

    for case, kind in (("float, double", "Float64"), ("int32, int64", "Int64"), ("lists of lists", None)):
        one, other = (ak.to_list(values) for values in CASES[case])
        if kind is None:
            assert read(written(case))[1] == one + other
        else:
            assert read(written(case)[::-1]) == (kind, other + one)
    with pytest.raises(sapwood.UnsupportedError, match=r"0-1.root: column 'x' is Float64, but Float32 in the first"):
        read(written("float, double"))
    with pytest.raises(sapwood.UnsupportedError, match="has values beyond Int32, its type in the first file"):
        read(written("int32, int64"))
    with pytest.raises(sapwood.UnsupportedError, match="would change; read this file by itself"):
        read(written("int64, double"))
    with pytest.raises(sapwood.UnsupportedError, match="would change; specify this file first"):
        read(written("bool, int32"))
    assert read([written("int32, int64")[0], written("int64, double")[0]]) == ("Int32", [1, 2, -3, 1, 2, 3])
    with pytest.raises(sapwood.UnsupportedError, match="'x' is string"):
        read(written("string, number")[::-1])


def test_lazy_frames_of_lists_and_numbers(tmp_path):
    """The message was that the second file has no branch `nx`, which counts the items of `x` in the first."""
    pytest.importorskip("polars")
    for name, x in (("lists", [[1, 2], [3]]), ("numbers", np.array([1, 2])), ("other", None)):
        with sapwood.recreate(tmp_path / f"{name}.root") as file:
            file["t"] = {"y": np.arange(2)} | ({} if x is None else {"x": x})
    lists, numbers, other = (f"{tmp_path / name}.root:t" for name in ("lists", "numbers", "other"))
    with pytest.raises(
        sapwood.UnsupportedError, match=r"numbers.root: column 'x' is int64, but List.* no 'nx' here; omit"
    ):
        sapwood.scan_polars([lists, numbers]).collect()
    with pytest.raises(
        sapwood.KeyInFileError, match=r"other.root: t has no branch 'x', which is in the first file; select"
    ):
        sapwood.scan_polars([numbers, other]).collect()
    assert sapwood.scan_polars([lists, numbers, other]).select("y").collect()["y"].to_list() == [0, 1] * 3


@pytest.mark.parametrize(
    ("wide", "narrow"), [("i8", "i1"), ("i8", "u1"), ("f8", "i1"), ("f8", "i4"), ("i8", "?"), ("f8", "f4")]
)
def test_filters_are_evaluated_in_the_types_of_the_lazy_frame(tmp_path, wide, narrow):
    """They were evaluated in those of the file: `x + x` overflowed where the first file has wider numbers."""
    pl = pytest.importorskip("polars")
    largest = 1 if narrow == "?" else 2**24 if narrow == "f4" else np.iinfo(narrow).max
    files = {"wide": np.arange(3, dtype=wide), "narrow": np.array([0, 1, largest], narrow)}
    for name, x in files.items():
        with sapwood.recreate(tmp_path / f"{name}.root") as file:
            file["t"] = {"x": x, "y": np.arange(3)}
    lazy = sapwood.scan_polars([f"{tmp_path / name}.root:t" for name in files])
    x, everything = pl.col("x"), lazy.collect()
    sums = x + x > largest, x + 1 > largest, -x < 0, x - 1 < 0
    for filter_ in (*sums, x * 0.1 == largest * 0.1, x.cast(pl.String) == str(largest)):
        expected = everything.filter(filter_)
        assert lazy.filter(filter_).collect().equals(expected)
        # a filter alone, and one that is evaluated before the other columns are read
        assert lazy.filter(filter_).select("x").collect().equals(expected.select("x"))
        assert lazy.filter(filter_).select("y").collect().equals(expected.select("y"))
        assert lazy.filter(filter_).select(pl.len()).collect().item() == expected.height


def test_streams_do_not_round(written):
    """A stream has the types of the first file; doubles became floats."""
    pa = pytest.importorskip("pyarrow")
    files = written("float, double")
    with pytest.raises(pa.ArrowException, match="would be rounded as float32"):
        pa.table(sapwood.chain(files))
    assert pa.table(sapwood.chain(files[::-1]))["x"].to_pylist() == [0.1, 1, 2, 0.5, 1, 2]
    files = written("int32, int64")
    with pytest.raises(pa.ArrowException, match=r"not in range|out of bounds"):
        pa.table(sapwood.chain(files))
    assert pa.table(sapwood.chain(files[::-1]))["x"].to_pylist() == [1, 2**60, -3, 1, 2, -3]


def test_dask_has_the_common_type(written):
    """As `concatenate`; a partition of another type than the first file's failed."""
    pytest.importorskip("dask_awkward")
    for case in CASES:
        for files in (written(case), written(case)[::-1]):
            made = sapwood.dask(files, ["x"])
            try:
                expected = sapwood.concatenate(files, ["x"])
            except sapwood.UnsupportedError:
                with pytest.raises(sapwood.UnsupportedError, match=r"'x' is .* in the form of the collection"):
                    made.compute(scheduler="synchronous")
                continue
            found = made.compute(scheduler="synchronous")
            assert str(found.type) == str(expected.type) and ak.array_equal(found, expected)
            assert str(made.layout.form.content("x").type) == str(expected["x"].type.content)


def test_dask_without_opening_all_files(written):
    """The first file has the types; files whose values have a place there are read."""
    pytest.importorskip("dask_awkward")
    for case in ("float, double", "int32, int64", "lists of lists", "bool, int32"):
        files = written(case)
        backwards = case == "lists of lists"
        wide, narrow = files if backwards else files[::-1]
        made = sapwood.dask([wide, narrow], ["x"], open_files=False).compute(scheduler="synchronous")
        assert ak.array_equal(made, sapwood.concatenate([wide, narrow], ["x"]))
        if not backwards:
            with pytest.raises(sapwood.UnsupportedError, match="in the form of the collection"):
                sapwood.dask([narrow, wide], ["x"], open_files=False).compute(scheduler="synchronous")


@pytest.mark.parametrize("library", ["np", "pd"])
def test_dask_of_other_libraries(written, library):
    pytest.importorskip("dask.dataframe" if library == "pd" else "dask.array")
    for case in ("float, double", "int32, int64", "bool, int32"):
        for files in (written(case), written(case)[::-1]):
            made = sapwood.dask(files, ["x"], library=library)["x"]
            expected = sapwood.concatenate(files, ["x"], library="np")["x"]
            found = np.asarray(made.compute(scheduler="synchronous"))
            assert made.dtype == found.dtype == expected.dtype and found.tolist() == expected.tolist()
    with pytest.raises(sapwood.UnsupportedError, match=r"'x' is u?int64.*, but u?int64.* in the collection"):
        np.asarray(sapwood.dask(written("uint64, int64"), ["x"], library=library)["x"].compute(scheduler="synchronous"))


def test_dask_opens_no_more_files_than_before(written, monkeypatch):
    pytest.importorskip("dask_awkward")
    from sapwood.with_dask import opened

    files, given = written("float, double"), []
    open_file = opened.open_file
    monkeypatch.setattr(opened, "open_file", lambda file, options: given.append(file) or open_file(file, options))
    monkeypatch.setattr(opened, "_held", type(opened._held)())
    sapwood.dask(files, ["x"])
    assert len(given) == 2
    sapwood.dask(files[::-1], ["x"], open_files=False)
    assert len(given) == 2


#: Fields of ntuples, and the value of each of two files.
FIELDS = {
    "?int32, ?int64": ([1, None], [2**60, None]),
    "?int32, ?float64": ([1, None], [0.5, None]),
    "var * ?int32, var * ?float64": ([[1, None], []], [[0.5], [None]]),
    "{a: int32, b: ?int32}, {a: int64, b: ?float64}": ([{"a": 1, "b": None}] * 2, [{"a": 2**60, "b": 0.5}] * 2),
    "var * {a: int32}, var * {a: float64}": ([[{"a": 1}], []], [[{"a": 0.5}], []]),
    "union[int32, string], union[int64, string]": ([1, "a"], [2**60, "b"]),
    "(int32, float32), (int64, float64)": ([(1, 0.5)] * 2, [(2**60, 0.1)] * 2),
    "2 * int32, var * int32": ([[1, 2]] * 2, [[1], []]),
}


@pytest.fixture
def ntuples(tmp_path):
    def of(types, values):
        made = []
        for i, (kind, given) in enumerate(zip(types, values, strict=True)):
            with sapwood.recreate(tmp_path / f"{i}.root") as file:
                file.mkntuple("n", {"x": kind}).extend({"x": given})
            made.append(f"{tmp_path}/{i}.root:n")
        return made

    return of


def halves(case):
    """The types of both files: both have as many brackets and commas."""
    parts = case.split(", ")
    middle = len(parts) // 2
    return ", ".join(parts[:middle]), ", ".join(parts[middle:])


@pytest.mark.parametrize("module", [sapwood, ours])
@pytest.mark.parametrize("case", FIELDS)
def test_dask_joins_the_ntuples_that_concatenate_joins(ntuples, case, module):
    """Optional values, records and variants had to have the types of the first file."""
    pytest.importorskip("dask_awkward")
    for order in (slice(None), slice(None, None, -1)):
        files = ntuples(halves(case)[order], FIELDS[case][order])
        expected = module.concatenate(files)
        made = module.dask(files)
        found = made.compute(scheduler="synchronous")
        assert found.tolist() == expected.tolist()
        for number, part in enumerate(files):
            of_file = made.partitions[number].compute(scheduler="synchronous")
            assert of_file.tolist() == module.concatenate([part]).tolist()
            assert str(of_file.type.content) == str(made.layout.form.type)
        if "union" not in case and "(" not in case:
            # dask-awkward joins partitions itself, and leaves out the part of variants without a value
            assert str(found.type) == str(expected.type)


@pytest.mark.parametrize("kinds", [("?int32", "var * int32"), ("var * int32", "?int32"), ("?int32", "int32")])
def test_optional_values_are_no_lists(ntuples, kinds):
    """Both are lists in the core: they became a union."""
    values = {"?int32": [1, None], "var * int32": [[1], []], "int32": [1, 2]}
    one, other = kinds
    with pytest.raises(sapwood.UnsupportedError) as caught:
        sapwood.concatenate(ntuples(kinds, [values[kind] for kind in kinds]))
    assert f"1.root: 'x' is {other}, but {one} in" in str(caught.value)


def test_dask_of_sapwood_uproot_joins_what_awkward_joins(ntuples):
    pytest.importorskip("dask_awkward")
    for kinds, values in (
        (("int32", "?int64"), ([1, 2], [3, None])),
        (("int64", "float64"), ([1, 2], [0.5, 1])),
        (("int32", "string"), ([1, 2], ["a", "b"])),
    ):
        files = ntuples(kinds, values)
        found = ours.dask(files).compute(scheduler="synchronous")
        assert found.tolist() == ours.concatenate(files).tolist() == [{"x": x} for of_file in values for x in of_file]
