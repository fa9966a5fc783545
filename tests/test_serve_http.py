"""`sapwood serve` as HTTP clients and servers in between use it: resumed downloads, several ranges, nginx in front."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import numpy as np
import pytest
import servers

SIZE = 4_000_000


class Serving:
    def __init__(self, command, folder):
        words = [command, "serve", str(folder), "--json"]
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.url = json.loads(self.process.stdout.readline())["http"]

    def stop(self):
        self.process.terminate()
        self.process.wait(10)
        self.process.stdout.close()


@pytest.fixture(scope="module")
def place(tmp_path_factory, command):
    folder = tmp_path_factory.mktemp("served")
    noise = np.random.default_rng(3).bytes(SIZE)
    (folder / "noise").write_bytes(noise)
    (folder / "sub").mkdir()
    server = Serving(command, folder)
    # until its ETag is strong
    os.utime(folder / "noise", (1e9, 1e9))
    yield server.url, noise
    server.stop()


def run(program, *words, fails=False):
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")
    done = subprocess.run([program, *map(str, words)], capture_output=True, timeout=120)
    assert (done.returncode != 0) == fails, done.stderr
    return done.stdout


def test_a_download_is_resumed(place, tmp_path):
    url, noise = place
    for program in (("curl", "-sSf", "-C", "-", "-o"), ("wget", "-q", "-c", "-O")):
        got = tmp_path / program[0]
        got.write_bytes(noise[:1_234_567])
        run(*program, got, url + "noise")
        assert got.read_bytes() == noise
    # nothing is left to be fetched: wget takes a 416 for success
    run(*program, got, url + "noise")
    assert got.read_bytes() == noise


def test_several_ranges(place):
    url, noise = place
    spans = [(i * 4001, 1 + i) for i in range(900)]
    ranges = ",".join(f"{at}-{at + length - 1}" for at, length in spans)
    body = run("curl", "-sSf", "-r", ranges, url + "noise")
    at = 0
    for start, length in spans:
        at = body.index(b"\r\n\r\n", at) + 4
        assert body[at : at + length] == noise[start : start + length]
        at += length


@pytest.mark.parametrize("more", ["", "proxy_cache_revalidate on;", "slice 1m; proxy_set_header Range $slice_range;"])
def test_nginx_in_front(place, tmp_path, more):
    url, noise = place
    try:
        program = servers.find("nginx")
    except servers.Skip as reason:
        pytest.skip(str(reason))
    run_folder, port = servers.scratch(), servers.free_port()
    to = f"proxy_pass {url}; proxy_http_version 1.1; proxy_set_header Connection ''; proxy_set_header Host localhost;"
    config = servers.nginx_config(
        tmp_path, run_folder, f"127.0.0.1:{port}", run_folder / "log", f"location / {{ {to} {more} }}"
    )
    if "proxy_cache" in more:
        text = config.read_text().replace("http {", f"http {{ proxy_cache_path {run_folder}/kept keys_zone=z:1m;", 1)
        config.write_text(text.replace("proxy_pass", "proxy_cache z; proxy_cache_valid 200 1s; proxy_pass", 1))
    words = [program, "-e", str(run_folder / "error.log"), "-c", str(config)]
    server = servers.Server(tmp_path, port, words, run_folder, run_folder / "log")
    try:
        front = f"http://127.0.0.1:{port}/noise"
        for _ in range(2):
            assert run("curl", "-sSf", front) == noise
            assert run("curl", "-sSf", "-r", "100-199", front) == noise[100:200]
            assert run("curl", "-sSf", "-r", "-77", front) == noise[-77:]
        assert b"200" in run("curl", "-sSI", front)
        assert b"404" in run("curl", "-sSI", front + "-gone")
    finally:
        server.stop()
