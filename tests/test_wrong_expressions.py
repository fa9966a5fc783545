"""What is wrong in expressions and options of draw and scan is shown in place, with what was expected and what is near."""

# ruff: noqa: E501
from __future__ import annotations

import awkward as ak
import numpy as np
import pytest

import sapwood

FRIEND = ("--friend", "fr@t.root")

#: The verb, its words, the message, and the lines below it: the expression and the caret.
WRONG = [
    ("draw", ["x+"], "unexpected end of expression: expected a number, a name or '(' (column 3)", "x+|  ^"),
    ("draw", ["x+*2"], "expected a number, a name or '(' (column 3)", "x+*2|  ^"),
    ("draw", ["(x"], "unexpected end of expression: expected ')' (column 3)", "(x|  ^"),
    ("draw", ["x)"], "expected an operator or ':' (column 2)", "x)| ^"),
    ("draw", ["x ? 1"], "unexpected end of expression: expected ':' (column 6)", "x ? 1|     ^"),
    ("draw", ["Muon_pt[0"], "unexpected end of expression: expected ']' (column 10)", "Muon_pt[0|         ^"),
    ("draw", ["x", "x<>1"], "write != for 'not equal' (column 3)", "x<>1|  ^"),
    (
        "draw",
        ["(float)x"],
        "C++ casts are not supported; use int(x), which drops the fractional part (column 8)",
        "(float)x|       ^",
    ),
    (
        "draw",
        ["mine.C"],
        "t.root: the tree has no branch mine.C that an expression can read; C++ macros cannot be run (column 1)",
        "mine.C|^",
    ),
    (
        "draw",
        ["x:x:nMuon:x"],
        "4 variables: a histogram has at most 3 (column 11); draw more with the option para or candle, or print them with scan",
        "x:x:nMuon:x|          ^",
    ),
    ("draw", ["x #"], "unexpected character '#' (column 3)", "x #|  ^"),
    ("draw", ["0x"], "a hexadecimal number has 1 to 16 digits after 0x (column 1)", "0x|^"),
    (
        "draw",
        ["1+Muon_tp"],
        "t.root: the tree has no branch Muon_tp that an expression can read; did you mean Muon_pt? (column 3)",
        "1+Muon_tp|  ^",
    ),
    (
        "draw",
        ["zzz"],
        "t.root: the tree has no branch zzz that an expression can read; the branches are x, nMuon, nMuon_pt, "
        "Muon_pt, name (column 1)",
        "zzz|^",
    ),
    ("draw", ["2*sqtr(x)"], "t.root: unknown function sqtr; did you mean sqrt? (column 3)", "2*sqtr(x)|  ^"),
    ("draw", ["sqrt(x,2)"], "t.root: sqrt takes 1 argument, not 2 (column 1)", "sqrt(x,2)|^"),
    ("draw", ["Summ$(x)"], "t.root: unknown function Summ$; did you mean Sum$? (column 1)", "Summ$(x)|^"),
    ("draw", ["Sum$"], "Sum$ requires its argument in parentheses (column 5)", "Sum$|    ^"),
    ("draw", ["x+Entri$"], "Entri$ is unknown; did you mean Entry$? (column 3)", "x+Entri$|  ^"),
    (
        "draw",
        ["Entry$(x)"],
        "t.root: Entry$ takes no arguments: write it without parentheses (column 1)",
        "Entry$(x)|^",
    ),
    (
        "draw",
        ["x", "name>1"],
        "t.root: > takes two numbers: the left side is a string, the right side is a number (column 1)",
        "name>1|^",
    ),
    (
        "draw",
        ["x", "1==name"],
        "t.root: == compares two numbers or two strings: the right side is a string, the left side is "
        "a number (column 4)",
        "1==name|   ^",
    ),
    ("draw", ["x", 'name=="a'], 'this " is never closed (column 7)', 'name=="a|      ^'),
    ("draw", ["x", "x=1"], "an expression compares with == and cannot assign (column 2)", "x=1| ^"),
    (
        "draw",
        ["x", "x=>1"],
        "an expression compares with == and cannot assign; write >= for 'greater than or equal' (column 2)",
        "x=>1| ^",
    ),
    ("draw", ["x", "x and nMuon"], "write && for 'and' (column 3)", "x and nMuon|  ^"),
    (
        "draw",
        ["name.siz()"],
        "t.root: siz() of the string name is not supported; these methods are: Length(), size(), "
        'empty(), IsNull(), Data(), c_str(), Contains("text"), BeginsWith("text"), EndsWith("text"), Index("text"), First("letters"), EqualTo("text"), CompareTo("text") (column 1)',
        "name.siz()|^",
    ),
    ("draw", ["x>>h(10,0"], "the binning ends with ')' (column 10)", "x>>h(10,0|         ^"),
    (
        "draw",
        ["x>>h(10,5,0)"],
        "the binning: a histogram cannot range from 5 to 0; specify the lower edge first (column 4)",
        "x>>h(10,5,0)|   ^",
    ),
    ("draw", ["x>>"], "a histogram name is expected after '>>', as in x>>h(100,0,40) (column 4)", "x>>|   ^"),
    ("draw", ["x", "--bins", "a"], '--bins a: "a" is not a number', None),
    (
        "draw",
        ["x", "--bins", "10,5,0"],
        "--bins 10,5,0: a histogram cannot range from 5 to 0; specify the lower edge first",
        None,
    ),
    (
        "draw",
        ["x", "--bins", "10,0"],
        "--bins 10,0: write the number of bins, and optionally the edges, as in 100,0,40; for "
        "several variables, start with x",
        None,
    ),
    ("draw", ["x", "--option", "prfo"], 'unknown option "prfo"; did you mean prof?', None),
    (
        "draw",
        ["x", "--entries", "3-5"],
        "--entries 3-5: write START:STOP, as in 0:1000, 5000: or -100:, numbers, or a comma-"
        "separated list of both; the name of a file with numbers; or FILE.root:LIST for an entry list written by ROOT",
        None,
    ),
    (
        "draw",
        ["p", "--alias", "p=x+"],
        "the alias p: unexpected end of expression: expected a number, a name or '(' (column 3)",
        "x+|  ^",
    ),
    ("draw", ["p", "--alias", "p"], "--alias p: write NAME=EXPR, as in 'p=sqrt(px**2+py**2)'", None),
    (
        "draw",
        ["1+p", "--alias", "p=xx*2"],
        "t.root: the tree has no branch xx that an expression can read; did you mean x?, in the alias p = xx*2 (column 3)",
        "1+p|  ^",
    ),
    ("draw", ["p*2", "--alias", "p=p*2"], "t.root: the alias p refers to itself: p -> p (column 1)", "p*2|^"),
    (
        "draw",
        ["z", "--friend", "fr"],
        "--friend fr: write TREE@FILE, or ALIAS=TREE@FILE, as in calib=Calibration@calib.root",
        None,
    ),
    (
        "draw",
        ["fr.q", *FRIEND],
        "t.root: the tree has no branch fr.q that an expression can read; did you mean fr.z? (column 1)",
        "fr.q|^",
    ),
    (
        "draw",
        ["z", "--friend", "frr@t.root"],
        "t.root: the friend frr (t.root) cannot be opened: no object frr (column 1); the file contains: t, fr; did you mean fr?",
        "z|^",
    ),
    (
        "draw",
        ["z", *FRIEND, "--index", "x+"],
        "--index x+: unexpected end of expression: expected a number, a name or '(' (column 3)",
        "x+|  ^",
    ),
    (
        "draw",
        ["z", *FRIEND, "--index", "q"],
        "t.root: the tree has no branch q that an expression can read; did you mean z? (column 1)",
        "q|^",
    ),
    ("scan", ["x:"], "unexpected end of expression: expected a number, a name or '(' (column 3)", "x:|  ^"),
    ("scan", ["x,,name"], "expected a number, a name or '(' (column 3)", "x,,name|  ^"),
    (
        "scan",
        ["x,xname"],
        "t.root: the tree has no branch xname that an expression can read; did you mean name? (column 1)",
        "xname|^",
    ),
    (
        "scan",
        ["x", "name"],
        "t.root: a string is not a number; compare it with == or !=, or search it with strstr(text, part) (column 1)",
        "name|^",
    ),
    (
        "scan",
        ["x", "--option", "colsiz=3"],
        'unknown option "colsiz=3"; the keys are colsize=N, precision=N, '
        "col=FORMAT:FORMAT:..., lenmax=N, first=ENTRY and n=ENTRIES",
        None,
    ),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wrong")
    with sapwood.recreate(folder / "t.root") as file:
        muons = ak.Array([[1.0, 2.0], [], [3.0]])
        file["t"] = {
            "x": np.arange(3.0), "nMuon": np.arange(3, dtype="i4"), "Muon_pt": muons, "name": ["a", "b", "c"],
        }  # fmt: skip
        file["fr"] = {"z": np.arange(3.0)}
        file["odd"] = {"my x": np.arange(3.0)}
    return folder


def test_errors_show_the_expression_and_the_place(run, folder):
    for verb, words, message, place in WRONG:
        done = run(verb, "t.root:t", *words, cwd=folder)
        message = message.replace("t, fr", "t, fr, odd")
        below = "" if place is None else "".join(f"    {line}\n" for line in place.split("|"))
        assert done.stderr == f"sapwood: {message}\n{below}", (verb, words)
        assert done.returncode in (1, 2) and not done.stdout, (verb, words)


def test_a_draw_without_an_expression_says_so_with_an_example(run, folder):
    for target, example in [("t.root:t", "t.root:t x"), ("t.root:odd", "t.root:odd '`my x`'")]:
        done = run("draw", target, cwd=folder)
        assert done.returncode == 2
        assert done.stderr == (
            f"sapwood: an expression is missing: write what to draw after the file, as in\n    sapwood draw {example}\n"
        )
    assert run("draw", "absent.root", cwd=folder).stderr == "sapwood: absent.root: no such file\n"


def test_mistyped_options_are_not_expressions(run, folder):
    for words in [
        ["draw", "t.root:t", "x", "--treads", "2"],
        ["draw", "t.root:t", "x", "--treads=2"],
        ["draw", "t.root:t", "--treads", "2"],
        ["scan", "t.root:t", "x", "--treads"],
        ["scan", "t.root:t", "x", "--cut", "--treads"],
    ]:
        done = run(*words, cwd=folder)
        assert done.returncode == 2
        assert done.stderr == "sapwood: there is no option --treads; did you mean --threads?\n"
    done = run("draw", "t.root:t", "--x", cwd=folder)
    assert done.stderr == (
        "sapwood: there is no option --x; `sapwood draw --help` lists the options. For an expression write -(-x)\n"
    )
    for words, rows in [(["-x"], 3), (["x", "-1<x"], 3), (["-x", "-2+x"], 2), (["--1"], 3), (["-(-x)"], 3)]:
        done = run("scan", "t.root:t", *words, "--format", "csv", cwd=folder)
        assert len(done.stdout.splitlines()) == rows + 1, (words, done.stderr)


def test_no_error_shows_the_usage(run, folder):
    for words in [
        ["draw"],
        ["drwa"],
        ["draw", "t.root:t", "x", "", "", "y"],
        ["draw", "t.root:t", "x", "--index", "x"],
    ]:
        done = run(*words, cwd=folder)
        assert done.returncode == 2
        assert done.stderr.startswith("sapwood: ") and "Usage" not in done.stderr
