"""Numbers that would change where columns of different types become one are refused, or asked for."""

from __future__ import annotations

import awkward as ak
import numpy as np
import pytest

import sapwood

LARGE = 2**53 + 1


def written(path, **columns):
    with sapwood.recreate(path) as f:
        f["t"] = columns
    return f"{path}:t"


@pytest.mark.parametrize("library", ["ak", "np", "pd"])
@pytest.mark.parametrize("expression", ["x", "x + x"])
@pytest.mark.parametrize("other", ["u8", "f8", "f4"])
def test_integers_that_became_floats_beside_others(tmp_path, library, expression, other):
    """int64 and uint64 became float64: 2**53 + 1 was 2**53."""
    a = written(tmp_path / "a.root", x=np.array([LARGE // 2 + 1, 2], "i8"), y=np.array([1.5, 2.5], "f4"))
    b = written(tmp_path / "b.root", x=np.array([3, 4], other), y=np.array([1.5, 2.5], "f8"))
    common = {"library": library}
    for read in (
        lambda **more: sapwood.concatenate([a, b], [expression], **common, **more),
        lambda **more: sapwood.chain([a, b]).arrays([expression], **common, **more),
    ):
        with pytest.raises(
            sapwood.UnsupportedError, match=r"large integers would be rounded as .*; casting="
        ) as caught:
            read()
        assert caught.value.branch == expression
        if expression == "x":
            assert caught.value.file == str(tmp_path / "b.root")
            assert str(tmp_path / "a.root") in str(caught.value)
        values = read(casting="same_kind")[expression]
        assert np.asarray(values).dtype == "f8"
    with pytest.raises(sapwood.InvalidError, match="casting must be"):
        sapwood.concatenate([a, b], casting="some")
    # whose values all fit, goes on
    assert np.asarray(sapwood.concatenate([a, b], ["y"], library="np")["y"]).dtype == "f8"
    # nothing is put together here
    steps = list(sapwood.iterate([a, b], ["x"], library="np"))
    assert [s["x"].dtype for s in steps] == ["i8", other]


def test_types_that_fit_by_twos_and_not_all_together(tmp_path):
    files = [written(tmp_path / f"{t}.root", x=ak.unflatten(np.array([1], t), [1])) for t in ("u4", "i8", "u8")]
    assert str(sapwood.concatenate(files[:2])["x"].type) == "2 * var * int64"
    with pytest.raises(sapwood.UnsupportedError, match=r"u8.root: 'x' is var \* uint64"):
        sapwood.concatenate(files)


@pytest.mark.parametrize(
    ("declared", "given", "words"),
    [
        ("f4", np.array([0.1, 1e300]), "1e\\+300 becomes inf as float32"),
        ("f4", np.array([0.1, -1e39]), "-1e\\+39 becomes -inf as float32"),
        ("f8", np.array([1, LARGE]), f"{LARGE} would be rounded as float64"),
        ("f8", np.array([1, 2**64 - 1], "u8"), "18446744073709551615 would be rounded"),
        ("f8", np.array([1, 2**63 - 1]), "9223372036854775807 would be rounded"),
        ("f8", np.array([-LARGE, 1]), f"-{LARGE} would be rounded"),
        ("f4", np.array([1, 2**24 + 1], "i4"), "16777217 would be rounded as float32"),
    ],
)
def test_numbers_that_a_branch_of_floats_changed(tmp_path, declared, given, words):
    """1e300 became inf in a branch of f4, 2**53 + 1 was rounded in one of f8."""
    with sapwood.recreate(tmp_path / "a.root") as f:
        t = f.mktree("t", {"x": declared, "v": f"var * float{8 * int(declared[1])}"})
        for name, column in (("x", given), ("v", ak.unflatten(given, [len(given), 0]))):
            other = {"x": np.zeros(2, declared), "v": ak.unflatten(np.zeros(1, declared), [1, 0])}
            with pytest.raises(sapwood.InvalidError, match=f"branch {name}.*{words}.*convert"):
                t.extend({**other, name: column})
        t.extend({"x": given[:1].astype(declared).repeat(2), "v": ak.unflatten(np.zeros(2, declared), [1, 1])})


def test_fractions_are_rounded_and_what_fits_is_kept(tmp_path):
    whole = np.array([2**62, -(2**63), 2**53, -(2**53), 5])
    given = np.array([0.1, np.inf, -np.inf, np.nan, 3.4028234e38])
    with sapwood.recreate(tmp_path / "a.root") as f:
        t = f.mktree("t", {"x": "f4", "y": "f8", "z": "f8"})
        t.extend({"x": given, "y": whole, "z": whole.astype("u8")[[0, 2, 4, 1, 4]]})
    with sapwood.open(tmp_path / "a.root") as f:
        read = f["t"].arrays(library="np")
    assert read["x"].tobytes() == given.astype("f4").tobytes()
    assert read["y"].astype("i8").tolist() == whole.tolist()
    assert read["z"].astype("u8").tolist() == [2**62, 2**53, 5, 2**63, 5]


@pytest.mark.parametrize(
    "values",
    [[LARGE, 0.5], [[LARGE], [0.5]], [{"a": LARGE}, {"a": 0.5}], [np.array([LARGE]), np.array([0.5])],
     [np.array([LARGE]), np.array([1], "u8")]],
)  # fmt: skip
def test_integers_among_floats_in_lists(tmp_path, values):
    """A list of an integer and a fraction is a list of floats: the integer was rounded."""
    with sapwood.recreate(tmp_path / "a.root") as f:
        with pytest.raises(sapwood.UnsupportedError, match=r"mixed with floats|no common type"):
            f["t"] = {"x": values}
        f["t"] = {"x": [2**53, 0.5], "y": [[2**60], [0.5]]}
