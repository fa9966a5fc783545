"""`sapwood serve --listen-root`: XRootD clients read from it as from any other server."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import awkward as ak
import numpy as np
import pytest

import sapwood

SIZE = 5_000_000


class Served:
    """A running `sapwood serve DIR --listen-root 0`."""

    def __init__(self, command, folder, *more):
        words = [command, "serve", str(folder), "--listen-root", "0", "--json", *more]
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.first = json.loads(self.process.stdout.readline())
        self.host = self.first["root"].removesuffix("//")
        self.address = self.host.removeprefix("root://")

    def url(self, name):
        return self.first["root"] + name

    def stop(self):
        self.process.terminate()
        self.process.wait(10)
        self.process.stdout.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory, flat):
    folder = tmp_path_factory.mktemp("served")
    (folder / "noise").write_bytes(np.random.default_rng(1).bytes(SIZE))
    (folder / "sub" / "empty").mkdir(parents=True)
    (folder / "sub" / "f").write_text("123456789")
    (folder / "sub" / "out").symlink_to("/etc/passwd")
    shutil.copy(flat, folder / "flat.root")
    return folder


@pytest.fixture(scope="module")
def served(command, folder):
    started = Served(command, folder)
    yield started
    started.stop()


@pytest.fixture(scope="module")
def client():
    """client("xrdcp", ...) runs a program of XRootD's client and gives its standard output."""

    def client(program, *words, fails=False):
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")
        done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, timeout=120)
        assert (done.returncode != 0) == fails, done.stdout + done.stderr
        return done.stdout + (done.stderr if fails else "")

    return client


def separate(module, script, *words):
    """Runs a script in a Python of its own, as XRootD's client exists in several versions that do not go together."""
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    done = subprocess.run([sys.executable, "-c", script, *map(str, words)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class Wire:
    """A session spoken by hand."""

    def __init__(self, served):
        host, port = served.address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), 60)
        self.socket.sendall(struct.pack(">5i", 0, 0, 0, 4, 2012))
        assert self.answer()[:2] == (0, 0)
        status, _ = self.ask(3007, struct.pack(">i8s4x", 1, b"me"))
        assert status == 0

    def take(self, size):
        got = b""
        while len(got) < size:
            more = self.socket.recv(size - len(got))
            assert more, "the connection was closed"
            got += more
        return got

    def answer(self):
        stream, status, size = struct.unpack(">HHI", self.take(8))
        return (stream, status, self.take(size))

    def ask(self, number, fixed=b"", payload=b""):
        """Sends a request; gives the status of its answer (or the number of its error) and all of its body."""
        self.socket.sendall(struct.pack(">HH16si", 7, number, fixed, len(payload)) + payload)
        whole = b""
        while True:
            stream, status, body = self.answer()
            assert stream == 7
            if status == 4003:
                return struct.unpack(">I", body[:4])[0], body[4:]
            whole += body
            if status != 4000:
                return status, whole

    def open(self, path, options=0x10):
        return self.ask(3010, struct.pack(">HH", 0, options), path)

    def read(self, handle, offset, size):
        return self.ask(3013, handle + struct.pack(">qi", offset, size))


@pytest.fixture
def wire():
    """wire(served) begins a session; all are ended with the test."""
    with contextlib.ExitStack() as stack:

        def wire(served):
            session = Wire(served)
            stack.callback(session.socket.close)
            return session

        yield wire


def test_the_first_line_names_both_addresses(run, command, folder, served):
    assert set(served.first) == {"directory", "url", "http", "root"}
    assert served.first["url"] == served.first["http"]
    assert served.first["http"].startswith("http://127.0.0.1:") and served.first["http"].endswith("/")
    words = [command, "serve", str(folder), "--listen-root", "127.0.0.1:0"]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        line = process.stdout.readline().split()
        process.terminate()
    assert line[:3] == ["serving", str(folder), "at"] and line[-2] == "and"
    assert line[3].startswith("http://127.0.0.1:")
    assert line[-1].startswith("root://127.0.0.1:") and line[-1].endswith("//")
    wrong = run("serve", "--listen-root", folder)
    assert wrong.returncode == 2 and "1094" in wrong.stderr, wrong.stderr


def test_the_older_names_of_the_addresses_still_work(command, folder):
    for words in (["--port", "0", "--root"], ["--bind", "127.0.0.1", "--root", "127.0.0.1:0"]):
        words = [command, "serve", str(folder), "--json", *words]
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
            first = json.loads(process.stdout.readline())
            process.terminate()
        assert first["http"].startswith("http://127.0.0.1:") and first["root"].startswith("root://127.0.0.1:")


def test_without_the_option_nothing_listens(command, folder):
    words = [command, "serve", str(folder), "--json"]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        first = json.loads(process.stdout.readline())
        process.terminate()
    assert first["root"] is None and first["url"] == first["http"]


@pytest.mark.parametrize("options", [[], ["--streams", "4"], ["-C", "adler32"], ["-C", "crc32c"], ["-C", "auto"]])
def test_xrdcp(client, served, folder, tmp_path, options):
    client("xrdcp", "--silent", *options, served.url("noise"), tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == (folder / "noise").read_bytes()


def test_xrdfs(client, served, folder):
    assert client("xrdfs", served.host, "ls", "/").split() == ["/flat.root", "/noise", "/sub"]
    long = client("xrdfs", served.host, "ls", "-l", "/sub").splitlines()
    assert [(line.split()[0], line.split()[-2], line.split()[-1]) for line in long] == [
        ("dr-x", "0", "/sub/empty"),
        ("-r--", "9", "/sub/f"),
    ]
    assert client("xrdfs", served.host, "ls", "-l", "/sub/empty") == ""
    assert "Size:   9" in client("xrdfs", served.host, "stat", "/sub/f")
    assert "IsDir" in client("xrdfs", served.host, "stat", "/sub")
    settings = client("xrdfs", served.host, "query", "config", "readv_iov_max", "readv_ior_max", "role", "chksum")
    assert settings.split() == ["1024", "2097136", "server", "0:adler32,1:crc32c"]
    whole = zlib.adler32((folder / "noise").read_bytes())
    assert client("xrdfs", served.host, "query", "checksum", "/noise").split() == ["adler32", f"{whole:08x}"]
    assert "crc32c e3069283" in client("xrdfs", served.host, "query", "checksum", "/sub/f?cks.type=crc32c")
    assert f"{served.address} Server Read" in client("xrdfs", served.host, "locate", "/noise")
    for words, number in [
        (["stat", "/nothing"], 3011),
        (["stat", "/sub/out"], 3011),
        (["rm", "/noise"], 3025),
        (["mkdir", "/new"], 3025),
        (["query", "checksum", "/noise?cks.type=md5"], 3013),
        (["query", "space", "/"], 3013),
    ]:
        assert f"[{number}]" in client("xrdfs", served.host, *words, fails=True), words


BINDINGS = """
import sys, zlib
from XRootD import client
from XRootD.client.flags import DirListFlags, OpenFlags, QueryCode

host, path, local = sys.argv[1:]
data = open(local, "rb").read()

def good(answer):
    status, value = answer
    assert status.ok, status
    return value

process = client.CopyProcess()
process.add_job(f"{host}//{path}", local + ".copy", force=True, parallelchunks=8)
process.prepare()
good(process.run())
assert open(local + ".copy", "rb").read() == data
with client.File() as file:
    good(file.open(f"{host}//{path}", OpenFlags.READ))
    assert good(file.stat()).size == len(data)
    assert good(file.read(1000, 5000)) == data[1000:6000]
    assert good(file.read(len(data) - 10, 5000)) == data[-10:]
    assert good(file.read(len(data) + 10, 5000)) == b""
    wanted = [(i * 4801, 1 + i * 7 % 4000) for i in range(1000)] + [(7, 2_000_000), (3_000_000, 150_000)]
    for chunk in good(file.vector_read(wanted)).chunks:
        assert chunk.buffer == data[chunk.offset : chunk.offset + chunk.length]
    assert not file.vector_read([(0, 10), (len(data) - 5, 10)])[0].ok
files = client.FileSystem(host)
listed = {e.name: e.statinfo.size for e in good(files.dirlist("/", DirListFlags.STAT))}
assert listed[path] == len(data), listed
assert good(files.dirlist("/sub/empty", DirListFlags.STAT)).size == 0
sum = good(files.query(QueryCode.CHECKSUM, "/" + path))
assert sum.rstrip(b"\\0\\n").split() == [b"adler32", b"%08x" % zlib.adler32(data)]
assert not client.File().open(f"{host}//new", OpenFlags.NEW | OpenFlags.UPDATE)[0].ok
"""


def test_xrootds_own_client(served, folder, tmp_path):
    shutil.copy(folder / "noise", tmp_path / "noise")
    separate("XRootD", BINDINGS, served.host, "noise", tmp_path / "noise")


FSSPEC = """
import sys, json, uproot
tree = uproot.open(sys.argv[1])["t"]
print(json.dumps({name: tree[name].array(library="np").tolist() for name in ("x", "matrix")}))
"""


@pytest.mark.parametrize("module", ["fsspec_xrootd"])
def test_uproot(served, folder, module):
    got = json.loads(separate(module, FSSPEC, served.url("flat.root")))
    local = sapwood.open(folder / "flat.root")["t"]
    assert got == {name: local[name].array(library="np").tolist() for name in got}


ROOT_READS = """
import sys, json, ROOT
file = ROOT.TFile.Open(sys.argv[1])
tree = file.Get("t")
print(json.dumps([entry.x for entry in tree]))
"""


def test_root(root_here, served, folder):
    got = json.loads(separate("ROOT", ROOT_READS, served.url("flat.root")).splitlines()[-1])
    local = sapwood.open(folder / "flat.root")["t"]
    assert got == local["x"].array(library="np").tolist()


def test_sapwood_reads_the_same_in_as_few_requests_as_from_a_local_file(served, folder):
    local = sapwood.open(folder / "flat.root")
    with sapwood.open(served.url("flat.root")) as file:
        tree = file["t"]
        assert tree.keys() == local["t"].keys()
        for name in ("x", "jagged", "matrix"):
            assert ak.array_equal(tree[name].array(library="ak"), local["t"][name].array(library="ak"))
        io = file.io()
    # opening, the file's end, and for each branch one flight
    assert io["connections"] == 1 and io["requests"] <= 8 and io["round_trips"] <= 8, io


def test_directories_are_listed(run, served):
    done = run("ls", served.url(""), "--json")
    assert done.returncode == 0, done.stderr
    entries = {entry["name"]: entry for entry in json.loads(done.stdout)["entries"]}
    assert entries["noise"]["bytes"] == SIZE and entries["sub"]["directory"]


def test_a_file_that_changes_while_it_is_open_is_not_read_any_more(command, wire, tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"old" * 1000)
    served = Served(command, tmp_path)
    try:
        session = wire(served)
        status, handle = session.open(b"/f")
        assert status == 0 and session.read(handle, 0, 6) == (0, b"oldold")
        path.write_bytes(b"new" * 1000)
        for _ in range(2):
            number, message = session.read(handle, 0, 6)
            assert number == 3017 and b"changed" in message
        status, other = session.open(b"/f")
        assert status == 0 and session.read(other, 0, 6) == (0, b"newnew")
        # another file takes its name
        (tmp_path / "g").write_bytes(b"gnu" * 1000)
        os.replace(tmp_path / "g", path)
        assert session.read(other, 0, 6)[0] == 3017
        assert session.read(session.open(b"/f")[1], 0, 6) == (0, b"gnugnu")
    finally:
        served.stop()


def test_sapwood_tells_that_a_file_has_changed(command, tmp_path, flat):
    path = Path(shutil.copy(flat, tmp_path / "f.root"))
    served = Served(command, tmp_path)
    try:
        with sapwood.open(served.url("f.root")) as file:
            tree = file["t"]
            data = path.read_bytes()
            path.write_bytes(data[: len(data) // 2] + bytes(len(data) - len(data) // 2))
            with pytest.raises(OSError, match="changed"):
                tree.arrays(library="np")
    finally:
        served.stop()


@pytest.mark.parametrize(
    "path", [b"/../secret", b"/sub/../../secret", b"/sub/out", b"/etc/passwd", b"//../secret", b"/sub/..", b"/sub/\0f"]
)
def test_no_path_leads_out(wire, served, folder, path):
    (folder.parent / "secret").write_text("secret")
    session = wire(served)
    assert session.open(path)[0] == 3011
    assert session.ask(3017, b"", path)[0] == 3011
    assert session.ask(3001, struct.pack(">H", 3), path)[0] == 3011


def test_names_that_are_not_utf8(wire, served, folder, flat):
    name = os.path.join(os.fsencode(folder), b"caf\xe9.root")
    shutil.copy(flat, name)
    try:
        session = wire(served)
        status, handle = session.open(b"/caf\xe9.root")
        assert status == 0
        assert session.read(handle, 0, 4) == (0, b"root")
        whole = zlib.adler32(Path(flat).read_bytes())
        assert session.ask(3001, struct.pack(">H", 3), b"/caf\xe9.root") == (0, b"adler32 %08x\0" % whole)
        assert b"caf\xe9.root" in session.ask(3004, b"", b"/")[1].rstrip(b"\0").split(b"\n")
    finally:
        os.remove(name)


def test_a_silent_client_stops_no_other(wire, served, folder):
    for _ in range(20):
        silent = wire(served)
        handle = silent.open(b"/noise")[1]
        ranges = b"".join(struct.pack(">4siq", handle, 2_000_000, 0) for _ in range(1024))
        silent.socket.sendall(struct.pack(">HH16si", 7, 3025, b"", len(ranges)) + ranges)
    other = wire(served)
    status, data = other.read(other.open(b"/noise")[1], 0, SIZE)
    assert status == 0 and data == (folder / "noise").read_bytes()
