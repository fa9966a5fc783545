"""Draws of several variables, profiles, binnings, options and sessions against ROOT's TTree::Draw: the histogram that
`draw -o FILE.root` writes, as ROOT reads it, is the one that ROOT makes."""

from __future__ import annotations

import json
import xml.dom.minidom

import numpy as np
import pytest
from histograms_with_root import asked

import sapwood

#: Tree and draws of a session: (expression, cut, option); the last one is compared.
SESSIONS = [
    # given binnings
    ("many", [("y:x>>h(10,-1,1,20,0,3)", "", "")]),
    ("many", [("y:x>>h(10,-1,1,20,0,3)", "z", "")]),
    ("many", [("y:x>>h(10,-1,1,20,0,3)", "x>0", "colz")]),
    ("many", [("z:y:x>>h(3,-1,1,4,0,3,5,0,10)", "", "")]),
    ("many", [("z:y:x>>h(3,-1,1,4,0,3,5,0,10)", "n", "")]),
    ("many", [("v:x>>h(8,-2,2,9,0,9)", "v>0.5", "")]),
    ("many", [("v:n>>h(,-1,8,,0,9)", "", "")]),
    # gaps and automatic axes
    ("few", [("y:x>>h", "", "")]),
    ("few", [("y:x>>h(300,,,300,,)", "", "")]),
    ("few", [("y:x>>h(200,0,0)", "", "")]),
    ("few", [("y:x>>h(100,60)", "", "")]),
    ("few", [("y:x>>h(100,0,10)", "", "")]),
    ("few", [("y:n>>h(20)", "", "")]),
    ("few", [("n:y>>h", "z>3", "")]),
    ("few", [("z:n:x>>h", "", "")]),
    ("many", [("x>>h(200,0,0)", "", "")]),
    ("many", [("x>>h(100,60)", "", "")]),
    ("many", [("x>>h(,0,5)", "", "")]),
    # profiles
    ("many", [("y:x>>h", "", "prof")]),
    ("many", [("y:x>>h(10,-1,1)", "", "profs")]),
    ("many", [("n:x>>h(30,-4,4)", "", "profi")]),
    ("many", [("y:x>>h(10,-1,1)", "z", "profg")]),
    ("many", [("y:x>>h(10,-1,1,7,0,3)", "n", "PROFs")]),
    ("many", [("v:n>>h", "", "prof")]),
    ("many", [("z:y:x>>h", "", "prof")]),
    ("many", [("z:y:x>>h(5,-2,2,4,0,8)", "z*y", "profs colz")]),
    ("many", [("x>>h(10,0,5)", "", "prof")]),
    # strings beside numbers
    ("few", [("y:s>>h", "", "prof")]),
    # options
    ("many", [("x>>h(10,-1,1)", "", "norm")]),
    ("many", [("x>>h(10,-1,1)", "n", "norm hist")]),
    ("many", [("y:x>>h(10,-1,1,10,0,5)", "", "norm")]),
    ("many", [("y:x>>h(10,-1,1)", "", "prof norm")]),
    ("many", [("x>>h(10,-1,1)", "", "e")]),
    # sessions
    ("many", [("x>>h(10,-1,1)", "n", ""), ("z>>+h", "", "")]),
    ("many", [("x>>h(10,-1,1)", "n", ""), ("y>>h", "", "")]),
    ("many", [("y:x>>h(10,-1,1,5,0,5)", "", ""), ("z:x>>+h", "n>2", "")]),
    ("many", [("y:x>>h(10,-1,1,5,0,5)", "", ""), ("x>>h", "", "")]),
]


@pytest.fixture(scope="module")
def file(public, root_here):
    path = public / "dimensions.root"
    asked(make=str(path))
    return path


def words(session):
    """The command's arguments for a session."""
    *before, (expression, cut, option) = session
    out = [expression, cut, option]
    for text, weight, _ in before:
        out += ["--before", f"{text}?{weight}" if weight else text]
    return out


def close(a, b, tolerance):
    return np.allclose(a, b, rtol=tolerance, atol=tolerance * max(1, np.abs(b).max(initial=0)), equal_nan=True)


def test_histograms_are_those_of_root(run, file, tmp_path):
    roots = asked(file=str(file), sessions=SESSIONS)
    paths = []
    for i, (tree, session) in enumerate(SESSIONS):
        paths.append(tmp_path / f"{i}.root")
        done = run("draw", f"{file}:{tree}", *words(session), "-o", paths[-1])
        assert done.returncode == 0, (session, done.stderr)
    ours = asked(read=[[str(path), "h"] for path in paths])
    for (_, session), a, b in zip(SESSIONS, ours, roots, strict=True):
        assert a["class"] == b["class"], session
        assert a["entries"] == b["entries"], session
        assert len(a["axes"]) == len(b["axes"]), session
        for p, q in zip(a["axes"], b["axes"], strict=True):
            assert p["labels"] == q["labels"], session
            assert len(p["edges"]) == len(q["edges"]), session
            assert close(p["edges"], q["edges"], 1e-12), session
        # ROOT adds up weights in single precision
        single = 1e-12 if b["class"].startswith("TP") else 1e-5
        for part, tolerance in (("contents", single), ("errors", max(single, 1e-6)), ("sums", 1e-9)):
            assert close(np.array(a[part]), np.array(b[part]), tolerance), (session, part)
        assert close(a["mean"], b["mean"], 1e-9), session


def test_automatic_axes_beyond_what_root_keeps(run, file):
    """ROOT 6.40 fills 1000 rows at once: beyond that the automatic axes of TH2 and TH3 are twice as wide as the values
    ask for, and four times with the option norm below it."""
    cases = [("many", "y:x", ""), ("many", "z:y:x", ""), ("many", "z:y:x", "prof"), ("few", "y:x", "norm")]
    roots = asked(file=str(file), sessions=[[tree, [(f"{text}>>h", "", option)]] for tree, text, option in cases])
    for (tree, text, option), root in zip(cases, roots, strict=True):
        drawn = json.loads(run("draw", f"{file}:{tree}", text, "", option, "--json").stdout)["histogram"]
        for axis, expected in zip(drawn["axes"], root["axes"], strict=True):
            assert axis["bins"] == len(expected["edges"]) - 1, text
            assert close([axis["low"], axis["high"]], [expected["edges"][0], expected["edges"][-1]], 1e-12), text
    # a number of bins that is asked for by itself keeps the limits of the values
    drawn = json.loads(run("draw", f"{file}:many", "y:x", "--bins", "10,,,10,,", "--json").stdout)["histogram"]
    assert drawn["axes"][0]["high"] < 5


def test_strings_beside_numbers(file):
    """ROOT counts strings in an axis of twice as many bins; here each string has one bin, and no others are there."""
    hist = pytest.importorskip("hist")
    tree = sapwood.open(file)["few"]
    drawn = tree.draw("n:s")
    assert isinstance(drawn, hist.Hist)
    s, n = tree["s"].array(library="np"), tree["n"].array(library="np")
    names = list(dict.fromkeys(s))
    assert list(drawn.axes[0]) == names
    for i, name in enumerate(names):
        for j, bin in enumerate(drawn.axes[1].edges[:-1]):
            assert drawn.values()[i, j] == ((s == name) & (n == round(bin))).sum()
    means = tree.draw("y:s", option="prof")
    assert means.storage_type is hist.storage.WeightedMean
    y = tree["y"].array(library="np")
    assert np.allclose(means.values(), [y[s == name].mean() for name in names])


def test_many_strings_make_the_axis_longer(run, tmp_path):
    path = tmp_path / "strings.root"
    names = [f"name {i % 150}" for i in range(3000)]
    with sapwood.recreate(path) as out:
        out["t"] = {"s": names, "x": np.arange(3000.0)}
    drawn = sapwood.open(path)["t"].draw("x:s", bins=(None, (3, 0, 3000)))
    if isinstance(drawn, sapwood.Histogram):
        pytest.skip("hist is not installed")
    assert list(drawn.axes[0]) == names[:150]
    assert drawn.values().shape == (150, 3)
    assert drawn.values().sum() == 3000
    assert (drawn.values().sum(axis=1) == 20).all()


def test_python_has_the_dimension_and_storage(file):
    hist = pytest.importorskip("hist")
    tree = sapwood.open(file)["many"]
    a = tree.arrays(["x", "y", "z", "n"], library="np")
    x, y, z, n = a["x"], a["y"].astype(float), a["z"], a["n"]
    edges = np.array([-2, -1, 0, 0.5, 3])
    axis = hist.axis.Variable([0, 1, 5, 20])
    drawn = tree.draw("z:y:x", "n", bins=(edges, axis, (5, 0, 10)))
    expected, _ = np.histogramdd((x, y, z), [edges, axis.edges, np.linspace(0, 10, 6)], weights=n)
    assert np.array_equal(drawn.values(), expected)
    assert [a.label for a in drawn.axes] == ["x", "y", "z"]
    assert np.array_equal(tree.draw("x", bins=edges).values(), np.histogram(x, edges)[0])
    profile = tree.draw("z:x", "y", bins=(8, -2, 2), option="prof")
    same = hist.Hist(hist.axis.Regular(8, -2, 2), storage=hist.storage.WeightedMean())
    same.fill(x, sample=z, weight=y)
    for name in ("sum_of_weights", "sum_of_weights_squared", "value", "_sum_of_weighted_deltas_squared"):
        assert np.allclose(profile.view(flow=True)[name], same.view(flow=True)[name]), name
    assert np.allclose(profile.variances(), same.variances())
    again = tree.draw("y:x", bins=drawn.axes[:2])
    assert [len(axis) for axis in again.axes] == [4, 3]
    assert len(tree.draw("y:x", bins=(12, None)).axes[0]) == 12


def test_profiles_without_hist(file, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "hist", None)
    tree = sapwood.open(file)["many"]
    drawn = tree.draw("y:n", bins=np.array([0, 1, 3, 7]), option="prof")
    assert drawn.kind == "MEAN"
    y, n = tree["y"].array(library="np").astype(float), tree["n"].array(library="np")
    inside = (n >= 1) & (n < 3)
    assert np.isclose(drawn.values()[1], y[inside].mean())
    assert np.isclose(drawn.variances()[1], y[inside].var() / inside.sum())
    assert drawn.counts()[1] == inside.sum()
    assert drawn.axes[0].edges.tolist() == [0, 1, 3, 7]


@pytest.mark.parametrize(("expression", "option"), [("y:x", ""), ("z:y:x", ""), ("y:x", "prof"), ("z:y:x", "prof")])
def test_json_is_read_by_boost_histogram(run, file, tmp_path, expression, option):
    boost_histogram = pytest.importorskip("boost_histogram")
    done = run("draw", f"{file}:many", expression, "z", option, "-o", tmp_path / "h.json")
    assert done.returncode == 0, done.stderr
    from uhi.io.json import object_hook

    text = (tmp_path / "h.json").read_text()
    made = boost_histogram.Histogram(json.loads(text, object_hook=object_hook))
    ours = sapwood.open(file)["many"].draw(expression, "z", option=option)
    assert np.allclose(made.values(flow=True), ours.values(flow=True))
    assert np.allclose(made.variances(flow=True), ours.variances(flow=True), equal_nan=True)


@pytest.mark.parametrize(
    ("expression", "option", "more"),
    [
        ("y:x", "", []),
        ("z:y:x", "", []),
        ("z:y:x", "prof", []),
        ("y:x", "prof", []),
        ("y:s", "", []),
        ("x", "e", []),
        ("x", "same", ["--before", "z>>a(20,-5,5)", "--before", "y>>b?n>2"]),
        ("y:x", "prof same", ["--before", "y:x>>a"]),
        ("x:y:z:n", "para", []),
        ("x:y:z:n:x+y", "candle", []),
    ],
)
def test_pictures(run, file, tmp_path, expression, option, more):
    svg, png = tmp_path / "h.svg", tmp_path / "h.png"
    done = run("draw", f"{file}:few", expression, "", option, *more, "-o", svg, "-o", png)
    assert done.returncode == 0, done.stderr
    assert png.read_bytes().startswith(b"\x89PNG")
    text = svg.read_text()
    xml.dom.minidom.parseString(text)
    assert "NaN" not in text and "inf" not in text
    for name in ("a", "b") if "same" in option and "prof" not in option else ():
        assert {"a": ">z</text>", "b": "y {n&gt;2}"}[name] in text
    assert "Entries 900" in done.stdout or "Entries 2 700" in done.stdout


def test_what_is_refused_says_why(run, file):
    for arguments, message in [
        (["x:y:z:n"], "at most 3"),
        (["y:x>>h(1,0,1,1,0,1,1,0,1)"], "axes"),
        (["y:x", "", "nonsense"], "unknown"),
        (["x:y", "", "para", "--bins", "10"], "binning"),
        (["x:y:z:n", "", "para", "-o", "a.root"], "picture"),
        (["y:x>>h([0,2,1],3,0,1)"], "increasing"),
        (["s:x", "", "prof"], "averages numbers"),
        (["y:x", "--bins", "10,0,1,x"], "number"),
    ]:
        done = run("draw", f"{file}:few", *arguments)
        assert done.returncode != 0, arguments
        assert message in done.stderr, (arguments, done.stderr)
        assert "Usage" not in done.stderr
