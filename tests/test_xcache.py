"""Reading through XCache, which tells times of its own copy of a file while it fills."""

import os

import numpy as np
import pytest
from running_servers import running, started
from servers import xcache

import sapwood

LONG_AGO = (1_600_000_000_000_000_000, 1_600_000_000_000_000_000)


@pytest.fixture
def cache(public, command):
    folder = public / "behind-xcache"
    folder.mkdir()
    # a header that does not come with the opening: names that do not compress
    noise = np.random.default_rng(5)
    with sapwood.recreate(folder / "noise.root") as file:
        file["t"] = {"x" + noise.bytes(40).hex(): noise.random(500, dtype=np.float32) for _ in range(3000)}
    os.utime(folder / "noise.root", ns=LONG_AGO)
    with running("xrootd", folder, command) as origin, started(xcache, origin) as server:
        yield server


def test_cold_and_warm(cache):
    path = cache.folder / "noise.root"
    with sapwood.open(path) as local:
        name = local["t"].keys()[0]
        want = local["t"].arrays(library="np")
    for _ in range(2):
        with sapwood.open(cache.url(path)) as file:
            # one after the other: each read may find other times than the one before
            assert np.array_equal(file["t"][name].array(library="np"), want[name])
            got = file["t"].arrays(library="np")
            assert all(np.array_equal(got[key], want[key]) for key in want)
