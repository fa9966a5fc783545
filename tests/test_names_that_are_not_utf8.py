"""Names in files, and names of files, are bytes: what is no UTF-8 is kept, as uproot keeps it, and is one name."""

from __future__ import annotations

import io
import json
import os
import subprocess
import warnings

import numpy as np
import pytest

import sapwood

#: Bytes 0xe9 and 0xff: names in Latin-1, or in no encoding at all.
TREE, BRANCH, DIRECTORY, TEXT = "t\udce9", "b\udcff", "d\udce8", "s\udce9\x9b"


@pytest.fixture
def odd(tmp_path):
    path = tmp_path / "odd.root"
    with sapwood.recreate(path, title="file \udce9") as f:
        f.mktree(TREE, {BRANCH: "int32", "s": "string"}, title="title \udce9")
        f[TREE].extend({BRANCH: np.arange(3, dtype="i4"), "s": ["a\udce9", "b", "a\udce9"]})
        f[f"{DIRECTORY}/{TEXT[0]}\udce9"] = "text \udce9"
        f["plain é \U0010fff0"] = "x"
    return path


def test_python_reads_and_writes_bytes_as_lone_surrogates(odd):
    with sapwood.open(odd) as f:
        keys = f.keys(cycle=False)
        assert set(keys) == {TREE, DIRECTORY, f"{DIRECTORY}/s\udce9", "plain é \U0010fff0"}
        for key in keys:
            f[key]
        tree = f[TREE]
        assert (tree.name, tree.title, tree.keys()) == (TREE, "title \udce9", [BRANCH, "s"])
        assert tree[BRANCH].array(library="np").tolist() == [0, 1, 2]
        assert tree["s"].array(library="np").tolist() == ["a\udce9", "b", "a\udce9"]
        assert str(f[f"{DIRECTORY}/s\udce9"]) == "text \udce9"
        assert tree.arrays(library="np", cut=f'get("{BRANCH}") > 0')[BRANCH].tolist() == [1, 2]
        more = f'get("{BRANCH}") + 1'
        assert tree.arrays(more, library="np")[more].tolist() == [1, 2, 3]
        assert tree.arrays(BRANCH, cut='s == "a\udce9"', library="np")[BRANCH].tolist() == [0, 2]
        assert tree.arrays(library="ak").fields == [BRANCH, "s"]
        assert list(tree.arrays(library="pd").columns) == [BRANCH, "s"]
        out = io.StringIO()
        tree.show(stream=out)
        assert "b\\xff" in out.getvalue()
        out.getvalue().encode()


def test_uproot_gives_the_same_names_and_reads_what_was_written(odd, tmp_path):
    uproot = pytest.importorskip("uproot")
    with uproot.open(odd) as theirs, sapwood.open(odd) as ours:
        assert sorted(theirs.keys()) == sorted(ours.keys())
        assert theirs[TREE].keys() == ours[TREE].keys()
        assert theirs[TREE].title == ours[TREE].title
        assert theirs[TREE][BRANCH].array(library="np").tolist() == [0, 1, 2]
    other = tmp_path / "uproot.root"
    with uproot.recreate(other) as f:
        f.mktree(TREE, {BRANCH: "int32"})
        f[TREE].extend({BRANCH: np.arange(4, dtype="i4")})
    assert sapwood.open(other)[TREE].keys() == [BRANCH]


def test_names_of_other_bytes_are_other_names(tmp_path):
    """Bytes that are not UTF-8 were read as Latin-1, so that one of two names could not be asked for."""
    path = tmp_path / "two.root"
    names = ["é", "\udce9", "\udcc3", "\U0010ffe9"]
    with sapwood.recreate(path) as f:
        for number, name in enumerate(names):
            f[name] = str(number)
    with sapwood.open(path) as f:
        assert sorted(f.keys(cycle=False)) == sorted(names)
        assert [str(f[name]) for name in names] == ["0", "1", "2", "3"]


def test_updates_merges_and_rewrites_keep_the_bytes(odd, tmp_path):
    """A name that was read as Latin-1 was written as UTF-8."""
    with sapwood.update(odd) as f:
        f["more"] = "text"
        f[TREE].extend({BRANCH: np.arange(2, dtype="i4"), "s": ["c", "\udcff"]})
    keys = set(sapwood.open(odd).keys(cycle=False))
    assert {TREE, DIRECTORY, f"{DIRECTORY}/s\udce9", "more"} < keys
    for verb in ("merge", "optimize", "recover"):
        out = tmp_path / f"{verb}.root"
        if verb == "merge":
            sapwood.merge(out, [odd, odd], progress=False)
        else:
            getattr(sapwood, verb)(odd, out, **({} if verb == "recover" else {"progress": False}))
        with sapwood.open(out) as f:
            assert set(f.keys(cycle=False)) == keys, verb
            assert f[TREE].keys() == [BRANCH, "s"]
            assert f[TREE]["s"].array(library="np").tolist()[3:5] == ["c", "\udcff"]


def test_what_arrow_cannot_hold_is_refused_by_name(odd):
    pa = pytest.importorskip("pyarrow")
    tree = sapwood.open(odd)[TREE]
    with pytest.raises(sapwood.UnsupportedError, match="UTF-8, which Arrow requires"):
        tree.arrays(library="pa")
    assert tree["s"].array(library="pa").type == pa.large_binary()


@pytest.mark.parametrize("library", ["ak", "np", "pd", "pa", "pl"])
def test_files_of_which_one_has_strings_that_are_not_utf8_are_joined(tmp_path, library):
    pytest.importorskip({"pd": "pandas", "pa": "pyarrow", "pl": "polars"}.get(library, "awkward"))
    for name, texts in (("a", ["a", "b"]), ("b", ["c\udce9", "d"])):
        with sapwood.recreate(tmp_path / f"{name}.root") as f:
            f["t"] = {"s": texts, "x": [1, 2]}
    made = sapwood.concatenate(f"{tmp_path}/*.root:t", library=library)
    assert len(made["s"]) == 4
    if library in ("pa", "pl"):
        last = made["s"].to_pylist() if library == "pa" else made["s"].to_list()
        assert last == [b"a", b"b", b"c\xe9", b"d"]


@pytest.mark.parametrize(
    "ask", [lambda f: f["x\udce9"], lambda f: f[TREE]["x\udce9"], lambda f: f[TREE].arrays("x\udce9")]
)
def test_errors_can_be_printed(odd, ask):
    with pytest.raises(sapwood.Error) as e:
        ask(sapwood.open(odd))
    assert "x\\xe9" in str(e.value) or "x\\udce9" in str(e.value)
    str(e.value).encode()


@pytest.mark.parametrize("name", ["half \ud800", "\udfff"])
def test_half_a_character_is_refused_as_ours(odd, tmp_path, name):
    with sapwood.open(odd) as f:
        for ask in (lambda: f[name], lambda: f[TREE][name], lambda: f[TREE].arrays(name)):
            with pytest.raises(sapwood.Error, match="lone surrogate"):
                ask()
    with sapwood.recreate(tmp_path / "new.root") as f, pytest.raises(sapwood.InvalidError, match="lone surrogate"):
        f[name] = "x"


def test_reports_have_the_names(odd):
    assert {tree["tree"] for tree in sapwood.doctor(odd).trees} == {TREE}
    str(sapwood.doctor(odd)).encode()
    with sapwood.perf_stats() as stats:
        sapwood.open(odd)[TREE].arrays(library="np")
    assert sapwood.PerfStats.from_json(stats.to_json()).to_dict() == stats.to_dict()


def test_the_command_takes_bytes_and_what_its_json_shows_for_them(command, odd):
    def run(*words):
        return subprocess.run([command, *words], capture_output=True, timeout=60, stdin=subprocess.DEVNULL)

    listed = json.loads(run("ls", "--json", odd).stdout)
    shown = [key["path"] for key in listed["keys"]]
    assert "t\U0010ffe9" in shown
    assert b"t\\xe9;1" in run("ls", odd).stdout
    for name in ("t\udce9", "t\U0010ffe9"):
        done = run("show", "--json", f"{odd}:{name}")
        assert json.loads(done.stdout)["branches"][0]["name"] == "b\U0010ffff", done.stderr
        assert b"b\\xff" in run("show", f"{odd}:{name}").stdout
        done = run("scan", f"{odd}:{name}", "b\udcff:s", 's == "a\udce9"', "--format", "csv")
        assert done.stdout == b"b\xff,s\n0,a\xe9\n2,a\xe9\n", done.stderr
    rows = json.loads(run("scan", "--json", f"{odd}:{TREE}", "s").stdout)["rows"]
    assert rows == [["a\U0010ffe9"], ["b"], ["a\U0010ffe9"]]
    done = run("show", f"{odd}:x\udce9")
    assert (done.returncode, b"x\\xe9" in done.stderr) == (1, True)


# --- names of files


@pytest.fixture
def place(tmp_path):
    """The name of a file that is not UTF-8, as text."""
    path = os.fsdecode(os.fsencode(tmp_path) + b"/run\xff\xe9.root")
    try:
        with sapwood.recreate(path) as f:
            f["t"] = {"x": np.arange(3)}
    except OSError:
        pytest.skip("this file system takes UTF-8 only")
    return path


def test_python_reads_files_of_any_name(place, tmp_path):
    names = [
        place,
        os.fsencode(place),
        f"{place}:t",
        {place: "t"},
        f"{tmp_path}/run*.root",
        tmp_path / os.path.basename(place),
    ]
    for name in names:
        assert sapwood.concatenate(name, library="np")["x"].tolist() == [0, 1, 2], name
    with sapwood.open(place) as f:
        assert f.file_path == place
        assert os.path.samefile(f.file_path, place)
    assert sapwood.chain([place, place]).num_entries == 6
    assert sapwood.doctor(place).data["file"] == place
    out = os.path.dirname(place) + "/out\udcfe.root"
    sapwood.merge(out, [place, place], progress=False)
    sapwood.optimize(out, place, force=True, progress=False)
    with sapwood.update(os.fsencode(place)) as f:
        f["more"] = "text"
    assert sapwood.open(place).keys(cycle=False) == ["t", "more"]
    with pytest.raises(FileNotFoundError, match=r"absent\\xff.root"):
        sapwood.open(f"{tmp_path}/absent\udcff.root")


def test_the_command_reads_files_of_any_name(command, place, tmp_path):
    def run(*words):
        done = subprocess.run([command, *words], capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout

    for words in (["ls"], ["show"], ["doctor"], ["map"], ["perf"], ["scan"]):
        assert run(*words, place)
    assert run("scan", f"{place}:t", "x", "--format", "csv") == b"x\n0\n1\n2\n"
    assert run("scan", f"{tmp_path}/run*.root:t", "x", "--format", "csv") == b"x\n0\n1\n2\n"
    (tmp_path / "list").write_bytes(os.fsencode(place) + b"\n")
    assert run("scan", f"@{tmp_path}/list", "x", "--format", "csv") == b"x\n0\n1\n2\n"
    out = os.fsencode(tmp_path) + b"/out\xfe.root"
    said = json.loads(run("merge", "--json", out, place, place))
    assert said["file"].endswith("/out\U0010fffe.root")
    assert json.loads(run("show", "--json", said["file"]))["entries"] == 6
    for verb in ("optimize", "recover"):
        assert b"out\\xfe.root" in run(verb, "-f", place, out)


def test_a_pattern_says_what_could_not_be_looked_into(public, command):
    """Directories that cannot be read were left out silently."""
    folder = public / "patterns"
    for name in ("open", "shut"):
        (folder / name).mkdir(parents=True)
        with sapwood.recreate(folder / name / "a.root") as f:
            f["t"] = {"x": np.arange(3)}
        (folder / name / "a.root").chmod(0o644)
    folder.chmod(0o755)
    (folder / "open").chmod(0o755)
    (folder / "shut").chmod(0)
    user = os.geteuid()
    if user == 0:
        # permissions have no effect on root
        os.seteuid(65534)

    def files(pattern):
        return len(sapwood.chain(f"{folder}/{pattern}:t").files)

    try:
        with pytest.raises(FileNotFoundError, match=r"no file matches .*shut.*Permission denied"):
            files("shut/*.root")
        for pattern in ("*/*.root", "**/*.root"):
            with pytest.warns(sapwood.SkippedFileWarning, match="may be missing: .*shut.*Permission denied"):
                assert files(pattern) == 1, pattern
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert files("open/*.root") == files("open*/a.root") == 1
            assert files("open/**/*.root") == 1
    finally:
        os.seteuid(user)
        (folder / "shut").chmod(0o755)
