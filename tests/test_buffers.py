"""Numbers that Python gives to the core are copied out of held buffers, never from an address that an object names."""

from __future__ import annotations

import array
import subprocess
import sys

import numpy as np
import pytest

import sapwood
from sapwood import _core

LYING = """
from sapwood import _core
class Lying:
    __array_interface__ = {"version": 3, "typestr": "<i8", "shape": (1000,), "data": (4096, False), "strides": None}
try:
    _core.entries_of_list([("t", "f", Lying(), [])], [])
except TypeError as e:
    print("refused:", e)
"""


def test_an_address_that_an_object_names_is_not_read():
    done = subprocess.run([sys.executable, "-c", LYING], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done
    assert "refused" in done.stdout


def copied(numbers) -> list[int]:
    """Numbers of entries through the core and back."""
    place = [("t", "f", 0, 1000)]
    return np.asarray(_core.entries_of_list([("t", "f", numbers, [])], place)[0]).tolist()


def test_buffers_of_any_kind():
    assert copied(np.array([1, 5, 7])) == [1, 5, 7]
    assert copied(array.array("q", [1, 5, 7])) == [1, 5, 7]
    assert copied(memoryview(np.array([1, 5, 7]))) == [1, 5, 7]
    assert copied(np.array([], dtype=np.int64)) == []
    read_only = np.array([1, 5, 7])
    read_only.setflags(write=False)
    assert copied(read_only) == [1, 5, 7]
    raw = bytearray(b"x" + np.array([1, 5, 7]).tobytes())
    unaligned = np.frombuffer(raw, dtype=np.int64, offset=1)
    assert not unaligned.flags.aligned
    assert copied(unaligned) == [1, 5, 7]


def test_buffers_that_do_not_fit_are_refused():
    for wrong in (
        np.arange(6)[::2],
        np.arange(6).reshape(2, 3),
        np.arange(3, dtype=">i8"),
        np.arange(3, dtype=np.float16),
        np.array(3),
        [1, 2],
        np.array(["a"]),
    ):
        with pytest.raises((ValueError, BufferError, TypeError)):
            copied(wrong)


def test_a_buffer_is_released_once():
    numbers = bytearray(np.array([1, 5, 7]).tobytes())
    view = memoryview(numbers).cast("q")
    references = sys.getrefcount(view)
    for _ in range(100):
        assert copied(view) == [1, 5, 7]
        with pytest.raises(ValueError, match="one dimension"):
            copied(memoryview(numbers).cast("q", (3, 1)))
    assert sys.getrefcount(view) == references
    view.release()
    numbers.extend(b"more")  # refused while somebody holds the buffer


@pytest.mark.parametrize("kind", ["bool", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"])
def test_written_numbers_of_every_type(tmp_path, kind):
    values = (np.arange(100) * 37 % 128).astype(kind)
    with sapwood.recreate(tmp_path / "a.root") as f:
        f["t"] = {"x": values}
    read = sapwood.open(tmp_path / "a.root")["t"].arrays(library="np")["x"]
    assert read.dtype == values.dtype
    assert np.array_equal(read, values)
