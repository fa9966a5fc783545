"""What a real XCache notes of its reads is a trace for `sapwood simulate`."""

import json
import shutil
import subprocess
import time

import numpy as np
import pytest
from servers import SERVERS, Skip, xcache

import sapwood

SCENARIO = """
check_jobs = 0
[[site]]
name = "near"
cores = 4
proxy = "1 GB"
[[site]]
name = "far"
[[link]]
from = "near"
to = "far"
rtt = "20ms"
bandwidth = "1 Gbit/s"
[[trace]]
file = "notes.json"
site = "near"
origin = "far"
[[policy]]
kind = "pull"
"""


@pytest.fixture
def cache(public, command):
    if not shutil.which("xrdpfc_print"):
        pytest.skip("xrdpfc_print is not installed")
    folder = public / "noted"
    folder.mkdir()
    with sapwood.recreate(folder / "noise.root", compression=None) as file:
        file["t"] = {f"x{i}": np.random.default_rng(i).random(200_000) for i in range(5)}
    servers = []
    try:
        servers.append(SERVERS["xrootd"](folder, command))
        # a file that is being fetched on is open, and its last read not noted
        servers.append(xcache(servers[0], prefetch=0))
    except Skip as reason:
        for server in servers:
            server.stop()
        pytest.skip(str(reason))
    yield servers[1]
    for server in reversed(servers):
        server.stop()


def notes(cache, accesses):
    """What XCache has noted, as soon as these are there; the lines of `xrdpfc_print -j`, and the files."""
    for _ in range(120):
        files = list((cache.run / "root").rglob("*.cinfo"))
        if files:
            done = subprocess.run(["xrdpfc_print", "-j", *files], capture_output=True, text=True, check=False)
            lines = [json.loads(line) for line in done.stdout.splitlines() if line.strip()]
            if sum(len(line["accesses"]) for line in lines) >= accesses:
                return done.stdout, files
        time.sleep(0.5)
    pytest.skip("XCache has noted no accesses")


def replayed(command, folder, text):
    """The report of a scenario with this trace."""
    (folder / "notes.json").write_text(text)
    (folder / "replay.toml").write_text(SCENARIO)
    words = [command, "simulate", folder / "replay.toml", "--json"]
    done = subprocess.run(words, check=True, capture_output=True, text=True, timeout=120)
    return json.loads(done.stdout)


def test_what_xcache_notes_is_replayed(cache, command, tmp_path):
    path = cache.folder / "noise.root"
    for name in ("x1", "x1"):
        # a process of its own: the file is closed when it ends
        words = [command, "draw", f"{cache.url(path)}:t", name, "--local-cache", "off", "--json"]
        subprocess.run(words, check=True, capture_output=True, timeout=120)
    text, files = notes(cache, 2)
    report = replayed(command, tmp_path, text)
    (pull,) = report["policies"]
    (noted,) = [json.loads(line) for line in text.splitlines() if line.strip()]
    assert noted["file_size"] == path.stat().st_size
    assert pull["tasks"]["completed"] == len(noted["accesses"]) == 2
    read = [sum(access[key] for key in ("B_hit", "B_miss", "B_bypass")) for access in noted["accesses"]]
    # a fifth of the file and what opening takes, twice
    assert all(0.2 <= n / path.stat().st_size < 0.3 for n in read), read
    moved = pull["moved_bytes"] - pull["header_bytes"] - pull["unread_bytes"]
    proxies = pull["proxies"]
    assert (moved, proxies["hit_bytes"] + proxies["miss_bytes"]) == (max(read), sum(read))
    # as text: the same in bytes, less than a kB for each number in kB
    listing = [["xrdpfc_print", *words, *files] for words in (["-u", "B"], ["-v", "-u", "B"], [])]
    texts = [subprocess.run(words, check=True, capture_output=True, text=True).stdout for words in listing]
    for printed in texts[:2]:
        assert replayed(command, tmp_path, printed)["policies"] == report["policies"]
    (rounded,) = replayed(command, tmp_path, texts[2])["policies"]
    sums = [p["proxies"]["hit_bytes"] + p["proxies"]["miss_bytes"] for p in (rounded, pull)]
    assert sums[1] - 6 * 1024 < sums[0] <= sums[1] and rounded["tasks"]["completed"] == 2
    # the times of the accesses are noted, too: the trace is as long as from the first to the last
    assert report["seconds"] < 600
