"""Real trees rewritten: Sapwood, uproot and ROOT read the same values, and ROOT says nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

# Some files, some branches, some entries; SAPWOOD_CORPUS_LIMIT=0 takes all of all (many minutes).
LIMIT = os.environ.get("SAPWOOD_CORPUS_LIMIT", "24")


def test_what_is_written_is_what_was_read(corpus, tmp_path):
    pytest.importorskip("uproot")
    script, out = Path(__file__).parent / "round_trip_corpus.py", tmp_path / "round_trips.json"
    words = [sys.executable, script, corpus, "--limit", LIMIT, "--json", out, "--quiet"]
    if LIMIT != "0":
        words += ["--entries", "300", "--branches", "20"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=3600, stdin=subprocess.DEVNULL)
    assert out.exists(), done.stderr
    told = json.loads(out.read_text())
    print(done.stdout)
    assert [line for line in told["log"] if line[0] != "REFUSED"] == []
    count = told["summary"]
    assert count["written"] > 0.95 * count["branches"] > 0
