"""Large clusters of ntuples are decoded in parts, page by page."""

from __future__ import annotations

import json
import subprocess
import sys

import awkward as ak
import numpy as np
import pytest
import uproot

import sapwood

N = 200_000


@pytest.fixture(scope="module", params=["zlib:1", "zstd:5"])
def wide(tmp_path_factory, request):
    """One cluster, whose fields are larger than a part: numbers, lists, lists of lists, text, records, bits."""
    random = np.random.default_rng(5)
    counts = random.integers(0, 9, N)
    inner = random.integers(0, 4, counts.sum())
    nested = ak.unflatten(ak.unflatten(np.arange(inner.sum(), dtype="f4"), inner), counts)
    data = {
        "x": random.normal(size=N),
        "lists": ak.unflatten(np.arange(counts.sum(), dtype="i4"), counts),
        "nested": nested,
        "text": ak.Array([str(i) * (i % 5) for i in range(N)]),
        "records": ak.zip(
            {"a": np.arange(N), "b": ak.unflatten(np.ones(counts.sum(), dtype="f8"), counts)}, depth_limit=1
        ),
        "flags": random.random(N) < 0.5,
    }
    codec = request.param
    path = tmp_path_factory.mktemp("wide") / "wide.root"
    with sapwood.recreate(path, compression=codec) as file:
        ntuple = file.mkntuple("n", data)
        ntuple.extend(data)
    return path, data


def test_it_has_one_cluster_and_uproot_reads_it(wide):
    path, data = wide
    with uproot.open(path) as file:
        assert len(file["n"].cluster_summaries) == 1
        arrays = file["n"].arrays(["x", "lists", "text"])
        for name in arrays.fields:
            assert ak.array_equal(arrays[name], data[name], dtype_exact=False), name


@pytest.mark.parametrize("threads", [1, 3])
def test_values_do_not_depend_on_parts_and_steps(wide, threads):
    path, data = wide
    with sapwood.open(path, threads=threads) as file:
        whole = file["n"].arrays(list(data))
        for name in data:
            assert ak.array_equal(whole[name], data[name], dtype_exact=False), name
        at = 0
        for step in file["n"].iterate(list(data), step_size=33_333):
            for name in data:
                assert ak.array_equal(step[name], data[name][at : at + len(step)], dtype_exact=False), (name, at)
            at += len(step)
        assert at == N
        for begin, end in [(0, 1), (N - 1, N), (50_001, 50_003), (77_777, 188_888)]:
            part = file["n"].arrays(list(data), entry_start=begin, entry_stop=end)
            for name in data:
                assert ak.array_equal(part[name], data[name][begin:end], dtype_exact=False), (name, begin)


def test_cuts_and_entry_by_entry(wide):
    path, data = wide
    tree = sapwood.open(path)["n"]
    chosen = data["x"] > 3
    assert ak.array_equal(tree.arrays(["lists"], cut="x > 3")["lists"], data["lists"][chosen], dtype_exact=False)


def test_a_few_entries_do_not_decompress_the_cluster(wide, run):
    path, _ = wide

    def decompressed(*entries):
        done = run("perf", "--json", f"{path}:n", "-b", "lists", "--threads", "1", *entries)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["unzipped_bytes"]

    whole = decompressed()
    # each page once, although parts share pages
    assert whole == 8 * N + 4 * len(ak.flatten(wide[1]["lists"]))
    assert 0 < decompressed("--entries", "10:20") < whole / 2


def test_root_reads_pages_of_many_blocks(wide, root_here):
    """Pages are compressed plane by plane, with blocks that ROOT must accept."""
    path, data = wide
    script = """
import json, sys, ROOT
frame = ROOT.RDataFrame("n", sys.argv[1])
sums = {"x": frame.Sum("x"), "flags": frame.Sum("flags"), "n": frame.Define("n", "lists.size()").Sum("n")}
sums["lists"] = frame.Define("s", "double s = 0; for (auto i : lists) s += i; return s;").Sum("s")
print(json.dumps({name: sum.GetValue() for name, sum in sums.items()}))
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, path], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    sums = json.loads(done.stdout.splitlines()[-1])
    assert sums["x"] == pytest.approx(np.sum(data["x"]), rel=1e-9)
    assert sums["flags"] == np.sum(data["flags"])
    assert sums["n"] == len(ak.flatten(data["lists"]))
    assert sums["lists"] == float(ak.sum(ak.values_astype(data["lists"], "f8")))
