"""The same values from every make of server, in few requests."""

import os
import re
import signal
import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import awkward as ak
import pytest
import uproot

import sapwood


def test_same_values_from_every_server(server, flat):
    remote, local = sapwood.open(server.url(flat))["t"], sapwood.open(flat)["t"]
    assert remote.keys() == local.keys()
    assert ak.array_equal(remote.arrays(library="ak"), local.arrays(library="ak"))


def test_same_values_basket_by_basket(server, flat):
    remote, local = sapwood.open(server.url(flat), cache_size=0)["t"], sapwood.open(flat)["t"]
    names = ["x", "jagged", "matrix"]
    assert ak.array_equal(remote.arrays(names, library="ak"), local.arrays(names, library="ak"))


def test_steps_from_every_server(server, flat):
    steps = sapwood.open(server.url(flat))["t"].iterate(["x"], step_size=130, library="np")
    assert [value for step in steps for value in step["x"].tolist()] == list(range(1000))


def test_missing_file(server, flat):
    with pytest.raises(FileNotFoundError, match=r"nothing\.root"):
        sapwood.open(server.url(flat).replace("flat-zlib", "nothing"))


def basket_spans(path, tree, branch):
    """(first byte, byte behind the last) of every basket of a branch, from uproot."""
    member = uproot.open(path)[tree][branch].member
    used = member("fWriteBasket")
    places = zip(member("fBasketSeek")[:used], member("fBasketBytes")[:used], strict=True)
    return [(int(seek), int(seek + size)) for seek, size in places]


def asked(request):
    """The byte ranges of a request as (first, behind the last); nothing for suffix ranges."""
    return [(int(a), int(b) + 1) for a, b in re.findall(r"(\d+)-(\d+)", request.range)]


@pytest.mark.parametrize("big", [False, True], ids=["small file", "clusters"])
def test_first_basket_is_asked_for_within_three_requests(nginx, flat, request, big):
    if big:
        path, tree, branch = str(request.getfixturevalue("root_files") / "clusters.root"), "Events", "counted"
    else:
        path, tree, branch = flat, "t", "x"
    # In a process of its own: nothing is remembered of the file or the host.
    script = f"import sapwood; print(len(sapwood.open({nginx.url(path)!r})[{tree!r}][{branch!r}].array(library='ak')))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    baskets = basket_spans(path, tree, branch)
    for count, logged in enumerate(nginx.requests(), 1):
        whole = logged.status == 200 or "-" not in logged.range
        spans = asked(logged)
        if whole or any(a <= first and last <= b for a, b in spans for first, last in baskets):
            assert count <= 3
            return
        # A small file may come whole with the opening: its tail holds the basket.
        size = Path(path).stat().st_size
        if any(first >= size - int(tail) for tail in re.findall(r"[=,]-(\d+)", logged.range) for first, _ in baskets):
            assert count <= 3
            return
    pytest.fail(f"no request holds a basket: {nginx.requests()}")


def test_whole_tree_takes_few_requests_and_hardly_a_byte_twice(nginx, flat):
    size = Path(flat).stat().st_size
    script = f"import sapwood; sapwood.open({nginx.url(flat)!r})['t'].arrays(library='ak')"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
    requests = nginx.requests()
    assert len(requests) <= 6
    times = [0] * size
    for logged in requests:
        tails = [(size - int(tail), size) for tail in re.findall(r"[=,]-(\d+)", logged.range)]
        for first, last in asked(logged) + tails:
            for place in range(max(0, first), min(last, size)):
                times[place] += 1
    twice = sum(count > 1 for count in times)
    # a basket that is only half inside what opening fetched, at either end of the file, is fetched whole
    tree = sapwood.open(flat)["t"]
    largest = max(b.basket_compressed_bytes(i) for b in tree.values() for i in range(b.num_baskets))
    assert twice < 2 * largest, f"{twice} of {size} bytes were asked for twice: {[row.range for row in requests]}"


def test_cache_size_zero_asks_basket_by_basket(nginx, root_files):
    url = nginx.url(root_files / "clusters.root")
    sapwood.open(url, cache_size=0)["Events"]["counted"].array(library="ak")
    without = len(nginx.requests())
    sapwood.open(url)["Events"]["counted"].array(library="ak")
    cached = len(nginx.requests()) - without
    # 25 clusters, a basket each.
    assert without >= 25
    assert cached <= 6


def test_server_that_sends_the_whole_file_instead_of_ranges(flat):
    """Python's own http.server knows no ranges: 200 and everything."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    path = Path(flat)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=path.parent)) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            url = f"http://127.0.0.1:{server.server_address[1]}/{path.name}"
            array = sapwood.open(url)["t"]["x"].array(library="np")
            assert array.tolist() == list(range(1000))
        finally:
            server.shutdown()
            thread.join(10)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_reads_as_well(server, flat):
    """What the parent opened, and newly opened files: neither its network thread nor its connections came along."""
    url = server.url(flat)
    tree = sapwood.open(url)["t"]
    expected = tree["x"].array().tolist()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        right = tree["x"].array().tolist() == expected and sapwood.open(url)["t"]["x"].array().tolist() == expected
        os._exit(0 if right else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert tree["n_f8"].array(entry_stop=3).tolist() == sapwood.open(flat)["t"]["n_f8"].array(entry_stop=3).tolist()
