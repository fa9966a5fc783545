"""`sapwood proxy` fetches ahead for ROOT without a tree cache: counted at the proxy, which reads from the origin."""

from __future__ import annotations

import json
import re
import urllib.request

import numpy as np
import pytest
from test_caching_proxy import Proxy
from test_serve_root import Served, separate

import sapwood

ENTRIES = 60_000
BRANCHES = 24

#: Entry by entry, without a cache: each basket is a request. Prints the sum of what was read, and the number of reads.
READ = """
import sys, json, ROOT
file = ROOT.TFile.Open(sys.argv[1])
tree = file.Get("t")
tree.SetCacheSize(0)
tree.SetBranchStatus("*", 0)
for name in ("x3", "x4", "x9"):
    tree.SetBranchStatus(name, 1)
total = 0.0
for number in range(tree.GetEntries()):
    tree.GetEntry(number)
    total += tree.GetLeaf("x3").GetValue() + tree.GetLeaf("x4").GetValue() + tree.GetLeaf("x9").GetValue()
print(json.dumps([total, file.GetReadCalls(), file.GetBytesRead()]))
"""

#: The same of an ntuple: each page is a request. What was read is counted by the server of the proxy.
READ_NTUPLE = """
import sys, json, ROOT
options = ROOT.RNTupleReadOptions()
options.SetClusterCache(ROOT.RNTupleReadOptions.EClusterCache.kOff)
reader = ROOT.RNTupleReader.Open("n", sys.argv[1], options)
views = [reader.GetView["float"](name) for name in ("x3", "x4", "x9")]
total = 0.0
for number in range(reader.GetNEntries()):
    total += sum(view(number) for view in views)
# before the reader
del views
print(json.dumps(total))
"""


@pytest.fixture
def folder(tmp_path):
    random = np.random.default_rng(5)
    columns = {f"x{i}": random.integers(0, 1 << 20, ENTRIES).astype("f4") for i in range(BRANCHES)}
    with sapwood.recreate(tmp_path / "t.root", compression="none") as file:
        types = dict.fromkeys(columns, "f4")
        tree = file.mktree("t", types, basket_size=4000, auto_flush=ENTRIES, optimize_baskets=False)
        tree.extend(columns)
        file.mkntuple("n", types, page_size=4000, cluster_size=400_000).extend(columns)
    return tmp_path, float(sum(columns[name].astype("f8").sum() for name in ("x3", "x4", "x9")))


def figures(proxy):
    with urllib.request.urlopen(proxy.http + "metrics", timeout=10) as answer:
        return {n: int(v) for n, v in re.findall(r"^sapwood_proxy_(\w+) (\d+)$", answer.read().decode(), re.M)}


@pytest.mark.parametrize("prefetch", ["off", "32MB"])
def test_root_without_a_cache(root_here, command, folder, tmp_path, prefetch):
    path, total = folder
    origin = Served(command, path, "--delay", "10ms")
    proxy = Proxy(command, tmp_path / "cache", "--origin", origin.first["root"], "--prefetch", prefetch)
    try:
        got, reads, read = json.loads(separate("ROOT", READ, proxy.root + "t.root").splitlines()[-1])
        now = figures(proxy)
    finally:
        proxy.stop()
        origin.stop()
    assert got == total
    assert reads > 150
    ratio = now["origin_bytes_total"] / read
    if prefetch == "off":
        assert now["origin_requests_total"] >= reads * 0.9 and ratio < 1.05, now
    else:
        assert now["origin_requests_total"] < reads / 2 and ratio < 1.5, now
        assert now["ahead_bytes_total"] > read / 2, now


def test_an_ntuple_is_fetched_ahead(root_here, command, folder, tmp_path):
    path, total = folder
    requests, fetched = {}, {}
    for prefetch in ("off", "32MB"):
        origin = Served(command, path, "--delay", "10ms")
        cache = tmp_path / f"cache-{prefetch}"
        proxy = Proxy(command, cache, "--origin", origin.first["root"], "--prefetch", prefetch)
        try:
            got = json.loads(separate("ROOT", READ_NTUPLE, proxy.root + "t.root").splitlines()[-1])
            now = figures(proxy)
        finally:
            proxy.stop()
            origin.stop()
        assert got == total
        requests[prefetch], fetched[prefetch] = now["origin_requests_total"], now["origin_bytes_total"]
        assert (now["ahead_bytes_total"] > 3 * 4 * ENTRIES / 2) == (prefetch != "off"), now
    assert requests["off"] > 150 and requests["32MB"] < requests["off"] / 2, requests
    assert fetched["32MB"] < 1.5 * fetched["off"], fetched
