"""Names, counts, strings, whole numbers and axes in draws against ROOT's TTree::Draw, on files that names.C writes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from draw_with_root import Root

import sapwood

TREES = ["split", "one", "whole"]


@pytest.fixture(scope="module")
def file(public, macro):
    folder = public / "names"
    folder.mkdir()
    macro("names.C", folder, compiled=True)
    return folder / "names.root"


@pytest.fixture(scope="module")
def root(root_here):
    root = Root()
    yield root
    root.stop()


def made(tree, expression, cut=""):
    """What draw_with_root.drawn returns, from sapwood."""
    hist = tree.draw(expression, cut)
    if isinstance(hist, sapwood.Histogram):
        pytest.skip("hist is not installed")
    axis = hist.axes[0]
    labels = list(axis) if not hasattr(axis, "edges") or isinstance(axis.bin(0), str) else None
    edges = axis.edges
    return {
        "bins": len(axis),
        "low": edges[0],
        "high": edges[-1],
        "labels": labels,
        "values": hist.values(flow=labels is None).tolist(),
    }


def same(ours, roots):
    """Whether two histograms are the same; ROOT counts with 32 bits."""
    if roots["labels"] is not None or ours["labels"] is not None:
        return (ours["labels"], ours["values"]) == (roots["labels"], roots["values"])
    if not sum(roots["values"]):
        return not sum(ours["values"])
    close = all(math.isclose(ours[k], roots[k], rel_tol=1e-12, abs_tol=1e-300) for k in ("low", "high"))
    return close and ours["bins"] == roots["bins"] and ours["values"] == roots["values"]


def check(root, file, tree, cases, estimate=None):
    cases = [c if isinstance(c, tuple) else (c, "") for c in cases]
    answers = root.draw(file, tree, cases, estimate)
    opened = sapwood.open(file)[tree]
    for case, roots in zip(cases, answers, strict=True):
        assert roots is not None, case
        assert same(made(opened, *case), roots), (tree, case, made(opened, *case), roots)


@pytest.mark.parametrize("tree", TREES)
def test_names_are_those_of_root(root, file, tree):
    names = ["event.fNtrack", "fNtrack", "fVertex.fPosition", "event.fVertex.fPosition", "event.fVertex.fPosition[1]"]
    names += [
        "PV.fPosition",
        "PV..fPosition",
        "PV.fPosition[2]",
        "PV.Vertex.fPosition",
        "PV.fContributors",
        "PV.fGrade",
    ]
    names += ["event.fVertex.Vertex.fContributors", "PV.fName", "hits.channel", "hits[1].channel", "hits->x", "hits..x"]
    names += ["event.fHits.x", "event->fHits->channel", "fHits.x.", "event.fHits[0].x"]
    check(root, file, tree, names)
    # ROOT takes the tree's own name for leaves only
    opened = sapwood.open(file)[tree]
    assert made(opened, f"{tree}.fNtrack") == made(opened, "fNtrack")


def test_names_of_split_members_are_those_of_root(root, file):
    names = [
        "fPx",
        "event.fPx",
        "fTracks.fPx",
        "event.fTracks.fPx",
        "event..fPx",
        "fPx.",
        "fTracks[1].fPx",
        "x",
        "event.x",
    ]
    check(
        root,
        file,
        "split",
        [*names, "fTracks.fFirst.channel", "event.fTracks.fFirst.channel", "channel", "event.fUniqueID"],
    )


def test_odd_names_are_those_of_root(root, file):
    names = [
        "3DMUON",
        "2x3Mat",
        "3DMUON+2x3Mat",
        "a#0",
        "a#0*2",
        "N::two",
        "dot.ted",
        "trail.",
        ".lead",
        "e",
        "pi",
        "n.",
    ]
    names += ["three", "three[1]", "other", "inner", "other[1]", "p", "p.", "p.px", "px", "q.px", "q.", "odd.px", "n.."]
    check(root, file, "odd", [*names, "5", "1e3", "0x1f", "1e3+0"])
    tree = sapwood.open(file)["odd"]
    x = made(tree, "dot.ted")
    for name in ("n:colon", "my branch", "w-minus", "x(1)", "5", "1e3", "0x1f", ".lead", "trail.", "a#0"):
        assert made(tree, f"`{name}`") == x, name


def test_a_short_name_of_several_members_is_refused(root, file):
    """fName of two objects was the first of them; what ROOT takes depends on how they were split."""
    with pytest.raises(sapwood.InvalidError, match=r"event\.fVertex\.\S*fName.*PV\.\S*fName"):
        sapwood.open(file)["split"].draw("fName")


def test_an_alias_comes_before_a_name_with_parts_left_out(root, file):
    check(root, file, "split", ["fRunNumber", "event.fHeader.fRunNumber", "fHeader.fRunNumber", "fRunNumber+fNtrack"])
    assert made(sapwood.open(file)["one"], "fRunNumber") == made(sapwood.open(file)["one"], "fHeader.fRunNumber")


@pytest.mark.parametrize("tree", TREES)
def test_collections_are_counted(root, file, tree):
    """The branch of a split collection was taken for one number: @hits.size() was 1 in each entry."""
    counts = ["@hits.size()", "hits@.size()", "Length$(hits)", "@hits.size()*2", "@fHits.size()", "fHits@.size()"]
    counts += ["event.@fHits.size()", "event.fHits@.size()", "@values.size()", "values@.size()", "Length$(values)"]
    counts += ["@fValues.size()", "Length$(fValues)", "event.@fValues.size()", "Sum$(hits.x>5)", "Length$(hits.x)"]
    cuts = [("Entry$", "@hits.size()>1"), ("Entry$", "Length$(hits)>1"), ("fNtrack", "Sum$(hits.channel==2)>0")]
    check(root, file, tree, [*counts, *cuts])
    if tree == "split":
        counts = ["@fTracks.size()", "fTracks@.size()", "event.@fTracks.size()", "Length$(fTracks)", "Length$(fHits)"]
        counts += ["Length$(fTracks_)", "@fTracks.size()+fPx"]
        check(root, file, tree, [*counts, ("Entry$", "fTracks@.size()>=3"), ("fPx", "Length$(fTracks)==3")])
    # ROOT takes an unsplit member of an object that is split for one item
    lengths = made(sapwood.open(file)[tree], "Length$(fHits)")
    assert lengths == made(sapwood.open(file)["split"], "Length$(fHits)")


@pytest.mark.parametrize("tree", TREES)
def test_objects_are_not_numbers(root, file, tree):
    """A collection by itself was drawn as the number of its items, where ROOT draws nothing."""
    opened = sapwood.open(file)[tree]
    for text in ("hits", "hits+1", "Sum$(hits)", "fHits", "event.fHits"):
        with pytest.raises(sapwood.InvalidError, match=r"contains objects.*size\(\)"):
            opened.draw(text)
    with pytest.raises(sapwood.InvalidError, match="one value in each entry and no size"):
        opened.draw("@fNtrack.size()")


@pytest.mark.parametrize("tree", TREES)
def test_characters_in_classes_are_strings(root, file, tree):
    """char[20] in a class was 20 numbers."""
    cases = [
        "fType",
        "event.fType",
        'fType=="type1"',
        ("fNtrack", 'fType!="type2"'),
        ("fType", "fNtrack>2"),
        "Length$(fType)",
    ]
    check(root, file, tree, [*cases, 'PV.fName=="odd"', "PV.fName", *([] if tree == "whole" else ["fType[0]"])])
    opened = sapwood.open(file)[tree]
    assert made(opened, "fType[4]") == made(opened, "48+Entry$%5") | {
        k: made(opened, "fType[4]")[k] for k in ("bins", "low", "high", "values")
    }
    # ROOT reads beyond the first of several
    assert made(opened, "fNames[1]")["labels"] == ["b0", "b1"]
    assert sum(made(opened, "fNtrack", 'fNames[1]=="b1"')["values"]) == 20
    if tree == "split":
        assert made(opened, "fTracks.fLabel")["labels"] == ["t0", "t1", "t2", "t3", "t4"]
        assert sum(made(opened, "fTracks.fPx", 'fTracks.fLabel=="t1"')["values"]) == 26
        # beyond the last there are no values
        assert sum(made(opened, "fTracks.fLabel", "fNtrack==1")["values"]) == 7


def test_aliases_of_aliases_that_count_rows(root, file):
    """Only the cut's own text was searched for what depends on the rows."""
    cases = [("list", "late"), ("list", "sel"), ("list", "sel2"), ("n", "chosen"), ("n", "counted"), ("Entry$", "sel")]
    check(root, file, "odd", [*cases, ("list", "sel && chosen"), ("list*n", "sel2*2")])


def test_whole_numbers_beyond_doubles_are_exact(root, file):
    """ROOT's values are doubles: neighbours of 2^53 and low bits of large numbers are lost there."""
    tree = sapwood.open(file)["odd"]

    def rows(cut, expression="Entry$"):
        return [int(x) for x in tree.draw(expression, cut, bins=(40, 0, 40)).values()]

    def entries(cut):
        return [e for e, n in enumerate(rows(cut)) if n]

    big = [2**53 + e % 4 for e in range(40)]
    bits = [2**63 + e % 8 for e in range(40)]
    for cut, chosen in {
        "big==2^53+1": lambda e: big[e] == 2**53 + 1,
        "big==9007199254740993": lambda e: big[e] == 2**53 + 1,
        "big!=9007199254740993": lambda e: big[e] != 2**53 + 1,
        "big>9007199254740993": lambda e: big[e] > 2**53 + 1,
        "big-1==2^53": lambda e: big[e] - 1 == 2**53,
        "big*3==27021597764222979": lambda e: big[e] * 3 == 27021597764222979,
        "-big==-9007199254740993": lambda e: big[e] == 2**53 + 1,
        "big%4==3": lambda e: big[e] % 4 == 3,
        "bits&1": lambda e: bits[e] & 1,
        "(bits&6)==4": lambda e: bits[e] & 6 == 4,
        "(bits>>63)==1": lambda e: True,
        "(bits|1)==9223372036854775809": lambda e: bits[e] | 1 == 2**63 + 1,
        "bits%8==5": lambda e: bits[e] % 8 == 5,
        "bits==0x8000000000000003": lambda e: bits[e] == 2**63 + 3,
        "bits-big*1023==8": lambda e: bits[e] - big[e] * 1023 == 8,
        "min(bits,9223372036854775810)==9223372036854775809": lambda e: bits[e] == 2**63 + 1,
        "max(big,9007199254740994)==9007199254740994": lambda e: big[e] <= 2**53 + 2,
        "Max$(big)==9007199254740995": lambda e: big[e] == 2**53 + 3,
        "Sum$(big*(list>=0))==n*big": lambda e: True,
        "Sum$(big)==9007199254740993": lambda e: big[e] == 2**53 + 1,
        "(n>1?big:0)==9007199254740995": lambda e: e % 4 == 3,
        "TMath::Odd(bits)": lambda e: bits[e] % 2,
        "abs(-big)==9007199254740993": lambda e: big[e] == 2**53 + 1,
        "(big==9007199254740993)&&(bits&1)": lambda e: e % 8 in (1, 5),
        "big%(n-n)==0": lambda e: False,
    }.items():
        assert entries(cut) == [e for e in range(40) if chosen(e)], cut
    # the cut of arrays in Python
    for cut in ("big == 2**53+1", "big == 9007199254740993"):
        assert tree.arrays(["n"], cut, library="np")["n"].tolist() == [1] * 10, cut
    assert len(tree.arrays(["n"], "(bits & 1) == 1", library="np")["n"]) == 20


def test_the_first_rows_decide_about_the_axis(root, file, tmp_path):
    """The limits followed from all values; ROOT's follow from the first ones, as many as the tree says."""
    cases = ["big", "n", "list", "dot.ted", "list/3.", "Entry$", "-list", "dot.ted*1e-9", "dot.ted*1e12", "n*0", "1/n"]
    check(root, file, "odd", cases)
    uproot = pytest.importorskip("uproot")
    name = tmp_path / "late.root"
    with uproot.recreate(name) as new:
        x = [1 + 0.01 * e if e < 20 else (-5.0 * (e - 20) if e < 40 else 3000.0 * (e - 39)) for e in range(60)]
        new.mktree("t", {"x": "f8", "i": "i8"})
        new["t"].extend({"x": np.array(x), "i": np.array([int(v) for v in x])})
    exprs = ["x", "i", "x*0+1e17", "i*0+3", "x/0.", "(Entry$==12)/0.+x", "-x", "x*1e-30", "x*1e30"]
    check(root, name, "t", exprs)
    check(root, name, "t", ["Entry$==25?1e400:x", "Entry$==25?-1e400:x"])


def test_errors_point_at_the_place(root, file, run):
    for expression, words in [
        ("fPz+1", ["fPx", "^"]),
        ("1+fTracks.fPz", ["fTracks.fPx", "      ^"]),
        ("hits", ["hits.channel", "@hits.size()", "^"]),
        ("sqr(fPx)", ["sqrt", "^"]),
        ("fPx+", ["expected", "^"]),
        ("fName", ["PV.", "^"]),
        ("event", ["event", "^"]),
        ("fType*2", ["string", "^"]),
    ]:
        done = run("draw", f"{file}:split", expression)
        assert done.returncode == 1, expression
        assert all(word in done.stderr for word in words), (expression, done.stderr)
        assert "Usage" not in done.stderr


def test_counts_of_the_corpus(root, corpus):
    """Events and particles as ROOT, CMS and FCC's experiments stored them."""
    if not (corpus / "roottest" / "Eventr.root").exists():
        pytest.skip("roottest's files are not in the corpus")
    counts = ["@fTracks.size()", "fTracks@.size()", "event.@fTracks.size()", "fType", ("fNtrack", 'fType=="type1"')]
    check(root, corpus / "roottest" / "Event3.root", "T3", counts)
    check(root, corpus / "roottest" / "Event1.root", "T1", counts)
    more = ["Length$(fTracks)", "event.fTracks.fPx", "fPx", "event.fEvtHdr.fRun", "event.TObject.fUniqueID"]
    check(root, corpus / "roottest" / "Eventr.root", "T", [*counts, *more, ("Entry$", "@fTracks.size()>600")])
    counts = ["@ReconstructedParticles.size()", "Length$(ReconstructedParticles)", "ReconstructedParticles@.size()"]
    counts += ["ReconstructedParticles#0.index", "ReconstructedParticles.momentum.x", "momentum.x", "covMatrix"]
    check(root, corpus / "coffea" / "test_FCC_Spring2021.root", "events", counts)
