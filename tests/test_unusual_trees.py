"""Trees of unusual make, written by ROOT now (trees.C): every value as ROOT has it, or a refusal by name."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import uproot

import sapwood

HERE = Path(__file__).parent
WHOLE = ["ranges", "across", "across-bytes", "no-offsets", "no-offsets-embedded", "beyond"]
LENGTHS = {"ranges": 300, "across": 1000, "across-bytes": 1000, "beyond": 200}


# tests with servers run together, apart from the others of this module
@pytest.fixture(scope="session")
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
    assert result["log"] == []
    assert result["summary"]["equal"] == result["summary"]["branches"] > 40


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


def test_offsets_that_were_left_out_are_written(trees, run, tmp_path):
    """uproot takes them from the counter's basket of the same number, wherever that ends."""
    for name in ("no-offsets", "no-offsets-embedded"):
        for how, options in {"one": [], "many": ["--cluster", "37"], "kept": ["--keep", "counted"]}.items():
            out = tmp_path / f"{name}-{how}.root"
            done = run("optimize", "--json", "--basket", "512B", *options, trees / f"{name}.root", out)
            assert done.returncode == 0, done.stderr
            whole = {branch["branch"] for branch in json.loads(done.stdout)["trees"][0]["whole"]}
            assert whole == ({"counted", "n"} if how == "kept" else set())
            with sapwood.open(out) as file:
                is_whole(file["t"].arrays(library="ak"), 0, 100)
            with uproot.open(out) as file:
                assert file["t/counted"].array().to_list() == [[i + k / 8 for k in range(i % 8)] for i in range(100)]
                assert file["t/vector"].member("fIOFeatures").member("fIOBits") == 0
                assert file["t/counted"].member("fIOFeatures").member("fIOBits") == (1 if how == "kept" else 0)
    assert_root_reads(tmp_path, branches=6 * 5)


def test_merged_baskets_without_offsets(trees, run, tmp_path):
    """Those of a tree's header become records that say so themselves: ROOT does not look for offsets in them."""
    done = run("merge", tmp_path / "out.root", trees / "no-offsets.root", trees / "no-offsets-embedded.root")
    assert done.returncode == 0, done.stderr
    with sapwood.open(tmp_path / "out.root") as file:
        arrays = file["t"].arrays(library="ak")
        is_whole(arrays[:100], 0, 100)
        is_whole(arrays[100:], 0, 100)
    with uproot.open(tmp_path / "out.root") as file:
        assert file["t/counted"].array().to_list() == 2 * [[i + k / 8 for k in range(i % 8)] for i in range(100)]
    assert_root_reads(tmp_path, branches=5)


def assert_root_reads(folder, branches):
    words = [sys.executable, HERE / "compare_root.py", folder, "--json", folder / "root.json", "--quiet"]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=300)
    assert (folder / "root.json").exists(), done.stderr[-2000:]
    result = json.loads((folder / "root.json").read_text())
    assert result["log"] == []
    assert result["summary"]["equal"] == result["summary"]["branches"] == branches


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


def is_whole(arrays, start=0, stop=2000):
    """The columns that trees.C makes of the entries' numbers."""
    entries = range(start, stop)
    assert arrays["i"].to_list() == list(entries)
    assert arrays["counted"].to_list() == [[i + k / 8 for k in range(i % 8)] for i in entries]
    assert [len(values) for values in arrays["vector"]] == [i % 5 for i in entries]
    assert arrays["word"].to_list() == [chr(ord("a") + i % 26) * (i % 11) for i in entries]


def test_branches_in_other_files_are_read_along(trees):
    with sapwood.open(trees / "others.root") as file:
        # this one is named with its directory
        arrays = file["t"].arrays(library="np")
        assert arrays["here"].tolist() == list(range(20))
        assert arrays["there"].tolist() == [2 * i for i in range(20)]
        assert file["hollow"].num_entries == 5
    with sapwood.open(trees / "beside.root") as file:
        tree = file["t"]
        is_whole(tree.arrays(library="ak"))
        is_whole(tree.arrays(entry_start=730, entry_stop=1501, library="ak"), 730, 1501)
        assert tree["word"].array(entry_stop=3, library="ak").to_list() == ["", "b", "cc"]
        # they count as their tree's
        assert file.io()["bytes_fetched"] > (trees / "words.root").stat().st_size / 2
        passed = tree.arrays(["word"], cut="n == 3", library="ak").word
        assert passed.to_list() == [chr(ord("a") + i % 26) * (i % 11) for i in range(3, 2000, 8)]
        sums = [len(entry.vector) for entry in tree.entries()]
        assert sums == [i % 5 for i in range(2000)]


def test_files_beside_one_far_away(trees, server):
    with sapwood.open(server.url(trees / "beside.root")) as file:
        is_whole(file["t"].arrays(library="ak"))
    # what a far file says decides nothing about this machine's files
    with sapwood.open(server.url(trees / "others.root")) as file:
        assert file["t"]["here"].array(library="np").tolist() == list(range(20))
        with pytest.raises(sapwood.Error, match=r"branch there: .*elsewhere\.root, named by an absolute path"):
            file["t"]["there"].array()


def test_a_lacking_or_damaged_file_beside_another(trees, tmp_path, run):
    for name in ("beside.root", "words.root", "numbers.root"):
        shutil.copy(trees / name, tmp_path)
    words = tmp_path / "words.root"
    whole = words.read_bytes()
    words.write_bytes(b"no file of ROOT's" * 100)
    lacks = r"branch word: its values are in another file, words\.root: "
    with sapwood.open(tmp_path / "beside.root") as file:
        with pytest.raises(sapwood.Error, match=lacks + "this is not a ROOT file"):
            file["t"]["word"].array()
        assert file["t"]["i"].array(library="np").tolist() == list(range(2000))
    words.unlink()
    with (
        sapwood.open(tmp_path / "beside.root") as file,
        pytest.raises(sapwood.Error, match=lacks + r"no such file.*put that file into the directory of"),
    ):
        file["t"]["word"].array()
    assert "words.root: no such file" in run("show", f"{tmp_path / 'beside.root'}:t").stdout
    # truncated: the error names the file that is, and the place in it
    words.write_bytes(whole[: len(whole) // 2])
    with (
        sapwood.open(tmp_path / "beside.root") as file,
        pytest.raises(sapwood.Error, match=r"words\.root: .*branch word.*outside the file of"),
    ):
        file["t"]["word"].array()


def test_branches_in_other_files_are_not_copied(trees, tmp_path, run):
    """Whoever copies baskets would copy bytes of the wrong file."""
    source, out = trees / "beside.root", tmp_path / "out.root"
    for words in (["merge", out, source, source], ["optimize", source, out]):
        done = run(*words)
        assert done.returncode != 0, words
        assert "branch n: t: its baskets are in another file, numbers.root" in done.stderr, done.stderr
        # said once, with what to do
        assert done.stderr.count("another file") == 1 and "copy the tree" in done.stderr, done.stderr
        assert list(tmp_path.iterdir()) == []
    with sapwood.update(shutil.copy(source, tmp_path)) as file, pytest.raises(sapwood.Error, match="another file"):
        file["t"].extend({"i": [1]})


def test_friends_are_told(trees, run):
    said = {"name": "t", "tree": "t", "file": str(trees / "ranges.root")}
    with sapwood.open(trees / "others.root") as file:
        assert file["t"].friends == [said]
    assert json.loads(run("show", f"{trees / 'others.root'}:t", "--json").stdout)["friends"] == [said]
    assert "ranges.root" in run("show", f"{trees / 'others.root'}:t").stdout
