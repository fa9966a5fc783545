"""Ntuples that store one field with different precision are joined so that ROOT reads every value, or refused."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
import root_answers

import sapwood

#: Encodings of a float that are written, and those that hold all numbers of others.
FLOATS = {
    "float": "float32",
    "half": "Real16",
    "trunc20": "Real32Trunc<20>",
    "trunc12": "Real32Trunc<12>",
    "quant20": "Real32Quant<20, -5, 5>",
    "quant12": "Real32Quant<12, -5, 5>",
    "other12": "Real32Quant<12, -4, 4>",
}
DOUBLES = {"double": "float64", "wide12": "float64 as Real32Quant<12, -5, 5>", "wide20": "float64 as Real32Trunc<20>"}
SCRIPT = Path(__file__).with_name("reduced_with_root.py")


def written(folder, kinds):
    numbers = np.random.default_rng(7).uniform(-4, 4, 500)
    for name, kind in kinds.items():
        numbers_here = numbers.astype(np.float64 if "64" in kind else np.float32)
        with sapwood.recreate(folder / f"{name}.root", compression="zstd:5") as file:
            file.mkntuple("n", {"x": kind, "l": f"var * {kind}"}).extend(
                {"x": numbers_here, "l": [numbers_here[i : i + i % 3] for i in range(500)]}
            )


def flat(path):
    with sapwood.open(path) as file:
        x = file["n"]["x"].array(library="np")
        lists = file["n"]["l"].array(library="np")
    return x.tolist(), [a.tolist() for a in lists]


def is_reduced(name):
    return "trunc" in name or "quant" in name or "other" in name or "wide" in name


@pytest.mark.parametrize("kinds", [FLOATS, DOUBLES], ids=["float", "double"])
def test_every_pair_is_read_by_root_or_refused(tmp_path, root_here, kinds):
    written(tmp_path, kinds)
    wanted = {}
    for a, b in itertools.product(kinds, repeat=2):
        out, inputs = tmp_path / f"{a}-{b}.root", [tmp_path / f"{a}.root", tmp_path / f"{b}.root"]
        # numbers of full precision take all others; nothing else takes truncated or quantized ones
        if a != b and (is_reduced(a) or (is_reduced(b) and a == "half")):
            with pytest.raises(sapwood.errors.InvalidError, match=r"field x is stored as .*specify a file first"):
                sapwood.merge(out, inputs)
            continue
        sapwood.merge(out, inputs)
        parts = [flat(path) for path in inputs]
        wanted[str(out)] = [parts[0][0] + parts[1][0], parts[0][1] + parts[1][1]]
        assert list(flat(out)) == wanted[str(out)]
    found = root_answers.ask(SCRIPT, {"files": sorted(wanted), "type": "double" if kinds is DOUBLES else "float"})
    assert found == wanted


def test_three_files_and_a_new_layout(tmp_path, root_here):
    """What was joined is one encoding, so `optimize` makes clusters of all of it."""
    written(tmp_path, FLOATS)
    out, better = tmp_path / "out.root", tmp_path / "better.root"
    names = ["float", "quant12", "other12", "trunc20", "half"]
    sapwood.merge(out, [tmp_path / f"{name}.root" for name in names])
    sapwood.optimize(out, better)
    parts = [flat(tmp_path / f"{name}.root") for name in names]
    wanted = [list(itertools.chain(*of_all)) for of_all in zip(*parts, strict=True)]
    assert list(flat(out)) == list(flat(better)) == wanted
    files = [str(out), str(better)]
    assert root_answers.ask(SCRIPT, {"files": files, "type": "float"}) == dict.fromkeys(files, wanted)
