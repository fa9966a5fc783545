"""sapwood merge and optimize of ntuples: every value, by Sapwood, uproot and ROOT; what is refused; damage."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import uproot
from test_ntuple import FILES, entry

import sapwood

ak = pytest.importorskip("awkward")

N = 1000


@pytest.fixture(scope="module")
def folder(public, macro):
    folder = public / "ntuples-to-merge"
    folder.mkdir()
    macro("ntuples.C", folder)
    return folder


@pytest.fixture
def shown(macro, tmp_path):
    """The entries of files, as ROOT shows them."""

    def shown(*files):
        # beside the file, and not in a directory that tests share
        for i, file in enumerate(files):
            shutil.copy(file, tmp_path / f"shown-{i}.root")
        paths = [str(tmp_path / f"shown-{i}.root") for i in range(len(files))]
        macro("ntuple_entries.C", tmp_path, '"n"', '"' + " ".join(paths) + '"')
        return [(Path(f"{p}.entries")).read_text().split("\f")[:-1] for p in paths]

    return shown


def lists(tree):
    """All fields as lists."""
    return {name: ak.to_list(tree[name].array()) for name in tree.keys() if "." not in name}


def repeated(values, times):
    return {name: list(v) * times for name, v in values.items()}


def pages(path):
    """Place and length of every page of a file, by uproot."""
    with uproot.open(path) as file:
        clusters = file["n"].page_link_list
        columns = [column for cluster in clusters for column in cluster]
        return [(p.locator.offset, p.locator.num_bytes) for c in columns for p in c.pages]


def test_values_are_those_of_all_inputs(folder, tmp_path, shown):
    """Inputs of other codecs, and of other encodings: those of an uncompressed file are plain."""
    out = tmp_path / "out.root"
    inputs = [folder / f"{name}.root" for name in FILES]
    report = sapwood.merge(out, inputs)
    assert [(t["path"], t["entries"], t["inputs"]) for t in report["trees"]] == [("n", 5000, 5)]
    expected = [entry(i) for i in range(N)] * 5
    ours = lists(sapwood.open(out)["n"])
    for field in expected[0]:
        assert ours[field] == [e[field] for e in expected], field
    theirs = uproot.open(out)["n"]
    for field in ["flag", "i64", "d", "s", "vv", "vs", "a", "o", "ps", "t"]:
        assert ak.to_list(theirs[field].array()) == ours[field], field
    whole, *parts = shown(out, *inputs)
    assert whole == [e for part in parts for e in part]
    assert len(whole) == 5000


def test_pages_are_copied_and_stored_once(folder, tmp_path):
    out = tmp_path / "out.root"
    source = folder / "zstd.root"
    report = sapwood.merge(out, [source, source])
    old, new = source.read_bytes(), out.read_bytes()
    before, after = pages(source), pages(out)
    assert len(after) == 2 * len(before)
    for (a, n), (b, m) in zip(before * 2, after, strict=True):
        # with the checksum behind it
        assert old[a : a + n + 8] == new[b : b + m + 8]
    assert report["trees"][0]["pages"] == len(set(after)) == 2 * len(set(before))


@pytest.mark.parametrize("name", ["late", "precision"])
def test_hadd_agrees(folder, tmp_path, shown, root_here, name):
    inputs = [folder / f"{name}.root"] * 2
    hadd = next(Path(sys.executable).parent.parent.glob("lib/python3*/site-packages/ROOT/bin/hadd"))
    subprocess.run([hadd, "-v", "0", "-ff", tmp_path / "theirs.root", *inputs], check=True, capture_output=True)
    sapwood.merge(tmp_path / "ours.root", inputs)
    theirs, ours = shown(tmp_path / "theirs.root", tmp_path / "ours.root")
    assert ours == theirs


def test_fields_that_were_added_later(folder, tmp_path, shown):
    out, source = tmp_path / "out.root", folder / "late.root"
    sapwood.merge(out, [source, source, source])
    once = lists(sapwood.open(source)["n"])
    assert lists(sapwood.open(out)["n"]) == repeated(once, 3)
    theirs = uproot.open(out)["n"]
    assert ak.to_list(theirs["number"].array()) == once["number"] * 3
    assert ak.to_list(theirs["list"].array()) == once["list"] * 3
    whole, part = shown(out, source)
    assert whole == part * 3
    # and once more, of the result
    sapwood.merge(tmp_path / "again.root", [out, source])
    assert lists(sapwood.open(tmp_path / "again.root")["n"]) == repeated(once, 4)


def test_reduced_precision(folder, tmp_path, shown):
    out, source = tmp_path / "out.root", folder / "precision.root"
    sapwood.merge(out, [source, source])
    whole, part = shown(out, source)
    assert whole == part * 2
    assert lists(sapwood.open(out)["n"]) == repeated(lists(sapwood.open(source)["n"]), 2)


def test_pages_are_compressed_again(folder, tmp_path, run):
    for name in ("uncompressed", "zstd"):
        out, source = tmp_path / f"{name}.root", folder / f"{name}.root"
        done = run("merge", "--compress", "lz4:4", out, source, source)
        assert done.returncode == 0, done.stderr
        assert lists(sapwood.open(out)["n"]) == repeated(lists(sapwood.open(source)["n"]), 2)
        assert ak.to_list(uproot.open(out)["n"]["vs"].array()) == [entry(i)["vs"] for i in range(N)] * 2
        # blocks of LZ4 only
        content = out.read_bytes()
        assert b"L4\x01" in content
        assert b"ZS\x01" not in content


def test_nothing_and_something(folder, tmp_path):
    """An ntuple without fields has no entries."""
    out = tmp_path / "out.root"
    sapwood.merge(out, [folder / "nothing.root", folder / "nothing.root"])
    assert sapwood.open(out)["n"].num_entries == 0
    assert uproot.open(out)["n"].num_entries == 0


def written(path, fields, values, **more):
    with sapwood.recreate(path) as file:
        file.mkntuple("n", fields)
        file["n"].extend(values)
        for name, value in more.items():
            file[name] = value
    return path


def test_beside_trees_histograms_and_in_directories(tmp_path):
    inputs = []
    for k in range(3):
        path = tmp_path / f"{k}.root"
        with sapwood.recreate(path) as file:
            file.mktree("t", {"x": "f8"}).extend({"x": np.arange(10.0) + k})
            file.mkntuple("d/e/n", {"x": "f8", "y": "var * i4"}).extend(
                {"x": np.arange(5.0) + k, "y": [[k] * i for i in range(5)]}
            )
            file["h"] = np.histogram([k], bins=4, range=(0, 4))
        inputs.append(path)
    report = sapwood.merge(tmp_path / "out.root", inputs)
    assert {t["path"]: t["entries"] for t in report["trees"]} == {"t": 30, "d/e/n": 15}
    with sapwood.open(tmp_path / "out.root") as file:
        assert file["t"]["x"].array(library="np").sum() == 3 * 45 + 30
        assert file["d/e/n"]["x"].array(library="np").tolist() == [i + k for k in range(3) for i in range(5)]
        assert ak.to_list(file["d/e/n"]["y"].array()) == [[k] * i for k in range(3) for i in range(5)]
        assert file["h"].values().tolist() == [1, 1, 1, 0]
    assert uproot.open(tmp_path / "out.root")["d/e/n"]["y"].array()[-1].tolist() == [2] * 4


@pytest.mark.parametrize(
    ("fields", "values", "message"),
    [
        ({"x": "f4", "y": "i4"}, {"x": [1.0], "y": [1]}, "field x is float, but double"),
        ({"x": "f8"}, {"x": [1.0]}, "field y is missing"),
        ({"x": "f8", "y": "i4", "z": "i4"}, {"x": [1.0], "y": [1], "z": [1]}, "field z is an extra field"),
    ],
)
def test_differences_are_refused_by_name(tmp_path, run, fields, values, message):
    first = written(tmp_path / "first.root", {"x": "f8", "y": "i4"}, {"x": [1.0], "y": [1]})
    second = written(tmp_path / "second.root", fields, values)
    done = run("merge", tmp_path / "out.root", first, second)
    assert done.returncode == 1
    assert message in done.stderr
    assert "first.root" in done.stderr
    assert "second.root" in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["first.root", "second.root"]


def test_sets_of_attributes_are_not_lost(corpus, tmp_path):
    source = corpus / "rntuple-validation" / "structure.attributes.root"
    for write in (
        lambda: sapwood.merge(tmp_path / "out.root", [source, source]),
        lambda: sapwood.optimize(source, tmp_path / "out.root"),
    ):
        with pytest.raises(sapwood.UnsupportedError, match="set of attributes Attributes"):
            write()
        assert not (tmp_path / "out.root").exists()


def test_a_tree_in_one_file_and_an_ntuple_in_another(tmp_path):
    first = written(tmp_path / "first.root", {"x": "f8"}, {"x": [1.0]})
    second = tmp_path / "second.root"
    with sapwood.recreate(second) as file:
        file.mktree("n", {"x": "f8"}).extend({"x": [1.0]})
    for inputs in ([first, second], [second, first]):
        with pytest.raises(sapwood.InvalidError, match="in another file"):
            sapwood.merge(tmp_path / "out.root", inputs)


def test_the_union_of_fields(tmp_path, run, shown):
    first = written(tmp_path / "first.root", {"x": "f8", "a": "var * i4"}, {"x": [1.0, 2.0], "a": [[1], [2, 3]]})
    fields = {"x": "f8", "y": "var * {p: f4, q: i8}", "s": "string"}
    values = {"x": [3.0], "y": [[{"p": 1.0, "q": 5}]], "s": ["text"]}
    second = written(tmp_path / "second.root", fields, values)
    done = run("merge", "--union", "--json", tmp_path / "out.root", first, second, first)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["trees"][0]["entries"] == 5
    got = lists(sapwood.open(tmp_path / "out.root")["n"])
    assert got == {
        "x": [1, 2, 3, 1, 2],
        "a": [[1], [2, 3], [], [1], [2, 3]],
        "y": [[], [], [{"p": 1.0, "q": 5}], [], []],
        "s": ["", "", "text", "", ""],
    }
    theirs = uproot.open(tmp_path / "out.root")["n"]
    assert ak.to_list(theirs["s"].array()) == got["s"]
    (entries,) = shown(tmp_path / "out.root")
    assert [json.loads(e) for e in entries] == [{k: v[i] for k, v in got.items()} for i in range(5)]


def test_damage_is_never_silent(folder, tmp_path):
    """One bit after the other: a merge that succeeds has every value. Where a page is damaged, the error names it."""
    source = written(
        tmp_path / "in.root",
        {"x": "f8", "y": "var * i4"},
        {"x": np.arange(50.0), "y": [[i] * (i % 3) for i in range(50)]},
    )
    right, content = lists(sapwood.open(source)["n"]), source.read_bytes()
    named = refused = 0
    for at in range(110, len(content), 7):
        damaged = bytearray(content)
        damaged[at] ^= 1 << at % 8
        (tmp_path / "damaged.root").write_bytes(damaged)
        try:
            sapwood.merge(tmp_path / "out.root", [source, tmp_path / "damaged.root"], force=True)
        except sapwood.Error as e:
            refused += 1
            named += "damaged.root" in str(e) and "page 0 of column" in str(e) and "cluster 0" in str(e)
            continue
        with sapwood.open(tmp_path / "out.root") as file:
            if "n" in [key.split(";")[0] for key in file.keys()] and file["n"].num_entries == 100:
                assert lists(file["n"]) == repeated(right, 2), at
    assert refused > 20
    assert named > 5


@pytest.mark.parametrize("name", [*FILES, "late", "precision"])
def test_optimize_keeps_every_value(folder, tmp_path, shown, name):
    out, source = tmp_path / "out.root", folder / f"{name}.root"
    report = sapwood.optimize(source, out, cluster_entries=77, basket=512)
    before = lists(sapwood.open(source)["n"])
    entries = len(before[next(iter(before))])
    (tree,) = report["trees"]
    assert report["verified"]
    assert tree["clusters"] == -(-entries // 77)
    assert tree["pages"] > tree["clusters"]
    assert lists(sapwood.open(out)["n"]) == before
    whole, part = shown(out, source)
    assert whole == part
    # and back into one
    sapwood.optimize(out, tmp_path / "back.root", cluster="30MB", compression="zstd:3")
    again = sapwood.open(tmp_path / "back.root")["n"]
    assert lists(again) == before
    assert uproot.open(tmp_path / "back.root")["n"].num_entries == entries


def test_optimize_after_a_merge_of_several_encodings(folder, tmp_path, shown):
    merged, out = tmp_path / "merged.root", tmp_path / "out.root"
    sapwood.merge(merged, [folder / "zstd.root", folder / "uncompressed.root", folder / "lz4.root"])
    sapwood.optimize(merged, out, cluster_entries=1500)
    assert lists(sapwood.open(out)["n"]) == lists(sapwood.open(merged)["n"])
    whole, part = shown(out, merged)
    assert whole == part


@pytest.mark.parametrize("first", ["plain", "packed"])
def test_columns_with_the_same_bytes_that_become_different_pages(tmp_path, run, first):
    """Texts and lists of the same lengths share the pages of their ends; only those of texts are encoded again."""
    values = {"text": ["x" * (i % 4) for i in range(200)], "list": [[i % 100] * (i % 4) for i in range(200)]}
    for name, compression in {"plain": None, "packed": "zstd:5"}.items():
        with sapwood.recreate(tmp_path / f"{name}.root", compression=compression) as file:
            file.mkntuple("n", {"text": "string", "list": "var * int8"}).extend(values)
    names = [first, "packed" if first == "plain" else "plain"]
    sapwood.merge(tmp_path / "out.root", [tmp_path / f"{name}.root" for name in names])
    assert lists(sapwood.open(tmp_path / "out.root")["n"]) == repeated(values, 2)
    with uproot.open(tmp_path / "out.root") as file:
        assert file["n"].arrays().to_list() == ak.zip(repeated(values, 2), depth_limit=1).to_list()


def test_options_for_branches_are_refused_for_fields(tmp_path):
    path = tmp_path / "n.root"
    with sapwood.recreate(path) as file:
        file.mkntuple("n", {"x": "i4", "y": "i4"}).extend({"x": [1], "y": [2]})
    for options in ({"drop": "x"}, {"first": "x"}, {"keep": "x"}):
        with pytest.raises(sapwood.UnsupportedError, match="x matches a field of the ntuple n, which keeps its fields"):
            sapwood.optimize(path, tmp_path / "out.root", **options)
    with pytest.raises(sapwood.KeyInFileError, match="no top-level branch matches z"):
        sapwood.optimize(path, tmp_path / "out.root", drop="z")


def test_the_output_is_none_of_the_inputs_by_any_name(tmp_path, run):
    path = tmp_path / "a b.root"
    with sapwood.recreate(path) as file:
        file.mkntuple("n", {"x": "i4"}).extend({"x": [1]})
    before = path.read_bytes()
    for name in (path, path.as_uri(), path.as_uri().replace("file://", "file://localhost")):
        for command in (["merge", "-f", path, name], ["optimize", "-f", name, path], ["convert", "-f", name, path]):
            done = run(*command)
            assert done.returncode == 1 and "the output" in done.stderr, done.stderr
    assert path.read_bytes() == before
