"""Trees whose branches do not all have the tree's entries, and files with odd versions in their header."""

import numpy as np
import pytest

import sapwood


def test_a_branch_left_out_while_filling(root_files):
    """It is refused where the tree's entries are asked for, and is empty by itself, as with uproot."""
    tree = sapwood.open(root_files / "partly.root")["partly"]
    with pytest.warns(sapwood.SkippedBranchWarning, match="never: the branch has 0 entries, the tree 5"):
        assert tree.arrays().tolist() == [{"always": i} for i in range(5)]
    assert tree["never"].num_entries == 0
    assert tree["never"].array().tolist() == []
    with pytest.raises(sapwood.UnsupportedError, match=r"never.*filled for 0 of the tree's 5 entries"):
        tree.arrays(["always", "never"])


def test_a_branch_filled_by_itself(root_files):
    tree = sapwood.open(root_files / "partly.root")["own"]
    assert tree.num_entries == 0
    assert tree["alone"].array().tolist() == [7, 8, 9]
    assert tree["alone"].array(entry_start=-1).tolist() == [9]
    assert len(tree.arrays()) == 0


def test_a_file_updated_with_uproot(tmp_path):
    """uproot leaves a negative version in the header of small files that it updates; ROOT compares it signed."""
    uproot = pytest.importorskip("uproot")
    path = tmp_path / "updated.root"
    with uproot.recreate(path) as file:
        file.mktree("first", {"x": "i4"}).extend({"x": np.arange(3, dtype="i4")})
    with uproot.update(path) as file:
        file.mktree("second", {"x": "i4"}).extend({"x": np.arange(4, dtype="i4")})
    assert sapwood.open(path)["first/x"].array().tolist() == [0, 1, 2]
    assert sapwood.open(path)["second/x"].array().tolist() == [0, 1, 2, 3]
