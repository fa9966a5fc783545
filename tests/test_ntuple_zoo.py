"""Ntuples of kinds that collections of files lack (`ntuple_zoo.C`), as uproot and ROOT read them."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path

import compare_ntuples
import pytest

import sapwood

ak = pytest.importorskip("awkward")

VALUES = Path(__file__).with_name("ntuple_values.C")
#: ROOT reads these only with a dictionary: variants and enums of a program's own, objects that its streamer wrote.
NOT_BY_ROOT = {"enums", "variants", "streamed"}


@pytest.fixture(scope="module")
def zoo(macro, tmp_path_factory):
    folder = tmp_path_factory.mktemp("zoo")
    macro("ntuple_zoo.C", folder)
    return folder


def rows(module, path, entries=0):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {(key, field): row for key, field, *row in compare_ntuples.rows_of(module, str(path), entries)}


@pytest.fixture(scope="module")
def read(zoo):
    """By file: the rows of all its ntuples."""
    return {path.stem: rows("sapwood", path, 1000) for path in sorted(zoo.glob("*.root"))}


def refused(found):
    return [(at, row[1]) for at, row in found.items() if not row[0]]


def test_all_are_read(read):
    assert len(read) > 35
    assert {name: bad for name, found in read.items() if (bad := refused(found))} == {}
    assert sum(len(found) for found in read.values()) > 3000


def test_values_are_those_of_uproot(zoo, read):
    count, log = Counter(), []
    for name, found in read.items():
        if name == "small_keys":
            # uproot takes the records of its metadata for one
            continue
        compare_ntuples.against_uproot(found, rows("uproot", zoo / f"{name}.root"), name, count, log)
    assert (count["different"], count["refused"]) == (0, 0), log
    assert count["uproot"] > 3000
    # variants; pointers and what is below them
    assert count["known"] == 8, log


def test_values_are_those_of_root(zoo, read, tmp_path):
    wanted = {name: [key for key, field in found if field == ""] for name, found in read.items()}
    calls, outs = [], {}
    for name, keys in wanted.items():
        for key in keys if name not in NOT_BY_ROOT else ():
            out = tmp_path / f"{len(outs)}"
            outs[out] = name, key
            calls += ["-e", f'ntuple_values("{zoo / name}.root", "{key.partition(";")[0]}", 1000, "{out}")']
    words = [Path(sys.executable).parent / "root", "-l", "-b", "-q", "-e", f".L {VALUES}", *calls]
    subprocess.run(words, capture_output=True, timeout=900, stdin=subprocess.DEVNULL, check=True)
    count, log = Counter(), []
    for out, (name, key) in outs.items():
        lines = out.read_text().splitlines()
        assert lines[-1] == "done", (name, key)
        values = [json.loads(line) for line in lines[:-1]]
        assert len(values) == min(read[name][key, ""][1][0], 1000)
        compare_ntuples.against_values(read[name], key, values, "ROOT", name, count, log)
    assert (count["different"], count["refused"]) == (0, 0), log
    assert count["ROOT"] > 2900


def test_variants(zoo):
    ntuple = sapwood.open(zoo / "variants.root")["n"]

    def numbers(i, kind=int):
        return [kind(i + k) for k in range((i + i // 7) % 4)]

    def text(i):
        return "".join(chr(ord("a") + i % 26) for _ in range(i % 4))

    def hit(i):
        return {"x": i / 2, "codes": numbers(i)}

    def record(i):
        if i % 3 == 0:
            return hit(i)
        if i % 3 == 1:
            return [hit(i + k) for k in range((i + i // 7) % 4)]
        return float(i // 3) if (i // 3) % 3 else None

    def inside(i):
        return [i * k if (i + k) % 2 else numbers(i + k, text) for k in range(i % 4)]

    lists = [numbers(i) if i % 3 == 0 else str(i) if i % 3 == 1 else i / 4 for i in range(300)]
    assert ak.to_list(ntuple["lists"].array()) == lists
    assert ak.to_list(ntuple["records"].array()) == [record(i) for i in range(300)]
    assert ak.to_list(ntuple["inside"].array()) == [inside(i) for i in range(300)]


def test_of_an_option_in_another_one_none_remains(zoo):
    ntuple = sapwood.open(zoo / "nullable.root")["n"]
    assert ak.to_list(ntuple["twice"].array(entry_stop=6)) == [None, None, 2, None, None, 5]


def test_a_field_may_be_called_as_an_item(zoo):
    ntuple = sapwood.open(zoo / "names.root")["an-ä(odd)[name]*"]
    assert {"_0", "_0s", "_0s.x"} <= set(ntuple.keys())
    assert ntuple["_0"].array(library="np")[0] == ntuple["class"].array(library="np")[0] - 1


def test_divided_metadata(zoo, tmp_path):
    """Header, footer and page lists that are each in several records; what is made of it is not."""
    whole = tmp_path / "whole.root"
    subprocess.run([sys.executable, "-m", "sapwood", "-q", "merge", whole, zoo / "small_keys.root"], check=True)
    ours, theirs = sapwood.open(whole)["n"], sapwood.open(zoo / "small_keys.root")["n"]
    assert ak.array_equal(ours.arrays(), theirs.arrays())
    assert compare_ntuples.rows_of("uproot", str(whole), 0)
    changed = tmp_path / "changed.root"
    changed.write_bytes((zoo / "small_keys.root").read_bytes())
    with sapwood.update(changed) as file, pytest.raises(sapwood.Error, match="divided into several records"):
        file["n"].extend({name: [1.0] for name in ours.keys()})
