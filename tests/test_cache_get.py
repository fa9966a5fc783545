"""`sapwood cache get`: whole files held against their servers' checksums, and broken off."""

import base64
import hashlib
import json
import os
import signal
import subprocess
import threading
import time
import zlib

import numpy as np
import pytest
import servers
from running_servers import started
from scripted_http import Scripted, good, whole

import sapwood


@pytest.fixture(autouse=True)
def plain(monkeypatch, tmp_path):
    """No configuration but a test's own."""
    for name in ("SAPWOOD_CACHE_DIR", "SAPWOOD_CACHE_MAX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture(scope="module")
def path(public):
    where = public / "checked"
    where.mkdir()
    path = where / "f.root"
    with sapwood.recreate(path, compression="none") as file:
        file.mktree("t", {"x": "f8"}).extend({"x": np.arange(100_000.0)})
    return path


def get(run, url, folder):
    """What the command says of one file, and how it ends."""
    done = run("cache", "get", url, "--local-cache", folder, "--json")
    return done, json.loads(done.stdout)["files"] if done.stdout else []


def held(run, folder):
    return json.loads(run("cache", "ls", "--local-cache", folder, "--json").stdout)["files"]


@pytest.mark.parametrize("kind", ["adler32", "crc32c"])
def test_what_an_xrootd_server_says_of_its_file(run, path, tmp_path, command, kind):
    with started(servers.xrootd, path.parent, command, extra=f"xrootd.chksum max 2 {kind}") as server:
        done, (file,) = get(run, server.url(path), tmp_path / "c")
        assert done.returncode == 0, done.stderr
        assert file["checksum"].startswith(f"{kind}:")
        if kind == "adler32":
            assert file["checksum"] == f"adler32:{zlib.adler32(path.read_bytes()):08x}"
        again = run("cache", "get", server.url(path), "--local-cache", tmp_path / "c")
        assert "matches the server's" in again.stdout, again.stdout
        assert [f["whole"] for f in held(run, tmp_path / "c")] == [True]


def test_an_xrootd_server_without_checksums_is_said_to_have_none(run, path, tmp_path, command):
    with started(servers.xrootd, path.parent, command) as server:
        done, (file,) = get(run, server.url(path), tmp_path / "c")
        assert done.returncode == 0 and file["checksum"] is None, done.stderr
        again = run("cache", "get", server.url(path), "--local-cache", tmp_path / "c")
        assert "the server provides no checksum" in again.stdout


def test_an_xrootd_server_whose_checksum_is_of_another_file(run, path, tmp_path, command):
    # a program of the site computes it, and gives another one
    program = path.parent / "wrong-checksum"
    program.write_text("#!/bin/sh\necho deadbeef\n")
    program.chmod(0o755)
    extra = f"xrootd.chksum max 2 adler32 {program}"
    with started(servers.xrootd, path.parent, command, extra=extra) as server:
        done, files = get(run, server.url(path), tmp_path / "c")
        assert done.returncode == 1 and files == [], (done.stdout, done.stderr)
        assert "adler32:deadbeef" in done.stderr and "they were not cached" in done.stderr
        assert held(run, tmp_path / "c") == []


def test_the_http_door_of_xrootd(run, path, tmp_path, command, monkeypatch):
    monkeypatch.setattr(servers, "_xrootd", with_directives(servers._xrootd, "xrootd.chksum max 2 adler32"))
    with started(servers.xrdhttp, path.parent, command) as server:
        done, (file,) = get(run, server.url(path), tmp_path / "c")
        assert done.returncode == 0, done.stderr
        assert file["checksum"] == f"adler32:{zlib.adler32(path.read_bytes()):08x}"


def with_directives(make, more):
    return lambda folder, run, directives: make(folder, run, f"{directives}\n{more}")


def digests(data, true):
    """Headers with checksums of the data, or of other data."""
    data = data if true else data + b"!"
    sha = base64.b64encode(hashlib.sha256(data).digest()).decode()
    adler = f"{zlib.adler32(data):08x}"
    return {
        "RFC 9530": [("Repr-Digest", f"sha-256=:{sha}:, unknown=:AA==:")],
        "RFC 3230": [("Digest", f"adler32={adler},md5=AA==")],
        "both": [("Digest", f"adler32={adler}"), ("Repr-Digest", f"sha-256=:{sha}:")],
    }


@pytest.mark.parametrize("kind", ["RFC 9530", "RFC 3230", "both", "none"])
@pytest.mark.parametrize("true", [True, False])
def test_what_an_http_server_says_of_its_file(run, path, tmp_path, kind, true):
    data = path.read_bytes()
    of_version = [("ETag", '"one"')]

    def answer(asked, data):
        if "want-repr-digest" in asked.headers:
            assert "range" not in asked.headers and "want-digest" in asked.headers
            more = digests(data, true).get(kind, [])
            return whole("200 OK", [*of_version, *more], b"")
        return good(asked, data, of_version)

    with Scripted(data, answer) as server:
        done, files = get(run, server.url(), tmp_path / "c")
        if kind == "none":
            assert files[0]["checksum"] is None
        elif true:
            assert files[0]["checksum"].startswith("adler32:" if kind == "RFC 3230" else "sha-256:"), done.stderr
        else:
            assert done.returncode == 1 and "they were not cached" in done.stderr, done.stderr
            assert files == [] and held(run, tmp_path / "c") == []


def test_reading_a_whole_file_in_the_background_warns_of_a_wrong_checksum(path, tmp_path):
    # more than is read here: what was not fetched in the background is not compared there
    data = path.read_bytes() * 3

    def answer(asked, data):
        if "want-repr-digest" in asked.headers:
            return whole("200 OK", [("ETag", '"one"'), *digests(data, False)["RFC 3230"]], b"")
        return good(asked, data, [("ETag", '"one"')])

    with Scripted(data, answer) as server:
        file = sapwood.open(server.url(), local_cache=tmp_path / "c", cacheread=True)
        assert file["t"]["x"].array(library="np").sum() == np.arange(100_000.0).sum()
        deadline = time.monotonic() + 60
        while not any("want-repr-digest" in a.headers for a in server.asked) or not file._core.remarks:
            assert time.monotonic() < deadline, file._core.remarks
            time.sleep(0.02)
        with pytest.warns(sapwood.UnverifiedFileWarning, match="they were not cached"):
            file.close()


def test_an_interrupt_does_not_wait_for_what_is_under_way(path, tmp_path, command):
    data, stuck, over = path.read_bytes() * 30, threading.Event(), threading.Event()

    def answer(asked, data):
        if all(last - first < 1_000_000 for first, last in asked.ranges):
            return good(asked, data, [("ETag", '"one"')])
        # it never comes
        stuck.set()
        over.wait(120)
        raise ConnectionError

    with Scripted(data, answer) as server:
        words = [command, "cache", "get", server.url(), "--local-cache", str(tmp_path / "c"), "--timeout", "600"]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            assert stuck.wait(60)
            os.kill(process.pid, signal.SIGINT)
            _, error = process.communicate(timeout=30)
        finally:
            process.kill()
            over.set()
    assert process.returncode == 130 and "interrupted" in error, error
