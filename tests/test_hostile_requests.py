"""Requests that ask for the impossible: aliases that double at each step, files closed while they are read."""

from __future__ import annotations

import os

import numpy as np
import pytest

import sapwood

N = 20_000


@pytest.fixture
def many(tmp_path):
    path = tmp_path / "many.root"
    with sapwood.recreate(path) as f:
        tree = f.mktree("t", {"x": "f8"})
        for k in range(10):
            tree.extend({"x": np.arange(N // 10) + k * N // 10})
    return path


def test_a_file_closed_while_it_is_iterated_is_no_end(many):
    """The steps stopped without a word: the loop ended as if all entries had been read."""
    file = sapwood.open(many)
    steps = file["t"].iterate(["x"], step_size=N // 10, library="np")
    assert len(next(steps)["x"]) == N // 10
    file.close()
    with pytest.raises(sapwood.InvalidError, match=r"many\.root: was closed while it was being read"):
        next(steps)


def test_a_file_closed_after_its_last_step_ends_well(many):
    file = sapwood.open(many)
    steps = file["t"].iterate(["x"], step_size=N // 2, library="np")
    assert [len(next(steps)["x"]) for _ in range(2)] == [N // 2] * 2
    file.close()
    assert list(steps) == []


@pytest.mark.parametrize("library", ["np", "ak"])
def test_aliases_that_double_are_computed_once_each(many, library):
    """Each name was computed wherever it stood: 40 lines asked for 2**40 additions."""
    aliases = {"a0": "x", **{f"a{k}": f"a{k - 1} + a{k - 1}" for k in range(1, 40)}}
    got = sapwood.open(many)["t"].arrays(["a39"], aliases=aliases, entry_stop=5, library=library)["a39"]
    assert got.tolist() == [k * 2.0**39 for k in range(5)]


def test_aliases_that_ask_for_more_than_can_be_are_refused(many):
    tree = sapwood.open(many)["t"]
    doubling = {"a0": "x", "b0": "x"}
    for k in range(1, 40):
        doubling |= {f"a{k}": f"a{k - 1} + b{k - 1}", f"b{k}": f"a{k - 1} - b{k - 1}"}
    for aliases, name in [(doubling, "a39"), ({"a0": "x"} | {f"a{k}": f"a{k - 1}" for k in range(1, 5000)}, "a4999")]:
        with pytest.raises(sapwood.InvalidError, match="too many nested aliases"):
            tree.arrays([name], aliases=aliases)
        with pytest.raises(sapwood.InvalidError, match="too many nested aliases"):
            tree.arrays(["x"], cut=f"{name} > 0", aliases=aliases)


def test_deep_aliases_of_deep_expressions_are_refused(many):
    deep = "-" * 90
    aliases = {"a0": "x"} | {f"a{k}": f"{deep}a{k - 1}" for k in range(1, 40)}
    with pytest.raises(sapwood.InvalidError, match="nested too deep"):
        sapwood.open(many)["t"].arrays(["a39"], aliases=aliases)


def test_many_outputs_may_use_an_alias_each(many):
    outputs = [f"y + {k}" for k in range(1500)]
    got = sapwood.open(many)["t"].arrays(outputs, aliases={"y": "x * 2"}, entry_stop=2, library="np")
    assert got[outputs[-1]].tolist() == [1499, 1501]


def test_a_name_that_is_no_text_is_not_left_out_of_a_chain(run, many):
    """Half of the entries were missing, without a word."""
    other = os.fsencode(many.parent) + b"/many\xff.root"
    try:
        os.link(many, other)
    except OSError:
        pytest.skip("this file system takes UTF-8 only")
    alone = run("scan", f"{many}:t", "x", "--format", "csv").stdout.splitlines()
    both = run("scan", f"{many.parent}/many*.root:t", "x", "--format", "csv").stdout.splitlines()
    assert len(both) == 2 * len(alone) - 1


def test_a_link_that_leads_nowhere_is_not_left_out_of_a_chain(run, many):
    (many.parent / "many2.root").symlink_to("nowhere.root")
    done = run("scan", f"{many.parent}/many*.root:t", "x", check=False)
    assert done.returncode == 1
    assert "many2.root: no such file" in done.stderr
