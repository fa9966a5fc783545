"""Writes the files that the examples of the user guide read, into the current directory or the specified one."""

import sys
from pathlib import Path

import awkward as ak
import numpy as np

import sapwood


def uniform(index: np.ndarray, salt: int) -> np.ndarray:
    """Numbers between 0 and 1 that are spread evenly and come out the same on every machine."""
    return (index * 0.6180339887498949 + salt * 0.7548776662466927) % 1.0


def events(first: int, stop: int) -> dict:
    """The columns of the entries from `first` to `stop`."""
    number = np.arange(first, stop)
    n_muon = number % 4
    muon = np.repeat(number * 4, n_muon) + ak.to_numpy(ak.flatten(ak.local_index(ak.Array([range(n) for n in n_muon]))))
    pt = 3.0 - 20.0 * np.log(1.0 - uniform(muon, 1))
    eta = 4.8 * uniform(muon, 2) - 2.4
    charge = np.where(uniform(muon, 3) < 0.5, -1, 1)
    return {
        "run": np.full(len(number), 1, "i4"),
        "event": number,
        "px": (40.0 * uniform(number, 4) - 20.0).astype("f4"),
        "py": (40.0 * uniform(number, 5) - 20.0).astype("f4"),
        "MET_pt": (-30.0 * np.log(1.0 - uniform(number, 6))).astype("f4"),
        "Muon": ak.unflatten(
            ak.zip({"pt": pt.astype("f4"), "eta": eta.astype("f4"), "charge": charge.astype("i4")}), n_muon
        ),
    }


#: Type of each branch. A list of records becomes one branch per field, with one counter, nMuon.
TYPES = {
    "run": "i4",
    "event": "i8",
    "px": "f4",
    "py": "f4",
    "MET_pt": "f4",
    "Muon": "var * {pt: float32, eta: float32, charge: int32}",
}


def write(path: Path, first: int, stop: int, **options) -> None:
    """A file with the tree `Events` and the histogram `pt_spectrum`."""
    columns = events(first, stop)
    with sapwood.recreate(path) as file:
        tree = file.mktree("Events", TYPES, **options)
        for begin in range(0, stop - first, 500):
            tree.extend({name: column[begin : begin + 500] for name, column in columns.items()})
        contents, edges = np.histogram(ak.to_numpy(ak.flatten(columns["Muon"].pt)), bins=20, range=(0, 100))
        file["pt_spectrum"] = contents, edges


def main(folder: Path) -> None:
    """Writes all files of the guide into a directory."""
    write(folder / "events.root", 0, 10_000, auto_flush=2000)
    for part in range(3):
        write(folder / f"part-{part + 1}.root", part * 1000, (part + 1) * 1000)
    # small baskets: each request brings little
    write(folder / "scattered.root", 0, 10_000, auto_flush=0, basket_size=2000, optimize_baskets=False)
    # 200 bytes in the middle are overwritten: one basket of Muon_pt cannot be read
    damaged = bytearray((folder / "events.root").read_bytes())
    middle = len(damaged) // 2
    damaged[middle : middle + 200] = bytes(200)
    (folder / "damaged.root").write_bytes(damaged)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
