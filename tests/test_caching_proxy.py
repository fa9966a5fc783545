"""`sapwood proxy`: unmodified clients read through it from unmodified servers."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request
import zlib

import awkward as ak
import numpy as np
import pytest
from running_servers import running
from test_serve_root import FSSPEC, ROOT_READS, separate

import sapwood

SIZE = 20_000_000
LONG_AGO = (1_600_000_000_000_000_000, 1_600_000_000_000_000_000)


class Proxy:
    """A running `sapwood proxy`."""

    def __init__(self, command, cache, *words):
        words = [command, "proxy", "--cache-dir", str(cache), "--json", *words]
        self.process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        line = self.process.stdout.readline()
        assert line, self.process.communicate()[1]
        self.first = json.loads(line)
        self.http, self.root = self.first["http"], self.first["root"]

    def stop(self, how=signal.SIGTERM):
        """Ends it; gives what it wrote to standard error."""
        self.process.send_signal(how)
        return self.process.communicate(timeout=20)[1]


@pytest.fixture
def proxies(command, tmp_path):
    """proxies("--origin", URL, ...) starts a proxy; its cache is the same for all of a test."""
    running = []

    def start(*words, cache=None):
        running.append(Proxy(command, cache or tmp_path / "cache", *words))
        return running[-1]

    yield start
    for proxy in running:
        if proxy.process.poll() is None:
            proxy.stop()


@pytest.fixture(scope="module")
def folder(public, flat):
    folder = public / "proxied"
    (folder / "sub").mkdir(parents=True)
    (folder / "noise").write_bytes(np.random.default_rng(1).bytes(SIZE))
    shutil.copy(flat, folder / "flat.root")
    for name in ("noise", "flat.root"):
        os.utime(folder / name, ns=LONG_AGO)
    return folder


@pytest.fixture(params=["nginx", "xrootd"])
def origin(request, folder, command):
    with running(request.param, folder, command) as server:
        yield server


@pytest.fixture
def nginx(folder, command):
    with running("nginx", folder, command) as server:
        yield server


def url_of(origin):
    return origin.url(origin.folder).removesuffix("/.")


def get(url, **headers):
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=60) as answer:
        return answer.read()


def sent(nginx):
    return sum(request.bytes for request in nginx.requests() if request.status in (200, 206))


def test_clients_get_what_the_origin_has(origin, folder, proxies, tmp_path):
    proxy = proxies("--origin", url_of(origin))
    want = (folder / "noise").read_bytes()
    for words in [["curl", "-sf", "-o"], ["wget", "-q", "-O"]]:
        if shutil.which(words[0]):
            subprocess.run([*words, tmp_path / "out", proxy.http + "noise"], check=True, timeout=60)
            assert (tmp_path / "out").read_bytes() == want
    if shutil.which("xrdcp"):
        subprocess.run(["xrdcp", "-f", "-s", proxy.root + "noise", tmp_path / "out"], check=True, timeout=60)
        assert (tmp_path / "out").read_bytes() == want
    with sapwood.open(folder / "flat.root") as file:
        values = file["t"].arrays()
    for url in (proxy.http + "flat.root", proxy.root + "flat.root"):
        with sapwood.open(url, local_cache=False) as file:
            assert ak.array_equal(file["t"].arrays(), values)


def test_uproot_reads_through_it(origin, folder, proxies):
    proxy = proxies("--origin", url_of(origin))
    want = separate("uproot", FSSPEC, folder / "flat.root")
    assert separate("uproot", FSSPEC, proxy.http + "flat.root") == want
    assert separate("fsspec_xrootd", FSSPEC, proxy.root + "flat.root") == want


def test_root_reads_through_it(origin, folder, proxies, root_here):
    proxy = proxies("--origin", url_of(origin))
    want = separate("ROOT", ROOT_READS, folder / "flat.root").splitlines()[-1]
    assert separate("ROOT", ROOT_READS, proxy.root + "flat.root").splitlines()[-1] == want


def test_twebfile_keeps_its_connection(nginx, folder, proxies, root_here):
    """It opened one for each read: the first answer named HTTP/1.0, as the request did."""
    proxy = proxies("--origin", url_of(nginx))
    reads = """
import sys, ROOT
ROOT.gSystem.Load("libNet")
file = ROOT.TWebFile(sys.argv[1])
tree = file.Get("t")
tree.SetCacheSize(0)
print(tree.GetEntries(), file.GetReadCalls(), tree.Draw(tree.GetListOfBranches()[0].GetName(), "", "goff"))
"""
    entries, calls, _ = separate("ROOT", reads, proxy.http + "flat.root").splitlines()[-1].split()
    assert int(entries) == 1000
    page = get(proxy.http + "metrics").decode()
    lines = dict(line.rsplit(" ", 1) for line in page.splitlines() if not line.startswith("#"))
    # the one that asks for the headers, the one that reads, this one's, and one to spare
    assert int(lines['sapwood_server_connections_total{protocol="http"}']) <= 4 < int(calls), page


@pytest.mark.parametrize("prefetch", [(), ("--prefetch", "off")], ids=["prefetch", "no prefetch"])
def test_versions_that_the_origin_does_not_tell_apart_are_not_mixed(nginx, folder, proxies, prefetch):
    """nginx makes its ETag of size and time: after `cp -p` another file has the same. Under one ETag of the proxy, the
    old file's bytes came out of the cache after the new one's had been fetched."""
    contents = {name: np.random.default_rng(seed).bytes(12_000_000) for seed, name in enumerate("AB")}
    path = folder / "replaced"

    def put(name):
        new = folder / "new"
        new.write_bytes(contents[name])
        os.utime(new, ns=LONG_AGO)
        new.rename(path)

    def ranges(starts):
        for start in starts:
            request = urllib.request.Request(proxy.http + path.name, headers={"Range": f"bytes={start}-{start + 999}"})
            with urllib.request.urlopen(request, timeout=60) as answer:
                body, tag = answer.read(), answer.headers["ETag"]
            (name,) = (name for name, content in contents.items() if content[start : start + 1000] == body)
            yield tag, name

    try:
        put("A")
        proxy = proxies("--origin", url_of(nginx), *prefetch)
        assert {name for _, name in ranges([2_000_000, 9_000_000])} == {"A"}
        put("B")
        seen = list(ranges([1_000_000, 2_000_000, 5_000_000, 9_000_000, 11_000_000]))
        for tag in {tag for tag, _ in seen}:
            assert len({name for of, name in seen if of == tag}) == 1, seen
        assert seen[-1][1] == "B"
    finally:
        path.unlink()


def test_the_origin_is_asked_for_each_byte_once(nginx, folder, proxies, tmp_path):
    proxy = proxies("--origin", url_of(nginx))
    want = (folder / "noise").read_bytes()
    clients = [subprocess.Popen(["curl", "-sf", "-o", tmp_path / f"out{i}", proxy.http + "noise"]) for i in range(8)]
    assert [client.wait(60) for client in clients] == [0] * 8
    for i in range(8):
        assert (tmp_path / f"out{i}").read_bytes() == want
    assert sent(nginx) < 1.02 * SIZE
    proxy.stop()
    again = proxies("--origin", url_of(nginx))
    before = sent(nginx)
    assert get(again.http + "noise") == want
    assert sent(nginx) - before < 0.02 * SIZE


def test_a_killed_proxy_leaves_right_bytes(nginx, folder, proxies, tmp_path):
    want = (folder / "noise").read_bytes()
    for pause in (0.01, 0.03, 0.06, 0.1):
        proxy = proxies("--origin", url_of(nginx))
        client = subprocess.Popen(["curl", "-s", "-o", tmp_path / "out", proxy.http + "noise"])
        time.sleep(pause)
        proxy.stop(signal.SIGKILL)
        client.wait(60)
        got = (tmp_path / "out").read_bytes() if (tmp_path / "out").exists() else b""
        assert want.startswith(got)
    proxy = proxies("--origin", url_of(nginx))
    assert get(proxy.http + "noise") == want


def test_a_file_that_takes_anothers_place_is_noticed(origin, folder, proxies):
    # an XRootD server gives all clients of a path the file that one has open: the proxy must not keep it open
    proxy = proxies("--origin", url_of(origin), "--fresh", "0ms")
    file, url = folder / "replaced", proxy.http + "replaced"
    part = {"Range": "bytes=100000-100009"}
    for value in b"123":
        new = folder / "new"
        new.write_bytes(bytes([value]) * 300_000)
        os.utime(new, ns=tuple(ns + value * 10**9 for ns in LONG_AGO))
        os.replace(new, file)
        assert get(url, **part) == bytes([value]) * 10
        assert get(url) == bytes([value]) * 300_000
    file.unlink()


def test_clients_name_the_server_where_that_is_allowed(origin, folder, proxies, tmp_path):
    where = url_of(origin)
    proxy = proxies("--allow", f"{where.split('://')[0]}://127.0.0.1:{origin.port}/")
    want = (folder / "noise").read_bytes()
    assert get(f"{proxy.http}{where}/noise") == want
    if shutil.which("xrdcp"):
        subprocess.run(["xrdcp", "-f", "-s", f"{proxy.root}{where}/noise", tmp_path / "out"], check=True, timeout=60)
        assert (tmp_path / "out").read_bytes() == want
        refused = subprocess.run(
            ["xrdcp", "-f", "-s", f"{proxy.root}root://localhost:{origin.port}//data/noise", tmp_path / "no"],
            capture_output=True,
            timeout=60,
        )
        assert refused.returncode != 0
    with pytest.raises(urllib.error.HTTPError) as failure:
        get(f"{proxy.http}http://localhost:{origin.port}/noise")
    assert failure.value.code in (401, 403)
    failure.value.close()


def test_checksums_and_directories_are_the_origins(folder, proxies, command):
    if not shutil.which("xrdfs"):
        pytest.skip("xrdfs is not installed")
    with running("xrootd", folder, command, "xrootd.chksum max 2 adler32") as server:
        proxy = proxies("--origin", url_of(server))
        told = subprocess.run(
            ["xrdfs", proxy.root.removesuffix("//"), "query", "checksum", "/noise"], capture_output=True, text=True
        )
        adler = zlib.adler32((folder / "noise").read_bytes())
        assert told.stdout.split() == ["adler32", f"{adler:08x}"], told.stderr
        # the origin computed it: nothing was read for it
        page = get(proxy.http + "metrics").decode()
        figures = dict(line.split() for line in page.splitlines() if line.startswith("sapwood_proxy_"))
        assert int(figures["sapwood_proxy_origin_bytes_total"]) < 100_000
        names = subprocess.run(
            ["xrdfs", proxy.root.removesuffix("//"), "ls", "/"], capture_output=True, text=True
        ).stdout.split()
        assert names == ["/flat.root", "/noise", "/sub"]
        assert b"flat.root" in get(proxy.http)
        assert get(proxy.http + "health")


def test_a_request_is_logged_without_its_credentials(nginx, proxies):
    proxy = proxies("--origin", url_of(nginx), "--access-log")
    get(proxy.http + "flat.root?authz=SECRET", Authorization="Bearer SECRET")
    log = proxy.stop()
    assert "http GET" in log and "/flat.root" in log and " 200 " in log
    assert "SECRET" not in log
