"""Entries appended to ntuples that uproot wrote, in an older version of the format, are read by uproot and by ROOT."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import root_answers
import uproot

import sapwood

ak = pytest.importorskip("awkward")
SCRIPT = Path(__file__).with_name("reduced_with_root.py")


def test_entries_are_appended(tmp_path, root_here):
    path = tmp_path / "n.root"
    parts = [
        {"x": np.arange(5, dtype=np.float32), "l": ak.Array([[1.0], [], [2.0, 3.0], [], [4.0]])},
        {"x": np.float32([9]), "l": ak.Array([[0.5, 0.25]])},
    ]
    with uproot.recreate(path) as file:
        file.mkrntuple("n", {"x": parts[0]["x"], "l": ak.values_astype(parts[0]["l"], np.float32)})
    for _ in range(2):
        with sapwood.update(path) as file:
            file["n"].extend(parts[1])
    x, lists = [0.0, 1.0, 2.0, 3.0, 4.0, 9.0, 9.0], [*ak.to_list(parts[0]["l"]), [0.5, 0.25], [0.5, 0.25]]
    with uproot.open(path) as file:
        assert ak.to_list(file["n"].arrays()["x"]) == x and ak.to_list(file["n"].arrays()["l"]) == lists
    assert root_answers.ask(SCRIPT, {"files": [str(path)], "type": "float"}) == {str(path): [x, lists]}
