"""Ntuples as doctor, map and show see them: compared with positions from uproot."""

from __future__ import annotations

import json

import pytest
import uproot

import sapwood


@pytest.fixture(scope="module")
def folder(public, macro):
    folder = public / "ntuple-layout"
    folder.mkdir()
    macro("ntuples.C", folder)
    return folder


def pages(path):
    """Offset and bytes of every page, checksum included, as uproot reads them from the page lists."""
    with uproot.open(path) as file:
        columns = [column for cluster in file["n"].page_link_list for column in cluster]
        spans = [(p.locator.offset, p.locator.num_bytes + 8) for column in columns for p in column.pages]
        return sorted(spans)


@pytest.mark.parametrize("name", ["zstd", "uncompressed", "late"])
def test_every_page_is_where_uproot_finds_it(run, folder, name):
    path = folder / f"{name}.root"
    done = run("map", "--json", path)
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    (tree,) = data["trees"]
    assert tree["consists_of"] == "pages"
    found = sorted((offset, size) for b in tree["branches"] for _, offset, size in b["baskets"])
    assert found == pages(path)
    assert tree["baskets"] == len(found)
    what = [r["what"] for r in data["records"]]
    assert {"header of n", "page list of n", "footer of n", "ROOT::RNTuple n;1"} <= set(what)


def test_fields_are_told_apart(run, folder, tmp_path):
    path = folder / "zstd.root"
    done = run("map", "--json", f"{path}:n", "-b", "ps*", "-b", "f")
    data = json.loads(done.stdout)
    names = {b["name"]: b["chosen"] for b in data["trees"][0]["branches"]}
    # the ends of the list belong to ps itself
    assert names == {"ps": 0, "ps.n": 0, "ps.x": 0, "ps.ys": 0, "f": 1}
    done = run("map", "-q", path, "-b", "ps", "-o", tmp_path / "map.svg", "-o", tmp_path / "map.png")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "map.svg").read_bytes().count(b'fill="#2c6e49"') > 1
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    assert sapwood.map(f"{path}:n", ["ps*", "f"]).data == data


def test_the_doctor_counts_pages_and_requests(run, folder):
    path = folder / "uncompressed.root"
    found = sapwood.doctor(path, deep=True)
    assert found.data == json.loads(run("doctor", "--deep", "--json", path).stdout)
    assert found.healthy
    all_pages = pages(path)
    damage, (tree,) = found.data["damage"], found.trees
    assert (damage["ntuples"], damage["trees"], damage["pages"]) == (1, 0, len(all_pages))
    # some pages have the same bytes as others
    assert damage["baskets_decompressed"] == len(set(all_pages)) == len(all_pages) - tree["shared"]
    assert (tree["tree"], tree["consists_of"], tree["baskets"]) == ("n", "pages", len(all_pages))
    assert tree["bytes"] == sum(size for _, size in set(all_pages))
    assert tree["overlapping"] == 0
    sizes = [size for _, size in all_pages]
    assert (tree["smallest_basket"], tree["largest_basket"]) == (min(sizes), max(sizes))
    assert len(tree["clusters"]) > 3
    cost = next(c for c in tree["costs"] if c["reads"] == "all branches" and c["cache_bytes"] == 0)
    assert cost["now"]["requests"] == len(all_pages) > cost["rewritten"]["requests"]
    text = run("doctor", path).stdout
    assert f"1 ntuple with {len(all_pages)} pages" in text
    assert "largest fields: " in text


def test_a_damaged_page_is_found_and_named(folder, tmp_path):
    data = bytearray((folder / "uncompressed.root").read_bytes())
    offset, size = next(p for p in pages(folder / "uncompressed.root") if p[1] > 100)
    data[offset + size // 2] ^= 4
    (tmp_path / "bad.root").write_bytes(data)
    # the page's checksum is verified only when it is read
    assert sapwood.doctor(tmp_path / "bad.root").healthy
    bad = sapwood.doctor(tmp_path / "bad.root", deep=True)
    assert not bad.healthy
    (finding,) = [f for f in bad.findings if f["severity"] == "damage"]
    assert finding["part"] == "page"
    assert finding["bytes"][0] == offset
    assert "does not match its checksum" in finding["what"]


def test_damaged_metadata_are_found(folder, tmp_path):
    data = bytearray((folder / "zlib.root").read_bytes())
    (footer,) = [r for r in sapwood.map(folder / "zlib.root").data["records"] if r["what"] == "footer of n"]
    data[footer["offset"] + 20] ^= 1
    (tmp_path / "bad.root").write_bytes(data)
    bad = sapwood.doctor(tmp_path / "bad.root")
    assert any(f["severity"] == "damage" and f["object"].startswith("n;1") for f in bad.findings)


def test_show_counts_pages(run, folder):
    path = folder / "zstd.root"
    shown = json.loads(run("show", "--json", f"{path}:n").stdout)
    rows = {b["path"]: b for b in shown["branches"]}
    assert rows["f"]["compression"] == "zstd 5"
    assert rows["ps"]["pages"] > rows["ps.x"]["pages"] > 1
    assert len(shown["clusters"]) > 3
    text = run("show", f"{path}:n").stdout
    assert "field" in text
    assert "pages" in text
    assert "basket" not in text


def test_a_field_costs_its_own_pages(folder):
    (tree,) = sapwood.doctor(folder / "wide.root").trees
    one = next(c for c in tree["costs"] if c["reads"] == "one branch" and c["cache_bytes"] == 0)
    assert 0 < one["now"]["bytes"] < tree["bytes"] / 100
