"""sapwood merge against ROOT's hadd: histograms with names of bins, with fills in buffers, with axes that grow."""

import json
import subprocess
import sys
from pathlib import Path

import pytest


def root(*words):
    """Runs merged_histograms.py in a process of its own: its ROOT must not be another test's."""
    script = Path(__file__).with_name("merged_histograms.py")
    command = [sys.executable, "-W", "ignore", str(script), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.split("RESULT")[1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory, root_here):
    return tmp_path_factory.mktemp("histograms")


@pytest.fixture(scope="module")
def refused(folder):
    """Writes all files; what is refused, with a word of the reason."""
    return root("write", folder)


def test_as_by_hadd_to_the_last_bit(run, folder, refused):
    done = run("merge", "--json", folder / "ours.root", folder / "k0.root", folder / "k1.root")
    assert done.returncode == 0, done.stderr
    theirs, ours = root("values", folder / "hadd.root"), root("values", folder / "ours.root")
    assert list(ours) == list(theirs)
    assert {n: (ours[n], v) for n, v in theirs.items() if ours[n] != v} == {}
    remarks = json.loads(done.stdout)["remarks"]
    assert len(remarks) == 2
    assert all(
        ": not all inputs have labels on the bins of its X axis: the bins are added by number" in r for r in remarks
    )


def test_what_hadd_makes_nonsense_of_is_refused(run, folder, refused):
    for name, word in refused.items():
        done = run("merge", folder / "refused.root", folder / f"{name}0.root", folder / f"{name}1.root")
        assert done.returncode == 1, name
        assert word in done.stderr and "h " in done.stderr and ";" in done.stderr, (name, done.stderr)
        assert not (folder / "refused.root").exists()


def test_contents_without_limits_are_kept(run, folder, refused):
    """hadd loses them: here both are there, and named; what has the same bins is added."""
    done = run("merge", "--json", folder / "both.root", folder / "set0.root", folder / "set1.root")
    assert done.returncode == 0, done.stderr
    got = root("values", folder / "both.root")
    assert sorted(got) == sorted(
        f"{n};{c}" for n in ("none and limits", "limits and none", "none and fills") for c in (1, 2)
    )
    assert sum("axis without limits" in remark for remark in json.loads(done.stdout)["remarks"]) == 3
    inputs = [root("values", folder / f"set{number}.root") for number in range(2)]
    for name in ("none and limits", "limits and none", "none and fills"):
        assert sorted(map(str, [got[f"{name};1"], got[f"{name};2"]])) == sorted(str(i[f"{name};1"]) for i in inputs)
    done = run("merge", folder / "twice set.root", folder / "set0.root", folder / "set0.root")
    assert done.returncode == 0, done.stderr
    once, twice = inputs[0]["none and limits;1"], root("values", folder / "twice set.root")["none and limits;1"]
    assert [content for content, _ in twice[4]] == [2 * content for content, _ in once[4]]


def test_merging_on_is_the_same(run, folder, refused):
    """A sum is an input like any other: nothing waits in its buffers that would be filled again."""
    once, twice, other = (folder / f"{n}.root" for n in ("once", "twice", "other"))
    for out, *inputs in [(once, "k0", "k1"), (twice, "once", "k1"), (other, "k0", "k1", "k1")]:
        done = run("merge", out, *(folder / f"{i}.root" for i in inputs))
        assert done.returncode == 0, done.stderr
    assert root("values", twice) == root("values", other)
