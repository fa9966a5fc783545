"""Lists of files as people and catalogues write them: `@LIST` in the command, in Python and in lists."""

import json
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
