"""HTTP servers that do all they can to give wrong values, or to keep a reader for ever: right values or a clear error,
in few requests and little memory."""

import gzip
import itertools
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from scripted_http import Scripted, good, head, multipart, part, whole

import sapwood

ENTRIES = 60_000
#: Requests (five for each of 150 baskets), and resident bytes, that no server may cause more of than.
MOST_REQUESTS, MOST_MEMORY = 800, 200 << 20


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A tree of 3 MB that cannot be compressed, and its first column as the command prints it."""
    path = tmp_path_factory.mktemp("hostile") / "f.root"
    rng = np.random.default_rng(15)
    branches = {f"b{i}": rng.random(ENTRIES) for i in range(6)}
    with sapwood.recreate(path) as out:
        tree = out.mktree("t", branches, auto_flush=5000, optimize_baskets=False, basket_size="8 kB")
        if tree.num_entries == 0:
            tree.extend(branches)
    return path


@pytest.fixture(scope="module")
def data(file):
    return file.read_bytes()


class Ended:
    """How the command ended: status, what it said, and its peak of resident bytes."""

    def __init__(self, words, environment=None):
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(
                list(map(str, words)),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env={**os.environ, **(environment or {})},
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)),
            )
            deadline, self.memory = time.monotonic() + 90, 0
            while True:
                # of this program alone: what the system counts begins with what Python had when it forked
                peak = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process.pid}/status").read_text())
                self.memory = max(self.memory, int(peak[1]) * 1024) if peak else self.memory
                pid, status = os.waitpid(process.pid, os.WNOHANG)
                if pid:
                    break
                if time.monotonic() > deadline:
                    process.send_signal(signal.SIGKILL)
                    process.wait()
                    pytest.fail("it did not end")
                time.sleep(0.005)
            process.returncode = self.status = os.waitstatus_to_exitcode(status)
            out.seek(0)
            err.seek(0)
            self.out, self.err = out.read().decode(), err.read().decode()


@pytest.fixture(scope="module")
def read(command):
    def read(url, *more, environment=None):
        words = [command, "scan", f"{url}:t", "b0:b3", "--format", "csv", "--timeout", "2s", "--quiet", *more]
        return Ended(words, environment)

    return read


@pytest.fixture(scope="module")
def expected(read, file):
    ended = read(file)
    assert ended.status == 0 and len(ended.out.splitlines()) > ENTRIES
    return ended.out


def later(answer):
    """The first requests are answered rightly: the file is opened."""
    return lambda asked, data: good(asked, data) if asked.number < 1 else answer(asked, data)


def several(answer):
    """Single ranges are answered rightly."""
    return lambda asked, data: answer(asked, data) if len(asked.ranges) > 1 else good(asked, data)


def ranged(asked, data, text, body=None, headers=()):
    a, b = asked.ranges[0]
    body = data[a : b + 1] if body is None else body
    return whole("206 Partial Content", [("Content-Range", text), *headers], body)


def parts_of(asked, data):
    return [part(a, b, len(data), data[a : b + 1]) for a, b in asked.ranges]


def other_range(asked, data):
    a, b = asked.ranges[0]
    n = b - a
    a = (a + 1000) % (len(data) - n - 1)
    return ranged(asked, data, f"bytes {a}-{a + n}/{len(data)}", data[a : a + n + 1])


def shifted(asked, data):
    """Right headers, wrong bytes."""
    moved = data[1:] + data[:1]
    return good(asked, moved)


def endless(start, more):
    return lambda asked, data: itertools.chain([start], itertools.repeat(more))


def slowly(pieces, pause=0.3):
    for piece in pieces:
        time.sleep(pause)
        yield piece


def cut_short(asked, data):
    full = good(asked, data)
    return iter([full[: len(full) // 2]])


def tagged(tags):
    """An ETag for each request, the last one for all that follow."""
    return lambda asked, data: good(asked, data, [("ETag", tags[min(asked.number, len(tags) - 1)])])


def chunked(*chunks):
    return head(
        "206 Partial Content", [("Content-Range", "bytes 0-999/3000000"), ("Transfer-Encoding", "chunked")]
    ) + b"".join(chunks)


def total_of(total):
    def answer(asked, data):
        a, b = asked.ranges[0]
        return ranged(asked, data, f"bytes {a}-{b}/{total}")

    return answer


def other_parts(asked, data):
    return multipart([part(5, 9, len(data), data[5:10]), part(70_000, 70_009, len(data), data[70_000:70_010])])


def overlapping(asked, data):
    wider = [(max(a - 50, 0), min(b + 50, len(data) - 1)) for a, b in asked.ranges]
    return multipart([part(a, b, len(data), data[a : b + 1]) for a, b in wider])


def lying_parts(asked, data):
    """Each part has the bytes of the next one."""
    size = len(data)
    turned = asked.ranges[1:] + asked.ranges[:1]
    return multipart([part(a, b, size, data[c : d + 1]) for (a, b), (c, d) in zip(asked.ranges, turned, strict=True)])


def boundary_in_data(asked, data):
    """The delimiter, whole, within a part's bytes."""
    size = len(data)
    return multipart([part(a, b, size, b"\r\n--XYZ\r\n" + data[a + 9 : b + 1]) for a, b in asked.ranges])


RIGHT = None
PROTOCOL = r"server|Content-|response|HTTP|transfer|connection|damaged|beyond|directory|basket|checksum|changed"

#: What a server does, and what comes of it: RIGHT, or an error that says this.
TRICKS = {
    "right": (good, RIGHT),
    "range of the wrong bytes": (later(other_range), PROTOCOL),
    "no Content-Range": (lambda a, d: whole("206 Partial Content", [], d[:1000]), "Content-Range"),
    "other unit": (lambda a, d: ranged(a, d, "items 0-999/3000000"), "Content-Range"),
    "negative range": (lambda a, d: ranged(a, d, "bytes -5-994/3000000"), "Content-Range"),
    "last before first": (lambda a, d: ranged(a, d, "bytes 999-0/3000000"), "Content-Range"),
    "range beyond 64 bits": (lambda a, d: ranged(a, d, f"bytes 0-{2**64}/{2**65}"), "Content-Range"),
    "total of 2^63": (total_of(2**63 - 1), PROTOCOL),
    "total of 2^64": (total_of(2**64 - 1), PROTOCOL),
    "total unknown": (total_of("*"), "size"),
    "other total later": (later(total_of(5_000_000)), "changed while"),
    "totals of parts differ": (
        several(lambda a, d: multipart([part(x, y, len(d) + i, d[x : y + 1]) for i, (x, y) in enumerate(a.ranges)])),
        RIGHT,
    ),
    "parts missing": (several(lambda a, d: multipart(parts_of(a, d)[::2])), RIGHT),
    "no parts": (several(lambda a, d: multipart([])), RIGHT),
    "parts overlap": (several(overlapping), RIGHT),
    "parts twice": (several(lambda a, d: multipart(parts_of(a, d) * 2)), RIGHT),
    "parts without end": (
        several(
            lambda a, d: itertools.chain(
                [head("206 Partial Content", [("Content-Type", "multipart/byteranges; boundary=XYZ")])],
                itertools.repeat(part(0, 99, len(d), d[:100]) * 100),
            )
        ),
        RIGHT,
    ),
    "parts of something else": (several(other_parts), RIGHT),
    "parts with each other's bytes": (later(several(lying_parts)), PROTOCOL),
    "headers of a part without end": (
        several(
            endless(head("206 x", [("Content-Type", "multipart/byteranges; boundary=B")]) + b"\r\n--B\r\n", b"X: y\r\n")
        ),
        RIGHT,
    ),
    "preamble without end": (
        several(endless(head("206 x", [("Content-Type", "multipart/byteranges; boundary=B")]), b"-" * 1000)),
        RIGHT,
    ),
    "boundary empty": (
        several(lambda a, d: whole("206 x", [("Content-Type", "multipart/byteranges; boundary=")], b"--\r\n")),
        RIGHT,
    ),
    "boundary of 100 kB": (
        several(lambda a, d: whole("206 x", [("Content-Type", f"multipart/byteranges; boundary={'b' * 100_000}")])),
        RIGHT,
    ),
    "boundary within the data": (several(boundary_in_data), RIGHT),
    "gzip": (
        lambda a, d: whole(
            "206 x", [("Content-Range", f"bytes 0-999/{len(d)}"), ("Content-Encoding", "gzip")], gzip.compress(d)
        ),
        "gzip",
    ),
    "the whole file": (lambda a, d: whole("200 OK", [], d), RIGHT),
    "the whole file later": (later(lambda a, d: whole("200 OK", [], d)), RIGHT),
    "the whole file without end": (
        later(endless(head("200 OK", [("Transfer-Encoding", "chunked")]), b"10000\r\n" + b"x" * 0x10000 + b"\r\n")),
        PROTOCOL,
    ),
    "a body without end": (
        later(endless(head("206 x", [("Content-Range", "bytes 0-999/3000000")]), b"x" * 65536)),
        PROTOCOL,
    ),
    "Content-Length of 2^63": (
        lambda a, d: iter([head("206 x", [("Content-Range", f"bytes 0-999/{len(d)}")], 2**63) + d[:1000]]),
        PROTOCOL,
    ),
    "Content-Length negative": (
        lambda a, d: iter([head("206 x", [("Content-Range", f"bytes 0-999/{len(d)}")], -5) + d[:1000]]),
        PROTOCOL,
    ),
    "two Content-Lengths": (
        lambda a, d: iter([head("206 x", [("Content-Length", "7")], 1000) + d[:1000]]),
        PROTOCOL,
    ),
    "chunk of 2^64": (lambda a, d: iter([chunked(b"FFFFFFFFFFFFFFFFF\r\n")]), PROTOCOL),
    "chunk negative": (lambda a, d: iter([chunked(b"-1\r\n")]), PROTOCOL),
    "trailers without end": (
        later(
            lambda a, d: itertools.chain(
                [
                    head("206 x", [("Content-Range", "bytes 0-0/3000000"), ("Transfer-Encoding", "chunked")]),
                    b"1\r\nx\r\n0\r\n",
                ],
                itertools.repeat(b"X: y\r\n" * 100),
            )
        ),
        PROTOCOL,
    ),
    "headers without end": (endless(b"HTTP/1.1 206 x\r\n", b"X: y\r\n" * 100), PROTOCOL),
    "a header without end": (endless(b"HTTP/1.1 206 x\r\nX: ", b"y" * 1000), PROTOCOL),
    "a status without end": (endless(b"HTTP/1.1 206 ", b"y" * 1000), PROTOCOL),
    "100 Continue for ever": (endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), PROTOCOL),
    "103 for ever, slowly": (lambda a, d: slowly(itertools.repeat(b"HTTP/1.1 103 Early Hints\r\n\r\n")), PROTOCOL),
    "headers byte by byte": (
        lambda a, d: slowly(bytes([b]) for b in head("206 x", [("X", "y" * 100)])),
        PROTOCOL,
    ),
    "no response": (lambda a, d: slowly(itertools.repeat(b"")), "timeout|reached"),
    "no answer to several ranges": (several(lambda a, d: slowly(itertools.repeat(b""))), RIGHT),
    "a pause in every body": (
        later(lambda a, d: slowly([good(a, d)[:500], good(a, d)[500:]])),
        RIGHT,
    ),
    "closed in mid-body, always": (later(cut_short), f"{PROTOCOL}|attempts"),
    "closed in mid-body, sometimes": (
        lambda a, d: cut_short(a, d) if a.number % 3 == 1 else good(a, d),
        RIGHT,
    ),
    "closed at once": (lambda a, d: iter([]), PROTOCOL),
    "not HTTP": (lambda a, d: iter([b"SSH-2.0-x\r\n"]), "not HTTP"),
    "HTTP/0.9": (lambda a, d: iter([d[:1000]]), "not HTTP"),
    "204": (lambda a, d: whole("204 No Content"), "204"),
    "304": (lambda a, d: whole("304 Not Modified"), "304"),
    "416": (lambda a, d: whole("416 Range Not Satisfiable", [("Content-Range", f"bytes */{len(d)}")]), "416"),
    "416 later": (later(lambda a, d: whole("416 x", [("Content-Range", "bytes */7")])), "changed while"),
    "an empty file": (lambda a, d: whole("416 x", [("Content-Range", "bytes */0")]), "ROOT|empty|short"),
    "429, come back in a year": (lambda a, d: whole("429 x", [("Retry-After", "31536000")]), "429"),
    "503, come back never": (
        later(lambda a, d: whole("503 x", [("Retry-After", "99999999999999999999999")])),
        "503",
    ),
    "503, come back in the past": (lambda a, d: whole("503 x", [("Retry-After", "-1")]), "503"),
    "ETag changes": (tagged(['"a"', '"b"']), "changed while.*ETag"),
    "ETag becomes weak": (tagged(['"a"', 'W/"a"']), "changed while.*ETag"),
    "ETag becomes strong": (tagged(['W/"a"', '"a"']), RIGHT),
    "ETag becomes strong, and another one": (tagged(['W/"a"', '"b"']), "changed while.*ETag"),
    "ETag weak": (tagged(['W/"a"']), RIGHT),
    "ETag vanishes": (lambda a, d: good(a, d, [("ETag", '"a"')] if a.number == 0 else []), "changed while.*version"),
    "ETag appears": (lambda a, d: good(a, d, [("ETag", '"a"')] if a.number > 0 else []), RIGHT),
    "Last-Modified changes": (
        lambda a, d: good(a, d, [("Last-Modified", f"Mon, 02 Nov 2026 00:00:0{min(a.number, 1)} GMT")]),
        "changed while.*Last-Modified",
    ),
    "bytes shifted": (shifted, "ROOT"),
    "bytes shifted later": (later(shifted), PROTOCOL),
    "redirect to itself": (lambda a, d: whole("302 x", [("Location", "f.root")]), "16 redirects"),
    "redirect to file://": (lambda a, d: whole("302 x", [("Location", "file:///etc/passwd")]), "file://"),
    "redirect to root://": (lambda a, d: whole("302 x", [("Location", "root://h//f")]), "root://"),
    "redirect to nothing": (lambda a, d: whole("302 x", [("Location", "http://")]), "redirects to a bad URL.*host"),
    "redirect with no place": (lambda a, d: whole("302 x"), "without a Location"),
    "redirect to port 0": (
        lambda a, d: whole("302 x", [("Location", "http://127.0.0.1:0/")]),
        "redirects to a bad URL.*port",
    ),
    "redirect with an endless body": (
        endless(head("302 x", [("Location", "f.root"), ("Transfer-Encoding", "chunked")]), b"1\r\nx\r\n"),
        "16 redirects",
    ),
}


@pytest.fixture(scope="module")
def outcomes(request, read, data):
    """How reading ended for each trick that is to be tested, and the requests it took. Most of the time is waiting."""

    def play(name):
        with Scripted(data, TRICKS[name][0]) as server:
            return read(server.url()), len(server.asked)

    here = [i for i in request.session.items if getattr(i, "originalname", "") == "test_right_or_refused"]
    names = [item.callspec.params["name"] for item in here]
    with ThreadPoolExecutor(4) as threads:
        return dict(zip(names, threads.map(play, names), strict=True))


@pytest.mark.parametrize("name", TRICKS)
def test_right_or_refused(outcomes, expected, name):
    wanted = TRICKS[name][1]
    ended, requests = outcomes[name]
    assert requests <= MOST_REQUESTS
    assert ended.memory <= MOST_MEMORY
    if wanted is RIGHT:
        assert ended.status == 0, ended.err
        assert ended.out == expected
    else:
        assert ended.status == 1, (ended.status, ended.err)
        assert re.search(wanted, ended.err, re.DOTALL), ended.err
        assert "127.0.0.1" in ended.err and "panicked" not in ended.err


def test_a_path_that_does_not_fit_into_http(data):
    """Asking for another one in its place would read another file."""
    with Scripted(data, good) as server:
        with pytest.raises(sapwood.InvalidError, match=r"the path of .* is not valid in HTTP"):
            sapwood.open(server.url("x" * 70_000))
        assert not server.asked


SECRET = "token=S3CRET"

LEADING_ELSEWHERE = [
    "//evil.example/loot.root",
    "/loot.root",
    "@evil.example/loot.root",
    "?loot.root",
    "#loot.root",
    "..%2floot.root",
    "../loot.root",
    "a/../../loot.root",
    "\\\\evil\\loot.root",
    "http://evil.example/loot.root",
]

# The baskets of branch b0 in a file whose name has this many letters: ROOT 6's SetFile.
APART = """
import sys, ROOT
from array import array
for length in map(int, sys.argv[1:]):
    tree_file = ROOT.TFile(f"{length}.root", "recreate", "", 0)
    apart = ROOT.TFile("q" * length, "recreate", "", 0)
    tree_file.cd()
    tree = ROOT.TTree("t", "t")
    b0, b3 = array("d", [0]), array("d", [0])
    tree.Branch("b0", b0, "b0/D").SetFile(apart)
    tree.Branch("b3", b3, "b3/D")
    for i in range(10):
        tree.Fill()
    tree_file.cd()
    tree.Write()
    apart.Close()
    tree_file.Close()
"""


@pytest.fixture(scope="module")
def apart(tmp_path_factory, root_here):
    """apart(name): a file whose tree has the baskets of a branch in a file of this name."""
    folder = tmp_path_factory.mktemp("apart")
    lengths = sorted(
        {*map(len, LEADING_ELSEWHERE), *(len(f"127.0.0.1:{10**n}/loot.root") for n in range(5)), len("loot.root")}
    )
    words = [sys.executable, "-W", "ignore", "-c", APART, *map(str, lengths)]
    subprocess.run(words, cwd=folder, check=True, capture_output=True, timeout=300)

    def apart(name):
        data = (folder / f"{len(name)}.root").read_bytes()
        assert data.count(b"q" * len(name)) == 1
        return data.replace(b"q" * len(name), name.encode())

    return apart


@pytest.mark.parametrize("name", ["HOST:PORT/loot.root", *LEADING_ELSEWHERE])
def test_names_of_basket_files_lead_to_no_other_server(read, apart, name):
    """fFileName of a branch comes out of the file; a URL may have no path for it to take the place of."""
    with Scripted(b"root" + bytes(2000), good) as evil:
        data = apart(name.replace("HOST:PORT", f"127.0.0.1:{evil.port}"))
        with Scripted(data, good) as server:
            ended = read(f"http://127.0.0.1:{server.port}?{SECRET}")
            assert {asked.path for asked in server.asked} == {f"/?{SECRET}"}
        assert not evil.asked
        assert ended.status == 1 and "are in another file" in ended.err, ended.err


def test_a_basket_file_beside_a_url_without_a_path(read, apart):
    """The query, which may be a credential, goes along to the same server."""
    with Scripted(apart("loot.root"), good) as server:
        ended = read(f"http://127.0.0.1:{server.port}?{SECRET}")
        # what the server has there is the same file: it has no basket where the tree says
        assert {asked.path for asked in server.asked} == {f"/?{SECRET}", f"/loot.root?{SECRET}"}
        assert ended.status == 1
