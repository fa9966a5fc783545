"""Aliases given at run time (--alias) against ROOT's TTree::SetAlias: their order, cuts, lists, draws."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys

import pytest

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
    assert done.returncode == 1
    assert message in done.stderr
    assert "Usage" not in done.stderr
    if "itself" in message:
        assert "1+a\n" in done.stderr
        assert "^" in done.stderr
