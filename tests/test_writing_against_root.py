"""ROOT opens what Sapwood writes without a word, finds the same values, and would have written the same header."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import awkward as ak
import numpy as np
import pytest

import sapwood

SCRIPT = Path(__file__).parent / "oracle" / "read_written.py"
EXAMPLES = [("check_objects.py", "sapwood-write", "write_objects"), ("check_records.py", "sapwood", "records")]


@pytest.fixture(scope="module")
def root(root_here):
    """Asks read_written.py, which starts ROOT once for all tests; ROOT must say nothing."""
    command = [sys.executable, "-W", "ignore", str(SCRIPT)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, text=True, bufsize=1, **pipes) as process:

        def root(*words):
            process.stdin.write(json.dumps([str(word) for word in words]) + "\n")
            patience = threading.Timer(120, process.kill)
            patience.start()
            line = process.stdout.readline()
            patience.cancel()
            if not line.startswith("ANSWER "):
                process.stdin.close()
                pytest.fail(f"ROOT said: {line}{process.stdout.read()[-2000:]}")
            return json.loads(line.removeprefix("ANSWER "))

        yield root
        process.stdin.close()
        assert process.stdout.read() == "" and process.wait() == 0


def columns(entries):
    """The same values as read_written.py fills."""
    k = np.arange(entries)
    counts = k * k % 7
    of = np.repeat(k, counts) - np.concatenate([np.arange(n) for n in counts])
    jagged = ak.unflatten(of.astype("f4"), counts)
    return {
        "i": k.astype("i4"),
        "d": k / 4,
        "w": (k[:, None] + np.arange(3)).astype("f4"),
        "b": k % 2 == 1,
        "x": jagged,
        "v": jagged,
        "s": [f"s{i}" for i in k],
    }


TYPES = {
    "i": "i4",
    "d": "f8",
    "w": ("f4", (3,)),
    "b": "?",
    "x": "var * float32",
    "v": "vector<float>",
    "s": "string",
}


@pytest.mark.parametrize("auto_flush", [4000, -300_000, 0])
def test_the_header_is_roots(root, tmp_path, auto_flush):
    entries = 10_000
    theirs = root("fill", tmp_path / "root.root", entries, auto_flush)
    with sapwood.recreate(tmp_path / "ours.root", compression=None) as file:
        file.mktree("t", TYPES, auto_flush=auto_flush).extend(columns(entries))
    ours = root("header", tmp_path / "ours.root", "t")
    for key in theirs:
        assert ours[key] == theirs[key], key
    assert ours.keys() == theirs.keys()


def test_every_value(root, tmp_path):
    point = {"px": "f4", "py": "f8"}
    nested = ak.Array([[[1.0, 2.0], []], [], [[3.0]]] * 50)
    points = ak.Array([[{"px": j, "py": i} for j in range(i % 4)] for i in range(150)])
    one = ak.Array([{"px": i, "py": -i} for i in range(150)])
    split = ak.types.from_datashape("var * {px: float32, py: float64}", highlevel=False)
    types = TYPES | {"vv": "vector<vector<double>>", "one": point, "pts": split}
    data = columns(150)
    with sapwood.recreate(tmp_path / "a.root", compression="zstd:5") as file:
        tree = file.mktree("t", types, auto_flush=60)
        tree.extend(data | {"vv": nested, "one": one, "pts": points})
    names = ["i", "d", "w", "b", "x", "v", "vv", "one_px", "pts_py", "nx", "npts"]
    got = root("values", tmp_path / "a.root", "t", *names)
    data |= {"vv": nested, "one_px": one.px, "pts_py": points.py, "nx": ak.num(data["x"]), "npts": ak.num(points)}
    for name in names:
        assert got[name] == ak.to_list(ak.flatten(data[name], axis=None)), name


def test_baskets_of_several_blocks(root, tmp_path):
    # beyond a megabyte they are packed part by part, and a part of noise is stored uncompressed
    import uproot

    ramp = np.arange(300_000, dtype="i4") // 100
    noise = np.random.default_rng(1).integers(-(2**31), 2**31, len(ramp), dtype="i4")
    data = {"ramp": ramp, "mixed": np.where(ramp < 2700, noise, ramp), "noise": noise}
    with sapwood.recreate(tmp_path / "a.root", compression="zlib:1") as file:
        file.mktree("t", dict.fromkeys(data, "i4"), auto_flush=0, basket_size=1_300_000).extend(data)
    (tree,) = uproot.open(tmp_path / "a.root").values()
    assert [branch.num_baskets for branch in tree.branches] == [1, 1, 1]
    packed = {branch.name: branch.compressed_bytes for branch in tree.branches}
    assert packed["ramp"] < packed["mixed"] < packed["noise"] <= noise.nbytes + 200
    for name, wanted in data.items():
        assert np.array_equal(tree[name].array(library="np"), wanted), name
    assert root("values", tmp_path / "a.root", "t", "mixed")["mixed"] == data["mixed"].tolist()


def test_objects_and_updates(root, tmp_path):
    path = tmp_path / "a.root"
    histogram = np.histogram([1, 2, 2, 3, 3, 3], bins=3, range=(0.5, 3.5))
    with sapwood.recreate(path) as file:
        file["t"] = columns(100)
        file["a/b/t"] = {"x": np.arange(5)}
        file["h"] = histogram
        file["a/g"] = sapwood.Graph([1, 2], [3, 4])
        file["words"] = "and more"
    with sapwood.update(path) as file:
        file["t"].extend(columns(100))
        file["h"] = histogram
        file["a/c/t"] = {"x": np.arange(2)}
        del file["a/b/t"]
    got = root("objects", path)
    assert got["t;1"] == ["TTree", 200, 200] and got["a/c/t;1"] == ["TTree", 2, 2]
    assert got["a/b;1"] == ["TDirectoryFile"] and "a/b/t;1" not in got
    assert got["h;2"] == got["h;1"] == ["TH1D", 6, 6, pytest.approx(14 / 6), 1]
    assert got["a/g;1"] == ["TGraph", 2, 4] and got["words;1"] == ["TObjString"]
    root("update", path, "t")
    file = sapwood.open(path)
    assert file["t"].num_entries == 201
    assert file["t"]["s"].array()[[100, 200]].to_list() == ["s0", "s0"]
    assert file["t"]["x"].array()[150].to_list() == ak.to_list(columns(100)["x"][50])
    with sapwood.update(path) as writer:
        writer["t"].extend(columns(3))
    assert root("objects", path)["t;1"][1:] == [204, 204]
    assert sapwood.open(path)["t"]["d"].array().to_list()[-4:] == [0, 0, 0.25, 0.5]


def test_space_of_deleted_trees_is_used_again(root, tmp_path):
    path = tmp_path / "a.root"
    sizes = []
    with sapwood.recreate(path) as file:
        file["kept"] = columns(100)
        file["t"] = {"x": np.random.default_rng(1).random(10_000)}
    for i in range(12):
        with sapwood.update(path) as file:
            del file["t"]
            file["t"] = {"x": np.random.default_rng(i).random(10_000 - 100 * i)}
        sizes.append(path.stat().st_size)
    # the old ones are there until the first update is whole: two at a time
    assert sizes[-1] < 1.5 * sizes[0], sizes
    got = root("objects", path)
    assert got["t;1"] == ["TTree", 8_900, 8_900] and got["kept;1"] == ["TTree", 100, 100]
    assert root("values", path, "t", "x")["x"] == np.random.default_rng(11).random(8_900).tolist()
    kept = sapwood.open(path)["kept"].arrays(list(columns(1)))
    assert kept.to_list() == ak.to_list(ak.zip(columns(100), depth_limit=1))


@pytest.mark.parametrize(("script", "crate", "example"), EXAMPLES)
def test_objects_of_every_kind_with_dictionaries(script, crate, example):
    binary = Path(__file__).parent.parent / "target" / "release" / "examples" / example
    if not binary.exists():
        pytest.skip(f"no {example} example: cargo build --release --examples -p {crate}")
    command = [sys.executable, "-W", "ignore", str(SCRIPT.with_name(script)), str(binary)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    if done.returncode == 77:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0 and not done.stderr, f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
