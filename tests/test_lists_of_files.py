"""Lists of files as people and catalogues write them: `@LIST` in the command, in Python and in lists."""

import json
import re
import shutil
import subprocess

import numpy as np
import pytest

import sapwood


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three files with a tree of ten entries."""
    folder = tmp_path_factory.mktemp("lists")
    for number, name in enumerate("abc"):
        with sapwood.recreate(folder / f"{name}.root") as out:
            out["Events"] = {"n": np.arange(10) + 10 * number}
            out["Runs"] = {"n": np.arange(2)}
    return folder


def entries(command, *target):
    ran = subprocess.run([command, "draw", *target, "n", "--json"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)["entries"]


def both(command, target):
    """Rows drawn by the command, and entries of the chain in Python."""
    rows, chain = entries(command, target), sapwood.chain(target)
    assert rows == chain.num_entries == len(chain.arrays(["n"]))
    return rows


def test_a_list_in_text(folder, command, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "list.txt").write_text(f"# two\n\n{folder}/a.root:Events\r\nb.root:Events\n")
    assert both(command, "@list.txt") == 20
    assert both(command, f"@{folder}/list.txt") == 20
    (folder / "names").write_text("@list.txt\n[c]*.root:Runs\n")
    assert sapwood.chain("@names").num_entries == 22
    (folder / "bare").write_text("a.root\nc.root\n")
    assert both(command, "@bare:Events") == 20
    assert both(command, "@bare:Runs") == 4
    assert sapwood.chain(["@bare:Runs", "b.root:Events", sapwood.chain("@list.txt")]).num_entries == 34
    # from a directory that has no such file, names are beside the list
    monkeypatch.chdir(folder.parent)
    assert both(command, f"@{folder}/bare:Events") == 20


def test_a_list_on_standard_input(folder, command):
    ran = subprocess.run(
        [command, "draw", "@-", "n", "--json"], input=f"{folder}/a.root:Events\n", capture_output=True, text=True
    )
    assert json.loads(ran.stdout)["entries"] == 10


def test_filesets(folder, command):
    files = {
        "Z": {"files": {f"{folder}/b.root": "Events", f"{folder}/a.root": "Events"}, "metadata": {"xs": 1}},
        "W": [f"{folder}/c.root:Runs"],
    }
    path = folder / "fileset.json"
    path.write_text(json.dumps(files))
    assert both(command, f"@{path}:Z") == 20
    # in the order of the file
    assert sapwood.chain(f"@{path}:Z").arrays(["n"])["n"].to_list()[0] == 10
    assert both(command, f"@{path}:W") == 2
    ran = subprocess.run([command, "draw", f"@{path}", "n"], capture_output=True, text=True)
    assert ran.returncode != 0
    assert "2 datasets: Z, W; specify one: @FILE:DATASET" in ran.stderr
    with pytest.raises(sapwood.InvalidError, match="2 datasets: Z, W"):
        sapwood.chain(f"@{path}")
    with pytest.raises(sapwood.Error, match=r"no dataset .V"):
        sapwood.chain(f"@{path}:V")


def test_catalogues(folder, command, monkeypatch):
    rucio = [{"scope": "s", "name": "a", "pfns": {f"srm://x{folder}/a.root": {}, f"root://none//{folder}": {}}}]
    (folder / "rucio.json").write_text(json.dumps(rucio))
    assert sapwood.chain(f"@{folder}/rucio.json:Events").files == [(f"root://none//{folder}", "Events")]
    das = [{"file": [{"name": "/store/a.root"}]}]
    (folder / "das.json").write_text(json.dumps(das))
    monkeypatch.delenv("SAPWOOD_REDIRECTOR", raising=False)
    with pytest.raises(sapwood.InvalidError, match="set SAPWOOD_REDIRECTOR"):
        sapwood.chain(f"@{folder}/das.json")
    monkeypatch.setenv("SAPWOOD_REDIRECTOR", "root://h/")
    assert sapwood.chain(f"@{folder}/das.json:t").files == [("root://h//store/a.root", "t")]


def test_lists_are_merged(folder, command, tmp_path):
    (folder / "merge.json").write_text(json.dumps({f"{folder}/{name}.root": "Events" for name in "abc"}))
    ran = subprocess.run(
        [command, "merge", str(tmp_path / "out.root"), f"@{folder}/merge.json"], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    assert sapwood.open(tmp_path / "out.root")["Events"].num_entries == 30


def test_what_is_no_list(folder, command):
    for target, why in [
        ("@absent", "no such file"),
        (f"@{folder}/a.root", "not a list of files"),
        ("@/dev/null", "no file"),
    ]:
        ran = subprocess.run([command, "draw", target, "n"], capture_output=True, text=True)
        assert ran.returncode != 0
        assert why in ran.stderr and "Usage" not in ran.stderr
        with pytest.raises(sapwood.Error, match=why):
            sapwood.chain(target)


#: A pattern, and the files that it stands for.
PATTERNS = {
    "*.root:Events": "abc",
    "?.root:Events": "abc",
    "[ac].root:Events": "ac",
    "[!a].root:Events": "bc",
    "[b-z].root:Events": "bc",
    "{c,a}.root:Events": "ca",
    "{[ab],c}.root:Events": "abc",
    "**/[ab].root:Events": ["a", "b", "deep/er/a"],
    "deep/**/*.root:Events": ["deep/er/a"],
    "~/a.root:Events": "a",
    "~/{a,deep/*/?}.root:Events": ["a", "deep/er/a"],
    "[x].root:Events": ["[x]"],
}


def test_patterns_are_the_same_in_the_command_and_in_python(folder, command, monkeypatch, tmp_path):
    for name in ["a", "b", "c", "deep/er/a", "[x]"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / "a.root", tmp_path / f"{name}.root")
    (tmp_path / "x.root").write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "x.root").unlink()
    for pattern, names in PATTERNS.items():
        front = f"{tmp_path}/" if pattern.startswith("~") else ""
        wanted = [(f"{front}{name}.root", "Events") for name in names]
        if pattern in ("*.root:Events", "?.root:Events", "[!a].root:Events", "[b-z].root:Events"):
            wanted = [(f"{name}.root", "Events") for name in names]
        found = sapwood.chain(pattern).files
        assert [f for f in found if "[x]" not in f[0] or "[x]" in pattern] == wanted, pattern
        assert entries(command, pattern) == 10 * len(found), pattern


def test_a_pattern_without_a_match_is_named(folder, run):
    for pattern in ["x*.root", "{a,x*}.root", "[xy].root", "**/x?.root", "nowhere/*.root"]:
        named = pattern.replace("{a,x*}", "x*")
        done = run("draw", f"{pattern}:Events", "n", cwd=folder)
        assert done.returncode == 1 and done.stderr.startswith(f"sapwood: {named}: no file matches the pattern"), done
        with pytest.raises(FileNotFoundError, match=re.escape(f"{named}: no file matches the pattern")):
            sapwood.chain(f"{folder}/{pattern}:Events")


def test_ls_shows_the_files_of_a_list(folder, run):
    fileset = {"data": {"files": {"a.root": "Events"}}, "mc": ["b.root:Runs", "c.root"]}
    (folder / "shown.json").write_text(json.dumps(fileset))
    done = run("ls", "@shown.json:mc", cwd=folder)
    assert [line.split() for line in done.stdout.splitlines()][-2:] == [["Runs", "b.root"], ["c.root"]], done
    files = json.loads(run("ls", "@shown.json:data", "--json", cwd=folder).stdout)["files"]
    assert files == [{"file": "a.root", "tree": "Events"}]
    assert "data" in run("ls", "@shown.json", cwd=folder).stderr


def test_lists_on_a_server(folder, command, run):
    (folder / "far.txt").write_text("# beside the list\na.root:Events\n@more.txt\n")
    (folder / "more.txt").write_text("b.root\n")
    (folder / "far.json").write_text(json.dumps({"data": {"files": {}}, "mc": {"files": {}}}))
    served = subprocess.Popen([command, "serve", folder], stdout=subprocess.PIPE, text=True)
    try:
        url = re.search(r"http://\S+/", served.stdout.readline())[0]
        shown = json.loads(run("ls", f"@{url}far.txt:Runs", "--json").stdout)["files"]
        assert shown == [{"file": f"{url}a.root", "tree": "Events"}, {"file": f"{url}b.root", "tree": "Runs"}]
        assert both(command, f"@{url}far.txt:Events") == 20
        (folder / "far.json").write_text(
            json.dumps({"data": {"files": {f"{url}a.root": "Events"}}, "mc": {"files": {f"{url}b.root": "Runs"}}})
        )
        assert both(command, f"@{url}far.json:data") == 10
        done = run("ls", f"@{url}absent.txt?token=secret")
        assert done.returncode == 1 and "absent.txt" in done.stderr and "secret" not in done.stderr, done.stderr
    finally:
        served.terminate()
        served.communicate()
