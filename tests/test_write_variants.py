"""Variants of ntuples: each value keeps its type when it is written, and when files are joined."""

import numpy as np
import pytest

import sapwood


def written(tmp_path, declared, values):
    """The values of a field that were written and read."""
    with sapwood.recreate(tmp_path / "w.root") as file:
        file.mkntuple("n", {"u": declared}).extend({"u": values})
    with sapwood.open(f"{tmp_path}/w.root:n") as ntuple:
        return ntuple["u"].array().tolist()


def same(found, expected):
    """Whether two lists are equal, types of numbers included: 1 == 1.0 == True."""
    return repr(found) == repr(expected)


@pytest.mark.parametrize(
    ("declared", "values"),
    [
        ("union[int32, float32]", [16777217, 0.5]),
        ("union[float32, int32]", [16777217, 0.5, 1]),
        ("union[int64, float64]", [2**53 + 1, 0.5]),
        ("?union[int64, float64]", [2**53 + 1, 0.5, None]),
        ("var * union[int32, float32]", [[16777217, 0.5], []]),
        ("2 * union[int32, float32]", [[16777217, 0.5]]),
        ("{a: union[int32, float32]}", [{"a": 16777217}, {"a": 0.5}]),
        ("(union[int32, float32], float64)", [(16777217, 1.0), (0.5, 2.0)]),
        ("union[var * int32, var * float32]", [[16777217], [0.5, 1.0]]),
        ("union[int32, float32, string]", [16777217, 0.5, "a"]),
        ("union[int32, bool]", [1, True]),
        ("union[uint64, int64]", [2**64 - 1, -1]),
    ],
)
def test_integers_beside_floats_in_a_variant_stay_integers(tmp_path, declared, values):
    """Lists became arrays of floats before they were divided among the alternatives: 16777217 was 16777216.0."""
    assert same(written(tmp_path, declared, values), values)


def test_columns_of_a_record_with_a_variant_are_lists_of_python_objects(tmp_path):
    values = {"a": [16777217, 0.5]}
    assert same(written(tmp_path, "{a: union[int32, float32]}", values), [{"a": 16777217}, {"a": 0.5}])


def test_frames_of_objects_for_variants_keep_integers(tmp_path):
    pandas = pytest.importorskip("pandas")
    values = pandas.Series([16777217, 0.5], dtype=object)
    assert same(written(tmp_path, "union[int32, float32]", values), [16777217, 0.5])


@pytest.mark.parametrize(
    ("declared", "values", "types"),
    [
        ("union[int8, float32]", [16777217, 0.5], "int8, float32"),
        ("union[float32, string]", [16777217, "a"], "float32, string"),
        ("union[var * float32, string]", [[16777217, 0.5]], "var"),
        ("union[int32, float32]", ["a", 0.5], "int32, float32"),
    ],
)
def test_what_no_type_of_a_variant_holds_is_refused(tmp_path, declared, values, types):
    with pytest.raises(
        sapwood.InvalidError, match=f"field u: .*cannot be stored exactly as any of {types}.*; .*convert"
    ):
        written(tmp_path, declared, values)


def test_arrays_of_integers_take_an_integer_type_of_the_variant(tmp_path):
    assert same(written(tmp_path, "union[float32, int32]", np.array([1, 2])), [1, 2])


def test_lists_for_fields_of_floats_are_as_in_numpy(tmp_path):
    assert same(written(tmp_path, "float64", [3, 0.5, True]), [3.0, 0.5, 1.0])
    with pytest.raises(sapwood.UnsupportedError, match="9007199254740993 is mixed with floats and would be rounded"):
        written(tmp_path, "float64", [2**53 + 1, 0.5])


def test_variants_of_several_files_are_joined_without_rounding(tmp_path):
    """ak.concatenate makes one type of a variant's integers and floats."""
    types = {"u": "union[int64, float64]", "o": "?union[int64, float64]", "v": "var * union[int64, float64]"}
    expected = []
    for i in range(2):
        large = 2**53 + 1 + i
        rows = [{"u": large, "o": None, "v": [large, 0.5]}, {"u": 0.5, "o": large, "v": []}]
        expected += rows
        with sapwood.recreate(tmp_path / f"{i}.root") as file:
            file.mkntuple("n", types).extend(rows)
    found = sapwood.concatenate(f"{tmp_path}/*.root:n")
    assert same(found.tolist(), expected)
