"""A file that is updated is unchanged if the block fails, whatever the exception."""

from __future__ import annotations

import numpy as np
import pytest

import sapwood


@pytest.mark.parametrize("kind", ["tree", "ntuple"])
@pytest.mark.parametrize("fails", ["refused", "other"])
def test_a_block_that_fails_leaves_an_updated_file(tmp_path, kind, fails):
    path = tmp_path / "f.root"
    with sapwood.recreate(path, format=kind) as file:
        file["t"] = {"x": np.array([1], np.int32)}
    before = path.read_bytes()

    def update():
        with sapwood.update(path) as file:
            file["t"].extend({"x": np.array([2], np.int32)})
            file["more"] = {"y": np.zeros(3)}
            if fails == "refused":
                file["t"].extend({"x": ["text"]})
            raise RuntimeError("of the user")

    with pytest.raises(sapwood.errors.InvalidError if fails == "refused" else RuntimeError):
        update()
    assert path.read_bytes() == before


def test_a_new_file_keeps_what_was_written_before_a_refusal(tmp_path):
    path = tmp_path / "f.root"

    def write():
        with sapwood.recreate(path) as file:
            file["t"] = {"x": np.array([1], np.int32)}
            file["u"] = {"x": np.array([1j])}

    with pytest.raises(sapwood.errors.UnsupportedError):
        write()
    with sapwood.open(path) as file:
        assert file["t"].num_entries == 1
