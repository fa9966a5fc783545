"""Aliases given at run time (--alias, set_alias, aliases=) against ROOT's TTree::SetAlias: their order, cuts, draws."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys

import numpy as np
import pytest

import sapwood

#: Aliases of the file, those given, the expression, and the cut.
CASES = [
    ([("p", "2*x")], "p", ""),
    ([("p", "2*x")], "p", "p>6"),
    ([("stored", "x+100")], "stored", ""),
    ([("a", "b+1"), ("b", "x*y")], "a", "b>3"),
    # one of the file uses a given one
    ([("stored", "x*x")], "twice", ""),
    ([("x", "y")], "x", ""),
    ([("items", "v+1")], "items", "items>2"),
    ([("second", "v[1]")], "second", "second>0"),
    ([("of_friend", "fr.z*x")], "of_friend", "of_friend>1"),
]

ROOTS = """
import json, sys
import ROOT
folder, cases = sys.argv[1], json.loads(sys.argv[2])
ROOT.gInterpreter.Declare('''
void write(const char* folder) {
    TFile f(TString::Format("%s/t.root", folder), "recreate");
    TTree t("t", ""), fr("fr", "");
    double x, y, z; int n; double v[3];
    t.Branch("x", &x); t.Branch("y", &y); t.Branch("n", &n, "n/I"); t.Branch("v", v, "v[n]/D"); fr.Branch("z", &z);
    for (int e = 0; e < 12; ++e) {
        x = e; y = 12 - e; z = e % 4; n = e % 4;
        for (int i = 0; i < n; ++i) v[i] = e * 0.5 + i;
        t.Fill(); fr.Fill();
    }
    t.SetAlias("stored", "x-1"); t.SetAlias("twice", "2*stored");
    t.Write(); fr.Write();
}
''')
ROOT.write(folder)
answers = []
for aliases, expression, cut in cases:
    file = ROOT.TFile.Open(folder + "/t.root")
    tree = file.Get("t")
    tree.AddFriend("fr", folder + "/t.root")
    for name, text in aliases:
        tree.SetAlias(name, text)
    n = tree.Draw(expression, cut, "goff")
    answers.append([tree.GetV1()[i] for i in range(n)])
    file.Close()
open(folder + "/answers.json", "w").write(json.dumps(answers))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory, root_here):
    folder = tmp_path_factory.mktemp("aliases")
    done = subprocess.run(
        [sys.executable, "-c", ROOTS, folder, json.dumps(CASES)], capture_output=True, text=True, timeout=300
    )
    assert (folder / "answers.json").exists(), done.stderr
    return folder


def options(aliases):
    return [word for name, text in aliases for word in ("--alias", f"{name}={text}")]


def test_given_aliases_have_the_values_of_root(run, folder):
    answers = json.loads((folder / "answers.json").read_text())
    assert all(answers)
    for (aliases, expression, cut), roots in zip(CASES, answers, strict=True):
        given = [*options(aliases), "--friend", f"fr@{folder}/t.root"]
        done = run("scan", f"{folder}/t.root:t", expression, cut, *given, "--format", "csv")
        assert done.returncode == 0, (aliases, expression, done.stderr)
        rows = [row for row in csv.reader(io.StringIO(done.stdout)) if row][1:]
        assert [float(row[0]) for row in rows if row[0]] == roots, (aliases, expression, cut)
        done = run("draw", f"{folder}/t.root:t", expression, cut, *given, "--json")
        assert json.loads(done.stdout)["histogram"]["entries"] == len(roots), done.stderr


def test_given_aliases_in_several_draws_and_lists(run, folder):
    given = options([("p", "2*x")])
    done = run("draw", f"{folder}/t.root:t", "-e", "p?p>6", "-e", "x?p>10", *given, "--json")
    assert done.returncode == 0, done.stderr
    assert '"entries": 8' in json.dumps(json.loads(done.stdout)), done.stdout
    done = run("draw", f"{folder}/t.root:t", ">>l", "p>6", *given, "--json")
    assert json.loads(done.stdout)["list"]["trees"][0]["runs"] == [[4, 12]], done.stderr
    done = run("draw", f"{folder}/t.root:t", "x>>+h", *given, "--before", "p>>h(30,0,30)?p>6", "--json")
    assert json.loads(done.stdout)["histogram"]["entries"] == 8 + 12, done.stderr


@pytest.mark.parametrize(
    ("alias", "message"),
    [
        (["a=b", "b=a+1"], "refers to itself: a -> b -> a"),
        (["a"], "write NAME=EXPR"),
        (["a=x+"], "the alias a: "),
        (["a b=x"], "cannot be the name of an alias"),
    ],
)
@pytest.mark.parametrize("verb", ["draw", "scan"])
def test_wrong_aliases_are_refused(run, folder, verb, alias, message):
    done = run(verb, f"{folder}/t.root:t", "1+a", *[word for text in alias for word in ("--alias", text)])
    # without a name it is a wrong command line
    assert done.returncode == (2 if alias == ["a"] else 1)
    assert message in done.stderr
    assert "Usage" not in done.stderr
    if "itself" in message:
        assert "1+a\n" in done.stderr
        assert "^" in done.stderr


def roots_and_files(folder):
    """The cases with ROOT's values, in one file and in a chain of two."""
    answers = json.loads((folder / "answers.json").read_text())
    for (aliases, expression, cut), roots in zip(CASES, answers, strict=True):
        tree, chain = sapwood.open(f"{folder}/t.root:t"), sapwood.chain([f"{folder}/t.root:t"] * 2)
        for source, friends in [(tree, 1), (chain, 2)]:
            source.add_friend("fr", [f"{folder}/t.root"] * friends)
            yield source, dict(aliases), expression, cut, roots * friends


def test_aliases_of_python_have_the_values_of_root(folder):
    for source, aliases, expression, cut, roots in roots_and_files(folder):

        def check(source, expression=expression, cut=cut, roots=roots, **given):
            rows = [row[0] for row in source.query(expression, cut, **given) if row[0] is not None]
            assert rows == roots, (source, given, expression, cut)
            drawn = source.draw(expression, cut, bins=(400, -200, 200), **given)
            assert drawn.sum(flow=True).value == len(roots)
            (drawn,) = source.draw(draws=[(expression, cut, (400, -200, 200))], **given)
            assert drawn.sum(flow=True).value == len(roots)

        check(source, aliases=aliases)
        for name, text in aliases.items():
            source.set_alias(name, text)
        check(source)


def test_aliases_that_are_set_hold_in_arrays_and_are_listed(folder):
    tree, chain = sapwood.open(f"{folder}/t.root:t"), sapwood.chain([f"{folder}/t.root:t"] * 2)
    for source, times in [(tree, 1), (chain, 2)]:
        source.set_alias(" p ", "2*x")
        source.set_alias("stored", "p+1")
        want = np.tile(2.0 * np.arange(12), times)
        assert source.arrays(["p"], library="np")["p"].tolist() == want.tolist()
        assert source.arrays(["stored"], "p > 4", library="np")["stored"].tolist() == (want + 1)[want > 4].tolist()
        assert np.concatenate([a["p"] for a in source.iterate(["p"], library="np")]).tolist() == want.tolist()
        # those of a call come first, and hold for this call
        assert source.arrays(["p"], aliases={"p": "x"}, library="np")["p"][1] == 1
        assert source.query("p", aliases={"p": "x"})[1] == (1,)
        assert source.query("p")[1] == (2,)
    assert tree.aliases == {"p": "2*x", "stored": "p+1", "twice": "2*stored"}
    import pickle

    assert pickle.loads(pickle.dumps(tree)).query("p")[1] == (2,)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a b", "x", "cannot be the name of an alias"),
        ("a", "x+", "the alias a: unexpected end of expression"),
        (1, "x", "the name of an alias must be a string"),
        ("a", 1, "an alias must be a string"),
    ],
)
def test_wrong_aliases_are_refused_in_python(folder, name, text, message):
    tree, chain = sapwood.open(f"{folder}/t.root:t"), sapwood.chain(f"{folder}/t.root:t")
    for source in (tree, chain):
        with pytest.raises(sapwood.InvalidError, match=message):
            source.set_alias(name, text)
        with pytest.raises(sapwood.InvalidError, match=message):
            source.draw("x", aliases={name: text})
        with pytest.raises(sapwood.InvalidError, match=message):
            source.query("x", aliases={name: text})
    with pytest.raises(sapwood.InvalidError, match="aliases must be a mapping"):
        tree.draw("x", aliases=["a=x"])


def test_given_aliases_over_chains(run, folder):
    done = run(
        "scan", f"{folder}/t.root:t", "p", "p>16", "--alias", "p=2*x", "--add", f"{folder}/t.root:t", "--format", "csv"
    )
    assert done.stdout.split()[1:] == ["18", "20", "22"] * 2, done.stderr
    done = run("draw", f"{folder}/t.root:t", "p", "q>16", "--alias", "p=2*x", "--alias", "q=p", "--add",
               f"{folder}/t.root:t", "--json")  # fmt: skip
    assert json.loads(done.stdout)["histogram"]["entries"] == 6, done.stderr


def test_aliases_reach_the_workers_of_a_scheduler(folder):
    from concurrent.futures import ThreadPoolExecutor

    chain = sapwood.chain([f"{folder}/t.root:t"] * 2)
    chain.set_alias("p", "2*x")
    with ThreadPoolExecutor(2) as executor:
        drawn = chain.draw("p+q", "q>0", bins=(50, 0, 50), aliases={"q": "p-4"}, scheduler=executor)
        assert drawn.sum(flow=True).value == 2 * 9
        # an axis that follows from the values
        automatic = chain.draw("p", scheduler=executor)
        # the number of an entry in the chain, which workers count
        numbers = chain.draw("q", bins=(30, 0, 30), aliases={"q": "Entry$"}, scheduler=executor)
        totals = chain.draw("q", bins=(30, 0, 30), aliases={"q": "Entries$"}, scheduler=executor)
    assert numbers.values().tolist() == chain.draw("q", bins=(30, 0, 30), aliases={"q": "Entry$"}).values().tolist()
    assert numbers.sum().value == chain.num_entries
    assert totals.values()[chain.num_entries] == chain.num_entries
    assert automatic.axes[0].edges.tolist() == chain.draw("p").axes[0].edges.tolist()
    assert drawn.values().tolist() == chain.draw("p+q", "q>0", (50, 0, 50), aliases={"q": "p-4"}).values().tolist()
