"""Several draws in one reading of a tree."""

from __future__ import annotations

import json

import numpy as np
import pytest
from servers import SERVERS

import sapwood

COLUMNS = ["x", "y", "z", "n"]
#: Expression, cut, bins, option.
DRAWS = [
    ("x", "", (40, -4, 4), ""),
    ("y:x", "n>2", None, ""),
    ("x", "z", (20, -4, 4), "norm"),
    ("z:x", "", (10, -4, 4), "prof"),
    ("n", "", None, ""),
    ("x*y", "n>2", (10, -1, 1), ""),
    ("sqrt(z)", "", 15, ""),
    ("x", "Entry$<100", (5, -1, 1), ""),
    ("n:z", "x>0", None, ""),
    ("y", "", (10, -4, 4), ""),
]


@pytest.fixture(scope="module")
def path(public):
    rng = np.random.default_rng(1)
    path = public / "together.root"
    with sapwood.recreate(path) as file:
        tree = file.mktree("t", dict.fromkeys(COLUMNS[:3], "f4") | {"n": "i4"})
        for _ in range(6):
            size = 10_000
            columns = {name: rng.normal(size=size).astype("f4") for name in COLUMNS[:3]}
            tree.extend(columns | {"n": rng.integers(0, 6, size).astype("i4")})
    return path


def same(a, b):
    axes = [(list(p.edges), list(q.edges)) for p, q in zip(a.axes, b.axes, strict=True)]
    return all(p == q for p, q in axes) and np.array_equal(a.values(flow=True), b.values(flow=True), equal_nan=True)


def test_each_is_as_if_it_were_drawn_alone(path):
    tree = sapwood.open(path)["t"]
    together = tree.draw(draws=DRAWS)
    assert len(together) == len(DRAWS)
    for one, (expression, cut, bins, option) in zip(together, DRAWS, strict=True):
        assert same(one, tree.draw(expression, cut, bins=bins, option=option)), (expression, cut)


def test_chains_and_shorter_forms(path):
    chain = sapwood.chain([f"{path}:t", f"{path}:t"])
    x, y = chain.draw(
        draws=["x>>h(10,-1,1)", {"expression": "y", "cut": "x>0", "bins": (10, -1, 1)}], entry_stop=70_000
    )
    assert same(x, chain.draw("x", bins=(10, -1, 1), entry_stop=70_000))
    assert same(y, chain.draw("y", "x>0", bins=(10, -1, 1), entry_stop=70_000))
    assert chain.draw(draws=[("x",)])[0].ndim == 1
    assert sapwood.open(path)["t"].draw(draws=iter(["x"]), entries=[1, 2, 3])[0].sum().value == 3


def test_each_basket_is_read_once(path, command):
    """Ten draws of four branches take no more bytes and requests than reading the branches once."""
    server = SERVERS["sapwood"](path.parent, command)
    try:
        amounts = []
        for read in (
            lambda tree: tree.arrays(COLUMNS, library="np"),
            lambda tree: tree.draw(draws=[(expression, cut, bins) for expression, cut, bins, _ in DRAWS]),
        ):
            with sapwood.open(server.url(path), local_cache=False) as file:
                tree = file["t"]
                with sapwood.perf_stats() as stats:
                    read(tree)
                amounts.append((stats.read_calls, stats.bytes_fetched))
        (calls, fetched), drawn = amounts
        assert drawn[0] <= calls and drawn[1] <= fetched
    finally:
        server.stop()


def test_same_cuts_are_looked_at_first(path):
    """Baskets of the other branches in which no entry passes are not read. A local file: for a remote one, how long a
    round trip seems to take decides whether waiting for the cut is worth it."""
    amounts = []
    for cuts in (["Entry$<10 && n>0"] * 2, ["Entry$<10 && n>0", "n>0"]):
        with sapwood.open(path) as file:
            tree = file["t"]
            with sapwood.perf_stats() as stats:
                one, two = tree.draw(draws=list(zip("xy", cuts, strict=True)))
            amounts.append((stats.bytes_fetched, one.sum().value, two.sum().value))
    (few, *first), (all_of_it, *second) = amounts
    assert few < 0.8 * all_of_it
    assert first[0] == first[1] == second[0] < 11 < second[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"draws": "x"}, "draws must be a list"),
        ({"draws": [3]}, "each of draws"),
        ({"draws": [{"cut": "x"}]}, "each of draws"),
        ({"draws": [("x", "", None, "", 5)]}, "each of draws"),
        ({"expression": "x", "draws": ["y"]}, "no others with it"),
        ({}, "nothing to draw"),
    ],
)
def test_what_makes_no_sense_is_refused(path, arguments, message):
    tree = sapwood.open(path)["t"]
    for draw in (tree.draw, sapwood.chain([f"{path}:t"]).draw):
        with pytest.raises(sapwood.InvalidError, match=message):
            draw(**arguments)


def test_an_empty_list_draws_nothing(path):
    assert sapwood.open(path)["t"].draw(draws=[]) == []
    assert sapwood.chain([f"{path}:t"]).draw(draws=[]) == []


def test_the_command_draws_several(path, run, tmp_path):
    target = f"{path}:t"
    words = ["-e", "x>>a(10,-1,1)", "-e", "y?x>0", "-e", "z:x"]
    done = run("draw", target, *words, "--json", "-o", tmp_path / "all.root")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [h["name"] for h in told["histograms"]] == ["a", "htemp_2", "htemp_3"]
    assert told["entries"] == 60_000
    for one, alone in zip(told["histograms"], (["x>>a(10,-1,1)"], ["y", "x>0"], ["z:x"]), strict=True):
        expected = json.loads(run("draw", target, *alone, "--json").stdout)["histogram"]
        assert one["counts"] == expected["counts"], alone
    with sapwood.open(tmp_path / "all.root") as file:
        assert {key.split(";")[0] for key in file.keys()} == {"a", "htemp_2", "htemp_3"}
        counts, _ = file["a"].to_numpy()
        assert counts.tolist() == told["histograms"][0]["counts"]
    text = run("draw", target, *words).stdout
    assert text.count("Entries ") == 3
    one = run("draw", target, "-e", "x", "--bins", "7")
    assert one.returncode == 0 and "Entries 60 000" in one.stdout
    for wrong, message in [
        (["-e", "x>>h", "-e", "y>>h"], "two draws have the name h"),
        (["-e", "x", "-o", "a.png"], ".root"),
        (["-e", "x", "--option", "same"], "--before"),
        (["x", "-e", "y"], "cannot be used with"),
        ([], "an expression is missing"),
        (["-e", "nothing"], "no branch"),
    ]:
        refused = run("draw", target, *wrong)
        assert refused.returncode != 0 and message in refused.stderr, (wrong, refused.stderr)
