"""The local cache end to end: values as without it, and servers that are asked for nothing that is held."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from running_servers import running
from scripted_http import Scripted, good
from test_changed_files import CHANGED, NAMES, written_twice

import sapwood

LONG_AGO = (1_600_000_000_000_000_000, 1_600_000_000_000_000_000)


@pytest.fixture(autouse=True)
def plain(monkeypatch, tmp_path):
    """No configuration but a test's own."""
    for name in ("SAPWOOD_CACHE_DIR", "SAPWOOD_CACHE_MAX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    yield
    sapwood.cache.configure(False)


@pytest.fixture(scope="module")
def versions(public):
    return written_twice(public / "cached")


@pytest.fixture(scope="module", params=["nginx", "apache", "xrdhttp", "xrootd", "sapwood"])
def server(request, versions, command):
    with running(request.param, versions[0], command) as server:
        yield server


@pytest.fixture(scope="module")
def nginx(versions, command):
    with running("nginx", versions[0], command) as server:
        yield server


@pytest.fixture
def path(versions):
    path = versions[0] / "f.root"
    put(path, versions[1])
    return path


def put(path, content):
    """A file takes the name, with a time of change that is always the same."""
    new = path.with_suffix(".next")
    new.write_bytes(content)
    os.utime(new, ns=LONG_AGO)
    os.replace(new, path)


def read(url, folder, names=NAMES, **options):
    """The values, and what reading them took."""
    with sapwood.open(url, local_cache=folder, **options) as file:
        values = file["t"].arrays(names, library="np")
        io = file.io()
    sapwood.cache.flush()
    return values, io


def same(found, values):
    return all(np.array_equal(found[name], values[name]) for name in found)


def flush(folder):
    """Waits until all that was read through this directory is in it."""
    sapwood.cache.flush()
    assert any(Path(folder).iterdir())


def test_a_second_session_has_the_values_and_takes_next_to_nothing(server, path, versions, tmp_path):
    folder, values = tmp_path / "c", versions[3][0]
    url = server.url(path)
    found, first = read(url, folder)
    # what opening the file brought may be asked for again
    assert same(found, values) and first["local_cache_bytes"] < 100_000
    found, second = read(url, folder)
    assert same(found, values)
    with sapwood.open(url, local_cache=False) as file:
        opening = file.io()
    # XRootD: the open and the read of the first bytes that rides along with it
    # XrdHttp tells neither ETag nor time of change: the end of the file comes along each time
    is_told = server.scheme == "root" or "xrootd" not in str(server.process.args[0])
    at_most = 2 if server.scheme == "root" else 1 if is_told else opening["requests"]
    assert second["requests"] <= at_most, (first, second, opening)
    assert second["bytes_fetched"] < (10_000 if is_told else 100_000) < second["local_cache_bytes"]
    without, third = read(url, False)
    assert same(without, values) and third["local_cache_bytes"] == 0


def test_what_the_server_logs(nginx, path, versions, tmp_path):
    folder, url = tmp_path / "c", nginx.url(path)
    read(url, folder, NAMES[:2])
    before = nginx.requests()
    found, _ = read(url, folder)
    between = nginx.requests()
    assert same(found, versions[3][0])
    found, _ = read(url, folder)
    assert same(found, versions[3][0])
    last = nginx.requests()[len(between) :]
    assert len(last) == 1 and last[0].bytes < 5000, last
    # nothing came twice
    sent = sum(r.bytes for r in between)
    assert sent < path.stat().st_size + 2000 * len(between), (before, between)


def test_a_file_replaced_between_sessions_gives_its_new_values(server, path, versions, tmp_path):
    _, old, new, values = versions
    folder, url = tmp_path / "c", server.url(path)
    for content, expected in ((old, values[0]), (new, values[1]), (old, values[0])):
        put(path, content)
        found, _ = read(url, folder)
        assert same(found, expected)
        found, _ = read(url, folder)
        assert same(found, expected)


def test_a_file_replaced_while_it_is_read_is_never_mixed_with_the_old_one(server, path, versions, tmp_path):
    _, _, new, values = versions
    folder, url = tmp_path / "c", server.url(path)
    read(url, folder, NAMES[:3])
    with sapwood.open(url, local_cache=folder) as file:
        tree = file["t"]
        put(path, new)
        # what is held is of the file that was opened
        assert same(tree.arrays(NAMES[:3], library="np"), values[0])
        try:
            found = tree.arrays(NAMES, library="np")
        except sapwood.CorruptError as error:
            if CHANGED not in str(error):
                raise
        else:
            # an XRootD server holds the file that is open
            assert server.scheme == "root" and same(found, values[0])
    sapwood.cache.flush()
    found, _ = read(url, folder)
    assert any(same(found, v) for v in values)


def test_two_urls_of_one_layout_are_kept_apart(server, versions, tmp_path):
    where, _, _, values = versions
    folder = tmp_path / "c"
    for name in ("old", "new"):
        os.utime(where / f"{name}.root", ns=LONG_AGO)
    for _ in range(2):
        for name, expected in zip(("old", "new"), values, strict=True):
            found, _ = read(server.url(where / f"{name}.root"), folder)
            assert same(found, expected)


def test_every_way_of_reading_goes_through_it(nginx, path, versions, tmp_path, monkeypatch):
    values = versions[3][0]
    monkeypatch.setenv("SAPWOOD_CACHE_DIR", str(tmp_path / "c"))
    sapwood.cache.configure(tmp_path / "c")
    url = nginx.url(path)
    read(url, None)
    sapwood.open(url)["h"]
    sapwood.cache.flush()
    tree = f"{url}:t"
    before = len(nginx.requests())
    name = NAMES[0]
    ways = {
        "iterate": lambda: np.concatenate([b[name] for b in sapwood.iterate(tree, [name], library="np")]),
        "concatenate": lambda: sapwood.concatenate([tree], [name], library="np")[name],
        "chain": lambda: sapwood.chain([tree]).arrays([name], library="np")[name],
        "entries": lambda: np.array([sapwood.open(tree)[name].array(library="np")[i] for i in (0, 5, 700)]),
    }
    for way, values_of in ways.items():
        found = values_of()
        assert np.array_equal(found, values[name][: len(found)] if way != "entries" else values[name][[0, 5, 700]]), way
    sapwood.open(tree).draw(name)
    sapwood.merge(str(tmp_path / "merged.root"), [url])
    assert same(sapwood.open(str(tmp_path / "merged.root"))["t"].arrays(NAMES, library="np"), values)
    # each opens the file with one request, and asks for nothing else
    asked = nginx.requests()[before:]
    assert sum(r.bytes for r in asked) < 5000 * len(asked), asked


def test_offline(server, path, versions, tmp_path):
    folder, url = tmp_path / "c", server.url(path)
    with pytest.raises(sapwood.FileMissingError, match="not in the local cache"):
        sapwood.open(url, local_cache=folder, offline=True)
    read(url, folder, NAMES[:2])
    with pytest.warns(sapwood.UnverifiedFileWarning, match="offline"):
        file = sapwood.open(url, local_cache=folder, offline=True)
    assert same(file["t"].arrays(NAMES[:2], library="np"), versions[3][0])
    assert file.io()["requests"] == 0
    with pytest.raises(sapwood.Error, match="not in the local cache"):
        file["t"].arrays(NAMES, library="np")


def test_two_processes_fill_one_folder(nginx, path, versions, tmp_path):
    code = (
        "import sys, json, sapwood\n"
        "tree = sapwood.open(sys.argv[1], local_cache=sys.argv[2])['t']\n"
        "values = tree.arrays(json.loads(sys.argv[3]), library='np')\n"
        "print(json.dumps({n: float(v.sum()) for n, v in values.items()}))\n"
    )
    words = [sys.executable, "-c", code, nginx.url(path), str(tmp_path / "c"), json.dumps(NAMES)]
    both = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    expected = {n: float(versions[3][0][n].sum()) for n in NAMES}
    for process in both:
        assert json.loads(process.communicate(timeout=120)[0]) == expected
    found, io = read(nginx.url(path), tmp_path / "c")
    assert same(found, versions[3][0]) and io["requests"] == 1


def test_flipped_bytes_cost_a_fetch_and_no_value(nginx, path, versions, tmp_path):
    folder, url = tmp_path / "c", nginx.url(path)
    read(url, folder)
    code = "import sys, sapwood; sapwood.open(sys.argv[1], local_cache=sys.argv[2])['t'].arrays(library='np')"
    random = np.random.default_rng(1)
    for turn in range(5):
        for kept in (p for p in folder.rglob("*") if p.is_file()):
            data = bytearray(kept.read_bytes())
            for at in random.integers(0, max(len(data), 1), 20):
                if data:
                    data[at] ^= 1 << (turn + 1)
            kept.write_bytes(data)
        subprocess.run([sys.executable, "-c", code, url, str(folder)], check=True, timeout=120)
        found, _ = read(url, folder)
        assert same(found, versions[3][0])


def test_a_folder_that_cannot_be_used_is_one_warning(nginx, path, versions, tmp_path):
    folder = tmp_path / "c"
    folder.write_text("a file")
    with pytest.warns(sapwood.UnverifiedFileWarning, match="local cache"):
        file = sapwood.open(nginx.url(path), local_cache=folder)
    assert same(file["t"].arrays(NAMES, library="np"), versions[3][0])


def test_the_command_turns_it_on_and_looks_into_it(run, nginx, path, tmp_path):
    url = nginx.url(path)

    def answer(*words):
        done = run(*words, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    assert answer("cache", "status")["enabled"] is False
    assert run("cache", "ls").returncode == 1
    on = answer("cache", "on", "--dir", tmp_path / "c", "--max", "3GB")
    assert (on["enabled"], on["max_bytes"], on["directory"]) == (True, 3_000_000_000, str(tmp_path / "c"))
    assert Path(on["configuration"]).stat().st_mode & 0o777 == 0o600
    draw = ["draw", f"{url}:t", NAMES[0]]
    first, second = answer(*draw), answer(*draw)
    assert first["histogram"] == second["histogram"]
    assert second["io"]["requests"] == 1 and second["io"]["local_cache_bytes"] > 0
    assert "from the local cache" in run(*draw).stdout + run(*draw).stderr
    status = answer("cache", "status")
    assert status["files"] == 1 and status["pieces"] > 0 and status["bytes"] > 0
    (held,) = answer("cache", "ls")["files"]
    assert held["url"] == url and held["size"] == path.stat().st_size and held["latest"]
    assert answer("cache", "info", url)["versions"][0]["bytes"] == held["bytes"]
    assert run("cache", "info", url + "x").returncode == 1
    assert answer("cache", "verify")["damaged"] == 0
    # the environment, and the argument, go before it
    off = run(*draw, "--json", env={**os.environ, "SAPWOOD_CACHE_DIR": "off"})
    assert json.loads(off.stdout)["io"]["local_cache_bytes"] == 0
    assert answer(*draw, "--local-cache", "off")["io"]["local_cache_bytes"] == 0
    assert answer(*draw, "--local-cache", tmp_path / "other")["io"]["local_cache_bytes"] == 0
    assert answer(*draw, "--offline")["io"]["requests"] == 0
    wrong = run(*draw, env={**os.environ, "SAPWOOD_CACHE_DIR": str(tmp_path / "c"), "SAPWOOD_CACHE_MAX": "20 parsecs"})
    assert wrong.returncode == 1 and "SAPWOOD_CACHE_MAX" in wrong.stderr and "20 parsecs" in wrong.stderr
    assert run("cache", "on", "--max", "much").returncode == 2
    assert answer("cache", "purge", url)["files"] == 1
    assert answer("cache", "status")["files"] == 0
    assert answer("cache", "off")["enabled"] is False
    assert answer(*draw)["io"]["local_cache_bytes"] == 0


def test_the_module_configures_the_process(nginx, path, tmp_path):
    assert sapwood.cache.status() is None
    sapwood.cache.configure(tmp_path / "c", max_bytes="1 GB")
    read(nginx.url(path), None)
    status = sapwood.cache.status()
    assert status["directory"] == tmp_path / "c" or str(status["directory"]) == str(tmp_path / "c")
    assert status["max_bytes"] == 1 << 30 and status["files"] == 1
    (held,) = sapwood.cache.ls()
    assert held["url"] == nginx.url(path)
    assert sapwood.cache.verify()["damaged"] == 0
    assert sapwood.cache.purge(nginx.url(path))["files"] == 1
    assert sapwood.cache.ls() == []
    for wrong in (True, 3, 2.5):
        with pytest.raises(sapwood.InvalidError, match="must be a path"):
            sapwood.cache.configure(wrong)
    with pytest.raises(sapwood.InvalidError, match="max_bytes"):
        sapwood.cache.configure(tmp_path, max_bytes="20 parsecs")
    with pytest.raises(sapwood.InvalidError, match="local_cache"):
        sapwood.open(nginx.url(path), local_cache=True)
    sapwood.cache.configure(False)
    assert sapwood.cache.status() is None


def test_cacheread_fetches_the_whole_file_while_it_is_read(server, path, versions, tmp_path):
    folder, url = tmp_path / "c", server.url(path)
    with pytest.raises(sapwood.InvalidError, match="needs a local cache"):
        sapwood.open(url, cacheread=True)
    sapwood.cache.configure(folder)
    with sapwood.open(url, cacheread=True) as file:
        assert same(file["t"].arrays(NAMES, library="np"), versions[3][0])
        deadline = time.monotonic() + 120
        while not any(held["whole"] for held in sapwood.cache.ls()):
            assert time.monotonic() < deadline, sapwood.cache.ls()
            time.sleep(0.05)
    with pytest.warns(sapwood.UnverifiedFileWarning, match="offline"):
        file = sapwood.open(url, offline=True)
    assert same(file["t"].arrays(NAMES, library="np"), versions[3][0])
    assert len(file["h"].values()) == 10_000


def test_the_command_fetches_whole_files(run, nginx, path, versions, tmp_path):
    url, cache = nginx.url(path), ["--local-cache", tmp_path / "c", "--json"]
    done = run("cache", "get", url, nginx.url(versions[0] / "old.root"), *cache)
    first, _ = json.loads(done.stdout)["files"]
    size = path.stat().st_size
    # what opening it brought is not counted
    assert first["url"] == url and first["size"] == size and first["bytes_fetched"] > size - 100_000
    again = json.loads(run("cache", "get", url, *cache).stdout)["files"][0]
    assert again["bytes_fetched"] < 5000
    missing = run("cache", "get", nginx.url(versions[0] / "none.root"), url, *cache)
    assert missing.returncode == 1 and "none.root" in missing.stderr
    assert json.loads(missing.stdout)["files"][0]["url"] == url
    assert "is off" in run("cache", "get", url).stderr


def test_a_weak_etag_alone_is_no_version_to_trust(versions, tmp_path):
    _, old, new, values = versions
    tag, folder = ['W/"old"'], tmp_path / "cache"
    with Scripted(old, lambda asked, data: good(asked, data, [("ETag", tag[0])])) as server:
        assert same(read(server.url(), folder)[0], values[0])
        found, io = read(server.url(), folder)
        assert same(found, values[0]) and io["local_cache_bytes"] > 0
        server.data, tag[0] = new, 'W/"new"'
        assert same(read(server.url(), folder)[0], values[1])
        # what was read last is what is there
        with pytest.warns(sapwood.UnverifiedFileWarning, match="offline"):
            assert same(read(server.url(), folder, offline=True)[0], values[1])


def test_a_missing_part_is_no_missing_key(nginx, path, tmp_path):
    folder = tmp_path / "cache"
    with sapwood.open(nginx.url(path), local_cache=folder) as file:
        file.keys()
    sapwood.cache.flush()
    with pytest.warns(sapwood.UnverifiedFileWarning, match="offline"):
        file = sapwood.open(nginx.url(path), local_cache=folder, offline=True)
    assert "t" in file
    with pytest.raises(sapwood.FileMissingError, match="not in the local cache"):
        file.get("t", "default").arrays(NAMES, library="np")


def test_folders_are_named_as_on_the_command_line(path, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    sapwood.open(path, local_cache="~/kept")
    assert not (Path.cwd() / "~").exists()
    with sapwood.open(path, local_cache="off"):
        assert not (Path.cwd() / "off").exists()
    with pytest.raises(sapwood.InvalidError, match="not the URL"):
        sapwood.open(path, local_cache="http://127.0.0.1/cache")


READ = (
    "import json, sys, sapwood\n"
    "file = sapwood.open(sys.argv[1], local_cache=sys.argv[2])\n"
    "file['t'].arrays(json.loads(sys.argv[3]), library='np')\n"
)


def test_all_that_a_process_read_is_kept_when_it_ends(server, path, versions, tmp_path):
    # the file is not closed, and the process ends right after the last value
    folder, url = tmp_path / "c", server.url(path)
    subprocess.run([sys.executable, "-c", READ, url, str(folder), json.dumps(NAMES)], check=True, timeout=120)
    with pytest.warns(sapwood.UnverifiedFileWarning, match="offline"):
        file = sapwood.open(url, local_cache=folder, offline=True)
    assert same(file["t"].arrays(NAMES, library="np"), versions[3][0])


def test_all_of_a_small_file_is_kept_where_ranges_come_one_by_one(path, versions, tmp_path):
    folder = tmp_path / "c"

    def single(asked, data):
        return good(asked._replace(ranges=asked.ranges[:1]), data, [("ETag", '"one"')])

    with Scripted(path.read_bytes(), single) as server:
        for names in (NAMES[:1], NAMES):
            with sapwood.open(server.url(), local_cache=folder) as file:
                file["t"].arrays(names, library="np")
                before = len(server.asked)
            sapwood.cache.flush()
            # the file's first bytes once more, at most
            assert len(server.asked) <= before + 1, server.asked[before:]
            with pytest.warns(sapwood.UnverifiedFileWarning, match="offline"):
                file = sapwood.open(server.url(), local_cache=folder, offline=True)
            assert same(file["t"].arrays(names, library="np"), versions[3][0])
