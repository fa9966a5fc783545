"""XRootD end to end: the same answers as from disk, and figures that agree with the server's log."""

import json
import re
import time

import awkward as ak
import numpy as np
import pytest
from running_servers import running

import sapwood


@pytest.fixture
def xrootd(public, flat):
    """A server of its own, so that its log holds one test's requests only."""
    with running("xrootd", public) as started:
        yield started


def asked(server, *kinds):
    """The requests of these kinds in the server's log."""
    return re.findall(rf"req=({'|'.join(kinds)}) ", server.log.read_text())


@pytest.mark.parametrize("verb", [["show"], ["ls"], ["scan", "x", "--limit", "20"], ["draw", "x", "x > 10"]])
def test_every_verb_says_the_same_as_locally(run, xrootd, flat, verb):
    name, *rest = verb
    tree = "" if name == "ls" else ":t"
    remote = run(name, xrootd.url(flat) + tree, *rest)
    local = run(name, flat + tree, *rest)
    assert remote.returncode == 0, remote.stderr
    # the last line of a drawing tells requests and time
    end = -1 if name == "draw" else None
    assert remote.stdout.splitlines()[:end] == local.stdout.splitlines()[:end]


def test_figures_are_those_of_the_servers_log(run, xrootd, flat):
    done = run("draw", xrootd.url(flat) + ":t", "x", "--json")
    io = json.loads(done.stdout)["io"]
    assert io["requests"] == len(asked(xrootd, "open", "read", "readv", "pgread"))
    sent = [
        int(n)
        for n in re.findall(r"(?: sending|sendfile) (?:final 8 info and )?(\d+) data bytes", xrootd.log.read_text())
    ]
    assert io["bytes_fetched"] <= sum(sent)
    assert io["bytes_fetched"] >= io["bytes_wanted"] > 0
    # TCP, everything at once, the file's end, perhaps the tree, the baskets
    assert 3 <= io["round_trips"] <= 6
    assert len(asked(xrootd, "login")) == io["connections"]


def test_two_files_share_a_session(xrootd, flat):
    options = {"cache_size": 0}
    first, second = sapwood.open(xrootd.url(flat), **options), sapwood.open(xrootd.url(flat), **options)
    local = sapwood.open(flat)["t"]
    for tree, name in ((first["t"], "x"), (second["t"], "jagged"), (first["t"], "matrix")):
        assert ak.array_equal(tree[name].array(library="ak"), local[name].array(library="ak"))
    assert len(asked(xrootd, "login")) == 1


def test_directories_are_listed(run, xrootd, flat):
    folder = xrootd.url(flat).rsplit("/", 1)[0]
    for url in (folder, folder + "/"):
        done = run("ls", url, "--json")
        assert done.returncode == 0, done.stderr
        entries = {entry["name"]: entry for entry in json.loads(done.stdout)["entries"]}
        assert not entries["flat-zlib.root"]["directory"]
        assert entries["flat-zlib.root"]["bytes"] > 1000
    assert "flat-zlib.root" in run("ls", folder + "/").stdout


@pytest.mark.parametrize("scheme", ["root://", "xroot://"])
def test_a_pattern_keeps_what_stands_behind_the_question_mark(run, xrootd, flat, scheme):
    url = xrootd.url(flat.replace("flat-zlib", "flat-z*b")).replace("root://", scheme)
    verb = ["draw", f"{url}?a.b=*/?&authz=TOK:t", "x", "--json"]
    plain = run("draw", f"{url}:t", "x", "--json")
    done = run(*verb)
    assert (done.returncode, plain.returncode) == (0, 0), done.stderr
    counts = [json.loads(out.stdout)["histogram"]["counts"] for out in (done, plain)]
    assert counts[0] == counts[1]


def test_a_file_is_located(run, xrootd, flat):
    done = run("ls", "--locate", xrootd.url(flat), "--json")
    assert done.returncode == 0, done.stderr
    (server,) = json.loads(done.stdout)["servers"]
    assert server.endswith(f":{xrootd.port}") and run("ls", "--locate", xrootd.url(flat)).stdout == f"{server}\n"
    assert len(asked(xrootd, "locate")) == 2 and not asked(xrootd, "open")
    missing = run("ls", "--locate", xrootd.url(flat).replace("flat", "none"))
    assert missing.returncode == 1 and "none-zlib.root" in missing.stderr
    web = run("ls", "--locate", "http://Aladdin:S3CR3T@localhost/flat.root")
    assert web.returncode == 1 and "root://" in web.stderr and "S3CR3T" not in web.stderr


def test_what_is_said_to_the_server(xrootd, public):
    """One session: limits asked once, long reads with checksums, scattered ones as vectors, the file closed."""
    path = public / "said.root"
    values = np.random.default_rng(3).random((3, 400_000))
    with sapwood.recreate(path) as file:
        tree = file.mktree("t", dict.fromkeys("abc", values[0]), auto_flush=2000, basket_size="64 kB")
        if tree.num_entries == 0:
            tree.extend(dict(zip("abc", values, strict=True)))
    with sapwood.open(xrootd.url(path)) as file:
        tree = file["t"]
        assert np.array_equal(tree["b"].array(library="np"), tree.arrays(library="np")["b"])
        arrays = tree.arrays(["a", "c"], library="np")
    assert np.array_equal(arrays["a"], values[0]) and np.array_equal(arrays["c"], values[2])
    for kind in ("pgread", "readv"):
        assert asked(xrootd, kind), kind
    assert len(asked(xrootd, "query")) <= len(asked(xrootd, "login"))
    deadline = time.monotonic() + 10
    while not asked(xrootd, "close") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(asked(xrootd, "close")) >= 1


def test_errors_name_the_file_and_no_token(run, xrootd, flat):
    url = xrootd.url(flat).replace("flat", "none") + "?authz=S3CR3T"
    done = run("ls", url)
    assert done.returncode == 1
    assert "none-zlib.root" in done.stderr
    assert "S3CR3T" not in done.stderr + done.stdout
    with pytest.raises(FileNotFoundError, match="none-zlib") as caught:
        sapwood.open(url)
    assert "S3CR3T" not in str(caught.value)
