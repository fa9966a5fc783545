"""Fields of objects that ROOT's streamer wrote, against the formulas of ntuple_objects.C."""

from __future__ import annotations

import random

import awkward as ak
import pytest

import sapwood

N = 200


@pytest.fixture(scope="module")
def folder(public, macro):
    folder = public / "ntuple-objects"
    folder.mkdir()
    macro("ntuple_objects.C", folder, compiled=True)
    return folder


def vector(x, y, z):
    return {"fX": float(x), "fY": float(y), "fZ": float(z)}


def hit(i):
    return {
        "kind": -i,
        "t": i / 7.0,
        "charges": [i * 0.5] * (i % 4),
        "name": "a" * (i % 3),
        "weights": {k: i + k / 4.0 for k in range(i % 3)},
        "counts": [0, i, 2 * i],
        "where": vector(i, -i, 0.25),
    }


def plain(value):
    """Without what TObject adds; maps as dicts."""
    if isinstance(value, dict):
        out = {name: plain(v) for name, v in value.items() if name not in ("fUniqueID", "fBits")}
        if "weights" in out:
            out["weights"] = {pair[0]: pair[1] for pair in value["weights"]}
        return out
    return [plain(v) for v in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", ["plain", "zstd"])
def test_values(folder, name):
    tree = sapwood.open(folder / f"{name}.root")["n"]
    read = lambda field: [plain(v) for v in ak.to_list(tree[field].array())]  # noqa: E731
    assert read("aHit") == [hit(i) for i in range(N)]
    assert read("hits") == [[hit(i)] * (i % 3) for i in range(N)]
    assert read("aTVector3") == [vector(i, 2 * i, 3 * i) for i in range(N)]
    assert [v["fP"] | {"fE": v["fE"]} for v in read("aTLorentzVector")] == [
        vector(i, 1, 2) | {"fE": 3.0 + i} for i in range(N)
    ]
    assert [v["fString"] for v in read("aTObjString")] == [str(i) for i in range(N)]
    part = tree["aHit"].array(entry_start=85, entry_stop=95)
    assert [plain(v) for v in ak.to_list(part)] == [hit(i) for i in range(85, 95)]
    assert tree["number"].array(library="np").tolist() == list(range(N))


def test_they_are_read_with_other_fields_and_cuts(folder):
    tree = sapwood.open(folder / "zstd.root")["n"]
    cut = tree.arrays(["aHit", "number"], cut="number > 150")
    assert [plain(v) for v in ak.to_list(cut["aHit"])] == [hit(i) for i in range(151, N)]


def test_damage_never_goes_unnoticed(folder, tmp_path):
    good = (folder / "plain.root").read_bytes()
    fields = ["aHit", "hits", "aTVector3", "aTObjString"]
    expected = [ak.to_list(sapwood.open(folder / "plain.root")["n"][f].array()) for f in fields]
    chance, path, found = random.Random(9), tmp_path / "damaged.root", 0
    for _ in range(60):
        at = chance.randrange(len(good))
        path.write_bytes(good[:at] + bytes([good[at] ^ 1 << chance.randrange(8)]) + good[at + 1 :])
        try:
            tree = sapwood.open(path)["n"]
            got = [ak.to_list(tree[f].array()) for f in fields]
        except (sapwood.Error, OSError, KeyError):
            found += 1
        else:
            assert got == expected, at
    assert found > 20
