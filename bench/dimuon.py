"""A dimuon analysis with coffea: on uproot and on Sapwood, over files on this machine and over HTTP with a delay.

Run it in an environment with coffea and this package (``make test-coffea`` makes one):

    target/coffea/bin/python bench/dimuon.py --files 8 --entries 100000 --delay 50ms
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

# the folder of this script has modules whose names hide others that numba imports
sys.path[:] = [path for path in sys.path if Path(path or ".").resolve() != Path(__file__).resolve().parent]

import awkward as ak  # noqa: E402
import hist  # noqa: E402
import numpy as np  # noqa: E402
import uproot  # noqa: E402
from coffea.nanoevents import NanoAODSchema  # noqa: E402
from coffea.processor import IterativeExecutor, ProcessorABC  # noqa: E402
from coffea.processor import Runner as OnUproot  # noqa: E402

from sapwood.coffea import Runner as OnSapwood  # noqa: E402

COMMAND = Path(__file__).parent.parent / "target" / "release" / "sapwood"
#: What the analysis uses, and other columns of muons.
MUON = ["pt", "eta", "phi", "mass", "dxy", "dz", "pfRelIso04_all", "sip3d", "ip3d", "ptErr"]


class Dimuon(ProcessorABC):
    """The mass of pairs of muons of opposite charge."""

    def process(self, events):
        """Return the histogram, the number of events, and the requests for the file so far."""
        muons = events.Muon
        muons = muons[
            (muons.pt > 10) & (abs(muons.eta) < 2.4) & (abs(muons.dxy) < 5) & (abs(muons.dz) < 5)
            & (muons.pfRelIso04_all < 5) & (muons.sip3d < 9)
        ]  # fmt: skip
        muons = muons[events.HLT.path0 | (events.MET.pt > 0)]
        pairs = muons[(ak.num(muons) == 2) & (ak.sum(muons.charge, axis=1) == 0)]
        mass = (pairs[:, 0] + pairs[:, 1]).mass
        filled = hist.Hist.new.Reg(120, 0, 240, name="mass").Double().fill(mass)
        handle = events.attrs["@events_factory"].file_handle
        io = handle.io() if hasattr(handle, "io") else {"requests": handle.file.source.num_requests}
        counts = {"requests": int(io["requests"]), "round_trips": int(io.get("round_trips", 0))}
        return {"mass": filled, "events": len(events), **counts}

    def postprocess(self, accumulator):
        """Return the sum unchanged."""
        return accumulator


def write(path, seed, entries, branches):
    """A file with muons and other branches as in NanoAOD."""
    random = np.random.default_rng(seed)
    counts = random.integers(0, 4, entries)
    total = int(counts.sum())
    muons = {name: ak.unflatten(random.exponential(1, total).astype("f4"), counts) for name in MUON}
    muons["pt"] = muons["pt"] * 30 + 5
    muons["charge"] = ak.unflatten(random.choice(np.array([-1, 1], "i4"), total), counts)
    columns = {
        "run": np.full(entries, 1, "u4"),
        "luminosityBlock": np.full(entries, 1, "u4"),
        "event": np.arange(entries, dtype="u8"),
        "MET_pt": random.exponential(40, entries).astype("f4"),
        "MET_phi": random.uniform(-3, 3, entries).astype("f4"),
        "Muon": ak.zip(muons),
        **{f"HLT_path{n}": random.random(entries) < 0.1 for n in range(branches)},
    }
    with uproot.recreate(path) as file:
        types = {name: c.type if isinstance(c, ak.Array) else c.dtype for name, c in columns.items()}
        names = {"counter_name": lambda of: "n" + of, "field_name": lambda outer, inner: f"{outer}_{inner}"}
        tree = file.mktree("Events", types, **names)
        for start in range(0, entries, 25_000):
            tree.extend({name: column[start : start + 25_000] for name, column in columns.items()})


def measured(runner, files, chunk):
    """Seconds and result of a run."""
    start = time.perf_counter()
    run = runner(IterativeExecutor(status=False), schema=NanoAODSchema, chunksize=chunk, metadata_cache={})
    result = run({"muons": files}, Dimuon(), treename="Events")
    return time.perf_counter() - start, result


def compared(place, files, chunk, repeat, aim):
    """The best of several runs on uproot and on Sapwood; their results must be the same."""
    best = {}
    for _ in range(repeat):
        for name, runner in (("uproot", OnUproot), ("sapwood", OnSapwood)):
            seconds, result = measured(runner, files, chunk)
            if name not in best or seconds < best[name][0]:
                best[name] = seconds, result
    (theirs, expected), (ours, got) = best["uproot"], best["sapwood"]
    assert np.array_equal(expected["mass"].values(), got["mass"].values()) and expected["events"] == got["events"]
    return {
        "place": place,
        "uproot seconds": round(theirs, 2),
        "sapwood seconds": round(ours, 2),
        "ratio": round(ours / theirs, 2),
        "aim": f"at most {aim:.2f}: {'reached' if ours <= aim * theirs else 'MISSED'}",
        "uproot requests": expected["requests"],
        "sapwood requests": got["requests"],
        "sapwood round trips": got["round_trips"],
    }


def main():
    """Write the files, run, print a line of JSON for each place."""
    warnings.simplefilter("ignore")
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--files", type=int, default=8)
    options.add_argument("--entries", type=int, default=100_000)
    options.add_argument("--branches", type=int, default=1000, help="further branches in each file")
    options.add_argument("--chunk", type=int, default=50_000)
    options.add_argument("--delay", default="50ms")
    options.add_argument("--repeat", type=int, default=2)
    given = options.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="sapwood-dimuon-"))
    try:
        paths = [folder / f"nano{number}.root" for number in range(given.files)]
        for seed, path in enumerate(paths):
            write(path, seed, given.entries, given.branches)
        print(
            json.dumps(compared("local", [str(path) for path in paths], given.chunk, given.repeat, 1 / 3)), flush=True
        )
        server = subprocess.Popen(
            [str(COMMAND), "serve", str(folder), "--delay", given.delay], stdout=subprocess.PIPE, text=True
        )
        try:
            address = re.search(r"http://\S+", server.stdout.readline())[0].rstrip("/")
            urls = [f"{address}/{path.name}" for path in paths]
            print(json.dumps(compared(given.delay, urls, given.chunk, given.repeat, 1 / 2)), flush=True)
        finally:
            server.terminate()
            server.wait()
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
