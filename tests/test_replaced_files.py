"""Files in whose place others are put, of the same size and with the same times: first bytes tell, servers do not."""

import itertools
import os
import re
import struct
import subprocess
import sys

import numpy as np
import pytest
from running_servers import running
from test_changed_files import CHANGED, ENTRIES, NAMES, rewrite, write, written_twice

import sapwood

NUMBERS = itertools.count()
LONG_AGO = (1_700_000_000_000_000_000, 1_700_000_000_000_000_000)


@pytest.fixture(scope="module")
def versions(public):
    return written_twice(public / "replaced")


@pytest.fixture(scope="module", params=["nginx", "apache", "xrdhttp", "xrootd", "sapwood"])
def server(request, versions, command):
    with running(request.param, versions[0], command) as server:
        server.kind = request.param
        yield server


@pytest.fixture(scope="module")
def nginx(versions, command):
    with running("nginx", versions[0], command) as server:
        yield server


def put(path, content):
    """Another file takes the name, as `rsync -t` does it: same size, same time."""
    new = path.with_suffix(".new")
    new.write_bytes(content)
    os.utime(new, ns=LONG_AGO)
    os.replace(new, path)


@pytest.fixture
def path(versions):
    """A name that no server has open: XRootD gives what it holds under a name to those who open that name next."""
    path = versions[0] / f"f{next(NUMBERS)}.root"
    put(path, versions[1])
    yield path
    path.unlink(missing_ok=True)


def expected(changed, server):
    """XRootD holds the file that was opened, its HTTP may; elsewhere the next answer is of the other file."""
    return server.kind == "xrdhttp" or changed == (server.scheme == "http")


def right_or_changed(read, values):
    """One version or an error: gives whether there was an error."""
    try:
        found = read()
    except sapwood.CorruptError as error:
        if CHANGED in str(error) and "open it again" in str(error):
            return True
        raise
    assert any(all(np.array_equal(found[name], whole[name][: len(found[name])]) for name in found) for whole in values)
    return False


def joined(batches):
    batches = list(batches)
    return {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}


def test_replaced_between_batches(server, path, versions):
    _, _, new, values = versions
    # nothing is fetched ahead: a busy machine could have all of it before the file is replaced
    with sapwood.open(server.url(path), cache_size=0) as file:
        batches = file["t"].iterate(NAMES, step_size=1000, library="np")
        found = [next(batches)]
        put(path, new)

        def rest():
            found.extend(batches)
            return joined(found)

        changed = right_or_changed(rest, values[:1])
    assert expected(changed, server)


def test_replaced_between_two_scans_of_an_open_file(server, path, versions):
    _, _, new, values = versions
    with sapwood.open(server.url(path)) as file:
        tree = file["t"]
        assert not right_or_changed(lambda: tree.arrays(["b1"], library="np"), values[:1])
        put(path, new)
        for entry_stop in (None, 100):
            changed = right_or_changed(lambda: tree.arrays(["b3"], entry_stop=entry_stop, library="np"), values[:1])  # noqa: B023
            assert expected(changed, server)
    # opened again it is one of them, wholly; an XRootD server may still hold the one that was open
    assert not right_or_changed(lambda: sapwood.open(server.url(path))["t"].arrays(["b3"], library="np"), values)


def test_nothing_of_the_other_file_is_given_out_before_the_error(server, path, versions):
    """Who stops early has right values, too."""
    _, _, new, values = versions
    with sapwood.open(server.url(path), cache_size="100 kB") as file:
        batches = file["t"].iterate(NAMES, step_size=500, library="np")
        at, first = 0, True
        try:
            for batch in batches:
                assert all(np.array_equal(batch[name], values[0][name][at : at + 500]) for name in NAMES), at
                at += 500
                if first:
                    put(path, new)
                    first = False
        except sapwood.CorruptError as error:
            if CHANGED not in str(error):
                raise
            changed = True
        else:
            changed = False
    assert expected(changed, server)


def test_a_file_that_is_gone(nginx, path):
    with sapwood.open(nginx.url(path)) as file:
        tree = file["t"]
        path.unlink()
        with pytest.raises(sapwood.FileMissingError, match=r"404.*existed when it was opened.*open it again"):
            tree.arrays(["b3"], library="np")


def test_a_file_that_is_gone_is_no_missing_key(nginx, path):
    with sapwood.open(nginx.url(path)) as file:
        path.unlink()
        with pytest.raises(sapwood.FileMissingError):
            file.get("t", "default").arrays(["b3"], library="np")


def test_one_of_many_files_is_replaced(server, path, versions):
    where, _, new, values = versions
    other = where / f"other-{path.name}"
    put(other, versions[1])
    files = [f"{server.url(path)}:t", f"{server.url(other)}:t"]
    batches = sapwood.iterate(files, ["b2"], step_size=1000, library="np", cache_size="100 kB")
    found = [next(batches)]
    put(path, new)
    put(other, new)
    try:
        found += list(batches)
    except sapwood.CorruptError as error:
        if CHANGED in str(error):
            return
        raise
    read = joined(found)["b2"]
    assert np.array_equal(read[:ENTRIES], values[0]["b2"])
    assert any(np.array_equal(read[ENTRIES:], whole["b2"]) for whole in values)


def answered(requests):
    """Without those that were given up. On a busy machine a response may seem to stall: it is then requested once more,
    and what comes later is dropped."""
    ends = (re.findall(r"(\d+)-(\d+)", request.range) for request in requests)
    asked = (sum(int(last) - int(first) + 1 for first, last in pairs) for pairs in ends)
    return [request for request, size in zip(requests, asked, strict=True) if request.bytes >= size]


def bring_baskets(requests):
    """Whether each brings baskets, behind its first range, that no other one brings. How many requests that takes
    depends on the speed of the machine."""
    baskets = [re.findall(r"\d+-\d+", request.range)[1:] for request in answered(requests)]
    every = [basket for of_request in baskets for basket in of_request]
    return bool(every) and all(baskets) and len(every) == len(set(every))


def test_each_request_over_http_asks_for_the_first_bytes(nginx, path):
    before = len(nginx.requests())
    with sapwood.open(nginx.url(path)) as file:
        opened = len(nginx.requests()) - before
        file["t"].arrays(["b3"], library="np")
    asked = nginx.requests()[before:]
    assert len(asked) > opened and all(request.range.startswith("bytes=0-511,") for request in asked[opened:])
    # they are compared without a request of their own
    assert opened == 1 and bring_baskets(asked[opened:]), asked


def test_the_uuid_behind_a_long_name_is_compared(nginx, versions):
    """The top directory's record stands behind the file's name, which it has twice."""
    path = versions[0] / f"{'n' * 240}.root"
    write(path, 1)
    content = path.read_bytes()
    begin, name = struct.unpack(">I", content[8:12])[0], struct.unpack(">I", content[28:32])[0]
    record = begin + name
    assert record > 512
    before = len(nginx.requests())
    with sapwood.open(nginx.url(path)) as file:
        tree = file["t"]
        tree.arrays(["b1"], library="np")
        first = nginx.requests()[-1].range.split("=")[1].split(",")[0]
        comparing = [request for request in nginx.requests()[before:] if request.range.startswith(f"bytes={first},")]
        assert int(first.split("-")[1]) >= record + 47 and bring_baskets(comparing)
        # its time of change, and nothing else before the data
        other = bytearray(content)
        other[record + 6 : record + 10] = b"\1\2\3\4"
        os.utime(path, ns=LONG_AGO)
        rewrite(path, bytes(other))
        os.utime(path, ns=LONG_AGO)
    with sapwood.open(nginx.url(path)) as file:
        tree = file["t"]
        put(path, content)
        with pytest.raises(sapwood.CorruptError, match=CHANGED):
            tree.arrays(["b3"], library="np")


def test_first_bytes_equal_and_the_time_set_back(versions, tmp_path):
    """On this machine the time of the inode tells."""
    path = tmp_path / "f.root"
    _, old, new, values = versions
    path.write_bytes(old)
    os.utime(path, ns=LONG_AGO)
    with sapwood.open(path) as file:
        tree = file["t"]
        rewrite(path, old[:1000] + new[1000:])
        os.utime(path, ns=LONG_AGO)
        assert right_or_changed(lambda: tree.arrays(["b3"], library="np"), values[:1])


@pytest.mark.parametrize("scheme", ["http", "root"])
def test_credentials_in_a_path_are_not_shown(command, scheme):
    for secret in (";jwt=s3cret", ";x=1;Token=s3cret", ";%6awt=s3cret"):
        url = f"{scheme}://127.0.0.1:1/{'/' if scheme == 'root' else ''}folder{secret}/f.root{secret}"
        done = subprocess.run([command, "ls", url], capture_output=True, text=True, timeout=60)
        assert done.returncode == 1 and "s3cret" not in done.stdout + done.stderr, done.stderr
        assert "***" in done.stderr
        read = "import sapwood, sys; sapwood.open(sys.argv[1])"
        done = subprocess.run([sys.executable, "-c", read, url], capture_output=True, text=True, timeout=60)
        message = done.stderr.strip().splitlines()[-1]
        assert "s3cret" not in message and "***" in message, message
