"""Lists as numpy arrays of arrays: each entry is the same view that a slice would be."""

import numpy as np
import pytest

from sapwood import _core
from sapwood.columns import conversion


def offsets_of(lengths):
    return np.concatenate([[0], np.cumsum(lengths)]).astype("i8")


def lists(lengths, dtype="f4", inner=()):
    offsets = offsets_of(lengths)
    size = int(offsets[-1]) * int(np.prod(inner, dtype="i8"))
    return offsets, np.arange(size).astype(dtype).reshape(-1, *inner)


LENGTHS = {
    "empty lists only": [0] * 100,
    "one length": [3] * 100,
    "several": [0, 1, 2, 5, 2, 0] * 40,
    "too few entries": [2, 0, 3],
    "no entry": [],
    "one long list": [1] * 99 + [5000],
    "a length per entry": list(range(200)),
}


@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
@pytest.mark.parametrize(("dtype", "inner"), [("f4", ()), ("?", ()), ("i8", (2, 3))])
def test_entries_are_slices_of_the_content(lengths, dtype, inner):
    offsets, content = lists(lengths, dtype, inner)
    made = conversion._pieces(offsets, content)
    assert made.dtype == object and made.shape == (len(lengths),)
    for i, piece in enumerate(made):
        expected = content[offsets[i] : offsets[i + 1]]
        assert type(piece) is np.ndarray and piece.dtype == expected.dtype and piece.shape == expected.shape
        assert np.array_equal(piece, expected)
        assert piece.flags.c_contiguous and piece.flags.writeable and piece.flags.aligned
        if piece.size:
            assert np.shares_memory(piece, content)


def test_offsets_that_do_not_begin_at_zero():
    offsets, content = lists([2] * 200)
    made = conversion._pieces(offsets[50:], content)
    assert len(made) == 150 and np.array_equal(made[0], content[100:102])


def test_lists_of_lists_and_structures():
    inner = conversion._pieces(*lists([1, 2] * 100))
    made = conversion._pieces(offsets_of([2] * 100), inner)
    assert [len(piece) for piece in made] == [2] * 100 and made[3][1] is inner[7]
    offsets, numbers = lists([2, 1] * 50)
    content = np.zeros(len(numbers), dtype=[("x", "f4"), ("n", "i4")])
    content["n"] = numbers
    assert np.array_equal(conversion._pieces(offsets, content)[2]["n"], [3, 4])


def test_missing_items_keep_their_masks():
    offsets, content = lists([2] * 100)
    made = conversion._pieces(offsets, np.ma.MaskedArray(content, content == 5))
    assert made[2].mask.tolist() == [False, True]


def test_wrong_offsets_and_windows_are_refused():
    content = np.arange(4.0)
    rows = [None, np.ndarray((4, 1), "f8", content, 0, (8, 8))]
    with pytest.raises(ValueError, match="offsets that decrease: 1, 0"):
        _core.pieces(np.array([0, 1, 0]), rows)
    with pytest.raises(IndexError, match="no window of 2 items"):
        _core.pieces(np.array([0, 2]), rows)
    with pytest.raises(IndexError):
        _core.pieces(np.array([4, 5]), rows)
    with pytest.raises(IndexError, match="no window of 0 items"):
        _core.pieces(np.array([0, 0]), rows)
