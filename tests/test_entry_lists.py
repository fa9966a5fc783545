"""Entry lists that ROOT made (lists.C): Sapwood reads through them what TTree::Draw reads through them."""

import numpy as np
import pytest

import sapwood

ONE = ["few", "most", "half", "middle", "all", "none", "events"]
CHAIN = ["both", "through"]


@pytest.fixture(scope="module")
def folder(public, macro):
    """What lists.C writes."""
    folder = public / "lists"
    folder.mkdir()
    macro("lists.C", folder)
    return folder


def truth(folder, name):
    """What ROOT reads through a list."""
    return np.array((folder / f"{name}.txt").read_text().split(), dtype=np.int64)


def scanned(done):
    assert done.returncode == 0, done.stderr
    return np.array([int(line) for line in done.stdout.splitlines()[1:]], dtype=np.int64)


@pytest.mark.parametrize("name", ONE)
def test_a_tree_through_a_list(run, folder, name):
    expected = truth(folder, name)
    stored = sapwood.open(folder / "lists.root")[name]
    assert len(stored) == len(expected)
    tree = sapwood.open(f"{folder}/one.root:t")
    got = tree.arrays("x", entries=stored, library="np")["x"]
    assert np.array_equal(got, expected)
    if len(expected) < 1000:
        assert np.array_equal(scanned(run(
            "scan", f"{folder}/one.root:t", "x", "--entries", f"{folder}/lists.root:{name}", "--format", "csv"
        )), expected)  # fmt: skip


def test_only_what_lies_between_start_and_stop(folder):
    tree = sapwood.open(f"{folder}/one.root:t")
    where = f"{folder}/lists.root:few"
    expected = truth(folder, "few")
    part = expected[(expected >= 50_000) & (expected < 100_000)]
    assert np.array_equal(tree["x"].array(entry_start=50_000, entry_stop=100_000, entries=where, library="np"), part)
    assert sum(len(step) for step in tree.iterate("x", entries=where, step_size=30_000)) == len(expected)


def test_a_tree_in_a_directory_and_a_copy_of_the_file(folder, tmp_path):
    copy = tmp_path / "renamed.root"
    copy.write_bytes((folder / "one.root").read_bytes())
    tree = sapwood.open(f"{copy}:d/t")
    assert np.array_equal(
        tree.arrays("x", entries=f"{folder}/lists.root:deep", library="np")["x"], truth(folder, "deep")
    )


@pytest.mark.parametrize("name", CHAIN)
def test_a_chain_through_a_list(run, folder, name):
    expected, where = truth(folder, name), f"{folder}/lists.root:{name}"
    words = ["scan", f"{folder}/one.root:t", "x", "--add", f"{folder}/two.root:t", "--entries", where]
    assert np.array_equal(scanned(run(*words, "--format", "csv")), expected)
    chain = sapwood.chain([f"{folder}/one.root:t", f"{folder}/two.root:t"])
    drawn = chain.draw("x", bins=(40, 0, 400_000), entries=where)
    assert np.array_equal(drawn.values(), np.histogram(expected, 40, (0, 400_000))[0])


def test_of_a_list_for_several_files_the_part_of_one(folder):
    expected = truth(folder, "both")
    stored = sapwood.open(f"{folder}/lists.root:both")
    assert [(part.tree, len(part.numbers)) for part in stored.parts] == [("t", 4), ("t", 4)]
    for name, low in ("one", 0), ("two", 200_000):
        got = sapwood.open(f"{folder}/{name}.root:t").arrays("x", entries=stored, library="np")["x"]
        assert np.array_equal(got, expected[(expected >= low) & (expected < low + 200_000)])


def test_what_is_no_list_and_what_is_for_other_files(run, folder, tmp_path):
    tree = sapwood.open(f"{folder}/one.root:t")
    with pytest.raises(sapwood.InvalidError, match="not an entry list"):
        tree.arrays("x", entries=f"{folder}/one.root:t")
    with pytest.raises(sapwood.KeyInFileError, match="nosuch"):
        tree.arrays("x", entries=f"{folder}/lists.root:nosuch")
    other = tmp_path / "other.root"
    other.write_bytes((folder / "one.root").read_bytes())
    with pytest.raises(sapwood.KeyInFileError, match=r"not for the tree .* but for t of .*one\.root"):
        sapwood.open(f"{other}:t").arrays("x", entries=f"{folder}/lists.root:both")
    for where, why in (f"{folder}/lists.root", "specify the entry list"), (f"{folder}/one.root:t", "not an entry list"):
        done = run("scan", f"{folder}/one.root:t", "x", "--entries", where)
        assert done.returncode != 0
        assert why in done.stderr
