"""Draws, scans and arrays of ntuples with optional values, compared with a plain computation of the same in Python."""

from __future__ import annotations

import csv
import io
import random

import numpy as np
import pytest

import sapwood

FIELDS = {
    "i": "int32",
    "o": "?int32",
    "id": "?int64",
    "s": "?string",
    "w": "var * int32",
    "v": "var * ?int32",
    "u": "var * ?int32",
    "m": "var * {a: ?float64, b: int32}",
    "os": "var * ?string",
    "av": "3 * ?int32",
    "ww": "var * var * int32",
    "vv": "var * var * ?int32",
    "ol": "?var * int32",
}


def entries(seed, count):
    """Random entries. w, v, m and os have as many items in each, ww and vv too; u has any number."""
    rng = random.Random(seed)

    def maybe(value):
        return None if rng.random() < 0.35 else value

    def whole():
        return rng.randint(-3, 6)

    made = []
    for _ in range(count):
        n = rng.randint(0, 4)
        inner = [rng.randint(0, 3) for _ in range(rng.randint(0, 3))]
        made.append(
            {
                "i": rng.randint(0, 2),
                "o": maybe(whole()),
                "id": maybe(2**62 + rng.randint(0, 1000)),
                "s": maybe(rng.choice(["a", "ab", ""])),
                "w": [whole() for _ in range(n)],
                "v": [maybe(whole()) for _ in range(n)],
                "u": [maybe(whole()) for _ in range(rng.randint(0, 4))],
                "m": [{"a": maybe(whole() + 0.25), "b": whole()} for _ in range(n)],
                "os": [maybe(rng.choice(["x", "y", ""])) for _ in range(n)],
                "av": [maybe(whole()) for _ in range(3)],
                "ww": [[whole() for _ in range(k)] for k in inner],
                "vv": [[maybe(whole()) for _ in range(k)] for k in inner],
                "ol": maybe([whole() for _ in range(rng.randint(0, 3))]),
            }
        )
    return made


DATA = entries(1, 3000)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("optional") / "o.root"
    with sapwood.recreate(path) as file:
        ntuple = file.mkntuple("E", FIELDS)
        for start in range(0, len(DATA), 1100):
            part = DATA[start : start + 1100]
            ntuple.extend({name: [entry[name] for entry in part] for name in FIELDS})
    return path


@pytest.fixture(scope="module")
def tree(path):
    with sapwood.open(f"{path}:E") as tree:
        yield tree


def of(function, *values):
    """A function of values, None where one is missing."""
    return None if any(v is None for v in values) else function(*values)


def above(x, limit):
    return of(lambda x: int(x > limit), x)


def not_above(x, limit):
    return of(lambda x: int(x <= limit), x)


def either(a, b):
    """Kleene's or."""
    return 1 if a or b else None if a is None or b is None else 0


def every(a, b):
    """Kleene's and."""
    return 0 if a == 0 or b == 0 else None if a is None or b is None else 1


def total(values):
    return sum(x for x in values if x is not None)


def most(values):
    return max((x for x in values if x is not None), default=0)


def least(values):
    return min((x for x in values if x is not None), default=0)


def items(entry, *names):
    return zip(*(entry[name] for name in names), strict=True)


def flat(entry, *names):
    lists = [[x for inner in entry[name] for x in inner] for name in names]
    return zip(*lists, strict=True)


def product(a, b):
    return of(lambda a, b: a * b, a, b)


def sum_of(a, b):
    return of(lambda a, b: a + b, a, b)


def at(values, i):
    """The value at a fixed index, for as many rows as there are values there: one or none."""
    return values[i : i + 1]


# expression, cut, and the value and the weight of each row of an entry
CASES = [
    ("o", "", lambda e: [(e["o"], 1)]),
    ("i", "o>0", lambda e: [(e["i"], above(e["o"], 0))]),
    ("o*i", "", lambda e: [(product(e["o"], e["i"]), 1)]),
    ("w", "o>0", lambda e: [(w, above(e["o"], 0)) for w in e["w"]]),
    ("w", "o", lambda e: [(w, e["o"]) for w in e["w"]]),
    ("w*o", "", lambda e: [(product(w, e["o"]), 1) for w in e["w"]]),
    ("o", "w>1", lambda e: [(e["o"], above(w, 1)) for w in e["w"]]),
    ("w", "o>0 && i>0", lambda e: [(w, every(above(e["o"], 0), above(e["i"], 0))) for w in e["w"]]),
    ("w", "o>0 || i==0", lambda e: [(w, either(above(e["o"], 0), int(e["i"] == 0))) for w in e["w"]]),
    ("w", "(o>0) | (i==0)", lambda e: [(w, either(above(e["o"], 0), int(e["i"] == 0))) for w in e["w"]]),
    ("w", "(o>0) & (i==0)", lambda e: [(w, every(above(e["o"], 0), int(e["i"] == 0))) for w in e["w"]]),
    ("w", "!(o>0) || v>2", lambda e: [(w, either(not_above(e["o"], 0), above(v, 2))) for w, v in items(e, "w", "v")]),
    ("w", "!(o>0)", lambda e: [(w, not_above(e["o"], 0)) for w in e["w"]]),
    ("i>0 ? o : 1", "", lambda e: [(e["o"] if e["i"] > 0 else 1, 1)]),
    ("o>0 ? i : 1", "", lambda e: [(of(lambda o: e["i"] if o > 0 else 1, e["o"]), 1)]),
    ("abs(o)+w", "", lambda e: [(of(lambda o, w=w: abs(o) + w, e["o"]), 1) for w in e["w"]]),
    ("v", "", lambda e: [(v, 1) for v in e["v"]]),
    ("v", "w>1", lambda e: [(v, above(w, 1)) for v, w in items(e, "v", "w")]),
    ("w", "v>0", lambda e: [(w, above(v, 0)) for v, w in items(e, "v", "w")]),
    ("w", "v", lambda e: [(w, v) for v, w in items(e, "v", "w")]),
    ("v+w", "", lambda e: [(sum_of(v, w), 1) for v, w in items(e, "v", "w")]),
    ("v*o", "", lambda e: [(product(v, e["o"]), 1) for v in e["v"]]),
    ("u*w", "v>0", lambda e: [(product(u, w), above(v, 0)) for u, v, w in zip(e["u"], e["v"], e["w"], strict=False)]),
    ("Iteration$", "v>0", lambda e: [(i, above(v, 0)) for i, v in enumerate(e["v"])]),
    ("Entry$%7+0*v", "", lambda e: [(of(lambda v: e["n"] % 7, v), 1) for v in e["v"]]),
    ("Alt$(v,-1)+0*w", "", lambda e: [(-1 if v is None else v, 1) for v in e["v"]]),
    ("Alt$(o,-1)", "", lambda e: [(-1 if e["o"] is None else e["o"], 1)]),
    ("Alt$(v,o)+0*w", "", lambda e: [(e["o"] if v is None else v, 1) for v in e["v"]]),
    ("Length$(v)", "", lambda e: [(len(e["v"]), 1)]),
    ("Sum$(v)", "", lambda e: [(total(e["v"]), 1)]),
    ("Sum$(v*w)", "o>0", lambda e: [(total(product(v, w) for v, w in items(e, "v", "w")), above(e["o"], 0))]),
    ("Sum$(o)", "", lambda e: [(total([e["o"]]), 1)]),
    ("Sum$(v>0)", "", lambda e: [(total(above(v, 0) for v in e["v"]), 1)]),
    ("Min$(v)", "", lambda e: [(least(e["v"]), 1)]),
    ("Max$(v)+0*w", "", lambda e: [(most(e["v"]), 1) for _ in e["w"]]),
    ("MaxIf$(w,v>0)", "", lambda e: [(most(w for v, w in items(e, "v", "w") if above(v, 0)), 1)]),
    ("MinIf$(v,w>0)", "", lambda e: [(least(v for v, w in items(e, "v", "w") if w > 0), 1)]),
    ("w", "v[1]==2", lambda e: [(w, of(lambda x: int(x == 2), x)) for x in at(e["v"], 1) for w in e["w"]]),
    ("w*v[0]", "", lambda e: [(product(w, x), 1) for x in at(e["v"], 0) for w in e["w"]]),
    ("av[1]", "", lambda e: [(e["av"][1], 1)]),
    ("w*av[1]", "av[2]>0", lambda e: [(product(w, e["av"][1]), above(e["av"][2], 0)) for w in e["w"]]),
    ("av", "w>0", lambda e: [(a, above(w, 0)) for a, w in zip(e["av"], e["w"], strict=False)]),
    ("av[i]", "", lambda e: [(e["av"][e["i"]], 1)]),
    ("av[o]", "o>=0 && o<3", lambda e: [(e["av"][e["o"]], 1) for _ in "1" if e["o"] in (0, 1, 2)]),
    ("vv", "", lambda e: [(v, 1) for (v,) in flat(e, "vv")]),
    ("ww", "vv>0", lambda e: [(w, above(v, 0)) for v, w in flat(e, "vv", "ww")]),
    ("vv*o", "ww>0", lambda e: [(product(v, e["o"]), above(w, 0)) for v, w in flat(e, "vv", "ww")]),
    ("ww[][0]", "vv[][0]>0", lambda e: [(w[0], above(v[0], 0)) for v, w in items(e, "vv", "ww") if w]),
    ("m.a", "m.b>0", lambda e: [(m["a"], above(m["b"], 0)) for m in e["m"]]),
    ("m.b", "m.a>1", lambda e: [(m["b"], above(m["a"], 1)) for m in e["m"]]),
    ("w", "m[0].a>1", lambda e: [(w, above(m["a"], 1)) for m in at(e["m"], 0) for w in e["w"]]),
    ("w", 's=="a"', lambda e: [(w, of(lambda s: int(s == "a"), e["s"])) for w in e["w"]]),
    ("w", 's!="a"', lambda e: [(w, of(lambda s: int(s != "a"), e["s"])) for w in e["w"]]),
    ("w", 'strstr(s,"b")', lambda e: [(w, of(lambda s: int("b" in s), e["s"])) for w in e["w"]]),
    ("w", 'os=="x"', lambda e: [(w, of(lambda s: int(s == "x"), s)) for w, s in items(e, "w", "os")]),
    ("w", 'os[0]=="x"', lambda e: [(w, of(lambda s: int(s == "x"), s)) for s in at(e["os"], 0) for w in e["w"]]),
    ("ol", "", lambda e: [(x, 1) for x in e["ol"] or []]),
    ("Length$(ol)", "", lambda e: [(len(e["ol"] or []), 1)]),
]  # fmt: skip


def rows_of(rows):
    """The value and weight of each row that has both, of each entry."""
    for number, entry in enumerate(DATA):
        for value, weight in rows({**entry, "n": number}):
            if value is not None and weight:
                yield value, weight


@pytest.mark.parametrize(("expression", "cut", "rows"), CASES, ids=[f"{e} if {c}" if c else e for e, c, _ in CASES])
def test_draws_fill_the_rows_that_have_values(tree, expression, cut, rows):
    expected = list(rows_of(rows))
    assert expected
    values, weights = zip(*expected, strict=True)
    counts, _ = np.histogram(values, bins=120, range=(-60.5, 59.5), weights=weights)
    drawn = tree.draw(expression, cut, bins=(120, -60.5, 59.5))
    assert drawn.values().tolist() == counts.tolist()


@pytest.mark.parametrize(("expression", "cut", "rows"), CASES, ids=[f"{e} if {c}" if c else e for e, c, _ in CASES])
def test_automatic_axes_see_the_same_rows(tree, expression, cut, rows):
    assert tree.draw(expression, cut).sum(flow=True).value == sum(weight for _, weight in rows_of(rows))


def test_several_variables_are_drawn_where_all_have_values(tree):
    bins = (12, -5.5, 6.5)
    pairs = [(v, w) for e in DATA for v, w in items(e, "v", "w") if v is not None and e["o"] is not None]
    counts, _, _ = np.histogram2d([w for _, w in pairs], [v for v, _ in pairs], bins=12, range=[(-5.5, 6.5)] * 2)
    assert tree.draw("v+0*o:w", bins=bins * 2).values().tolist() == counts.tolist()
    pairs = [(s, w) for e in DATA for w, s in items(e, "w", "os") if s is not None]
    by_name = tree.draw("os:w")
    assert by_name.sum(flow=True).value == len(pairs)
    names = tree.draw("os")
    assert dict(zip(names.axes[0], names.values(), strict=True)) == {
        name: sum(s == name for s, _ in pairs) for name in ("x", "y", "")
    }


def scanned(path, run, *arguments):
    done = run("scan", f"{path}:E", *arguments, "--format", "csv", "--limit", "0")
    return list(csv.reader(io.StringIO(done.stdout)))[1:]


def cell(value):
    return "" if value is None else str(value)


def test_a_scan_leaves_missing_values_blank(path, run):
    expected = []
    for e in DATA:
        o = cell(e["o"])
        rows = [[o, str(w), cell(v), cell(sum_of(v, w)), cell(product(w, e["o"])), s or "", cell(m["a"])]
                for w, v, s, m in items(e, "w", "v", "os", "m")]  # fmt: skip
        expected += rows or [[o, *[""] * 6]]
    assert scanned(path, run, "o:w:v:v+w:w*o:os:m.a") == expected


def test_a_scan_with_a_cut_on_items_keeps_pairs(path, run):
    expected = [[str(w), cell(v), cell(e["id"])] for e in DATA for w, v in items(e, "w", "v") if w > 0]
    assert scanned(path, run, "w:v:id", "w>0") == expected
    expected = [[str(w), str(v)] for e in DATA for w, v in items(e, "w", "v") if v is not None and v > 0]
    assert scanned(path, run, "w:v", "v>0") == expected
    expected = [[str(i), str(v)] for e in DATA for i, v in enumerate(e["v"]) if v is not None and v > 0]
    assert scanned(path, run, "Iteration$:v", "v>0") == expected


def test_whole_numbers_of_64_bits_stay_exact(tree):
    rows = list(tree.query("id:id+1:Sum$(id):Max$(id-1)"))
    assert rows == [
        (None, None, 0, 0) if e["id"] is None else (e["id"], float(e["id"] + 1), float(e["id"]), float(e["id"] - 1))
        for e in DATA
    ]
    some = next(e["id"] for e in DATA if e["id"] is not None)
    assert len(tree.query("i", f"id=={some}")) == sum(e["id"] == some for e in DATA)
    assert len(tree.query("i", f"id!={some}")) == sum(e["id"] not in (some, None) for e in DATA)


@pytest.mark.parametrize("cut", ["o>0", "o>0 || i==0", "v>0", 's=="a"', "av[1]>0", "!(o>0)"])
def test_entries_pass_where_a_cut_is_known_and_true(tree, cut):
    passed = {
        "o>0": lambda e: above(e["o"], 0),
        "o>0 || i==0": lambda e: either(above(e["o"], 0), int(e["i"] == 0)),
        "v>0": lambda e: any(above(v, 0) for v in e["v"]),
        's=="a"': lambda e: e["s"] == "a",
        "av[1]>0": lambda e: above(e["av"][1], 0),
        "!(o>0)": lambda e: not_above(e["o"], 0),
    }[cut]
    drawn = dict.fromkeys(int(n) for (n,) in tree.query("Entry$", cut))
    assert list(drawn) == [n for n, e in enumerate(DATA) if passed(e)]
    if cut == "o>0":  # the others mean something else in Python
        assert tree.arrays(["w"], cut=cut).w.to_list() == [DATA[n]["w"] for n in drawn]


def test_all_fields_are_scanned(path, run):
    done = run("scan", f"{path}:E", "*", "--format", "csv", "--limit", "0")
    header, *rows = csv.reader(io.StringIO(done.stdout))
    assert header == ["i", "o", "id", "s", "w", "v", "u", "m.a", "m.b", "os", "av", "ww", "vv", "ol"]
    first = DATA[0]
    mine = rows[: max(3, len(first["w"]), len(first["u"]), sum(map(len, first["ww"])), len(first["ol"] or []))]
    assert [row[header.index("av")] for row in mine][:3] == [cell(x) for x in first["av"]]
    assert [row[header.index("v")] for row in mine][: len(first["v"])] == [cell(x) for x in first["v"]]
    assert {row[header.index("o")] for row in mine} == {cell(first["o"])}


def test_entries_are_listed_where_the_cut_is_known(tree):
    chosen = tree.draw(">>chosen", "o>0")
    assert chosen.numbers.tolist() == [n for n, e in enumerate(DATA) if above(e["o"], 0)]


def test_options_of_options_are_one(tmp_path):
    fields = {"x": "??int64", "y": "var * ??int32", "z": "int32"}
    values = {"x": [1, None, 3], "y": [[None, 1], [], [2]], "z": [1, 2, 3]}
    with sapwood.recreate(tmp_path / "o.root") as file:
        file.mkntuple("E", fields).extend(values)
    with sapwood.open(f"{tmp_path / 'o.root'}:E") as tree:
        arrays = tree.arrays()
        assert str(arrays.type) == "3 * {x: ?int64, y: var * ?int32, z: int32}"
        assert {name: arrays[name].to_list() for name in fields} == values
        assert list(tree.query("x:z")) == [(1, 1), (None, 2), (3, 3)]
        assert tree.draw("z", "x>0", bins=(3, 0.5, 3.5)).values().tolist() == [1, 0, 1]


def test_alternatives_of_variants_are_optional(tmp_path):
    with sapwood.recreate(tmp_path / "u.root") as file:
        file.mkntuple("E", {"u": "union[int64, string]", "w": "var * int32"}).extend(
            {"u": [1, "a", 3], "w": [[1, 2], [3], [4, 5]]}
        )
    with sapwood.open(f"{tmp_path / 'u.root'}:E") as tree:
        assert list(tree.query("u._0:w")) == [(1, 1), (1, 2), (None, 3), (3, 4), (3, 5)]
        assert [w for (w,) in tree.query("w", "u._0>1")] == [4, 5]
