"""sapwood merge: every leaf, refusals, signals, limits; read by uproot and sapwood."""

import functools
import json
import signal
import subprocess
import sys
import textwrap
import time

import awkward as ak
import numpy as np
import pytest
import uproot
from scripts import run_script

import sapwood


@pytest.mark.parametrize(
    "name", ["leaves-zlib", "leaves-old", "leaves-lz4", "leaves-plain", "clusters", "embedded", "embedded-plain"]
)
def test_every_leaf(run, root_files, tmp_path, name):
    """Every leaf type, baskets in the header, three inputs of which two are the same: as uproot and we read them."""
    inputs = [root_files / f"{name}.root", root_files / "leaves-zstd.root", root_files / f"{name}.root"]
    out = tmp_path / "out.root"
    done = run("merge", out, *inputs)
    assert done.returncode == 0, done.stderr
    with sapwood.open(out) as f:
        ours = f["Events"].arrays(library="ak")
    whole = ak.concatenate([by_sapwood(path) for path in inputs])
    assert ours.fields == whole.fields
    for field in whole.fields:
        assert ak.array_equal(ours[field], whole[field], equal_nan=True), field
    if "old" in name:
        return  # uproot does not read ROOT's first deflate
    merged = uproot.open(out)["Events"]
    for key in merged.keys():
        if key == "text":
            continue  # uproot takes a text's length for an offset
        theirs = merged[key].array(library="ak").tolist()
        assert repr(theirs) == repr([value for path in inputs for value in by_uproot(path)[key]]), key


@functools.cache
def by_sapwood(path):
    """All branches of an input, read once for all tests."""
    with sapwood.open(path) as f:
        return f["Events"].arrays(library="ak")


@functools.cache
def by_uproot(path):
    """The same by uproot, as lists."""
    tree = uproot.open(path)["Events"]
    return {key: tree[key].array(library="ak").tolist() for key in tree.keys() if key != "text"}


def test_from_python_and_progress(flat, tmp_path):
    seen = []
    out = tmp_path / "out.root"
    report = sapwood.merge(out, [flat, flat], progress=lambda *counts: seen.append(counts))
    assert report["inputs"] == 2
    assert seen[-1] == (2, 2, out.stat().st_size) or seen[-1][:2] == (2, 2)
    with sapwood.open(flat) as one, sapwood.open(out) as two:
        assert two["t"].num_entries == 2 * one["t"].num_entries
    with pytest.raises(sapwood.FileThereError, match=r"already exists.*force=True"):
        sapwood.merge(out, [flat])
    sapwood.merge(out, flat, force=True, compression="lz4")
    with sapwood.open(out) as f:
        assert f["t"].num_entries == report["trees"][0]["entries"] // 2


def write(path, **branches):
    with uproot.recreate(path) as f:
        tree = f.mktree("t", {name: (values.dtype, values.shape[1:]) for name, values in branches.items()})
        tree.extend(branches)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"x": np.arange(5.0), "y": np.arange(5), "z": np.arange(5)}, ["branch z", "is not in"]),
        ({"x": np.arange(5.0)}, ["branch y", "is missing"]),
        ({"x": np.arange(5, dtype="f4"), "y": np.arange(5)}, ["branch x", "TLeafF", "TLeafD"]),
        ({"x": np.zeros((5, 3)), "y": np.arange(5)}, ["branch x", "3 items"]),
    ],
)
def test_trees_that_differ_are_refused_by_name(run, tmp_path, other, words):
    write(tmp_path / "a.root", x=np.arange(5.0), y=np.arange(5))
    write(tmp_path / "b.root", **other)
    done = run("merge", tmp_path / "out.root", tmp_path / "a.root", tmp_path / "b.root")
    assert done.returncode == 1
    for word in [*words, "b.root", "a.root"]:
        assert word in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.root", "b.root"]


def test_branches_in_another_order_are_the_same(run, tmp_path):
    write(tmp_path / "a.root", x=np.arange(5.0), y=np.arange(5))
    write(tmp_path / "b.root", y=np.arange(5) + 7, x=np.arange(5.0) * 2)
    done = run("merge", tmp_path / "out.root", tmp_path / "a.root", tmp_path / "b.root")
    assert done.returncode == 0, done.stderr
    with uproot.open(tmp_path / "out.root") as f:
        assert f["t"]["y"].array(library="np").tolist() == [0, 1, 2, 3, 4, 7, 8, 9, 10, 11]
        assert f["t"]["x"].array(library="np").tolist() == [0, 1, 2, 3, 4, 0, 2, 4, 6, 8]


def test_histograms_with_other_axes_are_refused_by_name(run, tmp_path):
    for i, edges in enumerate([(0, 1), (0, 1.3)]):
        with uproot.recreate(tmp_path / f"{i}.root") as f:
            f["h"] = np.histogram([0.5], bins=4, range=edges)
    done = run("merge", tmp_path / "out.root", tmp_path / "0.root", tmp_path / "1.root")
    assert done.returncode == 1
    for word in ["h has 4 bins from 0 to 1.3", "not 4 bins from 0 to 1", "1.root"]:
        assert word in done.stderr
    assert not (tmp_path / "out.root").exists()


def test_the_old_output_stays_when_something_fails(run, flat, tmp_path):
    out = tmp_path / "out.root"
    out.write_bytes(b"precious")
    assert run("merge", out, flat).returncode == 1
    assert out.read_bytes() == b"precious"
    cut = tmp_path / "cut.root"
    with open(flat, "rb") as f:
        cut.write_bytes(f.read()[:20000])
    done = run("merge", "-f", out, flat, cut)
    assert done.returncode == 1
    assert "cut.root" in done.stderr
    assert out.read_bytes() == b"precious"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["cut.root", "out.root"]
    assert run("merge", "-f", out, flat, flat).returncode == 0
    assert out.read_bytes()[:4] == b"root"
    done = run("merge", "-f", out, out)
    assert done.returncode == 1
    assert "both an input and the output" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_leave_nothing_behind(command, flat, tmp_path, number):
    inputs = [flat] * 20000
    (tmp_path / "list.txt").write_text("\n".join(inputs))
    started = subprocess.Popen(
        [command, "merge", tmp_path / "out.root", f"@{tmp_path / 'list.txt'}"],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 30
    while not any(p.name.endswith(".part") for p in tmp_path.iterdir()):
        assert started.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    started.send_signal(number)
    started.communicate(timeout=30)
    assert started.returncode == 128 + number
    assert [p.name for p in tmp_path.iterdir()] == ["list.txt"]


@pytest.mark.skipif(sys.platform != "linux", reason="what is ignored is read from /proc")
def test_nohup_is_respected(command, flat, tmp_path):
    (tmp_path / "list.txt").write_text("\n".join([flat] * 3000))
    words = ["nohup", command, "merge", tmp_path / "out.root", f"@{tmp_path / 'list.txt'}"]
    started = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while started.poll() is None and not any(p.name.endswith(".part") for p in tmp_path.iterdir()):
        time.sleep(0.01)
    started.send_signal(signal.SIGHUP)
    assert started.wait(60) == 0
    assert sapwood.open(tmp_path / "out.root")["t"].num_entries == 3000 * sapwood.open(flat)["t"].num_entries


def test_many_inputs_with_few_descriptors_and_little_memory(command, flat, tmp_path):
    """Six hundred inputs where a process may open 40 files: memory does not grow with their number."""
    (tmp_path / "list.txt").write_text("\n".join([str(flat)] * 600))
    code = textwrap.dedent(
        """
        import resource, subprocess, sys
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
        done = subprocess.run(sys.argv[1:])
        print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
        sys.exit(done.returncode)
        """
    )
    done = run_script(code, command, "-q", "merge", tmp_path / "out.root", f"@{tmp_path / 'list.txt'}")
    assert int(done.stdout) < 100_000
    with sapwood.open(flat) as one, sapwood.open(tmp_path / "out.root") as all_of_them:
        assert all_of_them["t"].num_entries == 600 * one["t"].num_entries


def test_far_inputs(run, server, flat, tmp_path):
    """Two inputs over HTTP, from every kind of server."""
    url = server.url(flat)
    done = run("merge", "--json", tmp_path / "out.root", url, flat)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["inputs"] == 2
    with sapwood.open(flat) as one, sapwood.open(tmp_path / "out.root") as two:
        a, b = one["t"].arrays(library="ak"), two["t"].arrays(library="ak")
    assert ak.array_equal(ak.concatenate([a, a]), b, equal_nan=True)


def test_the_files_are_joined_byte_for_byte(run, flat, tmp_path):
    """Baskets are not recompressed: their compressed bytes are those of the input."""
    out = tmp_path / "out.root"
    assert run("merge", out, flat).returncode == 0
    before, after = uproot.open(flat)["t"], uproot.open(out)["t"]
    for key in before.keys():
        for i in range(before[key].num_baskets):
            one, two = before[key].basket(i), after[key].basket(i)
            assert one.compressed_bytes == two.compressed_bytes
            assert bytes(one.raw_data) == bytes(two.raw_data)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("other", ["histogram", "text"])
def test_a_tree_and_something_else_of_one_name_are_refused(run, tmp_path, order, other):
    with sapwood.recreate(tmp_path / "0.root") as f:
        f["x"] = {"a": [1, 2]}
    with sapwood.recreate(tmp_path / "1.root") as f:
        f["x"] = np.histogram([0.5], bins=4) if other == "histogram" else "text"
    done = run("merge", tmp_path / "out.root", *(tmp_path / f"{i}.root" for i in order))
    assert done.returncode == 1
    assert "x is a" in done.stderr and "here, but a" in done.stderr and "rename" in done.stderr
    assert not (tmp_path / "out.root").exists()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_histogram_and_a_text_of_one_name_are_refused(run, tmp_path, order):
    for i, value in enumerate([np.histogram([0.5], bins=4), "text"]):
        with sapwood.recreate(tmp_path / f"{i}.root") as f:
            f["x"] = value
    done = run("merge", tmp_path / "out.root", *(tmp_path / f"{i}.root" for i in order))
    assert done.returncode == 1
    assert "x is a" in done.stderr and "here, but a" in done.stderr
