"""Friends of trees and chains, by entry and by index, beside what ROOT draws."""

import json
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sapwood

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def files(root_here, tmp_path_factory):
    """Folder of the files with friends; facts.json has ROOT's values."""
    folder = tmp_path_factory.mktemp("friends")
    words = [sys.executable, "-W", "ignore", HERE / "friends_with_root.py", folder]
    made = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert made.returncode == 0, made.stdout + made.stderr
    return folder


@pytest.fixture(scope="module")
def facts(files):
    return json.loads((files / "facts.json").read_text())


@pytest.fixture
def scan(run):
    """The values of an expression in each row that has one, as TTree::Draw takes them."""

    def scan(target, expression, cut, *more):
        out = run("scan", target, expression, cut, "--format", "jsonl", "-q", *more)
        assert out.returncode == 0, (expression, out.stderr)
        rows = [json.loads(line) for line in out.stdout.splitlines()]
        values = [next(iter(row.values())) for row in rows]
        return [value for value in values if value is not None]

    return scan


def test_friends_of_the_file_are_read_by_entry(files, facts, scan):
    for expression, cut, values in facts["by_entry"]:
        assert scan(f"{files}/main.root:T", expression, cut) == values, (expression, cut)


def test_a_friend_with_an_index_is_read_by_it(files, facts, scan):
    for expression, cut, values in facts["by_index"]:
        given = ["--friend", f"I@{files}/index.root"]
        assert scan(f"{files}/main.root:T", expression, cut, *given) == values, (expression, cut)


def test_an_index_is_made_where_none_is_stored(files, facts, scan):
    given = ["--friend", f"I@{files}/keys.root", "--index", "run,ev"]
    for expression, cut, values in facts["by_index"]:
        assert scan(f"{files}/main.root:T", expression, cut, *given) == values, (expression, cut)


def test_friends_of_friends_are_looked_for_behind_the_direct_ones(files, facts, scan):
    """Two trees that are friends of each other have no end of friends."""
    for expression, cut, values in facts["nested"]:
        assert scan(f"{files}/nested.root:N", expression, cut) == values, (expression, cut)
        drawn = sapwood.open(f"{files}/nested.root:N").draw(expression, cut, (3000, -1000, 2000))
        assert drawn.values().sum() == len(values), (expression, cut)
    tree = sapwood.open(f"{files}/nested.root:N")
    assert tree.arrays(["m", "F.y", "z"])["z"].tolist() == [i / 2 for i in range(10)]
    with pytest.raises(sapwood.KeyInFileError):
        tree.arrays(["nowhere"])


def test_a_friend_of_a_friend_with_an_index_is_refused(files, tmp_path):
    """Its expressions would have to be evaluated in the friend between."""
    tree = sapwood.open(f"{files}/nested.root:N")
    tree.add_friend("T", f"{files}/main.root", index="x")
    # the friends of a friend that is found by its index have other entries
    with pytest.raises(sapwood.KeyInFileError):
        tree.draw("T.q")
    assert tree.draw("T.ev").sum().value == 10


def test_friends_of_chains_count_as_roots_do(files, facts, scan):
    for expression, cut, values in facts["of_chains"]:
        given = ["--friend", f"G@{files}/g?.root"]
        assert scan(f"{files}/c?.root:T", expression, cut, *given) == values, (expression, cut)


def test_draws_in_python_have_the_rows_of_root(files, facts):
    tree = sapwood.open(f"{files}/main.root:T")
    for expression, cut, values in facts["by_entry"]:
        drawn = tree.draw(expression, cut, (2000, -1000, 1000))
        assert drawn.values().sum() == len(values), (expression, cut)
    tree.add_friend("I", f"{files}/index.root")
    for expression, cut, values in facts["by_index"]:
        drawn = tree.draw(expression, cut, (3000, -1000, 2000))
        assert drawn.values().sum() == len(values), (expression, cut)


def test_arrays_with_branches_of_friends(files):
    tree = sapwood.open(f"{files}/main.root:T")
    got = tree.arrays(["x", "F.y", "al.y", "z", "w", "F.x"], library="np")
    assert got["x"].tolist() == list(range(10))
    assert got["F.y"].tolist() == [100 + i for i in range(10)]
    assert got["al.y"].tolist() == [200 + i for i in range(10)]
    assert got["z"].tolist() == [i / 2 for i in range(10)]
    assert [w.tolist() for w in got["w"]] == [[i * 10 + k for k in range((i + 1) % 3)] for i in range(10)]
    assert got["F.x"].tolist() == [-i for i in range(10)]
    assert tree.arrays(["x", "y + x"], "F.y > 106", library="np")["y + x"].tolist() == [114, 116, 118]
    assert tree.arrays("y", entries=[7, 2, 3], library="np")["y"].tolist() == [107, 102, 103]
    steps = list(tree.iterate(["x", "y"], step_size=4, library="np"))
    assert [s["y"].tolist() for s in steps] == [[100, 101, 102, 103], [104, 105, 106, 107], [108, 109]]


@pytest.mark.parametrize("library", ["ak", "np", "pd", "pa", "pl"])
def test_entries_that_a_shorter_friend_lacks_are_missing(files, library):
    pytest.importorskip({"ak": "awkward", "np": "numpy", "pd": "pandas", "pa": "pyarrow", "pl": "polars"}[library])
    s = sapwood.open(f"{files}/main.root:T").arrays(["x", "s"], library=library)["s"]
    values = s.to_pylist() if library == "pa" else s.tolist() if library in ("np", "pd") else s.to_list()
    values = [None if v is None or np.isnan(v) else v for v in values]
    assert values == [300, 301, 302, 303, 304, 305, None, None, None, None]


def test_a_friend_that_ends_early_has_no_rows_beyond(files, scan):
    # ROOT repeats the values of its last entry
    assert scan(f"{files}/main.root:T", "s", "") == [300, 301, 302, 303, 304, 305]
    assert scan(f"{files}/main.root:T", "x", "s>0") == list(range(6))
    tree = sapwood.open(f"{files}/main.root:T")
    assert tree.arrays("x", "s > 302", library="np")["x"].tolist() == [3, 4, 5]


def test_entries_by_index_in_any_order(files):
    tree = sapwood.open(f"{files}/keys.root:I")
    tree.add_friend("T", f"{files}/main.root", index=("run", "ev"))
    got = tree.arrays(["q", "T.x", "T.v"], library="np")
    assert got["T.x"].tolist() == [2, 0, 7, 4, 1, None, 4]
    assert [None if v is None else v.tolist() for v in got["T.v"].tolist()] == [[2, 2], [], [7], [4], [1], None, [4]]
    steps = list(tree.iterate("T.x", step_size=2, library="np"))
    assert [x for s in steps for x in s["T.x"].tolist()] == [2, 0, 7, 4, 1, None, 4]
    assert tree.arrays("q", "T.x > 1", entries=[0, 3, 5], library="np")["q"].tolist() == [1000, 1003]


def test_a_given_friend_replaces_a_stored_one_of_its_name(files):
    tree = sapwood.open(f"{files}/main.root:T")
    tree.add_friend("G", f"{files}/friend.root", alias="F")
    assert tree.arrays("F.y", library="np")["F.y"][0] == 200
    again = pickle.loads(pickle.dumps(tree))
    assert again.arrays("F.y", library="np")["F.y"][0] == 200


def test_two_friends_by_one_alias_are_searched_in_order(files, scan):
    given = ["--friend", f"k=F@{files}/friend.root", "--friend", f"k=G@{files}/friend.root"]
    assert scan(f"{files}/keys.root:I", "k.y", "", *given)[:2] == [100, 101]
    assert scan(f"{files}/keys.root:I", "k.z", "", *given)[:3] == [0, 0.5, 1]


def test_a_tree_may_be_its_own_friend(files, scan):
    given = ["--friend", f"me=T@{files}/main.root"]
    assert scan(f"{files}/main.root:T", "me.x-x", "", *given) == [0] * 10


def test_an_absent_friend_matters_only_where_it_is_named(files, run, tmp_path):
    shutil.copy(files / "c0.root", tmp_path / "c0.root")
    alone = tmp_path / "c0.root"
    (files / "s0.root").rename(files / "away.root")
    try:
        assert run("scan", f"{alone}:T", "x").returncode == 0
        assert sapwood.open(f"{alone}:T").arrays("x", library="np")["x"].tolist() == [0, 1, 2, 3, 4]
        out = run("scan", f"{alone}:T", "S.st")
        assert out.returncode != 0
        assert "friend S" in out.stderr
        assert "add a friend with the alias S" in out.stderr
        with pytest.raises(sapwood.UnsupportedError, match=r"friend S .* cannot be opened"):
            sapwood.open(f"{alone}:T").arrays("st")
        given = ["--friend", f"S=S@{files}/away.root"]
        assert run("scan", f"{alone}:T", "S.st", *given).returncode == 0
    finally:
        (files / "away.root").rename(files / "s0.root")


def test_an_index_that_the_tree_lacks_is_an_error(files, run):
    out = run("scan", f"{files}/c0.root:T", "I.q", "--friend", f"I@{files}/index.root")
    assert out.returncode != 0
    assert "friend I" in out.stderr
    assert "run" in out.stderr
    assert "as its index" in out.stderr


def test_chains_with_friends_in_python(files):
    chain = sapwood.chain(f"{files}/c?.root:T")
    st = [1000 + i for i in range(5)] + [2000 + i for i in range(5)]
    assert chain.arrays("S.st", library="np")["S.st"].tolist() == st
    chain.add_friend("G", f"{files}/g?.root")
    assert chain.arrays(["x", "y"], "x > 3", library="np")["y"].tolist() == [104, 105, 106, 107, 108, 109]
    assert chain.draw("G.y", "x>3").values().sum() == 6
    steps = [s["y"].tolist() for s in chain.iterate("y", step_size=3, library="np")]
    assert [y for s in steps for y in s] == [100 + i for i in range(10)]
    assert chain.arrays("y", entry_start=4, entry_stop=7, library="np")["y"].tolist() == [104, 105, 106]


def test_weights_of_trees_count_in_draws_as_in_root(files, facts, run):
    for cut, entries, counts in facts["weights"]:
        out = run("draw", f"{files}/w?.root:T", "x>>h(12,0,12)", cut, "--json", "-q")
        assert out.returncode == 0, out.stderr
        drawn = json.loads(out.stdout)["histogram"]
        assert (drawn["counts"], drawn["entries"]) == (counts, entries), cut
        chain = sapwood.chain([f"{files}/w{n}.root:T" for n in range(3)])
        assert chain.draw("x", cut, (12, 0, 12)).values().tolist() == counts, cut


def test_several_draws_read_friends_together(files, run):
    draws = ["y>>a(4,100,110)", "x>>b(5,0,10)?F.y>104", "al.y-F.y>>c(3,99,102)"]
    words = [word for draw in draws for word in ("-e", draw)]
    out = run("draw", f"{files}/main.root:T", *words, "--json", "-q")
    assert out.returncode == 0, out.stderr
    counts = [h["counts"] for h in json.loads(out.stdout)["histograms"]]
    assert counts == [[3, 2, 3, 2], [0, 0, 1, 2, 2], [0, 10, 0]]


class Total(sapwood.Selector):
    """Sums branches of a tree and of its friends."""

    branches = ("x", "F.y")
    library = "np"

    def begin(self):
        self.total = 0.0

    def process(self, batch):
        self.total += float((batch["x"] * batch["F.y"]).sum())

    def merge(self, other):
        self.total += other.total

    def end(self):
        return self.total


@pytest.mark.parametrize("executor", [None, "threads", "processes"])
def test_selectors_read_friends(files, executor):
    tree = sapwood.open(f"{files}/main.root:T")
    workers = 2 if executor else None
    assert tree.process(Total, executor=executor, workers=workers, step_size=3) == sum(i * (100 + i) for i in range(10))
    tree.add_friend("G", f"{files}/friend.root", alias="F")
    assert tree.process(Total, executor=executor, workers=workers, step_size=3) == sum(i * (200 + i) for i in range(10))


SCRIPT = """
import numpy as np
import sapwood

class Total(sapwood.Selector):
    branches = ["x", "I.q"]
    library = "np"

    def begin(self):
        self.total = 0

    def process(self, batch):
        if self.partition.entry_start == FAIL:
            raise RuntimeError("lost")
        self.total += int(np.ma.filled(batch["I.q"], 0).sum())

    def merge(self, other):
        self.total += other.total

    def end(self):
        return self.total
"""


def test_the_command_runs_selectors_with_friends_and_without_lost_batches(files, command, tmp_path):
    import os

    def run(fail, *more):
        script = tmp_path / f"total{fail}.py"
        script.write_text(SCRIPT.replace("FAIL", str(fail)))
        words = [command, "process", f"{files}/main.root:T", script, "--step-size", "4", "-q", *more]
        environment = {**os.environ, "SAPWOOD_PYTHON": sys.executable}
        return subprocess.run(words, capture_output=True, text=True, env=environment)

    tree = sapwood.open(f"{files}/main.root:T")
    tree.add_friend("I", f"{files}/keys.root", index=("run", "ev"))
    q = [row[0] for row in tree.query("I.q") if row[0] is not None]
    given = ["--friend", f"I@{files}/keys.root", "--index", "run,ev"]
    done = run(-1, *given)
    assert (done.returncode, done.stdout.strip()) == (0, str(int(sum(q)))), done.stderr
    assert run(4, *given).returncode == 1
    part = run(4, *given, "--skip-failed")
    assert part.returncode == 1
    assert "entries 4 to 7" in part.stderr
    few = [row[0] for a, b in ((0, 4), (8, 10)) for row in tree.query("I.q", entry_start=a, entry_stop=b)]
    assert part.stdout.strip() == str(int(sum(x for x in few if x is not None)))
    assert run(-1, "--friend", "wrong").returncode == 2
