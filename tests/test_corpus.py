"""Real files of many experiments: what Sapwood reads of them is what uproot reads, or else what ROOT reads."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import awkward as ak
import pytest

import sapwood

HERE = Path(__file__).parent
# Every second file; SAPWOOD_CORPUS_LIMIT=0 compares all (half a minute more).
LIMIT = os.environ.get("SAPWOOD_CORPUS_LIMIT", "168")
KINDS = {
    "Int_t": "int32",
    "UInt_t": "uint32",
    "Float_t": "float32",
    "Double_t": "float64",
    "Float16_t": "float32",
    "Double32_t": "float64",
}


@pytest.fixture(scope="module")
def comparison(corpus, tmp_path_factory):
    """The summary and the log of compare_corpus.py."""
    out = tmp_path_factory.mktemp("corpus") / "corpus.json"
    words = [sys.executable, HERE / "compare_corpus.py", corpus, "--limit", LIMIT, "--json", out, "--quiet"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=900, stdin=subprocess.DEVNULL)
    assert done.returncode in (0, 1), done.stderr
    print(done.stdout)
    return json.loads(out.read_text())


def test_nothing_crashes(comparison):
    assert [line for line in comparison["log"] if line[0] == "CRASH"] == []


def test_most_branches_are_read(comparison):
    count = comparison["summary"]
    assert count["files"] > 0
    assert count["equal"] >= 0.95 * (count["equal"] + count["refused"])


def test_what_differs_from_uproot_is_what_root_reads(comparison, corpus):
    """uproot misses on ranged Float16_t, unsigned counters and some more: there ROOT decides, value by value."""
    rows = [row for row in comparison["differences"] if not only_signs_differ(*row[3:])]
    if rows and importlib.util.find_spec("ROOT") is None:
        pytest.skip(f"ROOT, which would judge {len(rows)} differences, is not installed")
    questions = "\n".join(json.dumps([str(corpus / file), tree, branch]) for file, tree, branch, *_ in rows)
    words = [sys.executable, "-W", "ignore", HERE / "judge.py"]
    done = subprocess.run(words, input=questions, capture_output=True, text=True, timeout=300)
    answers = [json.loads(line[7:]) for line in done.stdout.splitlines() if line.startswith("ANSWER ")]
    assert len(answers) == len(rows), done.stderr[-2000:]
    faults = []
    for (file, tree, branch, *_), answer in zip(rows, answers, strict=True):
        reason = verdict(branch, sapwood.open(corpus / file)[tree][branch].array(library="ak"), answer)
        if reason:
            faults.append(f"{file} {tree} {branch}: {reason}")
    assert not faults, "\n".join(faults)


def only_signs_differ(ours, theirs):
    """Whether two summaries are the same bits: uproot calls counters unsigned, which ROOT's classes hold as Int_t."""
    signed = [[kind.replace("u4", "i4"), bits] for kind, bits in theirs[1]]
    return ours == [theirs[0], signed]


def verdict(branch, array, answer):
    """What speaks against an array when ROOT's answer is known; None where they agree."""
    if answer is None:
        return "differs from uproot, and ROOT has no leaf to compare with"
    kind, values = answer
    if not str(array.type).endswith(KINDS.get(kind, kind)):
        return f"is {array.type}, ROOT's type is {kind}"
    for entry, (ours, (*theirs, length)) in enumerate(zip(array, values, strict=True)):
        flat = ak.to_list(ak.flatten(ours, axis=None)) if isinstance(ours, ak.Array) else [ours]
        expected = theirs[:length] if isinstance(ours, ak.Array) else theirs[:1]
        if branch.endswith("fBits"):
            # In memory ROOT sets bit 3, kMustCleanup, which the file has not.
            expected = [int(bits) & ~8 for bits in expected]
        if flat != expected:
            return f"entry {entry} is {flat[:5]}, ROOT reads {expected[:5]}"
    return None
