"""Real ROOT and uproot read what sapwood-write wrote: no word of complaint, and every value right.

    check_written.py WRITE_SAMPLE      the example's binary

Needs ROOT and uproot in this Python; exits with status 77, which means "skipped", without them.
"""

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
MISSING = [name for name in ("ROOT", "uproot", "numpy") if importlib.util.find_spec(name) is None]
if MISSING:
    print(f"skipped: {', '.join(MISSING)} cannot be imported; install ROOT and uproot to run this check")
    sys.exit(SKIPPED)

import numpy as np

TYPES = {
    "bool": "?", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4",
    "uint32": "u4", "int64": "i8", "uint64": "u8", "float32": "f4", "float64": "f8",
}  # fmt: skip

# name: entries, compression, cluster (entries, compressed bytes or never), basket bytes, gaps
CASES = {
    "none": (2000, "none", "500", "4000"),
    "zlib1": (3000, "zlib:1", "1000", "4000"),
    "zlib9": (1500, "zlib:9", "700", "32000"),
    "lzma": (1000, "lzma:7", "400", "8000"),
    "lz4": (2000, "lz4:1", "700", "8000"),
    "lz4hc": (2000, "lz4:9", "never", "8000"),
    "zstd": (3000, "zstd:5", "never", "2000"),
    "one_basket": (1500, "zstd:1", "30000000B", "1000000"),
    "by_bytes": (6000, "zlib:1", "150000B", "4000"),
    "tiny_baskets": (300, "zlib:1", "never", "100"),
    "one_entry_clusters": (40, "zlib:1", "1", "32000"),
    "one_entry": (1, "zlib:1", "1000", "32000"),
    "empty": (0, "zlib:1", "1000", "32000"),
    "empty_uncompressed": (0, "none", "never", "32000"),
    "large_file": (1500, "zstd:5", "600", "4000", "2000000000", "100000000"),
    "large_at_end": (1500, "zlib:1", "600", "4000", "1999000000"),
}
SAMPLES = {"sample_clustered": "clustered", "sample_scattered": "scattered"}
SAMPLE_ENTRIES = 12000

DUMPER = r"""
#include <TTree.h>
#include <TLeaf.h>
#include <TObjArray.h>
#include <fstream>
void sapwood_dump(TTree *tree, const char *folder) {
   for (auto *object : *tree->GetListOfLeaves()) {
      auto *leaf = static_cast<TLeaf *>(object);
      std::ofstream values(std::string(folder) + "/" + leaf->GetName() + ".values", std::ios::binary);
      std::ofstream counts(std::string(folder) + "/" + leaf->GetName() + ".counts", std::ios::binary);
      for (Long64_t i = 0; i < tree->GetEntries(); ++i) {
         if (auto *counter = leaf->GetLeafCount()) counter->GetBranch()->GetEntry(i);
         leaf->GetBranch()->GetEntry(i);
         Int_t n = leaf->GetLen();
         counts.write(reinterpret_cast<char *>(&n), sizeof n);
         values.write(static_cast<char *>(leaf->GetValuePointer()), std::streamsize(n) * leaf->GetLenType());
      }
   }
}
"""


def classes_of(file):
    """The streamer info: all that it says but the members' comments."""
    infos = (i for i in file.GetStreamerInfoList() if i.ClassName() == "TStreamerInfo")
    return {
        info.GetName(): (
            info.GetClassVersion(),
            info.GetCheckSum(),
            [
                (e.ClassName(), e.GetName(), e.GetTypeName(), e.GetType(), e.GetSize(), e.GetMaxIndex(1))
                for e in info.GetElements()
            ],
        )
        for info in infos
    }


def classes_of_roots_own(folder):
    """The streamer info of a file with leaves of all types that ROOT itself writes."""
    import ROOT

    file = ROOT.TFile.Open(f"{folder}/own.root.tmp", "RECREATE")
    tree = ROOT.TTree("Events", "")
    for code in "OBSILFD":
        tree.Branch(code, np.zeros(1), f"{code}/{code}")
    tree.Fill()
    tree.Write()
    file.Close()
    file = ROOT.TFile.Open(f"{folder}/own.root.tmp")
    return classes_of(file)


def with_root(folder):
    """Runs in its own process, whose error output must stay empty: dumps what ROOT reads."""
    import ROOT

    ROOT.gInterpreter.Declare(DUMPER)
    classes = classes_of_roots_own(folder)
    for path in sorted(Path(folder).glob("*.root")):
        file = ROOT.TFile.Open(str(path))
        assert not file.IsZombie() and not file.TestBit(ROOT.TFile.kRecovered), path
        found = classes_of(file)
        for name in classes.keys() | found.keys():
            assert found.get(name) == classes.get(name), f"{path}: {name}: {found.get(name)}, not {classes.get(name)}"
        tree = file.Get("Events")
        if path.stem not in SAMPLES:
            other = file.Get("Other")
            assert other.GetEntries() == 3 and other.GetMaximum("x") == 3, path
        out = Path(folder, path.stem)
        out.mkdir()
        ROOT.sapwood_dump(tree, str(out))
        leaves = []
        for leaf in tree.GetListOfLeaves():
            counter = leaf.GetLeafCount()
            by = counter.GetName() if counter else "-"
            branch = leaf.GetBranch()
            leaves.append(f"{leaf.GetName()} {leaf.GetTypeName()} {by} {leaf.GetMaximum():.0f} {branch.GetEntries()}")
        clusters, iterator = [], tree.GetClusterIterator(0)
        while (start := iterator()) < tree.GetEntries():
            clusters.append(str(start))
        Path(out, "leaves.txt").write_text("\n".join(leaves))
        Path(out, "tree.txt").write_text(f"{tree.GetEntries()} {tree.GetAutoFlush()} {' '.join(clusters)}")
        file.Close()
    # ROOT can go on with such a file: copy its baskets untouched, and write into it.
    source = ROOT.TFile.Open(f"{folder}/zlib1.root")
    copy = ROOT.TFile.Open(f"{folder}/copy.root.tmp", "RECREATE")
    source.Get("Events").CloneTree(-1, "fast").Write()
    copy.Close()
    copy = ROOT.TFile.Open(f"{folder}/copy.root.tmp")
    assert copy.Get("Events").GetEntries() == CASES["zlib1"][0]
    for name in ("zlib1", "large_file"):
        path = f"{folder}/{name}.update.tmp"
        subprocess.run(["cp", "--sparse=always", f"{folder}/{name}.root", path], check=True)
        file = ROOT.TFile.Open(path, "UPDATE")
        ROOT.TNamed("note", "written by ROOT").Write()
        file.Close()
        file = ROOT.TFile.Open(path)
        assert file.Get("note").GetTitle() == "written by ROOT"
        tree = file.Get("Events")
        assert tree.GetEntries() == CASES[name][0]
        assert all(tree.GetEntry(i) > 0 for i in range(0, tree.GetEntries(), 100))
        file.Close()


def expected(name, entries):
    """Counts and values of a branch of `types`: the formulas of the example."""
    kind, _, dtype = name.partition("_")
    i = np.arange(entries, dtype=np.uint64)
    if name == "nj":
        return np.ones(entries, int), (i % 5).astype("i4")
    if kind == "nown" or kind == "own":
        counts = np.where(i % 100 == 99, 300, (i % 7 == 3).astype(int)).astype(int)
        if kind == "nown":
            return np.ones(entries, int), counts.astype("i4")
        dtype = "float32"
    elif kind == "j":
        counts = (i % 5).astype(int)
    else:
        counts = np.full(entries, {"s": 1, "f": 3}[kind])
    at = np.repeat(i, counts)
    j = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    if dtype == "bool":
        return counts, (at % 3 == j.astype(np.uint64))
    if dtype == "float32":
        return counts, at.astype("f4") * np.float32(0.5) - j.astype("f4")
    if dtype == "float64":
        return counts, at.astype("f8") * 0.1 - j.astype("f8")
    mixed = (at * np.uint64(0x9E3779B97F4A7C15)).view("i8") >> (at % 48).astype("i8")
    return counts, (mixed ^ j.astype("i8")).astype(TYPES[dtype])


def from_root(folder, name, dtype):
    counts = np.fromfile(Path(folder, f"{name}.counts"), "i4")
    return counts, np.fromfile(Path(folder, f"{name}.values"), dtype)


def from_uproot(array):
    import awkward as ak

    flat = ak.to_numpy(ak.flatten(array, axis=None)) if len(array) else np.array([])
    counts = ak.to_numpy(ak.num(array)) if array.ndim > 1 else np.ones(len(array), int)
    return counts, flat


def same(what, a, b):
    for part, x, y in zip(("counts", "values"), a, b):
        x, y = np.asarray(x), np.asarray(y)
        assert len(x) == len(y), f"{what}: {len(x)} {part}, not {len(y)}"
        if part == "values" and len(x):
            assert x.dtype == y.dtype, f"{what}: {x.dtype}, not {y.dtype}"
        wrong = np.flatnonzero(x != y)
        assert not len(wrong), f"{what}: {part}[{wrong[0]}] is {x[wrong[0]]}, not {y[wrong[0]]}"


def check_tree(folder, name, entries):
    said, auto_flush, *starts = Path(folder, name, "tree.txt").read_text().split()
    assert int(said) == entries, f"{name}: {said} entries"
    starts, auto_flush = [int(s) for s in starts], int(auto_flush)
    cluster = CASES[name][2] if name in CASES else {"clustered": "10000"}.get(SAMPLES[name], "never")
    if cluster.isdigit():
        assert auto_flush == int(cluster), f"{name}: {auto_flush}"
    if name == "by_bytes":
        assert 0 < auto_flush < entries, f"{name}: {auto_flush} entries a cluster"
    if auto_flush > 0:
        assert starts == list(range(0, entries, auto_flush)), f"{name}: clusters begin at {starts}"


def check_types(folder, name, path):
    import uproot

    entries = CASES[name][0]
    tree = uproot.open(f"{path}:Events")
    assert tree.num_entries == entries
    leaves = [line.split(" ") for line in Path(folder, name, "leaves.txt").read_text().splitlines()]
    assert len(leaves) == 3 * len(TYPES) + 3, f"{name}: {len(leaves)} leaves"
    arrays = tree.arrays()
    for leaf, *_type, counter, largest, n in leaves:
        wanted = expected(leaf, entries)
        dtype = np.dtype("i4") if leaf in ("nj", "nown") else np.dtype(TYPES[leaf.partition("_")[2] or "float32"])
        same(f"{name}: {leaf} in ROOT", from_root(Path(folder, name), leaf, dtype), wanted)
        same(f"{name}: {leaf} in uproot", from_uproot(arrays[leaf]), wanted)
        assert counter == ("nj" if leaf.startswith("j_") else "nown" if leaf == "own" else "-"), leaf
        assert int(n) == entries
        if leaf in ("nj", "nown"):
            assert float(largest) == (wanted[1].max() if entries else 0), f"{name}: {leaf} up to {largest}"
    assert tree["own"].title == "a jagged branch with a counter of its own"
    assert tree["j_int16"].title == "j_int16[nj]/S"
    if name in ("tiny_baskets", "zstd"):
        assert tree["j_float64"].num_baskets > 20


def check_sample(folder, name, path):
    import uproot

    tree = uproot.open(f"{path}:Events")
    assert tree.num_entries == SAMPLE_ENTRIES and len(tree.keys()) > 50
    arrays = tree.arrays()
    for key in tree.keys():
        counts, values = from_uproot(arrays[key])
        same(f"{name}: {key}", from_root(Path(folder, name), key, values.dtype), (counts, values))
    pair = arrays[(arrays.nMuon == 2)]
    pair = pair[pair.Muon_charge[:, 0] != pair.Muon_charge[:, 1]]
    eta, phi = (pair[f][:, 0] - pair[f][:, 1] for f in ("Muon_eta", "Muon_phi"))
    mass = np.sqrt(2 * pair.Muon_pt[:, 0] * pair.Muon_pt[:, 1] * (np.cosh(eta) - np.cos(phi)))
    peak = int(np.sum((mass > 86) & (mass < 96)))
    assert peak > 0.1 * SAMPLE_ENTRIES, f"{name}: {peak} pairs of muons at the Z mass"
    baskets = tree["Jet_pt"].num_baskets
    assert (baskets == 2) if name == "sample_clustered" else (baskets > 40), f"{name}: {baskets} baskets"
    return {key: from_uproot(arrays[key]) for key in tree.keys()}


def main(binary):
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: f"{folder}/{name}.root" for name in (*CASES, *SAMPLES)}
        for name, (entries, *rest) in CASES.items():
            subprocess.run([binary, "types", paths[name], str(entries), *rest], check=True)
        for name, layout in SAMPLES.items():
            subprocess.run([binary, "sample", paths[name], str(SAMPLE_ENTRIES), "7", layout], check=True)
        left = [p.name for p in Path(folder).iterdir() if p.suffix != ".root"]
        assert not left, f"temporary files stay: {left}"
        child = [sys.executable, "-W", "ignore", __file__, "--with-root", folder]
        done = subprocess.run(child, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 0 and not done.stdout.strip(), f"ROOT complains:\n{done.stdout}"
        for name, (entries, *_) in CASES.items():
            check_tree(folder, name, entries)
            check_types(folder, name, paths[name])
        samples = []
        for name in SAMPLES:
            check_tree(folder, name, SAMPLE_ENTRIES)
            samples.append(check_sample(folder, name, paths[name]))
        for key in samples[0]:
            same(f"samples: {key}", samples[0][key], samples[1][key])
        print(f"{len(paths)} files read alike by ROOT and uproot")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--with-root"]:
        with_root(sys.argv[2])
    elif len(sys.argv) == 2 and (found := shutil.which(sys.argv[1])):
        main(found)
    else:
        sys.exit(__doc__)
