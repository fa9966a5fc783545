"""Entry lists that `draw ">>list"` makes: ROOT reads those that Sapwood writes as those that it makes, and both draw
the same through them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from lists_with_root import FILES, asked

import sapwood

A, B, EMPTY, DEEP = "a.root", "b.root", "empty.root", "deep.root"
#: Files of the chain, and draws of a session: (expression, cut, option); the last one is compared.
SESSIONS = [
    # whole entries; first, since ROOT gives entries of a TEntryListArray instances of an earlier draw
    ([A], [(">>l", "x>15", "entrylistarray")]),
    ([A, B], [(">>l", "x>15", "entrylistarray")]),
    ([A], [(">>l", "Sum$(v)>20", "entrylistarray")]),
    ([A], [(">>l", "x>5 && x<10", "")]),
    ([A], [(">>l", "", "")]),
    ([A], [(">>l", "x<-5", "")]),
    ([A], [(">>l", "v>15", "")]),
    ([A], [(">>l", "x*(x>15)*0.5", "goff")]),
    ([A], [(">>l", "-(x>15)", "entrylist")]),
    ([A], [(">>l", "x<-5", "entrylist")]),
    ([A], [(">>l", "", "EntryList")]),
    ([A], [(">>l", "v>15", "goff entrylist same")]),
    ([DEEP], [(">>l", "x%1000==7", "entrylist")]),
    ([DEEP], [(">>l", "x%1000!=7", "entrylist")]),
    ([DEEP], [(">>l", "x%2", "entrylist")]),
    ([DEEP], [(">>l", "", "entrylist")]),
    ([DEEP], [(">>l", "x==128000 || x==127999", "entrylist")]),
    ([DEEP], [(">>l", "x%10==3", "")]),
    # instances
    ([A], [(">>l", "v>15", "entrylistarray")]),
    ([A], [(">>l", "v[1]>15", "ENTRYLISTARRAYgoff")]),
    ([A, B, EMPTY], [(">>l", "v>25", "entrylistarray")]),
    # chains
    ([A, B], [(">>l", "n==1", "")]),
    ([A, B], [(">>l", "n==1", "entrylist")]),
    ([A, EMPTY, B], [(">>l", "x>=0 && x<105", "entrylist")]),
    ([EMPTY, A], [(">>l", "x>1000", "entrylist")]),
    ([DEEP, A], [(">>l", "x<5", "entrylist")]),
    # added to
    ([A], [(">>l", "x<3", ""), (">>+l", "x==17", "")]),
    ([A], [(">>l", "", ""), (">>+l", "x==17", "")]),
    ([A], [(">>l", "x==17", "entrylist"), (">>+l", "", "entrylist")]),
    ([A, B], [(">>l", "x==17", "entrylist"), (">>+l", "v>35", "entrylist"), (">>+l", "x==118", "entrylist")]),
    ([A], [(">>l", "x<3", ""), (">>l", "x==17", "")]),
    ([A], [(">>l", "v<8", "entrylistarray"), (">>+l", "v>28 && x>16", "entrylistarray")]),
    ([A], [(">>l", "x==2", "entrylist"), (">>+l", "v>35", "entrylistarray")]),
]
#: Refused by both.
REFUSED = [
    [(">>l", "x<3", ""), (">>+l", "x==17", "entrylist")],
    [(">>l", "x<3", "entrylist"), (">>+l", "x==17", "")],
    [("x>>l", "x<3", ""), (">>l", "x==17", "")],
    [(">>l", "x<3", ""), ("x>>l", "x==17", "")],
]
IDS = ["+".join(files) + ":" + ";".join(" ".join(d) for d in draws) for files, draws in SESSIONS]


@pytest.fixture(scope="module")
def folder(root_here, tmp_path_factory):
    folder = tmp_path_factory.mktemp("lists")
    asked(make=str(folder))
    return folder


def trees(folder, files):
    return [[str(folder / name), FILES[name][0]] for name in files]


def words(chain, draws):
    """What the command is given."""
    (first, *others), (*before, (expression, cut, option)) = [":".join(tree) for tree in chain], draws
    added = [word for tree in others for word in ("--add", tree)]
    before = [word for expression, cut, _ in before for word in ("--before", f"{expression}?{cut}")]
    return ["draw", first, expression, cut, *added, *before, *(["--option", option] if option else [])]


@pytest.fixture(scope="module")
def truth(folder):
    """What ROOT makes."""
    return asked(sessions=[[trees(folder, files), draws] for files, draws in SESSIONS])


@pytest.fixture(scope="module")
def written(run, folder):
    """The files that the command writes."""
    made = []
    for i, (files, draws) in enumerate(SESSIONS):
        out = folder / f"written{i}.root"
        chain = trees(folder, files)
        if len({option for *_, option in draws}) == 1:
            done = run(*words(chain, draws), "-o", out, "-q")
            assert done.returncode == 0, done.stderr
        else:
            # the command has one option for all: Python has one for each
            with sapwood.recreate(out) as file:
                file["l"] = drawn(chain, draws)
        made.append(out)
    return made


def asked_for(folder, written, i, expression, cut):
    """What ROOT is to draw: through the list that was written, or, where it has instances, through its own."""
    files, draws = SESSIONS[i]
    with_instances = any("array" in option.lower() for *_, option in draws)
    return [None if with_instances else str(written[i]), draws, trees(folder, files), expression, cut]


def counted(values):
    """What the histogram (400,-1000,1400) has; the upper edge is beyond it."""
    values = np.array(values)
    return np.histogram(values[values < 1400], 400, (-1000, 1400))[0]


def drawn(chain, draws):
    """The list that Python makes."""
    opened = sapwood.chain([":".join(tree) for tree in chain]) if len(chain) > 1 else sapwood.open(":".join(chain[0]))
    return opened.draw(draws=[(expression, cut, None, option) for expression, cut, option in draws])[-1]


def test_root_reads_what_the_command_writes(truth, written):
    read = asked(read=[[str(path), "l"] for path in written])
    for made, expected, case in zip(read, truth, IDS, strict=True):
        expected = {key: value for key, value in expected.items() if key != "rows"}
        assert made == expected, case


def test_python_makes_the_same_lists(folder, truth):
    for (files, draws), expected, case in zip(SESSIONS, truth, IDS, strict=True):
        made = drawn(trees(folder, files), draws)
        assert (made.name, made.title, made.classname) == ("l", expected["title"], expected["class"]), case
        assert (len(made), made.rows) == (expected["entries"], expected["rows"]), case
        assert made.numbers.dtype == np.int64
        if "numbers" in expected:
            assert made.numbers.tolist() == expected["numbers"], case
            continue
        firsts = np.cumsum([0] + [FILES[name][1] for name in files])
        through = [n + first for part, first in zip(expected["parts"], firsts, strict=False) for n in part["numbers"]]
        assert made.numbers.tolist() == through, case
        for part, of_root in zip(made.parts, expected["parts"], strict=True):
            assert (part.tree, part.file, part.numbers.tolist()) == tuple(
                of_root[k] for k in ("tree", "file", "numbers")
            )
            assert [[n, of.tolist()] for n, of in part.instances.items()] == of_root.get("instances", []), case


def test_root_and_sapwood_draw_the_same_through_a_list(run, folder, written):
    cases = [
        (i, e, c) for i in range(len(SESSIONS)) for e, c in (("x", ""), ("v", ""), ("v", "x>16"), ("v[0]", "v[0]<30"))
    ]
    request = [asked_for(folder, written, i, e, c) for i, e, c in cases]
    for (i, e, c), expected in zip(cases, asked(through=request), strict=True):
        chain = trees(folder, SESSIONS[i][0])
        counts = counted(expected)
        case = f"{e} {{{c}}} through {IDS[i]}"
        opened = sapwood.chain([":".join(t) for t in chain]) if len(chain) > 1 else sapwood.open(":".join(chain[0]))
        stored = f"{written[i]}:l"
        assert np.array_equal(opened.draw(e, c, (400, -1000, 1400), entries=stored).values(), counts), case
        through = opened.draw(e, c, (400, -1000, 1400), entries=drawn(chain, SESSIONS[i][1]))
        assert np.array_equal(through.values(), counts), case
    i = IDS.index("a.root+b.root+empty.root:>>l v>25 entrylistarray")
    chain = trees(folder, SESSIONS[i][0])
    done = run(*words(chain, [("v>>h(400,-1000,1400)", "", "")]), "--entries", f"{written[i]}:l", "--json")
    expected = asked(through=[asked_for(folder, written, i, "v", "")])[0]
    assert json.loads(done.stdout)["histogram"]["counts"] == counted(expected).tolist()


def test_what_root_refuses_is_refused(run, folder):
    chain = trees(folder, [A])
    assert asked(sessions=[[chain, draws] for draws in REFUSED]) == [None] * len(REFUSED)
    for draws in REFUSED[2:]:
        done = run(*words(chain, draws))
        assert done.returncode != 0
        assert "has this name" in done.stderr
    for draws in REFUSED[:2]:
        with pytest.raises(sapwood.InvalidError, match=r">>\+l: the list is a T\w+List, not a T\w+List"):
            drawn(chain, draws)


def test_a_list_has_no_binning_and_no_picture(run, folder):
    tree = f"{folder / A}:t"
    for more, why in (
        ([">>l(3)"], "no binning"),
        ([">>l", "--bins", "3"], "no binning"),
        ([">>l", "-o", "l.png"], ".json"),
    ):
        done = run("draw", tree, *more)
        assert done.returncode != 0
        assert why in done.stderr
    with pytest.raises(sapwood.InvalidError, match="no binning"):
        sapwood.open(tree).draw(">>l", bins=3)


def test_a_list_on_the_terminal_as_json_and_among_several_draws(run, folder, tmp_path):
    tree = f"{folder / A}:t"
    done = run("draw", tree, ">>l", "x>15 || x==3", "-q", "-o", tmp_path / "l.json")
    assert done.stdout == "l {x>15 || x==3}: 5 entries\n  3,16:20\n"
    made = json.loads((tmp_path / "l.json").read_text())
    assert made["trees"] == [{"runs": [[3, 4], [16, 20]]}]
    out = tmp_path / "several.root"
    several = ["-e", "x", "-e", ">>l?x>15", "-e", ">>m?v>25", "--option", "entrylistarray", "--json", "-o", out]
    made = json.loads(run("draw", tree, *several).stdout)
    assert [m["name"] for m in made["histograms"]] == ["htemp"]
    assert [(m["name"], m["class"], m["entries"], m["rows"]) for m in made["lists"]] == [
        ("l", "TEntryListArray", 4, 4),
        ("m", "TEntryListArray", 5, 6),
    ]
    assert len(sapwood.open(out)["m"]) == 5
    # a bare run is what --entries takes
    scanned = run("scan", tree, "x", "--entries", "3,16:20", "--format", "csv")
    assert scanned.stdout.split() == ["x", "3", "16", "17", "18", "19"]


def test_a_chain_of_relative_names_with_the_same_file_name_in_two_folders(run, folder, tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.root").write_bytes((folder / f"{name}.root").read_bytes())
    chain = ["a/x.root:t", "--add", "b/x.root:t"]
    done = run("draw", *chain, ">>l", "n==3", "entrylist", "-o", "l.root", "-q", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = run("scan", *chain, "x", "--entries", "l.root:l", "--format", "csv", cwd=tmp_path)
    assert done.stdout.split()[1:] == [str(x) for x in [*range(3, 20, 4), *range(103, 130, 4)]], done.stderr


def test_python_writes_lists_that_it_made_or_read(folder, tmp_path):
    chain = sapwood.chain([f"{folder / A}:t", f"{folder / B}:t"])
    made = chain.draw(">>l", "v>25", option="entrylistarray")
    with sapwood.recreate(tmp_path / "made.root") as file:
        file["directory/l"] = made
    read = sapwood.open(tmp_path / "made.root")["directory/l"]
    with sapwood.recreate(tmp_path / "copy.root") as file:
        file["l"] = read
    of_file, of_copy = asked(read=[[str(tmp_path / "made.root"), "directory/l"], [str(tmp_path / "copy.root"), "l"]])
    assert of_file == of_copy
    assert (of_file["class"], of_file["title"], of_file["entries"]) == ("TEntryListArray", "v>25", len(made))
    assert np.array_equal(np.asarray(made), chain.query("Entry$", "Max$(v)>25").entries)
    x = [row[0] for row in chain.query("x", "Max$(v)>25")]
    assert chain.arrays("x", entries=made, library="np")["x"].tolist() == x
    with pytest.raises(sapwood.InvalidError, match="parts for 2 trees"):
        _ = read.numbers
