"""Objects that are no trees in real files of many experiments: all are read that ROOT reads, with uproot's values."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
#: Objects of classes that their files do not describe, and that ROOT does not know either.
UNKNOWN = {"StIOEvent", "MGTRun"}


@pytest.fixture(scope="module")
def comparison(corpus, tmp_path_factory):
    """The summary and the log of compare_objects.py."""
    out = tmp_path_factory.mktemp("objects") / "objects.json"
    words = [sys.executable, HERE / "compare_objects.py", corpus, "--json", out]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL)
    assert done.returncode in (0, 1), done.stderr[-3000:]
    print(done.stdout)
    return json.loads(out.read_text())


def test_all_objects_are_read(comparison):
    assert comparison["summary"]["objects"] > 1000
    refused = [line for line in comparison["log"] if line[0] != "DIFFERENT" and line[3] not in UNKNOWN]
    assert not refused, "\n".join(map(str, refused))


def test_values_are_those_of_uproot(comparison):
    different = [line for line in comparison["log"] if line[0] == "DIFFERENT"]
    assert not different, "\n".join(map(str, different))
    assert comparison["summary"]["equal"] > 200
