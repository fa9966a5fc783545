"""Expressions and cuts: what they may contain, and what they give."""

import numpy as np
import pytest

import sapwood
from sapwood.expressions.expression import Expression

ALLOWED = [
    "x + 1",
    "-x ** 2 // 3 % 5",
    "(x > 1) & ~(y < 2) | (z == 3)",
    "1 < x <= 5",
    "x > 1 and y > 2 or not z",
    "sqrt(x**2 + y**2)",
    "np.arctan2(y, x)",
    "x[:, 0]",
    "x[x > 3]",
    'get("a/b.c") * 2',
    "evt.x + evt.y.z",
    "where(x > 0, x, nan)",
    'text == "abc"',
    "sum(x, axis=1)",
    "x\n  + 1",
]
REFUSED = [
    "__import__('os')",
    "x.__class__",
    "(x).__class__.__bases__",
    "open('/etc/passwd')",
    "lambda: 1",
    "[i for i in x]",
    "x if y else z",
    "x := 1",
    "f'{x}'",
    "print(x)",
    "sqrt(*x)",
    "sqrt(**x)",
    "x; y",
    "x =",
    "",
    "b'abc'",
    "1j",
    "...",
    "'a' * 1000000000",
    "x @ y",
    "{1: 2}",
    "sqrt.__call__(x)",
    "get(x)",
    "(x" * 200,
    "(" * 5000,
    "+".join("x" * 6000),
    "x is y",
    "x in y",
]


@pytest.mark.parametrize("text", ALLOWED)
def test_allowed(text):
    assert list(Expression(text).names())


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text):
    with pytest.raises(sapwood.InvalidError):
        Expression(text)


def test_names_in_order():
    assert list(Expression('sqrt(px**2 + get("a/b")) > evt.cut').names()) == ["px", "a/b", "evt.cut"]


def test_mistyped_functions_have_suggestions():
    with pytest.raises(ValueError, match="sqrt"):
        Expression("sqr(x)")


def test_numbers_do_not_run_away(leaves):
    value = leaves.arrays("i64*0 + 9**9**2", library="np", entry_stop=1)
    assert value["i64*0 + 9**9**2"][0] == pytest.approx(9.0**81)


def test_roots_and_is_explained():
    with pytest.raises(ValueError, match="&"):
        Expression("x > 1 && y < 2")


@pytest.fixture
def columns(leaves):
    return leaves.arrays(library="np")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i8 + u16", lambda c: c["i8"] + c["u16"]),
        ("sqrt(abs(d32)) * 2", lambda c: np.sqrt(np.abs(c["d32"])) * 2),
        ("n > 1", lambda c: c["n"] > 1),
        ("-1 < n < 3", lambda c: (c["n"] > -1) & (c["n"] < 3)),
        ("not flag", lambda c: ~c["flag"]),
        ("flag and n > 0 or n == 0", lambda c: (c["flag"] & (c["n"] > 0)) | (c["n"] == 0)),
        ("where(flag, n, -1)", lambda c: np.where(c["flag"], c["n"], -1)),
        ("grid[:, 1, 0]", lambda c: c["grid"][:, 1, 0]),
        ("grid * 2", lambda c: c["grid"] * 2),
        ("point.x + point.y", lambda c: c["point"]["x"] + c["point"]["y"]),
        ("pi * n", lambda c: np.pi * c["n"]),
        ("float32(n) / 2", lambda c: c["n"].astype("f4") / 2),
        ("atan2(d32, 1)", lambda c: np.arctan2(c["d32"], 1)),
        ("7", lambda c: np.full(20, 7)),
    ],
)
def test_values(leaves, columns, text, expected):
    given = leaves.arrays(text, library="np")
    assert list(given) == [text]
    np.testing.assert_array_equal(given[text], expected(columns))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("vf * 2", lambda e: [2 * x for x in e["vf"]]),
        ("num(vf)", lambda e: len(e["vf"])),
        ("any(vf > 1)", lambda e: any(x > 1 for x in e["vf"])),
        ("max(vf[vf > 1])", lambda e: max((x for x in e["vf"] if x > 1), default=-np.inf)),
        ("num(vs)", lambda e: len(e["vs"])),
        ("cells.row + 1", lambda e: [c["row"] + 1 for c in e["cells"]]),
        ('word == "w1"', lambda e: e["word"] == "w1"),
    ],
)
def test_values_of_lists(collections, text, expected):
    pytest.importorskip("awkward")
    entries = collections.arrays().tolist()
    assert collections.arrays(text)[text].tolist() == [expected(e) for e in entries]


def test_cuts(codecs):
    pytest.importorskip("awkward")
    whole = codecs.arrays(["n", "lz4"]).tolist()
    for cut, keep in {
        "n >= 2": lambda e: e["n"] >= 2,
        "(n > 0) & (sum(lz4) > 1)": lambda e: e["n"] > 0 and sum(e["lz4"]) > 1,
        "n": lambda e: e["n"] != 0,
        "n < 0": lambda e: False,
    }.items():
        assert codecs.arrays(["n", "lz4"], cut).tolist() == [e for e in whole if keep(e)]
        # the branch of the cut need not be among the outputs
        assert codecs.arrays("lz4", cut)["lz4"].tolist() == [e["lz4"] for e in whole if keep(e)]


@pytest.mark.parametrize("cut", ["lz4 > 1", "sqrt(n) * 0 == lz4", "n[n > 2] > 0", '"text"'])
def test_cuts_that_are_none(codecs, cut):
    pytest.importorskip("awkward")
    with pytest.raises(ValueError, match=r"entr|evaluate|boolean"):
        codecs.arrays("n", cut)


@pytest.mark.parametrize("text", ["n[0]", "lz4[0]", "lz4[:3]"])
def test_an_index_of_entries_is_refused_with_the_remedy(codecs, text):
    pytest.importorskip("awkward")
    with pytest.raises(ValueError, match=r"\[:, i\]"):
        codecs.arrays(text)


def test_aliases(leaves, columns):
    aliases = {"a": "n * 2", "b": "a + u16", "n": "n + 1"}
    given = leaves.arrays(["a", "b", "n"], "a > 2", aliases=aliases, library="np")
    n = columns["n"] + 1
    keep = n * 2 > 2
    np.testing.assert_array_equal(given["n"], n[keep])
    np.testing.assert_array_equal(given["a"], (n * 2)[keep])
    np.testing.assert_array_equal(given["b"], (n * 2 + columns["u16"])[keep])


def test_aliases_in_circles(leaves):
    with pytest.raises(ValueError, match="refers to itself: a -> b -> a"):
        leaves.arrays("a", aliases={"a": "b + 1", "b": "a + 1"})


@pytest.mark.parametrize("text", ["nope", "n + nope", "point.w", "sqrt(nope)"])
def test_names_that_are_not_there(leaves, text):
    with pytest.raises(KeyError, match=r"nope|'w'"):
        leaves.arrays(text, library="np")


def test_results_in_which_values_are_missing(collections):
    pytest.importorskip("awkward")
    assert collections.arrays("firsts(vf)").fields == ["firsts(vf)"]
    # what is missing is masked
    made = collections.arrays("firsts(vf)", library="np")["firsts(vf)"]
    assert made.tolist() == collections.arrays("firsts(vf)")["firsts(vf)"].tolist()
    assert collections.arrays("fill_none(firsts(vf), -1)", library="np")
