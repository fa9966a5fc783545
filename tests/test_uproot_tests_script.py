"""bench/uproot_tests.py: a test that hangs or ends its process fails alone. bench/uproot_keywords.py agrees."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TESTS = """
import os, time
import uproot

def test_passes():
    assert uproot.__name__ == "sapwood.uproot"

def test_hangs():
    time.sleep(600)

def test_fails():
    assert False

def test_ends():
    os.abort()

def test_passes_too():
    pass

def test_of_inner_names():
    uproot.interpretation
"""


def test_a_test_that_hangs_fails_alone(tmp_path):
    (tmp_path / "uproot").mkdir()
    (tmp_path / "uproot" / "test_some.py").write_text(TESTS)
    out = tmp_path / "out.json"
    words = [sys.executable, ROOT / "bench" / "uproot_tests.py", tmp_path / "uproot", "--limit", "5", "--json", out]
    subprocess.run([*words, "--corpus", tmp_path], check=True, capture_output=True, timeout=300)
    outcomes = {test.partition("::")[2]: outcome for test, outcome in json.loads(out.read_text()).items()}
    assert outcomes.pop("test_fails")[0] == "failed"
    assert outcomes == {
        "test_passes": ["passed", ""],
        "test_hangs": ["failed", "no result within 5 seconds"],
        "test_ends": ["failed", "the process ended with status -6"],
        "test_passes_too": ["passed", ""],
        "test_of_inner_names": ["skipped", "uproot's inner names: uproot.interpretation"],
    }


def test_each_keyword_of_uproots_functions_gives_the_same():
    pytest.importorskip("uproot", minversion="5.7")
    pytest.importorskip("dask_awkward")
    words = [sys.executable, ROOT / "bench" / "uproot_keywords.py"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.splitlines()[-1].split()[0]) > 250
