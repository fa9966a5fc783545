"""`scan` with an option prints what ROOT's TTree::Scan prints, character by character."""

from __future__ import annotations

import pytest
from scan_with_root import asked

import sapwood

#: All entries.
ALL = 10**9
#: Expressions, cut, option, number of entries, first entry.
SCANS = [
    ("x:n:long", "", "colsize=9", ALL, 0),
    ("x:n:v", "", "colsize=9", ALL, 0),
    ("x:n", "n>0", "colsize=15", ALL, 0),
    ("x:n:long", "", "precision=3", ALL, 0),
    ("x:n:long", "", "precision=12 colsize=20", ALL, 0),
    ("x:n:long", "", "precision=0", ALL, 0),
    ("x:n:long", "", "COLSIZE=12:precision=3", ALL, 0),
    ("x:n:long", "", "colsize=25", ALL, 0),
    ("x:n:long", "", "colsize=1", ALL, 0),
    ("x:n:long", "", "colsize=3", ALL, 0),
    ("x:n:long", "", "col=8d:#x", ALL, 0),
    ("x:n:long", "", "col=10.3f:5d:20lld", ALL, 0),
    ("x:n:long", "", "col=:5:20", ALL, 0),
    ("x:n:long", "", "col=8.2g::#llx", ALL, 0),
    ("x:n", "", "col=5d:5d:5d", ALL, 0),
    ("x:n:long", "", "col=08d:8u:8o", ALL, 0),
    ("x:n:long", "", "col=12.2e:12.4E:12G", ALL, 0),
    ("x:n:long", "", "col=6.2:#8x:.3f", ALL, 0),
    ("x:n:long", "", "col=8hd:8ld:20llu", ALL, 0),
    ("x:n:long", "", "col=8X:20llx:12i", ALL, 0),
    ("x:n:long", "", "col=1.1f:4.1g:8.8d", ALL, 0),
    ("x:n:long", "", "col=5e:5.0f:20.15f", ALL, 0),
    ("small:flag", "", "col=3c:3d", ALL, 0),
    ("x:v", "", "lenmax=1", ALL, 0),
    ("x:matrix", "", "lenmax=2", 2, 0),
    ("x:v:matrix", "", "lenmax=4 colsize=6", ALL, 0),
    ("x:n", "", "colsize=9", 2, 3),
    ("x:n", "", "colsize=9", 2, 1),
    ("x", "n>5", "colsize=9", ALL, 0),
    ("x", "n==2 && x<1", "colsize=9", ALL, 0),
    ("name:text", "", "col=5s:20", ALL, 0),
    ("name:text:v", "", "colsize=4", ALL, 0),
    ("name:v", "v>0.5", "colsize=12", ALL, 0),
    ("n:x+1:x>1:n*2", "", "colsize=9", ALL, 0),
    ("Entry$:Length$(v)", "", "colsize=9", ALL, 0),
    ("v", "", "colsize=9", 1, 0),
    ("v*1e10:items", "", "colsize=11 precision=4", ALL, 0),
    ("matrix[1][2]:x", "", "colsize=9", ALL, 0),
    ("matrix[1][2]:matrix[][1]", "", "colsize=9", 2, 0),
    ("pair.a:pair.b", "", "col=3d:4d", ALL, 0),
    ("-x:-n:x*1e300", "", "col=10x:10u:10.2e", ALL, 0),
    ("v:n", "", "col=5.2f:3d", ALL, 1),
    ("*", "", "colsize=9", ALL, 0),
    ("*", "n==1", "col=5.1f precision=4", 3, 1),
    ("", "", "colsize=7", ALL, 0),
]


@pytest.fixture(scope="module")
def file(root_here, tmp_path_factory):
    path = tmp_path_factory.mktemp("scan") / "scan.root"
    asked(make=str(path))
    return path


def scanned(run, file, expressions, cut, option, count, first):
    more = f"{option} first={first}" + ("" if count == ALL else f" n={count}")
    return run("scan", f"{file}:t", *([expressions] if expressions else []), "--cut", cut, "--option", more)


def test_the_layout_is_that_of_root(run, file):
    for case, expected in zip(SCANS, asked(file=str(file), scans=SCANS), strict=True):
        done = scanned(run, file, *case)
        assert done.returncode == 0, (case, done.stderr)
        assert done.stdout == expected, f"{case}\n{done.stdout}\n{expected}"


def test_what_root_crashes_at_or_ignores_is_refused(run, file):
    for option, why in [
        ("col=10s", "x is a number"),
        ("col=8lll", "the length"),
        ("col=+8d", "unknown"),
        ("nonsense", "unknown option"),
        ("colsize=0", "from 1 to"),
        ("colsize=3 colsize=4", "occurs twice"),
    ]:
        done = run("scan", f"{file}:t", "x", "", option)
        assert done.returncode != 0, option
        assert why in done.stderr, option
        assert done.stdout == ""
    done = run("scan", f"{file}:t", "x", "", "n=2", "--entries", "1:2")
    assert "both select entries" in done.stderr
    assert run("scan", f"{file}:t", "x", "", "colsize=9", "--format", "csv").returncode != 0


def test_a_format_keeps_the_exponent_where_root_prints_nothing(run, file):
    done = run("scan", f"{file}:t", "x", "", "col=e n=2")
    assert [line.split("*")[2].strip() for line in done.stdout.splitlines()[3:5]] == ["1.000e-01", "-1.23e+04"]
    done = run("scan", f"{file}:t", "x", "", "col=10.3lf n=2")
    assert [line.split("*")[2].strip() for line in done.stdout.splitlines()[3:5]] == ["0.100", "-12345.679"]


def test_an_empty_option_keeps_the_own_layout(run, file):
    assert run("scan", f"{file}:t", "x", "", "").stdout == run("scan", f"{file}:t", "x").stdout


def test_all_leaves_in_other_formats(run, file):
    done = run("scan", f"{file}:t", "*", "--format", "csv", "--limit", "1")
    titles, first = done.stdout.splitlines()
    assert titles == "x,n,v,long,flag,small,matrix,pair.a,pair.b,text,name,items"
    assert first == "0.1,0,,0,false,65,0,0,0,text0-long,,0.5"


def test_rows_in_python(file):
    tree = sapwood.open(f"{file}:t")
    rows = tree.query("x:n:v:name", "n>0")
    assert rows.columns == ("x", "n", "v", "name")
    scanned = [(1, 0, 1 / 3), (2, 0, 2 / 3), (2, 1, 5 / 3), (4, 0, 4 / 3), (5, 0, 5 / 3), (5, 1, 8 / 3)]
    assert list(zip(rows.entries.tolist(), rows.instances.tolist(), strict=True)) == [s[:2] for s in scanned]
    assert [row[2] for row in rows] == pytest.approx([s[2] for s in scanned], rel=1e-6)
    assert rows[0][:2] == (-12345.6789, 1)
    assert [row[3] for row in rows[1:3]] == ["aaaaaa", "aaaaaa"]
    assert [type(value) for value in rows[0]] == [float, int, float, str]
    # lists of different lengths end one by one
    assert tree.query("n:v:items", entry_start=3, entry_stop=4) == [(0, None, 3.5), (0, None, 3.5)]
    assert tree.query("long", "long>100") == [(2**40,), (2**62,)]
    assert tree.query("n", entries=[5, 1]) == [(1,), (2,)]
    assert tree.query("flag", entry_stop=2) == [(False,), (True,)]
    assert tree.query("n", "n>9") == []
    assert tree.query("*", entry_stop=1).columns[:3] == ("x.x", "n.n", "v.v")
    with pytest.raises(sapwood.KeyInFileError, match="nosuch"):
        tree.query("nosuch")


def test_rows_of_a_chain(file):
    chain = sapwood.chain([f"{file}:t", f"{file}:t"])
    assert chain.query("n", "n==1") == [(1,)] * 4
    assert chain.query("n", entries=[3, 7], entry_start=-8).entries.tolist() == [7]
    assert chain.query("n", entry_start=5, entry_stop=7).entries.tolist() == [5, 6]
