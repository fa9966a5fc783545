"""Reading in steps gives the same entries, in order, as reading at once."""

import gc
import os
import signal

import awkward as ak
import numpy as np
import pytest

import sapwood
from sapwood import _core


@pytest.fixture
def tree(flat):
    return sapwood.open(flat)["t"]


@pytest.mark.parametrize("step_size", [1, 99, 250, 999, 1000, 10**6, "1 kB", "10 kB", "100 MB"])
def test_steps_join_to_the_whole(tree, step_size):
    if step_size == 1:
        steps = list(tree.iterate(["x", "jagged"], step_size=1, entry_stop=20, library="ak"))
        assert len(steps) == 20
        whole = tree.arrays(["x", "jagged"], entry_stop=20, library="ak")
    else:
        steps = list(tree.iterate(["x", "jagged"], step_size=step_size, library="ak"))
        whole = tree.arrays(["x", "jagged"], library="ak")
    assert ak.array_equal(ak.concatenate(steps), whole)


def test_steps_have_the_size_asked_for(tree):
    assert [len(step) for step in tree.iterate(["x"], step_size=300, library="ak")] == [300, 300, 300, 100]


def test_steps_by_bytes_are_bounded(tree):
    for step in tree.iterate(["x", "n_f8"], step_size="4 kB", library="np"):
        assert step["x"].nbytes + step["n_f8"].nbytes <= 4000


def test_entry_range(tree):
    steps = list(tree.iterate(["x"], step_size=64, entry_start=123, entry_stop=789, library="np"))
    assert np.concatenate([step["x"] for step in steps]).tolist() == list(range(123, 789))


def test_cut(tree):
    steps = list(tree.iterate(["x"], cut="x % 7 == 0", step_size=100, library="np"))
    assert np.concatenate([step["x"] for step in steps]).tolist() == list(range(0, 1000, 7))


def test_stopping_early_releases_the_scan(tree):
    first = next(iter(tree.iterate(["x"], step_size=10, library="np")))
    assert first["x"].tolist() == list(range(10))
    # The tree is usable at once, and gives everything.
    assert len(tree["x"].array(library="np")) == 1000


def test_many_files(uproot_files):
    files = [f"{uproot_files}/pair-{index}.root:dir/t" for index in range(2)]
    steps = list(sapwood.iterate(files, ["x"], step_size=40, library="np"))
    assert np.concatenate([step["x"] for step in steps]).tolist() == list(range(200))
    assert sapwood.concatenate(files, ["x"], library="np")["x"].tolist() == list(range(200))


def test_many_files_by_glob_and_mapping(uproot_files):
    whole = sapwood.concatenate({f"{uproot_files}/pair-*.root": "dir/t"}, ["x", "y"], library="ak")
    assert whole["x"].tolist() == list(range(200))
    assert whole["y"].tolist() == [0.5 * i for i in range(100)] * 2


def test_entries_of_a_chain(flat):
    """Counted through all files, from the end too."""
    chain = sapwood.chain([f"{flat}:t"] * 3)
    x = chain.arrays(["x"], library="np")["x"]
    for span in ((990, 2010), (None, 3), (-1500, -2), (1000, 2000), (7, 7)):
        entries = {"entry_start": span[0], "entry_stop": span[1]}
        whole = x[slice(*span)]
        for library in ("np", "ak", "pd", "pa"):
            assert np.array_equal(chain.arrays(["x"], library=library, **entries)["x"], whole)
        steps = list(chain.iterate(["x"], library="pd", step_size=300, report=True, **entries))
        assert [x for step, _ in steps for x in step["x"]] == whole.tolist()
        assert all(step.index[0] == report.global_entry_start for step, report in steps)
    chosen = [2500, 3, 1000, 3]
    for library in ("np", "ak", "pd", "pa"):
        assert np.array_equal(chain.arrays(["x"], entries=chosen, library=library)["x"], x[chosen])
    with pytest.raises(
        sapwood.InvalidError, match=r"Chain\.arrays\(\) has no option 'stop'; its options are .*entry_stop"
    ):
        chain.arrays(["x"], stop=3)
    with pytest.raises(sapwood.InvalidError, match=r"Chain\.iterate\(\).*step_siz'"):
        chain.iterate(["x"], step_siz=3)


def test_files_that_differ_name_a_remedy(tmp_path):
    for name, columns in {"a": "xy", "b": "x"}.items():
        with sapwood.recreate(tmp_path / f"{name}.root") as file:
            file["t"] = {c: np.arange(3) for c in columns}
    files = [f"{tmp_path / name}.root:t" for name in "ab"]
    for order, words in ((files, "it has no 'y'"), (files[::-1], "it has 'y'")):
        with pytest.raises(sapwood.UnsupportedError, match=f"{words}.*; select branches .*skip_bad_files=True"):
            sapwood.chain(order).arrays()
    assert len(sapwood.chain(files).arrays(["x"])) == 6


@pytest.mark.parametrize("library", ["np", "ak", "pd", "pa", "pl"])
@pytest.mark.parametrize(
    "options", [{}, {"cut": "x % 7 == 0"}, {"entries": [1, 2, 500]}], ids=["all", "cut", "entries"]
)
def test_a_step_is_gone_with_its_last_reference(tree, library, options):
    """Without a collection of garbage, which may come much later: a step may have hundreds of megabytes."""

    def buffers():
        return sum(type(held) is _core.Buffer for held in gc.get_objects())

    gc.collect()
    gc.disable()
    try:
        before, most = buffers(), 0
        for step in tree.iterate(["x", "n_f8", "jagged"], step_size=300, library=library, **options):
            most = max(most, buffers() - before)
            del step
            assert buffers() == before
    finally:
        gc.enable()
    # a table may hold copies; arrays of numpy and awkward are what was decoded
    assert most > 0 or library not in ("np", "ak")


def test_an_iteration_does_not_go_on_in_a_forked_child(flat):
    """The threads that help it are the parent's: the child waited for them without end."""
    steps = sapwood.open(flat)["t"].iterate(["x", "jagged"], step_size=100)
    first = next(steps)
    child = os.fork()
    if child == 0:
        signal.alarm(120)
        ended = 1
        try:
            next(steps)
        except sapwood.InvalidError as error:
            ended = 0 if "forked" in str(error) else 2
        finally:
            os._exit(ended)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    # the parent's goes on
    assert len(first) + sum(map(len, steps)) == 1000
