"""Directories that say that they list less, or something else, than they do: nothing goes missing without a word."""

from __future__ import annotations

import struct

import numpy as np
import pytest

import sapwood


@pytest.fixture
def whole(tmp_path):
    path = tmp_path / "whole.root"
    with sapwood.recreate(path, compression="none") as f:
        f["t"] = {"x": np.arange(100.0)}
        f["words"] = "some text"
        f["d/more"] = "more text"
    return path


def key_list(data, directory):
    """Where the list of keys of the directory with these members is, and where its number of keys."""
    big = struct.unpack(">H", data[directory : directory + 2])[0] > 1000
    (keys,) = (
        struct.unpack(">Q", data[directory + 34 : directory + 42])
        if big
        else struct.unpack(">I", data[directory + 26 : directory + 30])
    )
    return keys, keys + struct.unpack(">H", data[keys + 14 : keys + 16])[0]


def root_directory(data):
    begin = struct.unpack(">I", data[8:12])[0]
    big = struct.unpack(">I", data[4:8])[0] >= 1_000_000
    at = 36 if big else 28
    return begin + struct.unpack(">I", data[at : at + 4])[0]


def subdirectory(path, data):
    import uproot

    key = uproot.open(path).key("d")
    return key.fSeekKey + key.fKeylen


def test_keys_behind_as_many_as_a_list_says(run, whole, tmp_path):
    """The objects behind were lost in recover, and doctor found no damage."""
    data = bytearray(whole.read_bytes())
    _, count = key_list(data, root_directory(data))
    assert struct.unpack(">i", data[count : count + 4]) == (3,)
    data[count : count + 4] = struct.pack(">i", 1)
    bad, out = tmp_path / "bad.root", tmp_path / "out.root"
    bad.write_bytes(data)
    assert run("doctor", whole).returncode == 0
    done = run("doctor", bad)
    assert done.returncode == 1
    assert done.stdout.count("ends before this key") == 2
    assert "t;1" in done.stdout
    done = run("recover", bad, out)
    assert done.returncode == 0
    assert set(sapwood.open(out).keys(cycle=False)) >= {"t", "words", "d", "d/more"}


def test_keys_behind_as_many_as_a_list_says_are_told_of_and_not_lost(run, whole, tmp_path):
    """ls and keys() did not show them, merge, optimize and update lost them, all without a word."""
    data = bytearray(whole.read_bytes())
    _, count = key_list(data, root_directory(data))
    data[count : count + 4] = struct.pack(">i", 1)
    bad, out = tmp_path / "bad.root", tmp_path / "out.root"
    bad.write_bytes(data)
    done = run("ls", bad)
    assert done.returncode == 0
    assert "after the end of its directory's list of keys" in done.stderr
    assert run("ls", whole).stderr == ""
    with pytest.warns(sapwood.RecoveredFileWarning, match="and 1 more is in the file, but after the end"):
        sapwood.open(bad).keys()
    for words in (["merge", out, bad], ["merge", out, whole, bad], ["optimize", bad, out]):
        done = run(*words)
        assert done.returncode == 1, words
        assert "it would be lost" in done.stderr and "sapwood recover" in done.stderr, words
        assert not out.exists()
    with pytest.raises(sapwood.CorruptError, match="it would be lost"), sapwood.update(bad) as f:
        f["x"] = "text"
    assert bad.read_bytes() == bytes(data)


def test_keys_of_deleted_objects_behind_a_list_do_no_harm(run, whole, tmp_path):
    """Some writers leave them there: what they refer to is no longer a record."""
    data = bytearray(whole.read_bytes())
    keys, count = key_list(data, root_directory(data))
    data[count : count + 4] = struct.pack(">i", 1)
    first = count + 4
    while first < keys + struct.unpack(">i", data[keys : keys + 4])[0]:
        length, version = struct.unpack(">iH", data[first : first + 6])
        big = version > 1000
        (at,) = struct.unpack_from(">Q" if big else ">I", data, first + 18)
        if first > count + 4:
            data[at : at + 4] = struct.pack(">i", -length)
        first += struct.unpack(">H", data[first + 14 : first + 16])[0]
    bad, out = tmp_path / "deleted.root", tmp_path / "out.root"
    bad.write_bytes(data)
    assert run("ls", bad).stderr == ""
    assert run("merge", out, bad).returncode == 0
    with sapwood.update(bad) as f:
        f["x"] = "text"
    assert len(sapwood.open(bad).keys()) == 2


def test_a_directory_with_the_list_of_another_is_refused(run, whole, tmp_path):
    """What it held in truth was lost in merge, optimize and recover, and doctor found no damage."""
    data = bytearray(whole.read_bytes())
    root, sub = root_directory(data), subdirectory(whole, data)
    big = struct.unpack(">H", data[sub : sub + 2])[0] > 1000
    assert big == (struct.unpack(">H", data[root : root + 2])[0] > 1000)
    where = slice(34, 42) if big else slice(26, 30)
    data[sub + where.start : sub + where.stop] = data[root + where.start : root + where.stop]
    data[sub + 10 : sub + 14] = data[root + 10 : root + 14]
    bad, out = tmp_path / "bad.root", tmp_path / "out.root"
    bad.write_bytes(data)
    for words in (["merge", out, bad], ["optimize", bad, out], ["doctor", bad]):
        done = run(*words)
        assert done.returncode == 1, words
        assert "directory d has the key list of another directory" in done.stdout + done.stderr, words
        assert not out.exists()
    assert run("recover", bad, out).returncode == 0
    assert "d/more" in sapwood.open(out).keys(cycle=False)
