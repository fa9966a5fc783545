"""Pages with the same bytes are stored once, and the doctor does not take them for damage."""

from __future__ import annotations

import numpy as np
import pytest

import sapwood


def damage(path, deep=True):
    return [f["what"] for f in sapwood.doctor(path, deep=deep).findings if f["severity"] == "damage"]


def test_columns_of_different_types(tmp_path, run):
    path = tmp_path / "n.root"
    zeros = {"a": np.zeros(64, np.int32), "b": np.zeros((64, 4), np.int8), "c": np.zeros((64, 2), np.uint16)}
    with sapwood.recreate(path, compression=None, format="ntuple") as file:
        file["n"] = zeros
    assert path.stat().st_size < 3 * 256 + 4000
    assert damage(path) == damage(path, deep=False) == []
    assert run("doctor", path).returncode == 0


def test_fields_that_inputs_of_a_union_lack(tmp_path, run):
    inputs = [tmp_path / "a.root", tmp_path / "b.root"]
    for path, name, dtype in zip(inputs, "ab", (np.int32, np.float64), strict=True):
        with sapwood.recreate(path, format="ntuple") as file:
            file["n"] = {"x": np.arange(10), name: np.arange(10, dtype=dtype), name * 2: np.zeros((10, 2), dtype)}
    sapwood.merge(tmp_path / "out.root", inputs, union=True)
    assert damage(tmp_path / "out.root") == []


@pytest.mark.parametrize("name", ["types.optional.root", "types.user.class.root"])
def test_files_of_root(corpus, name):
    path = corpus / "rntuple-validation" / name
    if not path.exists():
        pytest.skip("not in this corpus")
    assert damage(path) == damage(path, deep=False) == []


def test_an_overlap_is_damage(tmp_path):
    """The page list says that the second page begins within the first one."""
    uproot = pytest.importorskip("uproot")
    xxhash = pytest.importorskip("xxhash")
    path = tmp_path / "n.root"
    with sapwood.recreate(path, compression=None, format="ntuple") as file:
        file["n"] = {"a": np.arange(64, dtype=np.int32), "b": np.arange(100, 164, dtype=np.int32)}
    with uproot.open(path) as file:
        footer = file["n"].footer
        pages = [column.pages[0].locator.offset for column in file["n"].page_link_list[0]]
        locator = footer.cluster_group_records[0].page_list_link.locator
    data = bytearray(path.read_bytes())
    start, end = locator.offset, locator.offset + locator.num_bytes
    envelope = bytes(data[start : end - 8])
    moved = (pages[1] - 4).to_bytes(8, "little")
    assert envelope.count(pages[1].to_bytes(8, "little")) == 1
    envelope = envelope.replace(pages[1].to_bytes(8, "little"), moved)
    data[start:end] = envelope + xxhash.xxh3_64_intdigest(envelope).to_bytes(8, "little")
    path.write_bytes(data)
    assert any("overlaps" in what for what in damage(path, deep=False))
