"""Test files written by uproot."""

import awkward as ak
import numpy as np
import uproot

ENTRIES = 1000
BASKETS = 4
CODECS = {
    "zlib": uproot.ZLIB(1),
    "lzma": uproot.LZMA(1),
    "lz4": uproot.LZ4(4),
    "zstd": uproot.ZSTD(5),
    "plain": None,
}
NUMBERS = ["bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]


def columns(random, entries):
    """Columns of every number type, fixed arrays and jagged ones; x is 0, 1, 2 ... for order."""
    flat = {"x": np.arange(entries, dtype="i8")}
    for dtype in NUMBERS:
        kind = np.dtype(dtype)
        if kind.kind == "f":
            flat[f"n_{dtype}"] = random.normal(0, 1e3, entries).astype(kind)
        else:
            flat[f"n_{dtype}"] = random.integers(0, 256, entries * kind.itemsize, dtype="u1").view(
                "u1" if dtype == "bool" else kind
            )
            if dtype == "bool":
                flat[f"n_{dtype}"] = flat[f"n_{dtype}"] > 127
    flat["vector3"] = random.normal(0, 1, (entries, 3)).astype("f4")
    flat["matrix"] = random.integers(0, 9, (entries, 2, 3)).astype("i4")
    counts = random.poisson(3, entries)
    flat["jagged"] = ak.unflatten(random.normal(20, 10, counts.sum()).astype("f4"), counts)
    flat["Muon"] = ak.zip(
        {
            "pt": ak.unflatten(random.exponential(30, counts.sum()), counts),
            "charge": ak.unflatten(random.integers(0, 2, counts.sum()).astype("i4") * 2 - 1, counts),
        }
    )
    return flat


def kind(column):
    """A column's type as mktree wants it."""
    if isinstance(column, ak.Array):
        return column.type.content
    return np.dtype((column.dtype, column.shape[1:]))


def write(folder):
    """Writes flat-CODEC.root (tree t: every column, in BASKETS extends) and pair-N.root for reads of many files."""
    for name, compression in CODECS.items():
        random = np.random.default_rng(2)
        parts = [columns(random, ENTRIES // BASKETS) for _ in range(BASKETS)]
        for index, part in enumerate(parts):
            part["x"] += index * (ENTRIES // BASKETS)
        with uproot.recreate(folder / f"flat-{name}.root", compression=compression) as file:
            # Not by assignment: that makes an RNTuple since uproot 5.7.
            tree = file.mktree("t", {key: kind(column) for key, column in parts[0].items()})
            for part in parts:
                tree.extend(part)
    for index in range(2):
        with uproot.recreate(folder / f"pair-{index}.root") as file:
            tree = file.mktree("dir/t", {"x": "i8", "y": "f8"})
            tree.extend({"x": np.arange(100) + 100 * index, "y": np.arange(100) * 0.5})
