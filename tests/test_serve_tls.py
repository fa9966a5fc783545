"""`sapwood serve --cert`: common clients read from it over TLS; without TLS no client does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest
from test_serve_root import Served

import sapwood

SIZE = 3_000_000
NEW = ("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/O=test/CN=localhost")
NAMES = ("-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE")


def openssl(*words):
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed")
    return subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, text=True).stdout.strip()


def make(folder):
    """A new certificate and its key, and the certificate where OpenSSL looks for it."""
    shutil.rmtree(folder / "ca", ignore_errors=True)
    (folder / "ca").mkdir(parents=True)
    openssl(*NEW, *NAMES, "-keyout", folder / "new-key.pem", "-out", folder / "ca" / "cert.pem")
    name = openssl("x509", "-noout", "-hash", "-in", folder / "ca" / "cert.pem")
    shutil.copy(folder / "ca" / "cert.pem", folder / "ca" / f"{name}.0")
    # each file changes at once
    (folder / "new-key.pem").replace(folder / "key.pem")
    shutil.copy(folder / "ca" / "cert.pem", folder / "new-cert.pem")
    (folder / "new-cert.pem").replace(folder / "cert.pem")


class Secure(Served):
    def __init__(self, command, folder, keys):
        super().__init__(command, folder, "--cert", str(keys / "cert.pem"), "--key", str(keys / "key.pem"))
        self.http, self.root = (self.first[key].replace("127.0.0.1", "localhost") for key in ("http", "root"))
        self.environment = {**os.environ, "X509_CERT_DIR": str(keys / "ca"), "SSL_CERT_FILE": str(keys / "ca/cert.pem")}

    def run(self, program, *words):
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")
        words = [program, *map(str, words)]
        return subprocess.run(words, capture_output=True, timeout=120, env=self.environment)


@pytest.fixture
def place(tmp_path, command, flat):
    """A served directory, what is in it, and the directory of the server's certificate."""
    folder, keys = tmp_path / "served", tmp_path / "keys"
    folder.mkdir()
    noise = np.random.default_rng(2).bytes(SIZE)
    (folder / "noise").write_bytes(noise)
    shutil.copy(flat, folder / "flat.root")
    make(keys)
    server = Secure(command, folder, keys)
    yield server, noise, keys
    server.stop()


def test_curl_wget_and_xrdcp(place, tmp_path):
    server, noise, keys = place
    assert server.first["http"].startswith("https://") and server.first["root"].startswith("roots://")
    ca = keys / "ca" / "cert.pem"
    assert server.run("curl", "-sSf", "--cacert", ca, server.http + "noise").stdout == noise
    part = server.run("curl", "-sSf", "--cacert", ca, "-r", "10-19,100-109", server.http + "noise").stdout
    assert noise[10:20] in part and noise[100:110] in part
    assert server.run("wget", "-q", f"--ca-certificate={ca}", "-O", "-", server.http + "noise").stdout == noise
    got = tmp_path / "got"
    # data links are encrypted as well, or refused
    for streams in (1, 4):
        done = server.run("xrdcp", "-f", "-s", "-S", streams, server.root + "noise", got)
        assert done.returncode == 0 and got.read_bytes() == noise, done.stderr
    # root:// goes on beside roots://
    done = server.run("xrdcp", "-f", "-s", server.root.replace("roots:", "root:") + "noise", got)
    assert done.returncode == 0 and got.read_bytes() == noise, done.stderr
    listed = server.run("xrdfs", server.root.rstrip("/"), "ls", "/")
    assert b"/noise" in listed.stdout, listed.stderr


def test_plain_requests_are_refused_with_the_reason(place):
    server, noise, _ = place
    done = server.run("curl", "-sS", server.http.replace("https:", "http:") + "noise")
    assert b"HTTPS" in done.stdout and noise[:100] not in done.stdout
    # a client that does not trust the certificate reads nothing
    untrusted = server.run("curl", "-sS", "--cacert", "/dev/null", server.http + "noise")
    assert untrusted.returncode != 0 and not untrusted.stdout


def test_sapwood_reads_over_tls(place):
    server, _, _ = place
    script = "import sys, sapwood\nfor url in sys.argv[1:]: print(sapwood.open(url)['t'].num_entries)"
    entries = sapwood.open(str(server.process.args[2]) + "/flat.root")["t"].num_entries
    done = server.run(sys.executable, "-c", script, server.http + "flat.root", server.root + "flat.root")
    assert done.stdout.split() == [b"%d" % entries] * 2, done.stderr


def test_root_reads_over_tls(place):
    pytest.importorskip("ROOT")
    server, _, _ = place
    script = "import sys, ROOT\nprint(ROOT.TFile.Open(sys.argv[1]).Get('t').GetEntries())"
    done = server.run(sys.executable, "-c", script, server.root + "flat.root")
    if b"TNetFile not found" in done.stderr:
        pytest.skip("this build of ROOT does not take roots:// for XRootD")
    assert done.returncode == 0 and int(done.stdout.split()[-1]) > 0, done.stderr


def test_a_renewed_certificate_is_shown_without_a_restart(place):
    server, noise, keys = place
    fetch = ("curl", "-sSf", "--cacert", keys / "ca" / "cert.pem", server.http + "noise")
    assert server.run(*fetch).stdout == noise
    # a key that does not belong to the certificate: the last pair that fitted is shown
    kept = (keys / "key.pem").read_bytes()
    openssl("genrsa", "-out", keys / "key.pem", "2048")
    time.sleep(1.2)
    assert server.run(*fetch).stdout == noise
    (keys / "key.pem").write_bytes(kept)
    make(keys)
    deadline = time.monotonic() + 20
    while server.run(*fetch).stdout != noise:
        assert time.monotonic() < deadline, "it still shows the old one"
        time.sleep(0.2)


def test_a_certificate_that_cannot_be_used_is_named(place, tmp_path, command):
    _, _, keys = place
    empty = tmp_path / "empty.pem"
    empty.write_text("")
    for certificate, key in ((empty, keys / "key.pem"), (keys / "cert.pem", empty), (tmp_path / "gone", empty)):
        words = [command, "serve", str(tmp_path), "--certificate", str(certificate), "--key", str(key)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
        named = certificate if certificate.name in ("empty.pem", "gone") else key
        assert done.returncode == 1 and str(named) in done.stderr, done.stderr
