"""Damaged and missing files: an exception in bounded time and memory, never a crash, a hang or another value."""

import json
import random
import subprocess
import sys

import pytest

import sapwood

# Reads every file named on standard input; a JSON line each: what was read, or the exception. A panic of Rust is no
# Exception but a BaseException: it ends this process, and with it the test.
READER = """
import hashlib, json, resource, sys, warnings
import numpy as np, awkward as ak
warnings.simplefilter("ignore")
import sapwood
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
for path in sys.stdin.read().splitlines():
    print(json.dumps({"reading": path}), flush=True)
    outcome = {}
    try:
        file = sapwood.open(path)
        for key, name in file.classnames(recursive=True).items():
            if name != "TTree":
                continue
            tree = file[key]
            for branch in tree.keys():
                try:
                    values = tree[branch].array(library="ak")
                    outcome[f"{key}:{branch}"] = hashlib.md5(str(values.to_list()).encode()).hexdigest()
                except Exception as error:
                    outcome[f"{key}:{branch}"] = None
    except Exception as error:
        outcome["error"] = f"{type(error).__name__}: {error}"
    print(json.dumps(outcome), flush=True)
"""


def read_all(paths, timeout):
    """What READER says of each path; fails where it crashes, hangs or skips one."""
    process = subprocess.Popen(
        [sys.executable, "-c", READER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        out, errors = process.communicate("\n".join(map(str, paths)), timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        out, _ = process.communicate()
        pytest.fail(f"no end after {timeout} s; the last file was {out.splitlines()[-1:]}")
    lines = [json.loads(line) for line in out.splitlines()]
    if process.returncode != 0:
        pytest.fail(f"exit status {process.returncode} at {lines[-1:]}: {errors[-1500:]}")
    outcomes = lines[1::2]
    assert len(outcomes) == len(paths)
    return outcomes


def damaged(original, folder, count, damage):
    """`count` copies of a file, each changed by damage(bytes, index)."""
    data = original.read_bytes()
    paths = []
    for index in range(count):
        path = folder / f"{index:04}-{original.name}"
        path.write_bytes(damage(data, index))
        paths.append(path)
    return paths


@pytest.fixture
def small(root_files):
    """Files with every leaf type: compressed, plain, with embedded baskets."""
    return [root_files / name for name in ["leaves-zlib.root", "leaves-plain.root", "embedded.root", "container.root"]]


def test_cut_short_anywhere(small, tmp_path):
    """What remains readable of a truncated file has its values unchanged."""
    for original in small:
        intact = read_all([original], 60)[0]
        assert "error" not in intact
        size = original.stat().st_size
        # Close together at the front, where every structure begins, then evenly.
        cuts = [*range(0, 300, 12), *range(300, size, max(1, size // 40)), size - 1]
        paths = damaged(original, tmp_path, len(cuts), lambda data, index, cuts=cuts: data[: cuts[index]])
        for cut, outcome in zip(cuts, read_all(paths, 120), strict=True):
            for branch, value in outcome.items():
                if branch != "error" and value is not None:
                    assert value == intact[branch], f"{original.name} cut at {cut}: branch {branch} has other values"


def test_bytes_changed_at_random(small, tmp_path):
    def damage(data, index):
        seeded = random.Random(index)
        changed = bytearray(data)
        for _ in range(seeded.choice([1, 1, 4, 64])):
            changed[seeded.randrange(len(changed))] = seeded.randrange(256)
        return bytes(changed)

    for original in small:
        read_all(damaged(original, tmp_path, 60, damage), 120)


def test_lengths_changed_to_extremes(small, tmp_path):
    """Four bytes overwritten by a huge or negative number in the parts that hold lengths: memory stays bounded."""

    def damage(data, index):
        seeded = random.Random(1000 + index)
        at = seeded.choice([seeded.randrange(200), len(data) - 4 - seeded.randrange(min(len(data) // 2, 8000))])
        value = seeded.choice([0x7FFFFFFF, 0xFFFFFFFF, 0x80000000, 0x40000000 | 0x3FFFFFFF, 0x00FFFFFF])
        return data[:at] + value.to_bytes(4, "big") + data[at + 4 :]

    for original in small:
        read_all(damaged(original, tmp_path, 60, damage), 120)


def test_a_label_that_says_otherwise_than_the_directory(tmp_path):
    path = tmp_path / "a.root"
    with sapwood.recreate(path) as file:
        file["t"] = {"x": [1, 2, 3]}
        file["words"] = "some"
    whole = path.read_bytes()
    for name, kind in (("t", b"\x05TTree\x01t"), ("words", b"\x0aTObjString\x05words")):
        # in front of the class stand 26 bytes of lengths and positions
        label = whole.index(kind) - 26
        for place in (1, 8, 15, 28):
            path.write_bytes(whole[: label + place] + b"\x07" + whole[label + place + 1 :])
            file = sapwood.open(path)
            with pytest.warns(
                sapwood.RecoveredFileWarning, match=f"{name} at byte {label} has a record that differs from its key"
            ):
                file[name]
            assert file["t"].arrays().to_list() == [{"x": 1}, {"x": 2}, {"x": 3}]


@pytest.mark.parametrize(
    "content",
    [b"", b"root", b"root" + bytes(60), b"\x00" * 1000, b"root" + b"\xff" * 500, b"<html>not found</html>" * 50],
    ids=["empty", "magic only", "zeros behind the magic", "zeros", "ones", "a web page"],
)
def test_no_root_file(tmp_path, content):
    path = tmp_path / "thing.root"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"thing\.root"):
        sapwood.open(path)


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"absent\.root"):
        sapwood.open(tmp_path / "absent.root")


def test_a_directory_is_no_file(tmp_path):
    with pytest.raises(OSError, match=tmp_path.name):
        sapwood.open(tmp_path)


@pytest.mark.parametrize("url", ["gopher://host/file.root", "s4://bucket/file.root"])
def test_unknown_scheme_is_named(url):
    with pytest.raises((ValueError, NotImplementedError), match=url.split(":")[0]):
        sapwood.open(url)


def test_missing_tree_and_branch(flat):
    file = sapwood.open(flat)
    with pytest.raises(KeyError, match="nothing"):
        file["nothing"]
    with pytest.raises(KeyError, match="no_such"):
        file["t"]["no_such"]
    with pytest.raises(KeyError, match="no_such"):
        file["t"].arrays(["x", "no_such"])


def test_cycle_that_is_not_there(flat):
    with pytest.raises(KeyError, match="t;9"):
        sapwood.open(flat)["t;9"]


@pytest.mark.parametrize("expression", ["n_f4 +", "(x", "x ** ", "__import__('os')", "x; y"])
def test_expressions_that_make_no_sense(flat, expression):
    with pytest.raises((ValueError, KeyError)):
        sapwood.open(flat)["t"].arrays([expression])


def test_nobody_answers():
    with pytest.raises(OSError, match=r"127\.0\.0\.1"):
        sapwood.open("http://127.0.0.1:1/file.root")
