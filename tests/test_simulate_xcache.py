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
    """What XCache has noted, as soon as these are there; the lines of `xrdpfc_print -j`."""
    for _ in range(120):
        files = list((cache.run / "root").rglob("*.cinfo"))
        if files:
            done = subprocess.run(["xrdpfc_print", "-j", *files], capture_output=True, text=True, check=False)
            lines = [json.loads(line) for line in done.stdout.splitlines() if line.strip()]
            if sum(len(line["accesses"]) for line in lines) >= accesses:
                return done.stdout
        time.sleep(0.5)
    pytest.skip("XCache has noted no accesses")


def test_what_xcache_notes_is_replayed(cache, command, tmp_path):
    path = cache.folder / "noise.root"
    for name in ("x1", "x1"):
        # a process of its own: the file is closed when it ends
        words = [command, "draw", f"{cache.url(path)}:t", name, "--local-cache", "off", "--json"]
        subprocess.run(words, check=True, capture_output=True, timeout=120)
    text = notes(cache, 2)
    (tmp_path / "notes.json").write_text(text)
    (tmp_path / "replay.toml").write_text(SCENARIO)
    words = [command, "simulate", tmp_path / "replay.toml", "--json"]
    done = subprocess.run(words, check=True, capture_output=True, text=True, timeout=120)
    report = json.loads(done.stdout)
    (pull,) = report["policies"]
    (noted,) = [json.loads(line) for line in text.splitlines() if line.strip()]
    assert noted["file_size"] == path.stat().st_size
    assert pull["tasks"]["completed"] == len(noted["accesses"]) == 2
    read = [sum(access[key] for key in ("B_hit", "B_miss", "B_bypass")) for access in noted["accesses"]]
    # a fifth of the file and what opening takes, twice; the simulator counts to a hundredth of the file
    assert all(0.2 <= n / path.stat().st_size < 0.3 for n in read), read
    moved = pull["moved_bytes"] - pull["header_bytes"] - pull["unread_bytes"]
    assert moved == pytest.approx(max(read), abs=0.03 * path.stat().st_size)
    # the times of the accesses are noted, too: the trace is as long as from the first to the last
    assert report["seconds"] < 600
