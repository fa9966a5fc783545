"""sapwood optimize: every value stays, ROOT and uproot read it, and it takes few requests."""

import importlib.util
import json
import subprocess
import sys
import textwrap
from pathlib import Path

import awkward as ak
import pytest
import uproot

import sapwood

MACRO = Path(__file__).parent.parent / "bench" / "layout" / "scattered.C"

# what ROOT does with all branches and no cache, and with those of one collection and a cache of a tenth of the file
STATS = textwrap.dedent(
    r"""
    import json, sys
    import ROOT

    def reads(path, few):
        f = ROOT.TFile(path)
        t = f.Get("CollectionTree")
        t.SetCacheSize(f.GetSize() // 10 if few else 0)
        if few:
            t.SetBranchStatus("*", 0)
            t.SetBranchStatus(few, 1)
            t.AddBranchToCache(few)
            t.StopCacheLearningPhase()
        stats = ROOT.TTreePerfStats("stats", t)
        total = sum(t.GetEntry(i) for i in range(t.GetEntries()))
        return [stats.GetReadCalls(), total]

    print("RESULT" + json.dumps([[reads(p, ""), reads(p, "c007_*")] for p in sys.argv[1:]]))
    """
)


@pytest.mark.parametrize("name", ["leaves-zlib", "leaves-lz4", "clusters", "embedded", "embedded-plain"])
@pytest.mark.parametrize("options", [["--cluster", "37", "--basket", "600B"], ["--compress", "zstd:1"]])
def test_every_value_stays(run, root_files, tmp_path, name, options):
    """Clusters of 37 entries in small baskets, or one large basket: as we and uproot read the input."""
    source, out = root_files / f"{name}.root", tmp_path / "out.root"
    done = run("optimize", *options, "--json", source, out)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["verified"] is True
    assert report["trees"][0]["whole"] == []
    with sapwood.open(source) as one, sapwood.open(out) as two:
        a, b = one["Events"].arrays(library="ak"), two["Events"].arrays(library="ak")
        assert a.fields == b.fields
        for field in a.fields:
            assert ak.array_equal(a[field], b[field], equal_nan=True), field
    with uproot.open(source) as one, uproot.open(out) as two:
        for key in one["Events"].keys():
            if key == "text":
                continue  # uproot takes a text's length for an offset
            x, y = (f["Events"][key].array(library="ak").tolist() for f in (one, two))
            assert repr(x) == repr(y), key


def test_what_uproot_compressed_stays_compressed(run, flat, tmp_path):
    """uproot's branches say that they are not compressed."""
    done = run("optimize", flat, tmp_path / "out.root")
    assert done.returncode == 0, done.stderr
    with uproot.open(flat) as one, uproot.open(tmp_path / "out.root") as two:
        assert one["t/x"].member("fCompress") == 0 and one.file.compression == uproot.ZLIB(1)
        assert two["t/x"].compressed_bytes <= one["t/x"].compressed_bytes < one["t/x"].uncompressed_bytes / 2


def test_branches_that_hold_pointers_stay_whole(run, tmp_path):
    """Class tags and references in an entry count from the beginning of its basket."""
    if importlib.util.find_spec("ROOT") is None:
        pytest.skip("ROOT is not installed: pip install --pre ROOT")
    code = textwrap.dedent(
        r"""
        import subprocess, sys
        import ROOT
        source, out, command = sys.argv[1:]
        f = ROOT.TFile(source, "RECREATE")
        t = ROOT.TTree("t", "objects behind pointers")
        whole = ROOT.TObjArray()
        t.Branch("whole", "TObjArray", whole, 2000, 0)
        named = ROOT.TNamed("a", "b")
        t.Branch("named", named, 2000, 99)
        for e in range(300):
            whole.Clear()
            for k in range(e % 5):
                item = ROOT.TNamed(f"o{k}", f"in {e}") if k % 2 else ROOT.TObjString(f"s{e}")
                ROOT.SetOwnership(item, False)
                whole.Add(item)
            named.SetName(f"n{e}")
            t.Fill()
        t.Write()
        f.Close()
        subprocess.run([command, "-q", "optimize", "--cluster", "40", "--compress", "lz4", source, out], check=True)

        def rows(path):
            f = ROOT.TFile(path)
            t = f.Get("t")
            out = []
            for e in range(t.GetEntries()):
                t.GetEntry(e)
                out.append([str(t.named.GetName()), [(str(x.ClassName()), str(x.GetName())) for x in t.whole]])
            return out, [t.GetBranch(n).GetWriteBasket() for n in ("whole", "fName")]

        (a, (w1, n1)), (b, (w2, n2)) = rows(source), rows(out)
        assert a == b
        assert (w1, n2) == (w2, 8), (w1, w2, n1, n2)
        """
    )
    command = Path(sys.executable).parent / "sapwood"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, tmp_path / "in.root", tmp_path / "out.root", command],
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Error" not in done.stderr
    assert "Warning" not in done.stderr


def test_scattered_baskets_cost_a_hundredth_of_the_requests(run, root_files, tmp_path):
    """A small brother of the ATLAS case of bench/layout, counted by ROOT's TTreePerfStats."""
    source, out = tmp_path / "scattered.root", tmp_path / "out.root"
    root = Path(sys.executable).parent / "root"
    macro = f'{MACRO}("{source}", 12, 900, 200)'
    subprocess.run([root, "-l", "-b", "-q", macro], check=True, capture_output=True, stdin=subprocess.DEVNULL)
    done = run("optimize", "--first", "c007_*", source, out)
    assert done.returncode == 0, done.stderr
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", STATS, source, out],
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    (all_before, few_before), (all_after, few_after) = json.loads(done.stdout.split("RESULT")[1])
    assert all_before[1] == all_after[1] > 12 * 900 * 10 * 4
    assert few_before[1] == few_after[1]
    assert all_after[0] * 100 <= all_before[0]
    assert few_after[0] * 10 <= few_before[0]


def test_branches_can_be_left_out(run, root_files, tmp_path):
    source, out = root_files / "leaves-zlib.root", tmp_path / "out.root"
    with uproot.open(source) as f:
        names = f["Events"].keys(recursive=False)
    done = run("optimize", "--drop", "v*", "--first", "i32", source, out)
    assert done.returncode == 0, done.stderr
    with uproot.open(source) as one, uproot.open(out) as two:
        kept = [n for n in names if not n.startswith("v")]
        assert two["Events"].keys(recursive=False) == kept
        assert two["Events"]["i32"].array(library="np").tolist() == one["Events"]["i32"].array(library="np").tolist()
        first = min(two["Events"][n].member("fBasketSeek")[0] for n in kept)
        assert two["Events"]["i32"].member("fBasketSeek")[0] == first
    # an array needs its counter
    done = run("optimize", "--drop", "n", source, tmp_path / "other.root")
    assert done.returncode == 1
    assert "requires branch n" in done.stderr
    done = run("optimize", "--drop", "nothing*", source, tmp_path / "other.root")
    assert done.returncode == 1
    assert "no top-level branch matches nothing*" in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["out.root"]


def test_branches_are_ordered_and_left_out_by_use(run, root_files, tmp_path):
    """Two reads left their perf stats: what both used comes first, then what one of them did."""
    source = root_files / "leaves-zlib.root"
    with sapwood.perf_stats() as stats, sapwood.open(source) as file:
        file["Events"].arrays(["u8", "f64"])
    stats.save(tmp_path / "one.json")
    done = run("perf", f"{source}:Events", "-b", "counted", "-b", "f64", "-o", tmp_path / "two.json")
    assert done.returncode == 0, done.stderr
    used = ["--used", tmp_path / "one.json", "--used", tmp_path / "two.json"]
    for options in ([], ["--drop-unused"]):
        done = run("optimize", "-f", *used, *options, source, tmp_path / "out.root")
        assert done.returncode == 0, done.stderr
        with uproot.open(tmp_path / "out.root") as file:
            seeks = {b.name: int(b.member("fBasketSeek")[0]) for b in file["Events"].branches}
        order = sorted(seeks, key=seeks.get)
        assert order[:3] == ["f64", "u8", "counted"]
    # the array's counter stays with it
    assert sorted(order) == ["counted", "f64", "n", "u8"]
    report = sapwood.optimize(source, tmp_path / "py.root", used=[stats, tmp_path / "two.json"], drop_unused=True)
    assert (tmp_path / "py.root").read_bytes() != b"" and "i32" in report["trees"][0]["dropped"]
    with uproot.open(tmp_path / "py.root") as file:
        assert sorted(file["Events"].keys()) == sorted(order)


def test_perf_stats_of_another_file_are_a_mistake(run, root_files, flat, tmp_path):
    with sapwood.perf_stats() as stats, sapwood.open(flat) as file:
        file["t"].arrays(file["t"].keys()[:1])
    stats.save(tmp_path / "stats.json")
    source = root_files / "leaves-zlib.root"
    done = run("optimize", "--used", tmp_path / "stats.json", source, tmp_path / "out.root")
    assert done.returncode == 1 and "the perf stats are about other trees" in done.stderr
    with pytest.raises(sapwood.InvalidError, match="needs perf stats"):
        sapwood.optimize(source, tmp_path / "out.root", drop_unused=True)
    assert run("optimize", "--drop-unused", source, tmp_path / "out.root").returncode == 2
    assert not (tmp_path / "out.root").exists()


def test_from_python(flat, tmp_path):
    report = sapwood.optimize(flat, tmp_path / "out.root", cluster_entries=50, compression="lz4")
    assert report["verified"]
    with sapwood.open(flat) as one, sapwood.open(tmp_path / "out.root") as two:
        a, b = one["t"].arrays(library="ak"), two["t"].arrays(library="ak")
        assert ak.array_equal(a, b, equal_nan=True)
    with pytest.raises(sapwood.FileThereError, match=r"already exists.*force=True"):
        sapwood.optimize(flat, tmp_path / "out.root")


def test_damage_is_noticed_and_nothing_is_left(run, root_files, tmp_path):
    with uproot.open(root_files / "clusters.root") as f:
        seek = int(f["Events"]["i32"].member("fBasketSeek")[1])
    bytes_ = bytearray((root_files / "clusters.root").read_bytes())
    bytes_[seek : seek + 4] = bytes(4)
    (tmp_path / "bad.root").write_bytes(bytes_)
    done = run("optimize", tmp_path / "bad.root", tmp_path / "out.root")
    assert done.returncode == 1
    assert "i32" in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["bad.root"]
