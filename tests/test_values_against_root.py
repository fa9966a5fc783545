"""Every value of files written by ROOT equals the value that ROOT reads back, to the bit."""

import awkward as ak
import numpy as np
import pytest

import sapwood

CODECS = ["leaves-zlib", "leaves-lzma", "leaves-old", "leaves-lz4", "leaves-zstd", "leaves-plain"]
# Trees that were streamed without flushing: their baskets are inside the tree's own record.
EMBEDDED = ["embedded", "embedded-plain"]


def flat(value):
    """A nested list without its inner levels: ROOT's dump has none."""
    if not isinstance(value, list):
        return [value]
    return [leaf for item in value for leaf in flat(item)]


def assert_equal(got, expected, name):
    """Compares entry by entry, so that a failure names the first entry that differs."""
    got = ak.to_list(got)
    assert len(got) == len(expected), name
    for entry, (ours, theirs) in enumerate(zip(got, expected, strict=True)):
        assert flat(ours) == flat(theirs), f"{name}, entry {entry}"


@pytest.mark.parametrize("name", [*CODECS, "clusters", *EMBEDDED])
def test_every_branch(root_files, root_values, name):
    tree = sapwood.open(root_files / f"{name}.root")["Events"]
    values = root_values(name)
    assert len(values) == 35
    assert tree.num_entries == len(values["i32"])
    for key, expected in values.items():
        branch, _, field = key.partition(".")
        array = tree[branch].array(library="ak")
        assert_equal(array[field] if field else array, expected, key)


def test_all_branches_at_once_are_the_same(root_files, root_values):
    arrays = sapwood.open(root_files / "clusters.root")["Events"].arrays(library="ak")
    for key, expected in root_values("clusters").items():
        branch, _, field = key.partition(".")
        assert_equal(arrays[branch, field] if field else arrays[branch], expected, key)


@pytest.mark.parametrize(("start", "stop"), [(0, 1), (99, 101), (100, 200), (1234, 2345), (2499, 2500), (7, 7)])
def test_entry_ranges_across_clusters(root_files, root_values, start, stop):
    tree = sapwood.open(root_files / "clusters.root")["Events"]
    values = root_values("clusters")
    names = ["i64", "counted", "pairs", "vf", "vs", "text", "grid"]
    arrays = tree.arrays(names, entry_start=start, entry_stop=stop, library="ak")
    for name in names:
        assert_equal(arrays[name], values[name][start:stop], name)


@pytest.mark.parametrize(
    ("branch", "typestr"),
    [
        ("i8", "int8"),
        ("u64", "uint64"),
        ("flag", "bool"),
        ("f32", "float32"),
        ("d32", "float64"),
        ("f16", "float32"),
        ("fixed", "3 * float64"),
        ("grid", "2 * 3 * float64"),
        ("counted", "var * int32"),
        ("pairs", "var * 2 * float32"),
        ("point", "{x: float32, y: int32, z: float64}"),
        ("vb", "var * bool"),
        ("vvf", "var * var * float32"),
        ("text", "string"),
        ("vs", "var * string"),
    ],
)
def test_types(root_files, branch, typestr):
    array = sapwood.open(root_files / "leaves-zlib.root")["Events"][branch].array(library="ak")
    assert str(array.type) == f"300 * {typestr}"


@pytest.mark.parametrize("codec", ["zlib", "lz4", "zstd"])
def test_basket_of_several_blocks(root_files, codec):
    array = sapwood.open(root_files / f"chain-{codec}.root")["Events"]["values"].array(library="np")
    assert array.shape == (1, 5 << 20)
    assert np.array_equal(array[0], np.arange(5 << 20, dtype="i4") // 7)


class TestContainer:
    @pytest.fixture
    def file(self, root_files):
        with sapwood.open(root_files / "container.root") as file:
            yield file

    def test_directories(self, file):
        assert file["outer/inner/deep"]["value"].array(library="np").tolist() == list(range(10))
        assert file["outer"]["inner"]["deep"].num_entries == 10

    def test_cycles(self, file):
        assert file["cycles;1"].num_entries == 5
        assert file["cycles;2"].num_entries == 8
        assert file["cycles"].num_entries == 8

    def test_keys(self, file):
        assert file.classnames(recursive=True) == {
            "outer;1": "TDirectory",
            "outer/inner;1": "TDirectory",
            "outer/inner/deep;1": "TTree",
            "cycles;2": "TTree",
            "cycles;1": "TTree",
            "empty;1": "TTree",
            "label;1": "TNamed",
        }

    def test_empty_tree(self, file):
        tree = file["empty"]
        assert tree.num_entries == 0
        assert tree.arrays(library="np")["value"].tolist() == []
