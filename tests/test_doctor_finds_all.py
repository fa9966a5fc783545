"""Whatever a reader refuses, `doctor --deep` reports: small files with one byte changed, read in full and examined."""

from __future__ import annotations

import random
import warnings

import awkward as ak
import numpy as np
import pytest

import sapwood

#: Bytes changed in each file; SAPWOOD_ALL_POSITIONS=1 changes every one.
SAMPLE = 250


def tree_of_numbers(path, compression):
    with sapwood.recreate(path, compression=compression) as f:
        f["t"] = {"x": np.arange(60), "v": ak.unflatten(np.arange(60.0), [0, 1, 2] * 20), "s": ["abc", "de"] * 30}


def objects(path, compression):
    with sapwood.recreate(path, compression=compression) as f:
        f["h"] = np.histogram(np.linspace(0, 1, 50), bins=8)
        f["words"] = "some text"
        f["a/b/h2"] = np.histogram2d(np.linspace(0, 1, 50), np.linspace(0, 2, 50), bins=3)
        f["a/t"] = {"y": np.arange(5, dtype="f4")}


def flipped(data, at, random):
    out = bytearray(data)
    out[at] ^= random.choice([0x01, 0x40, 0x80, 0xFF, 1 << random.randrange(8)])
    return out


def complaints(path):
    """What reading everything as a user would is refused: by name, the error."""
    out = {}

    def tried(name, read):
        try:
            return read()
        except sapwood.Error as e:
            out[name] = str(e).replace(str(path), "")
            return None

    file = tried("file", lambda: sapwood.open(path, threads=1))
    for name in (tried("keys", lambda: file.keys(recursive=True)) or []) if file else []:
        found = tried(name, lambda name=name: file[name])
        if isinstance(found, sapwood.Tree):
            for branch in found.keys(recursive=True):
                tried(f"{name}:{branch}", lambda found=found, branch=branch: found[branch].array())
        elif found is not None:
            for what in ("values", "errors", "to_numpy"):
                if hasattr(found, what):
                    tried(f"{name}.{what}", getattr(found, what))
    return out


def examined(path):
    """What the doctor says, each with where it is."""
    try:
        found = sapwood.doctor(path, deep=True, cache_sizes=[None], round_trips=[0])
    except sapwood.Error as e:
        return {("", str(e))}
    findings = found.data["damage"]["findings"]
    assert all(f["bytes"] for f in findings if f["part"] in ("object", "basket", "tree") and f["object"]), findings
    return {(f["object"], f["what"], *map(str, f["bytes"] or [])) for f in findings}


@pytest.mark.parametrize("compression", ["none", "zlib:1", "zstd:1"])
@pytest.mark.parametrize("make", [tree_of_numbers, objects])
def test_what_a_reader_refuses_is_reported(tmp_path, make, compression, every_position):
    intact = tmp_path / "intact.root"
    make(intact, compression)
    data = intact.read_bytes()
    assert complaints(intact) == {}
    known = examined(intact)
    chance = random.Random(1)
    places = range(len(data)) if every_position else sorted(chance.sample(range(len(data)), min(SAMPLE, len(data))))
    bad = tmp_path / "bad.root"
    missed, refused = [], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for at in places:
            bad.write_bytes(flipped(data, at, chance))
            said = complaints(bad)
            refused += bool(said)
            if said and not examined(bad) - known:
                missed.append((at, said))
    assert refused > len(places) // 10
    assert not missed, f"{len(missed)} of {refused}: {missed[:5]}"


def test_baskets_with_offsets_below_a_branch_that_says_there_are_none(tmp_path):
    """What appending once made of ROOT's trees: fEntryOffsetLen is 0, and ROOT takes all entries to be of one size."""
    import uproot

    path = tmp_path / "a.root"
    with sapwood.recreate(path, compression="none") as f:
        f["t"] = {"v": ak.unflatten(np.arange(60.0), [0, 1, 2] * 20)}
    branch = uproot.open(path)["t/v"]
    numbers = [branch.member(n) for n in ("fCompress", "fBasketSize", "fEntryOffsetLen")]
    assert numbers[2] > 0
    before = np.array(numbers, ">i4").tobytes()
    data = path.read_bytes()
    assert data.count(before) == 1
    path.write_bytes(data.replace(before, before[:8] + bytes(4)))
    (found,) = sapwood.doctor(path, deep=True).data["damage"]["findings"]
    assert found["severity"] == "damage" and found["object"] == "t;1:v" and found["bytes"]
    assert "stores entry offsets, but its branch says that no basket does" in found["what"]


def test_histograms_whose_parts_do_not_fit(tmp_path):
    """A number of bins and a class of an axis that are right by themselves, and not beside the rest."""
    path = tmp_path / "h.root"
    with sapwood.recreate(path, compression="none") as f:
        f["h"] = np.histogram(np.linspace(0, 1, 50), bins=8)
    data = path.read_bytes()
    at = data.index(b"\x05xaxis")
    bins = data.index(np.array(8, ">i4").tobytes() + np.array([0, 1], ">f8").tobytes(), at)
    path.write_bytes(data[:bins] + np.array(1000, ">i4").tobytes() + data[bins + 4 :])
    for what in ("values", "to_numpy"):
        with pytest.raises(sapwood.Error, match="10 cells, its axes have 1002"):
            getattr(sapwood.open(path)["h"], what)()
    (found,) = sapwood.doctor(path, deep=True).data["damage"]["findings"]
    assert found["object"] == "h;1" and found["bytes"]
    assert "10 cells, its axes have 1002" in found["what"]
