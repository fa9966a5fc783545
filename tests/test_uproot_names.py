"""Names of `sapwood.uproot` that scripts pass on: executors, caches, sources; `dask_write`; what `show` prints."""

import io
import os
import warnings
from concurrent.futures import Executor

import awkward as ak
import numpy as np
import pytest

import sapwood
import sapwood.uproot as uproot

DATA = {"x": np.arange(4), "v": ak.Array([[1.5], [], [2.5, 3.5], []])}


@pytest.fixture
def path(tmp_path):
    with uproot.recreate(tmp_path / "a.root") as file:
        file["t"] = DATA
        file.mktree("tree", {"x": "i4", "v": "var * f8", "s": "string"}).extend({**DATA, "s": ["a", "b", "", "c"]})
    return str(tmp_path / "a.root")


def test_names_of_uproot_are_there():
    theirs = pytest.importorskip("uproot")
    for name in ("LRUCache", "LRUArrayCache", "ThreadPoolExecutor", "TrivialExecutor", "dask_write"):
        assert callable(getattr(theirs, name)) and getattr(uproot, name).__name__ == name
    assert uproot.__version__.startswith("5.")


def test_executors_caches_and_sources_are_accepted(path):
    options = {
        "object_cache": uproot.LRUCache(10), "array_cache": uproot.LRUArrayCache("10 MB"),
        "handler": uproot.MultithreadedFileSource, "decompression_executor": uproot.ThreadPoolExecutor(2),
    }  # fmt: skip
    with uproot.open(path, **options) as file:
        made = file["tree"].arrays(["x"], interpretation_executor=uproot.TrivialExecutor())
    assert made.x.tolist() == [0, 1, 2, 3]


def test_executors_execute():
    pool, here = uproot.ThreadPoolExecutor(2), uproot.TrivialExecutor()
    assert isinstance(pool, Executor) and pool.num_workers == pool.max_workers == 2
    assert uproot.ThreadPoolExecutor().max_workers >= 1
    for executor in (pool, here):
        assert not executor.closed
        assert executor.submit(divmod, 7, 2).result() == (3, 1)
        with pytest.raises(ZeroDivisionError):
            executor.submit(divmod, 7, 0).result()
        assert list(executor.map(abs, [-1, 2])) == [1, 2]
        executor.shutdown()
    assert pool.closed


def test_caches_keep_what_was_used_last():
    cache = uproot.LRUCache(2)
    cache.update(a=1, b=2)
    assert cache["a"] == 1
    cache["c"] = 3
    assert sorted(cache) == ["a", "c"] and len(cache) == cache.current == 2
    del cache["a"]
    assert "a" not in cache
    arrays = uproot.LRUArrayCache("1 kB")
    arrays["big"], arrays["small"] = np.zeros(100), np.zeros(50)
    assert list(arrays) == ["small"] and arrays.current == 400 and arrays.limit == 1000
    arrays["huge"] = np.zeros(1000)
    assert len(arrays) == 0
    everything = uproot.LRUCache(None)
    everything.update({i: i for i in range(100)})
    assert len(everything) == 100


def test_show_prints_interpretations(path):
    theirs = pytest.importorskip("uproot")

    def shown(module, **options):
        out = io.StringIO()
        with module.open(path) as file:
            file["tree"].show(stream=out, **options)
            file["tree/v"].show(stream=out, name_width=30)
        return [line.rstrip() for line in out.getvalue().splitlines()]

    assert "AsJagged(AsDtype('>f8'))" in shown(uproot)[-1]
    for options in ({}, {"name_width": 12, "typename_width": 9, "interpretation_width": 20}, {"filter_name": "v"}):
        assert shown(uproot, **options) == shown(theirs, **options)
    out = io.StringIO()
    sapwood.open(path)["tree"].show(stream=out)
    assert "| column\n" in out.getvalue() and "AsJagged" not in out.getvalue()


def test_types_of_pointers_and_of_arrays_of_objects(corpus):
    """As uproot spells them: a split TClonesArray is the number of its objects."""
    with uproot.open(corpus / "scikit-hep-testdata" / "uproot-issue513.root") as file:
        assert file["Delphes/Event"].typename == "int32_t"
    with sapwood.open(corpus / "scikit-hep-testdata" / "uproot-issue513.root") as file:
        assert file["Delphes"]["Event"].typename == "TClonesArray<HepMCEvent>"
    with uproot.open(corpus / "roottest" / "p0dNuESearch.root") as file:
        types = file["p0dNuESearch"].typenames()
        assert types["p0dNuESearch/trueVertex"] == "TLorentzVector*"


def collection(parts=12):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dak = pytest.importorskip("dask_awkward", reason="dask-awkward is not installed")
    array = ak.Array([{"a": [1, 2, 3], "r": {"b": 1.5}}, {"a": [], "r": {"b": 2.5}}] * parts)
    return array, dak.from_awkward(array, parts)


def test_collections_are_written(tmp_path):
    dask = pytest.importorskip("dask")
    array, parts = collection()
    with dask.config.set(scheduler="sync"):
        assert uproot.dask_write(parts, tmp_path / "x") is None
        assert sorted(os.listdir(tmp_path / "x"))[:2] == ["part00.root", "part01.root"]
        back = uproot.concatenate(f"{tmp_path}/x/*.root:tree")
        assert back.a.tolist() == array.a.tolist() and back.r_b.tolist() == array.r.b.tolist()
        named = {"prefix": "p", "tree_name": "Events", "title": "T", "compression": "zstd", "compression_level": 3}
        named |= {"counter_name": lambda name: f"num_{name}", "field_name": lambda outer, inner: f"{outer}.{inner}"}
        later = uproot.dask_write(collection(2)[1], str(tmp_path / "y"), compute=False, **named)
        assert not (tmp_path / "y").exists()
        assert later.compute() is None
    assert sorted(os.listdir(tmp_path / "y")) == ["p-part0.root", "p-part1.root"]
    with uproot.open(tmp_path / "y" / "p-part0.root") as file:
        assert file["Events"].title == "T" and sorted(file["Events"].keys()) == ["a", "num_a", "r.b"]
        assert file["Events"].compression == uproot.ZSTD(3)
    assert uproot.concatenate(f"{tmp_path}/y/*.root:Events").num_a.tolist() == [3, 0, 3, 0]


def test_collections_that_cannot_be_written(tmp_path):
    _, parts = collection(2)
    with pytest.raises(sapwood.InvalidError, match="compression must be"):
        uproot.dask_write(parts, tmp_path, compression="bzip")
    with pytest.raises(sapwood.UnsupportedError, match="not to a URL"):
        uproot.dask_write(parts, "s3://bucket/x")
    with pytest.raises(sapwood.InvalidError, match="no fields"):
        uproot.dask_write(parts.a, tmp_path / "z").compute(scheduler="sync")
