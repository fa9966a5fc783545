"""Many producers write one ntuple; ROOT and uproot read it."""

from __future__ import annotations

import multiprocessing
import os
import threading

import awkward as ak
import numpy as np
import pytest
import uproot
from test_write_ntuple import by_root

import sapwood

TYPES = {
    "who": "i4",
    "x": "var * float32",
    "s": "string",
    "jets": "var * {pt: float32, ids: var * int32}",
    "three": "3 * int16",
    "perhaps": "?float64",
    "either": "union[int64, string]",
    "pair": "(int8, string)",
    "m": "map<string, int32>",
    "half": "Real16",
}
SIMPLE = ["who", "x", "s", "three", "perhaps", "half"]


def row(who, k):
    ids = range(k % 4)
    return {
        "who": who,
        "x": [float(k)] * (k % 4),
        "s": f"s{k}",
        "jets": [{"pt": k + i / 2, "ids": list(range(i))} for i in ids],
        "three": [k % 1000, 1, 2],
        "perhaps": k / 8 if k % 3 else None,
        "either": k if k % 2 else str(k),
        "pair": (k % 100, str(k)),
        "m": {str(i): i - k for i in ids},
        "half": float(k % 64),
    }


def batch(who, i, n=100):
    return [row(who, k) for k in range(n * i, n * (i + 1))]


def work(merger, who, batches):
    with merger.producer() as ntuple:
        assert ntuple.keys() == list(TYPES)
        for i in range(batches):
            ntuple.extend(batch(who, i))
            with pytest.raises(ValueError, match="who"):
                ntuple.extend([r | {"who": "text"} for r in batch(who, i)])
        assert len(ntuple) == 100 * batches


def dies(merger, who):
    ntuple = merger.producer()
    ntuple.extend(batch(who, 0))
    ntuple.flush()
    ntuple.extend(batch(who, 1))
    os._exit(9)


def plain(value):
    """Maps as dicts, pairs as tuples."""
    out = dict(value)
    out["m"] = {pair[0]: pair[1] for pair in value["m"]}
    return out


def check(path, batches):
    """Every producer's entries are there, in its order."""
    rows = sapwood.open(path)["n"].arrays(list(TYPES)).to_list()
    assert len(rows) == 100 * sum(batches.values())
    for who, n in batches.items():
        assert [plain(r) for r in rows if r["who"] == who] == [row(who, k) for k in range(100 * n)]
    theirs = uproot.open(path)["n"].arrays(SIMPLE).to_list()
    assert theirs == [{name: r[name] for name in SIMPLE} for r in rows]


# Python 3.12 and newer warn of any fork of a process with threads; producers only use what is safe there
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_processes(tmp_path, start, root_here):
    context = multiprocessing.get_context(start)
    path = tmp_path / "many.root"
    with sapwood.recreate(path) as file:
        with file.mkntuple("n", TYPES, cluster_size=5000, page_size=256).merger() as merger:
            workers = [context.Process(target=work, args=(merger, who, who + 1)) for who in range(3)]
            for worker in workers:
                worker.start()
            work(merger, 3, 4)
            for worker in workers:
                worker.join()
                assert worker.exitcode == 0
        assert (merger.finished, merger.lost) == (4, [])
        assert file["n"].num_entries == 1000
        file["n"].extend(batch(9, 0))
    check(path, {0: 1, 1: 2, 2: 3, 3: 4, 9: 1})
    found = by_root(path, "n", ["who", "s"])["values"]
    assert sorted(zip(found["who"], found["s"], strict=True)) == sorted(
        (who, f"s{k}") for who, n in {0: 1, 1: 2, 2: 3, 3: 4, 9: 1}.items() for k in range(100 * n)
    )


def test_a_process_that_dies_is_reported(tmp_path):
    with sapwood.recreate(tmp_path / "a.root") as file:
        merger = file.mkntuple("n", TYPES).merger()
        worker = multiprocessing.get_context("spawn").Process(target=dies, args=(merger, 5))
        worker.start()
        worker.join()
        work(merger, 1, 2)
        with pytest.warns(sapwood.ProducerLostWarning, match=f"process {worker.pid} was lost after 100 entries"):
            merger.close()
    check(tmp_path / "a.root", {5: 1, 1: 2})


def test_threads(tmp_path):
    with sapwood.recreate(tmp_path / "a.root") as file:
        ntuple = file.mkntuple("n", TYPES)
        with ntuple.merger() as merger:
            threads = [threading.Thread(target=work, args=(merger, who, 3)) for who in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            with pytest.raises(sapwood.InvalidError, match="close their merger first"):
                ntuple.extend(batch(0, 0))
            late = merger.producer()
            with pytest.raises(sapwood.InvalidError, match="1 producers are still writing"):
                merger.close()
            late.close()
        assert merger.finished == 5
        with pytest.raises(sapwood.InvalidError, match="closed"):
            merger.producer()
    check(tmp_path / "a.root", dict.fromkeys(range(4), 3))


def test_producers_add_to_an_existing_ntuple(tmp_path):
    path = tmp_path / "a.root"
    with sapwood.recreate(path) as file:
        file.mkntuple("n", TYPES).extend(batch(0, 0))
    with sapwood.update(path) as file, file["n"].merger() as merger:
        work(merger, 1, 2)
    check(path, {0: 1, 1: 2})


def test_one_producer_writes_what_one_writer_does(tmp_path):
    sizes = []
    for producers in (0, 1):
        path = tmp_path / f"{producers}.root"
        with sapwood.recreate(path, compression="zstd:1") as file:
            ntuple = file.mkntuple("n", TYPES, cluster_size=4000, page_size=256)
            if producers:
                with ntuple.merger() as merger, merger.producer() as producer:
                    for i in range(8):
                        producer.extend(batch(1, i))
                        producer.flush()
            else:
                for i in range(8):
                    ntuple.extend(batch(1, i))
        sizes.append([c.num_entries for c in uproot.open(path)["n"].cluster_summaries])
    assert sizes[0] == sizes[1] and len(sizes[0]) > 2


def test_a_large_entry_goes_through_in_one_piece(tmp_path):
    values = np.arange(3_000_000, dtype="f4")
    with (
        sapwood.recreate(tmp_path / "a.root") as file,
        file.mkntuple("n", {"x": "var * float32"}).merger() as merger,
        merger.producer() as producer,
    ):
        producer.extend({"x": ak.Array([values, values[:3]])})
    read = sapwood.open(tmp_path / "a.root")["n"]["x"].array()
    assert np.array_equal(read[0], values) and len(read[1]) == 3
