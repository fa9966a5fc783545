"""Settings of the local cache that are wrong: one warning, and reading goes on."""

import json
import os
import subprocess

import numpy as np
import pytest
from scripted_http import Scripted, good

import sapwood


@pytest.fixture(autouse=True)
def configuration(monkeypatch, tmp_path):
    """The configuration's path; it is not there."""
    for name in ("SAPWOOD_CACHE_DIR", "SAPWOOD_CACHE_MAX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    path = tmp_path / "config/sapwood/config.toml"
    path.parent.mkdir(parents=True)
    yield path
    sapwood.cache.configure(False)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    path = tmp_path_factory.mktemp("served") / "f.root"
    with sapwood.recreate(path, compression="none") as file:
        file.mktree("t", {"x": "f8"}).extend({"x": np.arange(50_000.0)})
    with Scripted(path.read_bytes(), lambda asked, data: good(asked, data, [("ETag", '"one"')])) as server:
        yield server


BROKEN = {
    "pipe": os.mkfifo,
    "folder": os.mkdir,
    "bytes": lambda path: path.write_bytes(b"[cache]\nenabled = true\n\xff"),
    "value": lambda path: path.write_text("[cache]\nenabled = perhaps\n"),
    "header": lambda path: path.write_text("[cache\nenabled = true\n"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_configuration_that_cannot_be_used_is_one_warning(run, server, configuration, kind):
    BROKEN[kind](configuration)
    url = server.url()
    done = run("draw", f"{url}:t", "x", "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("the local cache is off") == 1 and "config.toml" in done.stderr, done.stderr
    status = run("cache", "status")
    assert status.returncode == 0 and "config.toml" in status.stderr, status.stderr
    # and either verb repairs it
    on = run("cache", "on" if kind != "value" else "off")
    assert on.returncode == 0, on.stderr
    done = run("draw", f"{url}:t", "x", "--json")
    assert done.returncode == 0 and "cache is off" not in done.stderr, done.stderr
    assert json.loads(run("cache", "status", "--json").stdout)["enabled"] == (kind != "value")


def test_python_warns_of_a_configuration_that_cannot_be_used(server, configuration, tmp_path):
    configuration.write_text("[cache]\nenabled = perhaps\n")
    code = "import sys, sapwood; print(sapwood.open(sys.argv[1])['t'].num_entries)"
    words = [os.sys.executable, "-W", "always", "-c", code, server.url()]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.stdout == "50000\n", done.stderr
    assert done.stderr.count("UnverifiedFileWarning") == 1 and "config.toml" in done.stderr, done.stderr


def test_a_limit_without_its_unit_is_refused(run, server, tmp_path, monkeypatch):
    done = run("cache", "on", "--dir", tmp_path / "c", "--max", "10")
    assert done.returncode == 2 and "too small" in done.stderr and "20GB" in done.stderr, done.stderr
    with pytest.raises(sapwood.InvalidError, match="20GB"):
        sapwood.cache.configure(tmp_path / "c", max_bytes=10)
    monkeypatch.setenv("SAPWOOD_CACHE_DIR", str(tmp_path / "c"))
    monkeypatch.setenv("SAPWOOD_CACHE_MAX", "10")
    done = run("ls", server.url())
    assert done.returncode == 1 and "too small" in done.stderr, done.stderr


def test_a_cache_in_which_nothing_fits_is_one_warning(run, server, configuration, tmp_path):
    configuration.write_text(f'[cache]\nenabled = true\ndirectory = "{tmp_path / "c"}"\nmax_bytes = 20000\n')
    done = run("draw", f"{server.url()}:t", "x", "--json")
    assert done.returncode == 0 and done.stderr.count("is too small") == 1, done.stderr


def test_a_folder_that_cannot_be_written_is_one_warning(run, server, tmp_path):
    folder = tmp_path / "c"
    run("ls", server.url(), "--local-cache", folder)
    if os.geteuid() == 0:
        mounted = subprocess.run(["mount", "--bind", "-o", "ro", folder, folder], capture_output=True)
        if mounted.returncode != 0:
            pytest.skip("root may write everywhere, and cannot mount here")
    else:
        folder.chmod(0o500)
    try:
        done = run("draw", f"{server.url()}:t", "x", "--json", "--local-cache", folder)
    finally:
        if os.geteuid() == 0:
            subprocess.run(["umount", folder], check=True)
        else:
            folder.chmod(0o700)
    assert done.returncode == 0 and done.stderr.count("cannot be written") == 1, done.stderr


@pytest.mark.parametrize("words", [["ls", "--locate", "URL"], ["ls", "URL/"], ["draw", "URL/*.root:t", "x"]])
def test_offline_no_server_is_asked_for_a_list(run, words, tmp_path):
    # nothing listens there: a request gets another error
    url = "root://127.0.0.1:9//data"
    done = run(*[w.replace("URL", url) for w in words], "--offline", "--local-cache", tmp_path / "c")
    assert done.returncode == 1 and "offline" in done.stderr and "connect" not in done.stderr, done.stderr
