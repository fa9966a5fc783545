"""draw and scan against ROOT's TTree::Draw and TTree::Scan (expressions.C): rows, blanks, aliases, leaves, strings."""

from __future__ import annotations

import csv
import io
import json
import math

import numpy as np
import pytest

import sapwood


@pytest.fixture(scope="module")
def folder(public, macro):
    """What expressions.C writes."""
    folder = public / "expressions"
    folder.mkdir()
    macro("expressions.C", folder)
    return folder


def cells(path, columns):
    """The cells of a table of TTree::Scan's, without entry and instance."""
    lines = [line.rstrip() for line in path.read_text().splitlines()]
    rows = [line for line in lines if line.startswith("*") and line.endswith("*") and not line.startswith("**")]
    return [[cell.strip() for cell in row[1:-1].split("*")][-columns:] for row in rows[1:]]


def same(ours, roots):
    try:
        a, b = float({"true": "1", "false": "0"}.get(ours, ours)), float(roots)
    except ValueError:
        return ours == roots
    return math.isclose(a, b, rel_tol=1e-7, abs_tol=1e-12)


def test_scan_prints_the_rows_of_root(run, folder):
    cases = [line.split("\t") for line in (folder / "scans.txt").read_text().splitlines()]
    assert len(cases) > 30
    for number, (expressions, cut) in enumerate(cases):
        done = run("scan", f"{folder}/expressions.root", expressions, *([cut] if cut else []), "--format", "csv")
        assert done.returncode == 0, f"{expressions}: {done.stderr}"
        columns = len(expressions.split(":"))
        # a row of one blank is an empty line, which csv leaves out
        ours = [row or [""] for row in csv.reader(io.StringIO(done.stdout))][1:]
        roots = cells(folder / f"scan-{number}.txt", columns)
        assert len(ours) == len(roots), f"{expressions} {cut}"
        assert len(roots) > 3
        for a, b in zip(ours, roots, strict=True):
            assert all(map(same, a, b)), f"{expressions} {cut}: {a}, ROOT has {b}"


def test_scan_repeats_strings_and_leaves_blanks(run, folder):
    """Where ROOT prints a string in the first row of an entry only, it is in each: rows can be taken out of context."""
    done = run("scan", f"{folder}/expressions.root", "s:jf:vf", "--entries", "2", "--format", "jsonl")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert rows == [{"s": "even2", "jf": 2.0, "vf": 1.0}, {"s": "even2", "jf": 2.125, "vf": 2.0}]
    done = run("scan", f"{folder}/expressions.root", "s:jf:vf", "--entries", "4:6", "--json")
    assert json.loads(done.stdout)["rows"][-2:] == [["even1", 4.375, None], ["odd2", None, 2.5]]


def test_histograms_of_strings(run, folder):
    for case in json.loads((folder / "labels.json").read_text()):
        done = run("draw", f"{folder}/expressions.root", case["expression"], *filter(None, [case["cut"]]), "--json")
        drawn = json.loads(done.stdout)["histogram"]
        bins = list(zip(drawn["labels"], drawn["counts"], drawn["variances"], strict=True))
        assert [(label, count) for label, count, _ in bins] == [(label, count) for label, count, _ in case["bins"]]
        assert all(math.isclose(a[2], b[2], rel_tol=1e-9) for a, b in zip(bins, case["bins"], strict=True))
        assert drawn["entries"] == case["entries"]
        assert math.isclose(drawn["mean"], case["mean"], rel_tol=1e-12)
        assert math.isclose(drawn["std_dev"], case["std_dev"], rel_tol=1e-12)
        tree = sapwood.open(folder / "expressions.root")["t"]
        hist = tree.draw(case["expression"], case["cut"])
        assert hist.values().tolist() == drawn["counts"]
        labels = hist.axes[0].labels if isinstance(hist, sapwood.Histogram) else list(hist.axes[0])
        assert list(labels) == drawn["labels"]


def test_a_number_of_bins_alone(run, folder):
    name = f"{folder}/expressions.root"
    tree = sapwood.open(name)["t"]
    for words in (["x>>h(10)"], ["x", "--bins", "10"]):
        axis = json.loads(run("draw", name, *words, "--json").stdout)["histogram"]["axis"]
        assert axis["bins"] == 10
    for hist in (tree.draw("x", bins=10), tree.draw("x>>h(10)")):
        assert hist.values().shape == (10,)
        assert hist.values().sum() == 30
        assert (hist.axes[0].edges[0], hist.axes[0].edges[-1]) == (axis["low"], axis["high"])
    for bins in (0, True, 10**12, 2.5):
        with pytest.raises(sapwood.InvalidError, match="bins must be"):
            tree.draw("x", bins=bins)
    with pytest.raises(sapwood.InvalidError, match="its own bin"):
        tree.draw("s", bins=3)


def test_aliases_are_shown_and_checked(run, folder):
    name = f"{folder}/expressions.root"
    assert json.loads(run("show", name, "--json").stdout)["aliases"]["more"] == "twice+i"
    assert "alias" in run("show", name).stdout
    done = run("scan", name, "twice[0]")
    assert done.returncode == 1
    assert "twice is the tree's alias for x*2" in done.stderr


def test_an_alias_may_ask_for_the_number_of_all_entries(run, folder, tmp_path):
    """Entries$ that stood in an alias was the first file's: in a chain it is that of all."""
    name = f"{folder}/expressions.root"
    second = tmp_path / "second.root"
    second.write_bytes((folder / "expressions.root").read_bytes())
    entries = sapwood.open(name)["t"].num_entries
    done = run("scan", name, "Entry$", "final", "--add", second, "--format", "csv")
    assert done.stdout.split()[1:] == [str(2 * entries - 1)], done.stderr
    drawn = sapwood.chain([name, second]).draw("Entry$", "final", bins=(2 * entries, 0, 2 * entries))
    assert np.flatnonzero(drawn.values()).tolist() == [2 * entries - 1]


def test_aliases_in_python(folder):
    tree = sapwood.open(folder / "expressions.root")["t"]
    assert tree.arrays(["twice", "more"], library="np", entry_stop=3)["more"].tolist() == [-10.0, -8.5, -7.0]
    assert tree.draw("more", "pi>0", bins=(4, 0, 40)).values().sum() == 19


def test_leaves_of_a_branch(folder):
    pytest.importorskip("awkward")
    tree = sapwood.open(folder / "expressions.root")["t"]
    assert tree["px"].array(library="np").tolist() == list(range(30))
    assert tree["p/q"].array(None, 1, 4, library="np").tolist() == [0, 1, -1]
    assert tree["p"]["py"].path == "p/py"
    assert "p/px" in tree
    assert "p/pz" not in tree
    with pytest.raises(sapwood.KeyInFileError, match="p/pz"):
        tree["p/pz"]
    expected = [{"px": float(i), "p/q": i % 3 - 1, "px+q": float(i + i % 3 - 1)} for i in range(30) if i % 3]
    assert tree.arrays(["px", "p/q", "px+q"], "q >= 0").tolist() == expected


@pytest.mark.filterwarnings("ignore:.*both an alias and a branch")
def test_zip_is_uproots(folder):
    uproot = pytest.importorskip("uproot")
    pytest.importorskip("awkward")
    names = ["i", "jf", "jm", "vf", "k"]
    ours = sapwood.open(folder / "expressions.root")["t"].arrays(names, how="zip")
    assert str(ours.type) == (
        "30 * {i: int32, k: 3 * int32, jagged0: var * {jf: float32, jm: 2 * float32}, jagged1: var * {vf: float32}}"
    )
    alone = ["i", "jf", "k"]
    theirs = uproot.open(folder / "expressions.root")["t"].arrays(alone, how="zip")
    ours = sapwood.open(folder / "expressions.root")["t"].arrays(alone, how="zip")
    assert ours.tolist() == theirs.tolist()
    assert set(ours.fields) == set(theirs.fields)
    cut = sapwood.open(folder / "expressions.root")["t"].arrays(["i", "jf"], "i > 5", how="zip")
    assert cut.i.tolist() == list(range(6, 20))
    with pytest.raises(sapwood.InvalidError, match="zip"):
        sapwood.open(folder / "expressions.root")["t"].arrays(alone, how="zip", library="np")


def test_zip_names_groups_by_their_prefix(tmp_path):
    ak = pytest.importorskip("awkward")
    uproot = pytest.importorskip("uproot")
    lists = [ak.Array([[1.0, 2.0], [], [3.0]]), ak.Array([[1, 2], [], [3]]), ak.Array([[], [5.0], []])]
    path = tmp_path / "zip.root"
    data = dict(zip(["Muon_pt", "Muon_charge", "Jet_pt"], lists, strict=True))
    with uproot.recreate(path) as file:
        arrays = {"run": np.arange(3), **data}
        file.mktree("t", {name: array.type if name != "run" else array.dtype for name, array in arrays.items()})
        file["t"].extend(arrays)
    wanted = ["run", *data]
    ours, theirs = (lib.open(f"{path}:t").arrays(wanted, how="zip") for lib in (sapwood, uproot))
    assert ours.tolist() == theirs.tolist()
    assert ours.Muon.fields == ["pt", "charge"]


def test_uproots_spellings(folder):
    path = folder / "expressions.root"
    branch = sapwood.open(f"{path}:t/i")
    assert branch.array(None, 3, 5, library="np").tolist() == [-7, -6]
    assert str(branch.interpretation) == "int32"
    with pytest.raises(sapwood.InvalidError, match="interpretation must be None"):
        branch.array(3, 5)
    file = sapwood.open(str(path).encode())
    assert file.title_of("t") == file.title_of("t;1") == "for expressions"
    with pytest.raises(sapwood.KeyInFileError):
        file.title_of("u")
    with pytest.raises(sapwood.InvalidError, match="step_size"):
        next(file["t"].iterate("i", step_size=2**70))


def test_a_branch_named_as_a_tree(run, folder):
    name = f"{folder}/expressions.root:t/p"
    shown = json.loads(run("show", name, "--json").stdout)
    assert [b["name"] for b in shown["branches"]] == ["p"]
    done = run("draw", name, "px")
    assert done.returncode == 1
    assert "t/p is not a tree but the branch p of the tree t" in done.stderr


def test_branches_of_one_name_are_printed_each(run, tmp_path):
    """ROOT lets a tree have them; expressions mean the first one."""
    paths = []
    for number in range(2):
        values = {name: np.arange(3) + 10 * place + 100 * number for place, name in enumerate(("twin_a", "twin_b"))}
        path = tmp_path / f"{number}.root"
        with sapwood.recreate(path, compression=None) as file:
            tree = file.mktree("t", values)
            if tree.num_entries == 0:
                tree.extend(values)
        path.write_bytes(path.read_bytes().replace(b"twin_b", b"twin_a"))
        paths.append(f"{path}:t")
    done = run("scan", paths[0], "--add", paths[1], "--format", "csv")
    assert done.returncode == 0, done.stderr
    rows = list(csv.reader(io.StringIO(done.stdout)))
    assert rows[0] == ["twin_a", "twin_a"]
    assert rows[1:] == [[str(n + 100 * k), str(n + 10 + 100 * k)] for k in range(2) for n in range(3)]
    first = run("scan", paths[0], "twin_a", "--format", "csv").stdout.split()
    assert first == ["twin_a", "0", "1", "2"]
