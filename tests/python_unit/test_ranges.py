"""Entry ranges, sizes in words, where files are."""

from pathlib import Path

import numpy as np
import pytest

import sapwood
from sapwood.arguments.paths import several, split
from sapwood.arguments.sizes import entry_range, size_in_bytes

BOUNDS = [None, 0, 1, 5, 19, 20, 21, 1000, -1, -5, -20, -21, -1000, np.int64(7)]


@pytest.mark.parametrize("start", BOUNDS)
@pytest.mark.parametrize("stop", BOUNDS)
def test_ranges_mean_what_slices_mean(start, stop):
    first, last = entry_range(start, stop, 20)
    assert list(range(20))[start:stop] == list(range(first, last))


@pytest.mark.parametrize(("start", "stop"), [(None, None), (3, 11), (-4, None), (18, 100), (9, 3), (20, None)])
@pytest.mark.parametrize("library", ["np", "ak", "pa"])
def test_values_of_ranges(leaves, start, stop, library):
    pytest.importorskip({"ak": "awkward", "pa": "pyarrow", "np": "numpy"}[library])
    whole = leaves["pairs"].array(library=library).tolist()
    part = leaves["pairs"].array(entry_start=start, entry_stop=stop, library=library)
    assert [np.asarray(x).tolist() for x in part.tolist()] == [np.asarray(x).tolist() for x in whole[start:stop]]


def test_ranges_are_integers(leaves):
    with pytest.raises(ValueError, match=r"1\.5"):
        leaves["i8"].array(entry_start=1.5)


@pytest.mark.parametrize(
    ("words", "size"),
    [("100 MB", 100 << 20), ("1.5GiB", 3 << 29), ("4k", 4096), ("7", 7), ("12 b", 12), ("1e3 kB", 1024000), (42, 42)],
)
def test_sizes_in_words(words, size):
    assert size_in_bytes(words) == size


@pytest.mark.parametrize("words", ["", "MB", "3 furlongs", "-1 MB", "1e300 GB", "nan", True, 1.5, None])
def test_sizes_that_are_none(words):
    with pytest.raises(ValueError, match="size"):
        size_in_bytes(words)


@pytest.mark.parametrize(
    ("where", "file", "inside"),
    [
        ("a.root", "a.root", None),
        ("a.root:t", "a.root", "t"),
        ("d/a.root:dir/t;2", "d/a.root", "dir/t;2"),
        ("a.root:t:odd", "a.root", "t:odd"),
        ("data.bin:t", "data.bin", "t"),
        ("root://host:1094//store/a.root:Events", "root://host:1094//store/a.root", "Events"),
        ("http://host:8080/a.root", "http://host:8080/a.root", None),
        ("http://host:8080", "http://host:8080", None),
        ("https://h/a.root?token=x:Events", "https://h/a.root?token=x", "Events"),
        ({"a:b.root": "t"}, "a:b.root", "t"),
        ({"a.root": None}, "a.root", None),
        (Path("a.root:t"), "a.root:t", None),
        ("a.root:", "a.root", None),
    ],
)
def test_where_a_file_ends_and_its_inside_begins(where, file, inside):
    assert split(where) == (file, inside)


def test_a_file_with_a_colon_in_its_name(tmp_path):
    odd = tmp_path / "a.root:t"
    odd.touch()
    assert split(str(odd)) == (str(odd), None)


@pytest.mark.parametrize("where", [3, {"a": "b", "c": "d"}, None, {"a": 3}])
def test_where_makes_no_sense(where):
    with pytest.raises(ValueError, match=r"file|object"):
        split(where)


def test_many_files(tmp_path):
    for name in ("b.root", "a.root", "c.txt"):
        (tmp_path / name).touch()
    names = [str(tmp_path / n) for n in ("a.root", "b.root")]
    assert several(f"{tmp_path}/*.root:t") == [(n, "t") for n in names]
    assert several({names[1]: "x", Path(names[0]): None}) == [(names[1], "x"), (names[0], None)]
    assert several([names[1], {names[0]: "t"}]) == [(names[1], None), (names[0], "t")]
    with pytest.raises(FileNotFoundError, match="none"):
        several(str(tmp_path / "none*.root"))
    with pytest.raises(sapwood.InvalidError, match="3"):
        several(3)
