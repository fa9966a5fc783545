"""Files damaged a little: errors, or the same values. `mutate.py` does it by the ten thousand."""

import random

import mutate
import pytest


def run(folders, count, seed):
    chosen = mutate.inputs(folders, largest=60_000)
    assert chosen
    tally, wrong = mutate.run(chosen, count, seed, say=lambda *_, **__: None)
    assert wrong == []
    # a damaged file is not always noticed: many bytes are nobody's
    assert 0 < tally["refused"] < count
    return tally


def test_files_that_uproot_wrote(uproot_files):
    run([uproot_files], 100, seed=1)


def test_real_files(corpus):
    run([corpus / "go-hep", corpus / "oxyroot"], 150, seed=7)


def test_ntuples(corpus):
    run([corpus / "rntuple-validation"], 200, seed=3)


def test_a_silent_difference_would_be_noticed():
    """The judge itself: values that changed without a word, in a payload with a checksum and in one without."""
    label = b"\x00\x00\x00\x50" + b"\x00\x04" + b"\x00\x00\x00\x64" + bytes(4) + b"\x00\x30" + bytes(10)
    words = b"\x07TBasket\x01x\x01t"
    record = (label + words).ljust(0x30, b"\x00")
    before, after = {"t;1/x": "a", "t;1/y": "c"}, {"t;1/x": "b", "t;1/y": "c"}
    for magic, expected in ((b"ZL", "silent"), (b"ZS", "excused")):
        data = bytearray(b"root" + bytes(4) + (64).to_bytes(4, "big") + bytes(52) + record + magic.ljust(32, b"\x01"))
        damaged = bytearray(data)
        damaged[-1] ^= 1
        spans = list(mutate.records(data + bytes(64)))
        assert [(s[3], s[4]) for s in spans] == [(magic == b"ZL", "x")]
        assert mutate.judge(before, (after, False), spans, data, damaged) == (expected, ["t;1/x"])
    assert mutate.judge(before, (after, True), spans, data, damaged)[0] == "told"
    assert mutate.judge(before, "crashed", spans, data, damaged)[0] == "crashed"
    assert mutate.judge(before, ({"t;1/x": "!CorruptError"}, False), spans, data, damaged)[0] == "refused"


@pytest.mark.parametrize("seed", range(10))
def test_the_same_seed_does_the_same(seed):
    data = random.Random(0).randbytes(500)
    assert mutate.mutate(data, random.Random(seed), []) == mutate.mutate(data, random.Random(seed), [])
