"""Files, directories, trees and branches as mappings."""

import io
import pickle

import numpy as np
import pytest

import sapwood


def test_keys_and_classes(data):
    file = sapwood.open(data / "codecs.root")
    assert file.keys() == ["t;2", "t;1", "friend;1"]
    assert file.keys(cycle=False) == ["t", "friend"]
    assert file.classnames() == {"t;2": "TTree", "t;1": "TTree", "friend;1": "TTree"}
    assert list(file) == file.keys()
    assert len(file) == 3
    assert "t" in file
    assert "t;1" in file
    assert "t;9" not in file
    assert "u" not in file
    assert file["t"].num_entries == 60
    assert file["t;1"].num_entries == 3
    assert file["t"] is file["t;2"]
    assert [t.num_entries for t in file.values(filter_name="t")] == [60, 3]
    assert [k for k, _ in file.items(filter_name="f*")] == ["friend;1"]


def test_directories(data):
    file = sapwood.open(data / "leaves.root")
    assert file.keys() == ["deep;1", "deep/er;1", "deep/er/Events;1"]
    assert file.keys(recursive=False) == ["deep;1"]
    assert file.keys(filter_classname="TTree") == ["deep/er/Events;1"]
    deep = file["deep"]
    assert isinstance(deep, sapwood.Directory)
    assert deep.keys() == ["er;1", "er/Events;1"]
    assert deep["er"]["Events"] is file["/deep/er/Events"]
    assert deep["er/Events;1"].num_entries == 20
    assert file["deep/er/Events:n"].name == "n"
    assert file.classname_of("deep") == "TDirectory"
    with pytest.raises(ValueError, match="must be a string"):
        file[3]


def test_where_opens_the_object(data):
    assert sapwood.open(f"{data}/leaves.root:deep/er/Events").name == "Events"
    assert sapwood.open({f"{data}/leaves.root": "deep/er"}).keys() == ["Events;1"]


def test_tree_mapping(leaves):
    assert len(leaves) == 14
    assert list(leaves)[:2] == ["i8", "u16"]
    assert "pairs" in leaves
    assert "nothing" not in leaves
    assert leaves["x"].path == "point/x"
    assert leaves[0].name == "i8"
    assert leaves["i8"] is leaves["/i8"]
    assert dict(leaves)["n"] is leaves["n"]
    assert leaves.typenames()["grid"] == "float[2][2]"
    assert (leaves.num_entries, leaves.name, leaves.classname) == (20, "Events", "TTree")
    assert leaves.object_path == "deep/er/Events;1"


def test_branches_below_branches(split):
    parents = [b for b in split.values() if b.branches]
    assert parents
    for parent in parents:
        for child in parent.branches:
            assert child.parent is parent
            assert child.path == f"{parent.path}/{child.name}"
            assert split[child.path] is child
            assert parent[child.name] is child
            assert child.name in parent
        assert parent.keys(full_paths=False, recursive=False) == [b.name for b in parent.branches]
    assert split.keys(recursive=False) == [b.name for b in split.branches]
    assert all(b.parent is split for b in split.branches)
    assert len(split.keys()) == len(set(split.keys())) == len(split)
    first = parents[0]
    with pytest.raises(KeyError, match="nothing"):
        first["nothing"]


def test_a_branch_that_is_a_folder_reads_as_its_branches(split):
    pytest.importorskip("awkward")
    parent = next(b for b in split.values() if b.branches)
    inside = [b.name for b in parent.values() if not b.branches]
    assert parent.arrays().fields == inside
    assert split.arrays(filter_name=f"{parent.name}/*").fields == inside


def test_baskets_and_sizes(codecs):
    for branch in codecs.branches:
        offsets = branch.entry_offsets
        assert len(offsets) == branch.num_baskets + 1
        assert (offsets[0], offsets[-1]) == (0, 60)
        assert offsets == sorted(offsets)
        sizes = [branch.basket_compressed_bytes(i) for i in range(branch.num_baskets)]
        assert sum(sizes) <= branch.compressed_bytes
        with pytest.raises(IndexError, match=str(branch.num_baskets)):
            branch.basket_compressed_bytes(branch.num_baskets)
    assert set(codecs.common_entry_offsets()) <= set(codecs["n"].entry_offsets)
    assert codecs["zlib"].compression // 100 == 1
    assert codecs.clusters[0] == 0
    assert codecs.clusters[-1] == 60
    assert codecs["none"].compression_ratio < codecs["zstd"].compression_ratio * 2


def test_entries_for_memory(codecs):
    per_entry = codecs["lz4"].uncompressed_bytes / 60
    assert codecs.num_entries_for(round(10 * per_entry), "lz4") in (9, 10, 11)
    assert codecs.num_entries_for(1, "lz4") == 1


def test_show(leaves):
    out = io.StringIO()
    leaves.show(filter_name=["i8", "pairs"], stream=out)
    lines = out.getvalue().splitlines()
    assert [word.strip() for word in lines[0].split("|")] == ["name", "typename", "column"]
    assert [word.strip() for word in lines[2].split("|")] == ["i8", "int8_t", "int8"]
    assert [word.strip() for word in lines[3].split("|")] == ["pairs", "float[][3]", "var * 3 * float32"]
    leaves.show(name_width=6, filter_name="*", stream=out)


def test_reprs(leaves):
    file = leaves.file
    assert "leaves.root" in repr(file)
    assert repr(leaves) == "<Tree 'Events' (14 branches, 20 entries)>"
    assert repr(leaves["n"]) == "<Branch 'n': int32_t>"
    for thing in (file, file["deep"], leaves, leaves["n"]):
        html = thing._repr_html_()
        assert html.count("<table>") == html.count("</table>") == 1
        assert "&lt;" in html
    assert "<td>pairs</td><td>float[][3]</td>" in leaves._repr_html_()


def test_pickles_open_again(leaves):
    for thing in (leaves.file, leaves.file["deep"], leaves, leaves["n"]):
        again = pickle.loads(pickle.dumps(thing))
        assert repr(again) == repr(thing)
    again = pickle.loads(pickle.dumps(leaves["n"]))
    assert again.array(library="np").tolist() == leaves["n"].array(library="np").tolist()


def test_files_close_when_forgotten(data):
    import weakref

    file = sapwood.open(data / "leaves.root")
    gone = weakref.ref(file)
    tree = file["deep/er/Events"]
    del file, tree
    assert gone() is None


def test_what_reading_did(data):
    file = sapwood.open(data / "codecs.root")
    before = file.io()
    file["t"]["lz4"].array(library="np")
    after = file.io()
    assert after["baskets"] > before["baskets"]
    assert after["bytes_fetched"] > before["bytes_fetched"]
    assert file.size == (data / "codecs.root").stat().st_size


def test_of_branches_of_one_name_the_first(tmp_path):
    path = tmp_path / "a.root"
    with sapwood.recreate(path, compression=None) as file:
        file["t"] = {"twin_a": np.arange(3), "twin_b": -np.arange(3), "y": np.arange(3)}
    path.write_bytes(path.read_bytes().replace(b"twin_b", b"twin_a"))
    tree = sapwood.open(path)["t"]
    for library in ("np", "ak", "pd", "pa"):
        with pytest.warns(sapwood.SkippedBranchWarning, match="'twin_a'"):
            arrays = tree.arrays(library=library)
        assert np.asarray(arrays["twin_a"]).tolist() == [0, 1, 2]
        names = arrays.fields if library == "ak" else arrays.column_names if library == "pa" else list(arrays)
        assert names == ["twin_a", "y"]
    assert tree["twin_a"].array().tolist() == [0, 1, 2]
    assert tree.branches[1].array().tolist() == [0, -1, -2]


def test_a_name_in_a_friend(data):
    file = sapwood.open(data / "codecs.root")
    tree, friend = file["t"], file["friend"]
    assert tree.friends == [{"name": "friend", "tree": "friend", "file": ""}]
    (branch,) = friend.keys()
    got = tree.arrays([f"friend.{branch}"], library="np")[f"friend.{branch}"].tolist()
    beyond = [None] * (tree.num_entries - friend.num_entries)
    assert got == friend.arrays([branch], library="np")[branch].tolist() + beyond
    with pytest.raises(sapwood.KeyInFileError, match=r"no branch 'friend\.absent'"):
        tree.arrays(["friend.absent"])
    with pytest.raises(sapwood.KeyInFileError, match="no branch nowhere"):
        tree.draw("nowhere")
