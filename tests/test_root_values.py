"""A part of what `compare_root.py` compares in full: real files, branch by branch, with what ROOT has in memory."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
#: About so many files; SAPWOOD_ROOT_LIMIT=0 compares all (some minutes).
LIMIT = os.environ.get("SAPWOOD_ROOT_LIMIT", "24")


@pytest.fixture
def compare(tmp_path):
    """Runs compare_root.py: the summary and the log."""
    if importlib.util.find_spec("ROOT") is None:
        pytest.skip("ROOT, which has the values to compare with, is not installed")

    def compare(*arguments):
        out = tmp_path / "root.json"
        words = [sys.executable, HERE / "compare_root.py", *arguments, "--json", out, "--quiet"]
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=900)
        assert out.exists(), done.stderr[-2000:]
        result = json.loads(out.read_text())
        return result["summary"], result["log"]

    return compare


def test_files_that_root_wrote(compare, root_files):
    summary, log = compare(root_files)
    assert [line for line in log if line[0] in ("DIFFERENT", "REFUSED")] == []
    assert summary["equal"] >= 0.9 * summary["branches"]


def test_real_files(compare, corpus):
    summary, log = compare(corpus, "--limit", LIMIT, "--entries", 6)
    assert [line for line in log if line[0] == "DIFFERENT"] == []
    assert summary["equal"] >= 0.95 * summary["branches"] > 0
