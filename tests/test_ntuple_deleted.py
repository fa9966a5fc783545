"""A deleted ntuple's pages and metadata become free space, and nothing else does."""

from __future__ import annotations

import random

import numpy as np
import pytest
import uproot

import sapwood

N = 20_000


def columns(seed):
    chance = np.random.default_rng(seed)
    return {"x": chance.normal(size=N), "v": [[float(i)] * (i % 3) for i in range(N)]}


def write(file, name, seed):
    with file.mkntuple(name, {"x": "f8", "v": "var * float32"}, cluster_size=50_000, page_size=4096) as ntuple:
        ntuple.extend(columns(seed))


def assert_is(path, **seeds):
    """These ntuples are in the file as they were written, and the doctor finds nothing."""
    with sapwood.open(path) as ours, uproot.open(path) as theirs:
        for name, seed in seeds.items():
            wanted = columns(seed)
            assert np.array_equal(ours[name]["x"].array(library="np"), wanted["x"])
            assert np.array_equal(theirs[name]["x"].array(), wanted["x"])
            assert ours[name]["v"].array().to_list() == wanted["v"]
        assert set(ours.keys(cycle=False)) == set(seeds)
    found = sapwood.doctor(path, deep=True)
    assert [f for f in found.findings if f.severity == "damage"] == [], found


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.root"
    with sapwood.recreate(path) as file:
        for seed, name in enumerate(["a", "b", "c"]):
            write(file, name, seed)
    return path


def test_the_bytes_are_used_again(path):
    size = path.stat().st_size
    for seed in range(3, 8):
        with sapwood.update(path) as file:
            del file["b"]
        with sapwood.update(path) as file:
            write(file, "b", seed)
        assert_is(path, a=0, b=seed, c=2)
    assert path.stat().st_size < 1.1 * size


def test_within_one_session(path):
    size = path.stat().st_size
    with sapwood.update(path) as file:
        del file["b"]
        file.commit()
        write(file, "d", 3)
        file.commit()
        del file["d"]
        file.commit()
        write(file, "e", 4)
    assert_is(path, a=0, c=2, e=4)
    assert path.stat().st_size < 1.1 * size


def test_nothing_is_reused_before_the_commit(path):
    before = path.read_bytes()

    def fails():
        with sapwood.update(path) as file:
            del file["b"]
            write(file, "d", 3)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert path.read_bytes()[: len(before)] == before
    assert_is(path, a=0, b=1, c=2)


def test_an_ntuple_that_was_extended(path):
    sizes = []
    for _ in range(5):
        with sapwood.update(path) as file:
            file["b"].extend(columns(7))
        with sapwood.update(path) as file:
            del file["b"]
        with sapwood.update(path) as file:
            write(file, "b", 1)
        sizes.append(path.stat().st_size)
    assert_is(path, a=0, b=1, c=2)
    # clusters of both kinds have found their gaps
    assert sizes[1:] == [sizes[1]] * 4, sizes


def test_those_of_root(tmp_path, macro):
    folder = tmp_path / "root"
    folder.mkdir()
    macro("ntuples.C", folder)
    for name in ("zstd", "uncompressed", "late", "wide"):
        path = folder / f"{name}.root"
        size = path.stat().st_size
        with sapwood.update(path) as file:
            del file["n"]
        free = sapwood.doctor(path)
        assert [f for f in free.findings if f.severity == "damage"] == []
        with sapwood.update(path) as file:
            tree = file.mktree("t", {"x": "f8"}, basket_size=1000, optimize_baskets=False)
            tree.extend({"x": np.random.default_rng(1).normal(size=size // 40)})
        assert path.stat().st_size < 1.3 * size + 10_000, name
        assert len(uproot.open(path)["t"]["x"].array()) == size // 40


def test_an_ntuple_that_cannot_be_read_keeps_its_bytes(path):
    """A damaged page list names bytes of others: none of them is freed."""
    data = path.read_bytes()
    with uproot.open(path) as file:
        footer, length = file["b"].member("fSeekFooter"), file["b"].member("fNBytesFooter")
    chance = random.Random(1)
    for _ in range(10):
        at = footer + chance.randrange(length)
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])
        with sapwood.update(path) as file:
            del file["b"]
        with sapwood.update(path) as file:
            write(file, "d", 5)
        assert path.stat().st_size > len(data) + 50_000
        assert_is(path, a=0, c=2, d=5)


def test_two_anchors_that_share_pages(path):
    """A second anchor for the same ntuple: its pages stay when one of the two is deleted."""
    with sapwood.open(path) as file:
        before = file["b"]["x"].array(library="np")
    data = bytearray(path.read_bytes())
    with uproot.open(path) as file:
        b, c = (file.key(name) for name in "bc")
        assert (b.fNbytes, b.fKeylen) == (c.fNbytes, c.fKeylen)
    members = [slice(key.fSeekKey + key.fKeylen, key.fSeekKey + key.fNbytes) for key in (b, c)]
    data[members[1]] = data[members[0]]
    path.write_bytes(data)
    with sapwood.update(path) as file:
        del file["b"]
    with sapwood.update(path) as file:
        write(file, "d", 5)
    assert path.stat().st_size > len(data) + 50_000
    with sapwood.open(path) as file:
        assert np.array_equal(file["c"]["x"].array(library="np"), before)
        assert np.array_equal(file["d"]["x"].array(library="np"), columns(5)["x"])
    # the last one frees them
    with sapwood.update(path) as file:
        del file["c"]
    size = path.stat().st_size
    with sapwood.update(path) as file:
        write(file, "e", 6)
    assert path.stat().st_size < size + 10_000
    with sapwood.open(path) as file:
        assert np.array_equal(file["e"]["x"].array(library="np"), columns(6)["x"])
