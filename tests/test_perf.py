"""Perf stats: what they count, that they can be kept and drawn, and ROOT's own on the same read."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import sapwood


def used(stats):
    """Compressed bytes of the branches' baskets."""
    return sum(branch["bytes"] for branch in stats.branches)


def test_bytes_are_those_of_the_branches(flat):
    with sapwood.perf_stats() as stats, sapwood.open(flat) as file:
        tree = file["t"]
        tree.arrays(["n_f4", "jagged"], library="np")
        wanted = tree["n_f4"].compressed_bytes + tree["jagged"].compressed_bytes
    by_name = {branch["name"]: branch["bytes"] for branch in stats.branches}
    assert by_name["t/n_f4"] + by_name["t/jagged"] == wanted
    assert stats.read_bytes - stats.extra_bytes == used(stats)
    assert stats.bytes_fetched - stats.bytes_wanted == stats.bytes_wasted
    assert stats.scans == 1 and stats.entries == 1000
    assert [host["host"] for host in stats.hosts] == ["local"]
    assert sum(point["len"] for point in stats.points) == stats.read_bytes


def test_only_what_happens_inside_counts(flat):
    file = sapwood.open(flat)
    file["t"]["x"].array(library="np")
    with sapwood.perf_stats() as stats:
        assert stats.scans == 0 and stats.requests == 0
        for step in file["t"].iterate(["x"], step_size=100, library="np"):
            assert len(step["x"]) == 100
            break
        with sapwood.perf_stats() as inner:
            file["t"]["n_f4"].array(library="np")
        assert stats.scans == 2
    file["t"]["x"].array(library="np")
    assert stats.scans == 2 and inner.scans == 1
    assert {branch["name"] for branch in stats.branches} >= {"t/x", "t/n_f4"}
    assert {branch["name"] for branch in inner.branches} == {"t/n_f4"}
    assert stats.requests > inner.requests > 0


def test_a_file_that_is_closed_inside_is_counted(flat):
    with sapwood.perf_stats() as stats:
        for _ in range(3):
            with sapwood.open(flat) as file:
                file["t"]["x"].array(library="np")
    assert stats.hosts[0]["files"] == 3
    assert stats.requests > stats.read_calls >= 3


def test_they_are_kept_and_printed(flat, tmp_path, capsys, run):
    with sapwood.perf_stats() as stats:
        sapwood.open(flat)["t"].arrays(["n_f4"], library="np")
    stats.save(tmp_path / "stats.json")
    loaded = sapwood.PerfStats.load(tmp_path / "stats.json")
    assert loaded.to_dict() == stats.to_dict()
    stats.print()
    printed = capsys.readouterr().out
    assert printed.startswith("TreeCache = ")
    assert str(loaded) + "\n" == printed
    assert run("perf", "--load", tmp_path / "stats.json").stdout == printed
    assert "reads" in repr(stats)
    assert "read_calls" in dir(stats)
    with pytest.raises(AttributeError, match="read_bytes"):
        _ = stats.reads
    with pytest.raises(sapwood.CorruptError, match="not I/O statistics"):
        sapwood.PerfStats.from_json("{}")
    with pytest.raises(sapwood.InvalidError, match="with sapwood"):
        sapwood.perf_stats().to_json()
    with pytest.raises(sapwood.InvalidError, match="already used"), stats:
        pass


def test_the_recorded_log_is_replayed(flat, tmp_path, run):
    log = tmp_path / "events.jsonl"
    with sapwood.perf_stats(record=log):
        tree = sapwood.open(flat, cache_size="2 kB")["t"]
        tree.arrays(["n_f4", "x"], library="np")
        for _ in tree.iterate(["jagged"], step_size=100, library="np"):
            pass
    done = run("perf", "--replay", log, "--json")
    assert done.returncode == 0, done.stderr
    scans = json.loads(done.stdout)["scans"]
    assert [scan["same"] for scan in scans] == [True, True]
    assert all(scan["actions"] > 0 for scan in scans)


def test_they_are_drawn(flat, tmp_path, run):
    """As TTreePerfStats draws them: a bar for every range at its entry and place, real time as a second curve."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    with sapwood.perf_stats() as stats:
        sapwood.open(flat, cache_size=0)["t"].arrays(["n_f4", "jagged"], library="np")
    assert len(stats.points) > 4
    axes = stats.plot()
    assert axes.get_xlabel() == "entry" and "position in the file" in axes.get_ylabel()
    bars = [[tuple(end) for end in bar] for bar in axes.collections[0].get_segments()]
    places = [(p["entry"], p["offset"] * 1e-6, (p["offset"] + p["len"]) * 1e-6) for p in stats.points]
    assert bars == [[(entry, low), (entry, high)] for entry, low, high in places]
    (times,) = (other for other in axes.figure.axes if other is not axes)
    assert "real time" in times.get_ylabel()
    assert sorted(map(tuple, times.lines[0].get_xydata())) == sorted((p["entry"], p["time"]) for p in stats.points)
    axes.figure.savefig(tmp_path / "reads.png")
    assert (tmp_path / "reads.png").read_bytes().startswith(b"\x89PNG")
    from matplotlib import pyplot

    pyplot.close("all")
    # the same from the command
    stats.save(tmp_path / "stats.json")
    for name in ("reads.svg", "drawn.png"):
        done = run("perf", "--load", tmp_path / "stats.json", "-o", tmp_path / name)
        assert done.returncode == 0, done.stderr
    svg = (tmp_path / "reads.svg").read_text()
    assert all(words in svg for words in ("entry", "MB", "real time, s"))
    assert (tmp_path / "drawn.png").read_bytes().startswith(b"\x89PNG")


ROOT_STATS = """
import json, sys
import ROOT
ROOT.gErrorIgnoreLevel = ROOT.kError
file = ROOT.TFile.Open(sys.argv[1])
tree = file.Get(sys.argv[2])
names = sys.argv[3:]
tree.SetCacheSize(30000000)
tree.SetBranchStatus("*", 0)
for name in names:
    tree.SetBranchStatus(name, 1)
    tree.AddBranchToCache(name, True)
tree.StopCacheLearningPhase()
stats = ROOT.TTreePerfStats("stats", tree)
for entry in range(tree.GetEntries()):
    tree.GetEntry(entry)
stats.Finish()
print(json.dumps({
    "leaves": stats.GetNleaves(), "calls": stats.GetReadCalls(), "read": stats.GetBytesRead(),
    "extra": stats.GetBytesReadExtra(), "cache": stats.GetTreeCacheSize(),
}))
stats.Print("unzip")
"""


@pytest.mark.parametrize(("name", "tree", "branches"), [("clusters.root", "Events", ["f64", "n", "counted"])])
def test_fields_that_root_has_mean_the_same(root_files, name, tree, branches):
    path = root_files / name
    with sapwood.open(path) as file:
        assert set(branches) <= set(file[tree].keys())
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ROOT_STATS, str(path), tree, *branches],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    head, *printed = done.stdout.splitlines()
    root = json.loads(head)
    opened = sapwood.open(path, cache_size=30_000_000)
    with sapwood.perf_stats() as stats:
        opened[tree].arrays(branches, library="np")
    assert stats.leaves == root["leaves"]
    assert stats.cache_bytes == root["cache"]
    assert stats.read_bytes - stats.extra_bytes == root["read"] - root["extra"]
    # ROOT tells its compression factor only in what it prints, to six digits
    number = {line.partition("=")[0].strip(): float(line.partition("=")[2].split()[0]) for line in printed}
    assert stats.root["Compress"] == pytest.approx(number["ReadUnZip"] / number["ReadTotal"], rel=1e-5)
    # the same lines under the same names, in the same order
    names = [line.partition("=")[0].strip() for line in printed]
    ours = [line.partition("=")[0].strip() for line in str(stats).splitlines()[: len(names)]]
    assert ours == names
    assert Path(opened.file_path).name == name
