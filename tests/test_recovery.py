"""Files that were never closed or were truncated: at least what ROOT recovers, and what is lost is said."""

import json
import subprocess
import sys
import warnings
from pathlib import Path

import awkward as ak
import pytest

import sapwood

HERE = Path(__file__).parent


def root_says(*words):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", HERE / "unclosed.py", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=300,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(json.loads(line[7:]) for line in done.stdout.splitlines() if line.startswith("ANSWER "))


@pytest.fixture(scope="module")
def folder(tmp_path_factory, root_here):
    """open.root, whole.root, and both cut at many places."""
    folder = tmp_path_factory.mktemp("unclosed")
    root_says("write", folder)
    for name in ("open", "whole"):
        data = (folder / f"{name}.root").read_bytes()
        for i in range(1, 40):
            size = len(data) * i // 40
            (folder / f"{name}-{size}.root").write_bytes(data[:size])
    return folder


def recovered(path):
    """What sapwood finds: {path;cycle: [entries, sum of x, sum of y] or class}, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            file = sapwood.open(path)
        except sapwood.CorruptError:
            return None, []
    out = {}
    for key, kind in file.classnames(recursive=False).items():
        if kind != "TTree":
            out[key] = kind
            continue
        tree = file[key]
        arrays = tree.arrays(["x", "y"])
        out[key] = [tree.num_entries, float(ak.sum(arrays.x)), float(ak.sum(arrays.y))]
    return out, [w.message for w in caught if isinstance(w.message, sapwood.RecoveredFileWarning)]


def test_what_root_recovers_is_recovered(folder):
    files = sorted(folder.glob("*.root"))
    answers = root_says("read", *files)
    assert len(answers) == len(files)
    trees = 0
    for path in files:
        expected, (found, said) = answers[str(path)], recovered(path)
        if expected is None or not expected:
            continue
        assert found is not None, f"{path.name}: ROOT recovers {expected}"
        assert bool(said) == (path.name != "whole.root"), path.name
        for name, value in expected.items():
            # ROOT lists records that are truncated, too, and cannot read them
            if isinstance(value, list):
                assert found[name] == value, f"{path.name} {name}"
                trees += 1
            elif name not in found:
                assert any(name.partition(";")[0] in str(w) for w in said), f"{path.name} {name}"
    assert trees > 12


def test_directories_and_their_objects_are_recovered(folder):
    with pytest.warns(sapwood.RecoveredFileWarning, match="baskets .* of tree t were written after"):
        file = sapwood.open(folder / "open.root")
    assert file["below/deep"].title == "in a directory"
    assert file["early"].values().tolist() == [0, 0, 0, 1] + [0] * 6
    assert file["t"].num_entries == 1100


def test_a_cut_file_says_what_is_cut(folder):
    size = (folder / "whole.root").stat().st_size // 2
    path = folder / "half.root"
    path.write_bytes((folder / "whole.root").read_bytes()[:size])
    with pytest.warns(
        sapwood.RecoveredFileWarning, match="of branch . of tree t at byte .* is truncated|after the last saved header"
    ):
        sapwood.open(path)


def test_doctor(run, folder):
    assert run("doctor", "--deep", folder / "whole.root").returncode == 0
    done = run("doctor", folder / "open.root")
    assert done.returncode == 1
    assert "never closed" in done.stdout
    done = run("doctor", "--json", folder / "open.root")
    assert done.returncode == 1
    report = json.loads(done.stdout)["damage"]
    assert not report["healthy"]
    assert report["trees"] == 1


def test_doctor_finds_a_damaged_basket(run, folder, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        branch = sapwood.open(folder / "whole.root")["t"]["y"]
    seek = branch._told["basket_seek"][3]
    data = bytearray((folder / "whole.root").read_bytes())
    data[seek + 100] ^= 0xFF
    path = tmp_path / "damaged.root"
    path.write_bytes(data)
    done = run("doctor", "--deep", "--json", path)
    findings = json.loads(done.stdout)["damage"]["findings"]
    assert done.returncode == 1
    assert any(f["bytes"] and f["bytes"][0] <= seek < f["bytes"][1] and f["severity"] == "damage" for f in findings)
    assert any("t;" in f["object"] and ":y" in f["object"] for f in findings)


def test_doctor_refuses_what_is_no_root_file(run):
    done = run("doctor", __file__)
    assert done.returncode == 1
    assert "not a ROOT file" in done.stderr
