"""Many producers write one tree; ROOT and uproot read it."""

import dataclasses
import multiprocessing
import os
import pickle
import threading

import awkward as ak
import numpy as np
import pytest

import sapwood

TYPES = {
    "who": "i4",
    "x": "var * float32",
    "s": "string",
    "jets": "var * {pt: float32, ids: var * int32}",
    "muon": "var * {pt: float32, eta: float32}",
}


def batch(who, i):
    k = np.arange(100 * i, 100 * (i + 1))
    counts = k % 4
    x = ak.unflatten(np.repeat(k, counts).astype("f4"), counts)
    jets = ak.zip({"pt": x, "ids": ak.Array([[list(range(n))] * n for n in counts])}, depth_limit=2)
    return {
        "who": np.full(100, who),
        "x": x,
        "s": [f"s{n}" for n in k],
        "jets": jets,
        "muon": ak.zip({"pt": x, "eta": -x}),
    }


def work(merger, who, batches):
    with merger.producer() as tree:
        assert tree.keys() == ["who", "x", "s", "jets", "muon_pt", "muon_eta"]
        for i in range(batches):
            tree.extend(batch(who, i))
            with pytest.raises(ValueError, match="who"):
                tree.extend(batch(who, i) | {"who": ["text"] * 100})
        assert len(tree) == 100 * batches


def dies(merger, who):
    tree = merger.producer()
    tree.extend(batch(who, 0))
    tree.flush()
    tree.extend(batch(who, 1))
    os._exit(9)


def check(tree, batches):
    """Every producer's entries are there, in its order: `tree` is a dict of columns from any reader."""
    who = np.asarray(tree["who"])
    assert {int(w): int((who == w).sum()) for w in np.unique(who)} == {w: 100 * n for w, n in batches.items() if n}
    for w, n in batches.items():
        for i in range(n):
            at, wanted = np.flatnonzero(who == w)[100 * i : 100 * (i + 1)], batch(w, i)
            assert ak.array_equal(tree["x"][at], wanted["x"], dtype_exact=True)
            assert tree["s"][at].tolist() == wanted["s"]
            assert ak.array_equal(tree["muon_eta"][at], wanted["muon"].eta)


# Python 3.12 and newer warn of any fork of a process with threads; producers only use what is safe there
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_processes(tmp_path, start):
    uproot = pytest.importorskip("uproot")
    context = multiprocessing.get_context(start)
    path = tmp_path / "many.root"
    with sapwood.recreate(path) as file:
        with file.mktree("t", TYPES, auto_flush=150).merger() as merger:
            workers = [context.Process(target=work, args=(merger, who, who + 1)) for who in range(3)]
            for worker in workers:
                worker.start()
            work(merger, 3, 4)
            for worker in workers:
                worker.join()
                assert worker.exitcode == 0
            assert os.path.exists(merger.address)
            address = merger.address
        assert (merger.finished, merger.lost) == (4, []) and not os.path.exists(address)
        assert file["t"].num_entries == 1000
        file["t"].extend(batch(9, 0))
    expected = {0: 1, 1: 2, 2: 3, 3: 4, 9: 1}
    check(sapwood.open(path)["t"].arrays(), expected)
    theirs = uproot.open(path)["t"]
    check(theirs.arrays(["who", "x", "s", "muon_eta"]), expected)


def test_a_process_that_dies_is_reported(tmp_path):
    with sapwood.recreate(tmp_path / "a.root") as file:
        merger = file.mktree("t", TYPES).merger()
        worker = multiprocessing.get_context("spawn").Process(target=dies, args=(merger, 5))
        worker.start()
        worker.join()
        work(merger, 1, 2)
        with pytest.warns(sapwood.ProducerLostWarning, match=f"process {worker.pid} was lost after 100 entries"):
            merger.close()
    (lost,) = merger.lost
    assert lost.entries == 100 and "without finishing" in lost.why
    check(sapwood.open(tmp_path / "a.root")["t"].arrays(), {5: 1, 1: 2})


def test_threads(tmp_path):
    with sapwood.recreate(tmp_path / "a.root") as file:
        tree = file.mktree("t", TYPES)
        with tree.merger() as merger:
            threads = [threading.Thread(target=work, args=(merger, who, 3)) for who in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            with pytest.raises(sapwood.InvalidError, match="close their merger first"):
                tree.extend(batch(0, 0))
            late = merger.producer()
            with pytest.raises(sapwood.InvalidError, match="1 producers are still writing"):
                merger.close()
            late.close()
        assert merger.num_entries == 0 and merger.finished == 9
        with pytest.raises(sapwood.InvalidError, match="closed"):
            merger.producer()
    check(sapwood.open(tmp_path / "a.root")["t"].arrays(), dict.fromkeys(range(8), 3))


def test_a_block_that_fails_loses_what_was_not_handed_on(tmp_path):
    @dataclasses.dataclass
    class Row:
        i: int
        v: list[float]

    with sapwood.recreate(tmp_path / "a.root") as file:
        merger = file.mktree("t", Row).merger()

        def fails():
            with merger.producer() as tree:
                tree.fill(Row(1, [1.5]))
                tree.flush()
                tree.fill(Row(2, []))
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fails()
        with pickle.loads(pickle.dumps(merger)).producer() as tree:
            tree.fill(i=3, v=[])
        with pytest.warns(sapwood.ProducerLostWarning, match="it was abandoned"):
            merger.close()
    assert sapwood.open(tmp_path / "a.root")["t"].arrays().to_list() == [
        {"i": 1, "v": [1.5], "nv": 1},
        {"i": 3, "v": [], "nv": 0},
    ]
