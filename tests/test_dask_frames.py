"""Data frames of Dask: columns of lists, records and strings, and files in which types differ."""

import numpy as np
import pytest

import sapwood

dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")


@pytest.fixture
def ntuples(tmp_path):
    """Makes files of an ntuple with a field `x` of these types and values."""

    def of(*fields):
        made = []
        for i, (kind, given) in enumerate(fields):
            with sapwood.recreate(tmp_path / f"{i}.root") as file:
                file.mkntuple("n", {"x": kind}).extend({"x": given})
            made.append(f"{tmp_path}/{i}.root:n")
        return made

    return of


def computed(files, library="pd"):
    made = sapwood.dask(files, library=library)
    return made.compute(scheduler="synchronous") if library == "pd" else made["x"].compute(scheduler="synchronous")


def test_lists_stay_lists(ntuples):
    """Dask made strings of them: '[1 2]'."""
    frame = computed(ntuples(("var * int32", [[1, 2], []])))
    assert [row.tolist() for row in frame["x"]] == [[1, 2], []]


def test_records_and_variants_have_a_column_for_each_member(ntuples):
    """KeyError: 'x'."""
    for kind, values in (
        ("{a: int32, b: ?string}", [{"a": 1, "b": "s"}, {"a": 2, "b": None}]),
        ("union[int32, string]", [1, "a"]),
    ):
        files = ntuples((kind, values), (kind, values))
        made = sapwood.dask(files, library="pd")
        found = made.compute(scheduler="synchronous")
        expected = sapwood.concatenate(files, library="pd")
        assert list(found.columns) == list(expected.columns)
        for name in expected.columns:
            assert found[name].dtype == made[name].dtype
            assert found[name].isna().tolist() == expected[name].isna().tolist()
            assert found[name].dropna().tolist() == expected[name].dropna().tolist()
        assert (
            made[found.columns[1]].compute(scheduler="synchronous").dropna().tolist()
            == ["s" if "b" in kind else "a"] * 2
        )


@pytest.mark.parametrize("library", ["pd", "np"])
def test_optional_numbers_have_the_types_of_concatenate(ntuples, library):
    """A partition of another type than the first file's failed."""
    for fields in (
        [("?int32", [1, None]), ("?int64", [2**60, None])],
        [("?int32", [1, None]), ("?float64", [0.5, None])],
    ):
        for order in (fields, fields[::-1]):
            files = ntuples(*order)
            found, expected = computed(files, library), sapwood.concatenate(files, library=library)["x"]
            found = found["x"] if library == "pd" else found
            assert found.dtype == expected.dtype
            missing = (lambda x: x.isna().tolist()) if library == "pd" else (lambda x: np.ma.getmaskarray(x).tolist())
            assert missing(found) == missing(expected)
            there = (lambda x: x.dropna().tolist()) if library == "pd" else (lambda x: x.compressed().tolist())
            assert there(found) == there(expected)


@pytest.mark.parametrize("library", ["pd", "np"])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("string", ["a"]), ("int32", [1])),
        (("int32", [1]), ("string", ["a"])),
        (("string", ["a"]), ("var * int32", [[1]])),
        (("var * int32", [[1]]), ("string", ["a"])),
        (("?int64", [2**60 + 1]), ("?float64", [0.5])),
        (("{a: int32}", [{"a": 1}]), ("{b: int32}", [{"b": 1}])),
    ],
)
def test_what_does_not_fit_together_names_file_and_branch(ntuples, library, one, other):
    """Errors of pandas and numpy came through, or lists became strings."""
    with pytest.raises((sapwood.UnsupportedError, sapwood.KeyInFileError), match=r"1.root: .*x") as caught:
        computed(ntuples(one, other), library) if one[0][0] != "{" else sapwood.dask(
            ntuples(one, other), library="pd"
        ).compute(scheduler="synchronous")
    assert caught.value.file.endswith("1.root")


def test_strings_that_are_not_utf8_name_file_and_branch(ntuples):
    """UnicodeEncodeError: surrogates not allowed."""
    files = ntuples(("string", ["a"]), ("string", [b"\xff"]))
    with pytest.raises(
        sapwood.UnsupportedError, match=r"1.root: branch 'x' has strings that are not UTF-8.*; select"
    ) as e:
        computed(files)
    assert e.value.file.endswith("1.root") and e.value.branch == "x"
