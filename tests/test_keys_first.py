"""Listing the keys of a remote file asks for the keys, not for where a tree's header may be."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
import uproot
from running_servers import running


@pytest.fixture(scope="module")
def keys_in_the_middle(public):
    """A file of more than 1 MB whose key list is far in front of its end, as ROOT writes it with AutoSave."""
    path = public / "keys-in-the-middle.root"
    with uproot.recreate(path, compression=None) as file:
        file["t"] = {"x": np.arange(200_000.0)}
    with uproot.open(path) as file:
        at, length, directory = file.fSeekKeys, file.fNbytesKeys, file.file.fBEGIN + file.file.fNbytesName
    data = bytearray(path.read_bytes())
    # nobody reads the baskets here
    middle = len(data) // 2
    data[middle : middle + length] = data[at : at + length]
    data[directory + 26 : directory + 30] = middle.to_bytes(4, "big")
    assert int.from_bytes(data[directory : directory + 2], "big") < 1000, "positions of four bytes"
    path.write_bytes(data)
    os.chmod(path, 0o644)
    return str(path), middle, length


@pytest.mark.parametrize("how", ["ls", "keys"])
@pytest.mark.parametrize("kind", ["nginx", "xrootd"])
def test_listing_keys_asks_for_no_tree_header(public, command, keys_in_the_middle, kind, how):
    path, middle, length = keys_in_the_middle
    with running(kind, public) as server:
        url = server.url(path)
        script = f"import json, sapwood; print(json.dumps(sapwood.open({url!r}).keys()))"
        words = [command, "ls", url, "--json"] if how == "ls" else [sys.executable, "-c", script]
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert "t" in json.dumps(json.loads(done.stdout))
        if kind == "nginx":
            requests = server.requests()
            assert len(requests) == 2, requests
            assert f"{middle}-{middle + length - 1}" in requests[1].range, requests
            assert sum(r.bytes for r in requests) < 42_000, requests
        else:
            asked = re.findall(r"req=(open|read|readv|pgread) ", server.log.read_text())
            assert asked in (["open", "read", "readv"], ["open", "read", "read", "read"]), asked


@pytest.mark.parametrize("verb", ["draw", "scan"])
@pytest.mark.parametrize("kind", ["keys at the end", "keys in the middle"])
def test_a_missing_branch_costs_no_more_than_opening_the_tree(public, command, keys_in_the_middle, kind, verb):
    path = keys_in_the_middle[0]
    if kind == "keys at the end":
        path = str(public / "keys-at-the-end.root")
        with uproot.recreate(path) as file:
            file["t"] = {f"x{i}": np.arange(20_000.0) for i in range(30)}
        os.chmod(path, 0o644)
    costs = []
    for words in [
        ["show"],
        [verb, "absent"],
        [verb, "x0" if kind == "keys at the end" else "x", "absent > 1"],
        ["draw"],
    ]:
        with running("nginx", public) as server:
            done = subprocess.run(
                [command, words[0], f"{server.url(path)}:t", *words[1:]], capture_output=True, text=True, timeout=60
            )
            costs.append((len(server.requests()), sum(r.bytes for r in server.requests())))
        if len(words) > 1:
            assert "the tree has no branch absent" in done.stderr
    # draw without an expression names a branch of the tree
    assert costs == [costs[0]] * 4, costs
    assert costs[0][1] < 200_000
