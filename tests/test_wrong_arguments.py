"""Wrong arguments and names: the documented exceptions, with a message that names the argument or similar names."""

import contextlib

import numpy as np
import pytest
from scripted_http import Scripted, whole

import sapwood


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("wrong") / "events.root"
    with sapwood.recreate(path) as file:
        file["Events"] = {"Muon_pt": np.arange(100.0), "Muon_eta": np.arange(100.0), "run": np.ones(100, "i4")}
        file["h"] = np.histogram([1, 2, 2, 3], bins=3)
    return str(path)


@pytest.fixture(scope="module")
def tree(path):
    return sapwood.open(path)["Events"]


class Strange:
    pass


#: Called with (path, tree, wrong value, directory for output).
CALLS = {
    "arrays": lambda p, t, v, d: t.arrays(v),
    "cut": lambda p, t, v, d: t.arrays(["run"], cut=v),
    "aliases": lambda p, t, v, d: t.arrays(["run"], aliases=v),
    "draw": lambda p, t, v, d: t.draw(v),
    "draw's cut": lambda p, t, v, d: t.draw("run", v),
    "chain": lambda p, t, v, d: sapwood.chain(p).arrays(v),
    "concatenate": lambda p, t, v, d: sapwood.concatenate(p, v),
    "map": lambda p, t, v, d: sapwood.map(p, v),
    "tree.map": lambda p, t, v, d: t.map(v),
    "add_branch_to_cache": lambda p, t, v, d: t.add_branch_to_cache(v),
    "basket_compressed_bytes": lambda p, t, v, d: t["run"].basket_compressed_bytes(v if v != 3 else 1.5),
    "recover": lambda p, t, v, d: sapwood.open(p, recover=v),
    "offline": lambda p, t, v, d: sapwood.open(p, offline=v),
    "cacheread": lambda p, t, v, d: sapwood.open(p, cacheread=v),
    "insecure_redirects": lambda p, t, v, d: sapwood.open(p, insecure_redirects=v),
    "skip_bad_files": lambda p, t, v, d: sapwood.chain(p, skip_bad_files=v),
    "open's threads": lambda p, t, v, d: sapwood.open(p, threads=v if v != 3 else 1.5),
    "member": lambda p, t, v, d: sapwood.open(p)["h"].member(v),
    "merge": lambda p, t, v, d: sapwood.merge(d / "m.root", v),
    "merge's compression": lambda p, t, v, d: sapwood.merge(d / "m.root", p, compression=v if v != 3 else "zork"),
    "merge's threads": lambda p, t, v, d: sapwood.merge(d / "m.root", p, threads=v if v != 3 else 1.5),
    "first": lambda p, t, v, d: sapwood.optimize(p, d / "o.root", first=v),
    "drop": lambda p, t, v, d: sapwood.optimize(p, d / "o.root", drop=v),
    "keep": lambda p, t, v, d: sapwood.optimize(p, d / "o.root", keep=v),
    "used": lambda p, t, v, d: sapwood.optimize(p, d / "o.root", used=v),
    "optimize's compression": lambda p, t, v, d: sapwood.optimize(p, d / "o.root", compression=v if v != 3 else "zork"),
    "cluster_entries": lambda p, t, v, d: sapwood.optimize(p, d / "o.root", cluster_entries=v if v != 3 else 0.5),
    "optimize's threads": lambda p, t, v, d: sapwood.optimize(p, d / "o.root", threads=v if v != 3 else -1),
    "recover's threads": lambda p, t, v, d: sapwood.recover(p, d / "r.root", threads=v if v != 3 else -1),
    "cache_sizes": lambda p, t, v, d: sapwood.doctor(p, cache_sizes=v),
    "round_trips": lambda p, t, v, d: sapwood.doctor(p, round_trips=v),
    "a round trip": lambda p, t, v, d: sapwood.doctor(p, round_trips=[v if v != 3 else -1]),
    "PerfStats.load": lambda p, t, v, d: sapwood.PerfStats.load(v),
    "record": lambda p, t, v, d: sapwood.perf_stats(record=v),
    "Graph": lambda p, t, v, d: sapwood.Graph(v if v != 3 else "x", [1, 2]),
    "purge": lambda p, t, v, d: sapwood.cache.purge(v),
    "title": lambda p, t, v, d: sapwood.recreate(d / "w.root", title=v),
    "recreate's threads": lambda p, t, v, d: sapwood.recreate(d / "w.root", threads=v if v != 3 else -1),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("value", [3, Strange(), {1: 2}], ids=["number", "object", "dict"])
def test_wrong_types_are_invalid_arguments(path, tree, tmp_path, call, value):
    """They raised TypeError, AttributeError or ValueError from inside."""
    with pytest.raises(sapwood.InvalidError):
        CALLS[call](path, tree, value, tmp_path)


@pytest.mark.parametrize("types", [3, [3], [("x",)], Strange()], ids=str)
def test_wrong_branch_types(tmp_path, types):
    with sapwood.recreate(tmp_path / "w.root") as file:
        with pytest.raises(sapwood.InvalidError):
            file.mktree("t", types)
        with pytest.raises(sapwood.InvalidError, match="title"):
            file.mktree("t", {"x": "f4"}, 3)
        with pytest.raises(sapwood.InvalidError, match="split"):
            file.mktree("t", {"x": "f4"}, split="all")


def test_files_of_stats_that_cannot_be_read(path, tmp_path):
    """A missing file was a bare FileNotFoundError."""
    for function in (sapwood.PerfStats.load, lambda f: sapwood.optimize(path, tmp_path / "o.root", used=f)):
        with pytest.raises(sapwood.FileMissingError, match=r"nope\.json: no such file"):
            function(tmp_path / "nope.json")
        with pytest.raises(sapwood.ReadError, match="cannot read"):
            function(tmp_path)


def test_a_single_string_is_one_pattern(path, tmp_path):
    """A string was taken letter by letter."""
    out = tmp_path / "o.root"
    sapwood.optimize(path, out, drop="Muon_e*", first="run", keep="Muon_pt")
    assert sapwood.open(out)["Events"].keys() == ["Muon_pt", "run"]
    with pytest.raises(sapwood.KeyInFileError, match=r"matches zork"):
        sapwood.optimize(path, out, first="zork", force=True)


@pytest.mark.parametrize("option", ["first", "drop", "keep"])
def test_a_mistyped_branch_is_no_missing_file(path, tmp_path, option):
    """optimize raised FileMissingError, without similar names."""
    with pytest.raises(sapwood.KeyInFileError, match=r"events\.root: no .* Muon_pd; did you mean Muon_pt"):
        sapwood.optimize(path, tmp_path / "o.root", **{option: ["Muon_pd"]})
    with pytest.raises(sapwood.FileMissingError, match="no such file"):
        sapwood.optimize(path + "x", tmp_path / "o.root", **{option: ["Muon_pt"]})


def test_a_mistyped_tree_of_a_chain_is_no_missing_file(path):
    """Counting its entries raised FileMissingError; drawing a missing file raised KeyInFileError."""
    with pytest.raises(sapwood.KeyInFileError, match=r"no object Event; the file contains: h, Events"):
        _ = sapwood.chain(f"{path}:Event").num_entries
    with pytest.raises(sapwood.KeyInFileError, match="no object Event"):
        sapwood.chain(f"{path}:Event").draw("run")
    with pytest.raises(sapwood.KeyInFileError, match="did you mean Muon_pt"):
        sapwood.chain(f"{path}:Events").draw("Muon_pd")
    for files in ([f"{path}x:Events"], [f"{path}:Events", f"{path}x:Events"]):
        with pytest.raises(sapwood.FileMissingError, match="no such file"):
            sapwood.chain(files).draw("run")
        with pytest.raises(sapwood.FileMissingError, match="no such file"):
            _ = sapwood.chain(files).num_entries


def test_stats_of_another_file_are_an_invalid_argument(path, tmp_path):
    """It was a FileMissingError."""
    other = tmp_path / "other.root"
    with sapwood.recreate(other) as file:
        file["t"] = {"x": np.arange(3.0)}
    with sapwood.perf_stats() as stats:
        sapwood.open(other)["t"].arrays(["x"])
    with pytest.raises(sapwood.InvalidError, match="the perf stats are about other trees"):
        sapwood.optimize(path, tmp_path / "o.root", used=stats)


def test_a_tree_where_a_whole_file_is_read(path, run, tmp_path):
    """ "no such file" did not say that the file exists, and what to leave out."""
    remedy = f"if you mean the file {path}, omit :Events"
    out = tmp_path / "o.root"
    calls = (lambda f: sapwood.merge(out, [f]), lambda f: sapwood.optimize(f, out), lambda f: sapwood.recover(f, out))
    for call in calls:
        with pytest.raises(sapwood.FileMissingError) as caught:
            call(f"{path}:Events")
        assert remedy in str(caught.value)
    for verb in (["merge", out], ["doctor"]):
        done = run(*verb, f"{path}:Events")
        assert done.returncode == 1 and remedy in done.stderr
    with contextlib.suppress(FileNotFoundError):
        out.unlink()


def test_wildcards_in_http_urls(run):
    """The server was asked for a file with an asterisk in its name."""
    url = "http://127.0.0.1:9/data/*.root"
    for call in (lambda: sapwood.chain(f"{url}:Events"), lambda: list(sapwood.iterate(f"{url}:Events"))):
        with pytest.raises(sapwood.UnsupportedError, match="wildcards do not work in http"):
            call()
    done = run("draw", f"{url}:Events", "x")
    assert done.returncode == 1 and "specify each file" in done.stderr
    # a query may contain anything
    with pytest.raises(sapwood.ReadError, match="cannot connect"):
        _ = sapwood.chain("http://127.0.0.1:9/a.root?x=*").num_entries


def test_options_of_the_command(path, run, tmp_path):
    """perf --cut without --draw was ignored; sizes and missing files did not say what to do."""
    done = run("perf", path, "--cut", "run > 0")
    assert done.returncode == 2 and "--draw" in done.stderr
    for option, value, words in (
        ("--cache-size", "x", '"x" is not a size; write for example 64kB'),
        ("--timeout", "soon", '"soon" is not a time; write for example 50ms'),
    ):
        done = run("ls", option, value, path)
        assert done.returncode == 2 and words in done.stderr
    for words in (
        ("draw", path, "run", "--alias", "p"),
        ("draw", path, "run", "--friend", "Calib"),
        ("scan", path, "run", "--friend", "Calib@c.root", "--index", "a,b,c"),
        ("draw", path, "run", "", "prfo"),
        ("proxy", "--origin", path),
        ("proxy", "--origin", "ftp://host"),
        ("browse", "--port", "99999"),
        ("ls", path, "--threads", "-1"),
    ):
        done = run(*words)
        assert done.returncode == 2 and "unexpected argument" not in done.stderr, (words, done.stderr)
    done = run("perf", "--load", tmp_path / "nope.json")
    assert done.returncode == 1 and done.stderr.endswith("nope.json: no such file\n")


def test_a_truncated_file_says_what_is_left(tmp_path, run):
    """It said "was not closed or was truncated", and recover did not say how many entries a tree had."""
    path, out = tmp_path / "cut.root", tmp_path / "new.root"
    with sapwood.recreate(path) as file:
        tree = file.mktree("t", {"x": "f8"}, auto_save="20 kB", auto_flush=500)
        for _ in range(20):
            tree.extend({"x": np.random.default_rng(1).random(500)})
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * 3 // 4])
    said = f"the file is truncated: it has {len(content) * 3 // 4} of {len(content)} bytes; 1 object was recovered"
    with pytest.warns(sapwood.RecoveredFileWarning, match=said):
        sapwood.open(path)
    assert said in run("ls", path).stderr
    done = run("recover", path, out)
    kept = sapwood.open(out)["t"].num_entries
    assert done.returncode == 0 and 0 < kept < 10_000
    assert f"t: {kept:,} of 10 000 entries; losses are listed above".replace(",", " ") in done.stdout
    # the header of the tree is missing
    path.write_bytes(content[:10_000])
    why = r"10000 of .* bytes, and contains no complete object or tree header"
    with pytest.raises(sapwood.CorruptError, match=why):
        sapwood.open(path)


def test_a_server_without_ranges_is_reported_once(tmp_path, run):
    """Nothing reported that the whole file was downloaded."""
    path = tmp_path / "large.root"
    with sapwood.recreate(path, compression=None) as file:
        file["t"] = {"x": np.arange(1 << 18, dtype="f8")}
    content = path.read_bytes()
    with Scripted(content, lambda asked, data: whole("200 OK", [], data)) as server:
        with pytest.warns(sapwood.WholeFileWarning, match=r"does not serve byte ranges: the whole file \(2") as caught:
            file = sapwood.open(server.url())
        assert file["t"].arrays(library="np")["x"][-1] == (1 << 18) - 1
        assert [w.category for w in caught] == [sapwood.WholeFileWarning]
        for options in (), ("--local-cache", tmp_path / "cache"):
            done = run("ls", server.url(), *options)
            assert done.returncode == 0 and done.stderr.count("does not serve byte ranges") == 1, options


def test_a_server_without_ranges_is_reported_by_fsspec():
    fsspec = pytest.importorskip("fsspec")
    content = b"root" + bytes(3_000_000)
    with Scripted(content, lambda asked, data: whole("200 OK", [], data)) as server:
        system = fsspec.filesystem("sapwood", skip_instance_cache=True)
        with pytest.warns(sapwood.WholeFileWarning, match="does not serve byte ranges") as caught:
            assert system.cat_file(server.url(), 0, 4) == b"root"
        assert len(caught) == 1


def test_a_second_tree_with_one_name_is_the_next_cycle(tmp_path):
    """As in ROOT; the first handle did not say why it was closed."""
    path = tmp_path / "w.root"
    with sapwood.recreate(path) as file:
        first = file.mktree("t", {"x": "f8"})
        first.extend({"x": [1.0, 2.0]})
        second = file.mktree("t", {"y": "i4"})
        second.extend({"y": [3]})
        with pytest.raises(sapwood.InvalidError, match="tree t is finished: a later mktree has the same name"):
            first.extend({"x": [3.0]})
        assert first.num_entries == 2
        file["u"] = {"x": [1]}
        gone = file["u"]
        del file["u"]
        with pytest.raises(sapwood.InvalidError, match="tree u is finished: it was deleted"):
            gone.extend({"x": [1]})
    with sapwood.open(path) as file:
        assert file.keys() == ["t;2", "t;1"]
        assert file["t;1"].keys() == ["x"] and file["t;1"].num_entries == 2
        assert file["t"].keys() == ["y"]
    with pytest.raises(sapwood.InvalidError, match="tree t is finished: it was closed"):
        second.extend({"y": [4]})
