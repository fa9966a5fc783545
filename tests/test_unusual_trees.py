"""Trees of unusual make, written by ROOT now (trees.C): every value as ROOT has it, or a refusal by name."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import uproot

import sapwood

HERE = Path(__file__).parent
WHOLE = ["ranges", "across", "across-bytes", "no-offsets", "no-offsets-embedded", "beyond"]
LENGTHS = {"ranges": 300, "across": 1000, "across-bytes": 1000, "beyond": 200}


@pytest.fixture(scope="module")
def trees(public, macro):
    folder = public / "trees"
    folder.mkdir()
    macro("trees.C", folder)
    return folder


def test_every_value_is_as_root_has_it(trees, tmp_path):
    out = tmp_path / "root.json"
    words = [sys.executable, HERE / "compare_root.py", trees, "--json", out, "--quiet", "--entries", "60"]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=300)
    assert out.exists(), done.stderr[-2000:]
    result = json.loads(out.read_text())
    # but for the branch whose values lie in another file
    others = [line for line in result["log"] if line[3] != "there"]
    assert others == []
    assert result["summary"]["equal"] == result["summary"]["branches"] - 1 > 40


@pytest.mark.parametrize("name", WHOLE)
def test_every_entry(trees, name):
    """What the entry's number makes, in every entry and in parts that begin anywhere."""
    with sapwood.open(trees / f"{name}.root") as file:
        tree = file["t"]
        number = LENGTHS.get(name, 100)
        assert tree.num_entries == number
        arrays = tree.arrays(library="ak")
        for start, stop in ((0, number), (7, 8), (number // 3, number // 3 + 41), (number - 1, number)):
            part = tree.arrays(entry_start=start, entry_stop=stop, library="ak")
            assert part.to_list() == arrays[start:stop].to_list()
        for i in (0, 1, number // 2, number - 1):
            assert len(arrays.counted[i]) == i % 8
            assert arrays.counted[i].to_list() == [i + k / 8 for k in range(i % 8)]
            assert arrays.word[i] == chr(ord("a") + i % 26) * (i % 11)


def test_a_table_of_clusters(trees):
    """10 entries a cluster, then 25, then 7."""
    with uproot.open(trees / "ranges.root") as file:
        assert file["t"].all_members["fNClusterRange"] >= 2
    with sapwood.open(trees / "ranges.root") as file:
        clusters = file["t"].clusters
    assert clusters == [*range(0, 100, 10), *range(100, 200, 25), *range(200, 300, 7), 300]


def test_beyond_two_gigabytes(trees):
    path = trees / "beyond.root"
    assert path.stat().st_size > 3 << 30
    with sapwood.open(path) as file:
        assert file["t"]["i"].array(library="np").tolist() == list(range(200))


def test_a_tree_in_several_files(trees):
    """ROOT goes on in NAME_1.root and so on; a chain of them is the tree."""
    files = [trees / f"several{n}.root" for n in ("", "_1", "_2")]
    chain = sapwood.concatenate([f"{file}:t" for file in files], ["i"], library="np")
    assert chain["i"].tolist() == list(range(2000))


def test_values_in_another_file_are_refused_by_name(trees):
    with sapwood.open(trees / "others.root") as file:
        tree = file["t"]
        assert tree["here"].array(library="np").tolist() == list(range(20))
        with pytest.raises(sapwood.Error, match=r"branch there: its values lie in another file, .*elsewhere\.root"):
            tree["there"].array()
        assert file["hollow"].num_entries == 5


def test_friends_are_told(trees, run):
    said = {"name": "t", "tree": "t", "file": str(trees / "ranges.root")}
    with sapwood.open(trees / "others.root") as file:
        assert file["t"].friends == [said]
    assert json.loads(run("show", f"{trees / 'others.root'}:t", "--json").stdout)["friends"] == [said]
    assert "ranges.root" in run("show", f"{trees / 'others.root'}:t").stdout
