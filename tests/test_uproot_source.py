"""uproot reads through Sapwood: `handler=sapwood.SapwoodSource`."""

import os
import pickle
import queue
import subprocess
import sys
import threading

import awkward as ak
import pytest
import uproot
from running_servers import running
from scripted_http import Scripted, good

import sapwood


@pytest.fixture(params=["sapwood", "nginx", "xrootd"], scope="module")
def server(request, public, flat):
    """`sapwood serve`, nginx and XRootD over the public folder."""
    command = request.getfixturevalue("command") if request.param == "sapwood" else None
    with running(request.param, public, command) as started:
        yield started


def arrays(*where, **options):
    with uproot.open(*where, **options) as file:
        return file["t"].arrays()


def test_values_are_those_of_uproots_own_source(server, flat):
    url = server.url(flat)
    assert ak.array_equal(arrays(url, handler=sapwood.SapwoodSource), arrays(flat))


def test_fewer_requests_than_uproots_own_source(nginx, flat):
    pytest.importorskip("aiohttp")
    url = nginx.url(flat)
    theirs = arrays(url)
    of_uproot = len(nginx.requests())
    assert ak.array_equal(arrays(url, handler=sapwood.SapwoodSource), theirs)
    assert 0 < len(nginx.requests()) - of_uproot <= of_uproot


def test_counts_and_size(server, flat):
    with sapwood.SapwoodSource(server.url(flat)) as source:
        assert source.num_bytes == os.path.getsize(flat)
        assert bytes(source.chunk(0, 4).raw_data) == b"root"
        filled = queue.Queue()
        chunks = source.chunks([(0, 4), (100_000, 100_010), (50_000, 50_100)], filled)
        assert [len(c.raw_data) for c in chunks] == [4, 10, 100]
        assert {filled.get(timeout=60) for _ in chunks} == set(chunks)
        assert (source.num_requests, source.num_requested_chunks, source.num_requested_bytes) == (2, 4, 118)
        requests, _ = source.counts
        # opening, and one for all ranges (XRootD opens and compares beside)
        assert requests <= 4
    assert source.closed


def test_a_range_beyond_the_end_is_cut(flat):
    size = os.path.getsize(flat)
    with sapwood.SapwoodSource(flat) as source:
        chunk = source.chunk(size - 2, size + 10)
        chunk.wait(insist=False)
        assert len(chunk._raw_data) == 2
        with pytest.raises(OSError, match="expected Chunk of length"):
            chunk.wait()


def test_no_ranges_are_no_request(flat):
    with sapwood.SapwoodSource(flat) as source:
        before = source.counts
        assert source.chunks([], queue.Queue()) == [] and source.counts == before


def test_closed_sources_say_so(flat):
    source = sapwood.SapwoodSource(flat)
    with source:
        pass
    for read in (lambda: source.chunk(0, 4), lambda: source.chunks([(0, 4)], queue.Queue())):
        with pytest.raises(OSError, match="is closed"):
            read()
    source.close()
    assert source.closed


def test_reading_leaves_no_thread_behind(flat):
    before = threading.active_count()
    for _ in range(5):
        arrays(flat, handler=sapwood.SapwoodSource)
    for thread in threading.enumerate():
        if thread.name.startswith("sapwood"):
            thread.join(60)
    assert threading.active_count() <= before + 1


def test_files_that_are_not_there(server, flat):
    with pytest.raises(FileNotFoundError):
        uproot.open(server.url(flat) + ".absent", handler=sapwood.SapwoodSource)


def test_a_server_that_fails_in_the_middle_is_an_oserror(flat):
    with open(flat, "rb") as file:
        data = file.read()

    def answer(asked, data):
        if broken.is_set():
            raise ConnectionError
        return good(asked, data, [("ETag", '"1"')])

    broken = threading.Event()
    with Scripted(data, answer) as server:
        source = sapwood.SapwoodSource(server.url(), timeout=2)
        broken.set()
        (chunk,) = source.chunks([(80_000, 90_000)], queue.Queue())
        with pytest.raises(OSError, match=r"cannot|connection|closed|broke"):
            chunk.wait()
        source.close()


def test_several_threads_at_once(server, flat):
    expected = arrays(flat)
    with uproot.open(server.url(flat), handler=sapwood.SapwoodSource) as file:
        tree, results, names = file["t"], {}, file["t"].keys()

        def read(name):
            results[name] = tree[name].array()

        threads = [threading.Thread(target=read, args=(name,)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
    assert all(ak.array_equal(results[name], expected[name]) for name in names)


def test_a_pickled_source_opens_again(flat):
    with sapwood.SapwoodSource(flat, timeout=10) as source:
        again = pickle.loads(pickle.dumps(source))
    assert bytes(again.chunk(0, 4).raw_data) == b"root" and not again.closed
    again.close()


def test_iterate_and_concatenate(flat):
    options = {"handler": sapwood.SapwoodSource}
    assert ak.array_equal(uproot.concatenate(f"{flat}:t", **options), arrays(flat))
    parts = list(uproot.iterate(f"{flat}:t", step_size=100, **options))
    assert ak.array_equal(ak.concatenate(parts), arrays(flat))


def test_options(flat):
    assert ak.array_equal(arrays(flat, handler=sapwood.SapwoodSource, num_workers=3), arrays(flat))
    with pytest.raises(TypeError, match="no option such"):
        sapwood.SapwoodSource(flat, such=1)


def test_importing_sapwood_imports_no_uproot():
    is_there = "'uproot' in sys.modules"
    code = f"import sys, sapwood; assert not {is_there}; sapwood.SapwoodSource; assert {is_there}"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
