"""A cold open of an ntuple takes as many requests as that of a tree with the same numbers."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from running_servers import running

import sapwood

SHAPES = {5: 1, 100: 1, 300: 3, 1000: 30}

#: Requests until the header is there, and until the first values are.
COUNT = """
import json, sys, sapwood
tree = sapwood.open(sys.argv[1] + ":t", local_cache=False)
opened = tree.file.io()["requests"]
# not those at the beginning of the file, which come with its head
names = tree.keys()[-1:] + tree.keys()[len(tree.keys()) // 2:][:1]
values = tree.arrays(names, entry_stop=50, library="np")
print(json.dumps([opened, tree.file.io()["requests"], float(values[names[1]].sum())]))
"""


@pytest.fixture(scope="module")
def folder(public, macro):
    """Trees and ntuples of ROOT, and of ours: some by ROOT's names, ours with `ours-`."""
    folder = public / "first-pages"
    folder.mkdir()
    macro("first_pages.C", folder)
    for fields, clusters in SHAPES.items():
        with sapwood.open(folder / f"{fields}-tree.root") as file:
            values = file["t"].arrays(library="np")
        for kind in ("tree", "ntuple"):
            with sapwood.recreate(folder / f"ours-{fields}-{kind}.root") as out:
                types = dict.fromkeys(values, "f4")
                made = out.mktree("t", types) if kind == "tree" else out.mkntuple("t", types)
                for i in range(clusters):
                    made.extend({name: column[200 * i : 200 * (i + 1)] for name, column in values.items()})
                    made.flush()
    return folder


def count(url):
    done = subprocess.run([sys.executable, "-c", COUNT, url], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("writer", ["", "ours-"])
@pytest.mark.parametrize("kind", ["nginx", "xrootd"])
def test_an_ntuple_takes_no_more_requests_than_a_tree(folder, command, kind, writer):
    with running(kind, folder, command) as server:
        for fields in SHAPES:
            tree, ntuple = (count(server.url(folder / f"{writer}{fields}-{k}.root")) for k in ("tree", "ntuple"))
            assert ntuple[2] == tree[2]
            assert ntuple[0] <= tree[0] and ntuple[1] <= tree[1], (fields, tree, ntuple)
            # both ends of the file; what is not in them of header, page lists and footer; pages
            assert ntuple[1] <= (3 if kind == "nginx" else 5), (fields, ntuple)
