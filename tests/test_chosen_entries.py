"""Entry lists, cuts, chains and loops over entries: the values, and what they cost at a server."""

import time

import awkward as ak
import numpy as np
import pytest
import uproot
from servers import SERVERS, Skip

import sapwood

ENTRIES = 30_000


def make(path, entries=ENTRIES, first=0, **more):
    """A tree of clusters of 500 entries, its values made of the entries' numbers."""
    n = np.arange(first, first + entries)
    rng = np.random.default_rng(first + 1)
    counts = n % 4
    branches = {
        "n": n.astype(np.int32),
        "x": rng.normal(size=entries),
        "wide": rng.integers(0, 2**60, size=(entries, 4)),
        "v": ak.unflatten(rng.normal(size=counts.sum()).astype(np.float32), counts),
        **more,
    }
    with sapwood.recreate(path) as file:
        tree = file.mktree("t", branches, auto_flush=500, optimize_baskets=False, basket_size="64 kB")
        if tree.num_entries == 0:
            tree.extend(branches)
    return path


@pytest.fixture(scope="module")
def folder(public):
    where = public / "chosen"
    where.mkdir()
    make(where / "one.root")
    return where


@pytest.fixture(scope="module")
def server(folder, command):
    try:
        running = SERVERS["sapwood"](folder, command)
    except Skip as e:
        pytest.skip(str(e))
    yield running
    running.stop()


@pytest.fixture
def far(server, folder):
    with sapwood.open(server.url(folder / "one.root")) as file:
        yield file["t"]


@pytest.fixture(scope="module")
def truth(folder):
    with uproot.open(folder / "one.root") as file:
        return file["t"].arrays(["n", "x", "wide", "v"])


def cost(tree, work):
    """What some work gives, and the requests and bytes it took."""
    before = tree.file.io()
    made = work()
    after = tree.file.io()
    return made, after["requests"] - before["requests"], after["bytes_fetched"] - before["bytes_fetched"]


def bytes_of(tree, entries, branches=("n", "x", "wide", "v")):
    """Bytes of the baskets with one of the entries."""
    total = 0
    for name in branches:
        branch = tree[name]
        bounds = np.asarray(branch.entry_offsets)
        hit = np.unique(np.searchsorted(bounds, entries, side="right") - 1)
        total += sum(branch.basket_compressed_bytes(int(b)) for b in hit)
    return total


NAMES = ["n", "x", "wide", "v"]


def test_numbers_of_entries_fetch_only_their_baskets(far, truth):
    scattered = np.arange(20) * 1499 + 7
    neighbours = np.arange(12_240, 12_260)
    for entries, most in ((scattered, 16), (neighbours, 5)):
        got, requests, nbytes = cost(far, lambda entries=entries: far.arrays(NAMES, entries=entries))
        assert ak.array_equal(got, truth[entries], dtype_exact=True)
        wanted = bytes_of(far, entries) + bytes_of(far, entries, ["nv"])
        assert requests <= most and nbytes <= 1.1 * wanted + 5000, (requests, nbytes, wanted)


def test_numbers_in_any_order_and_more_than_once(far, truth):
    entries = [29_999, 5, 17_000, 5, -30_000, 6]
    places = [29_999, 5, 17_000, 5, 0, 6]
    assert ak.array_equal(far.arrays(NAMES, entries=entries), truth[places])
    assert far["x"].array(entries=entries, library="np").tolist() == truth["x"][places].tolist()
    # a cut and an expression see the same rows in the same order
    got = far.arrays(["n", "2 * x"], cut="n > 5", entries=entries, library="np")
    assert got["n"].tolist() == [29_999, 17_000, 6]
    assert got["2 * x"].tolist() == (2 * truth["x"][[29_999, 17_000, 6]]).tolist()
    for library in ("pd", "pa", "pl"):
        pytest.importorskip({"pd": "pandas", "pa": "pyarrow", "pl": "polars"}[library])
        got = far.arrays(["n"], entries=entries, library=library)["n"]
        assert got.to_pylist() == places if library == "pa" else list(got) == places


def test_truth_values_and_ranges(far, truth):
    mask = np.zeros(ENTRIES, bool)
    mask[[3, 700, 15_555]] = True
    assert far.arrays(["n"], entries=mask)["n"].tolist() == [3, 700, 15_555]
    assert far.arrays(["n"], entries=mask, entry_start=500)["n"].tolist() == [700, 15_555]
    assert far.arrays(["n"], entries=mask[600:800], entry_start=600, entry_stop=800)["n"].tolist() == [700]
    steps = list(far.iterate(["n"], entries=mask, step_size=10_000, report=True))
    assert [s["n"].tolist() for s, _ in steps] == [[3, 700], [15_555]]
    assert [(r.start, r.stop) for _, r in steps] == [(0, 10_000), (10_000, 20_000)]
    empty = far.arrays(NAMES, entries=[])
    assert len(empty) == 0 and empty.type.content == truth.type.content
    assert list(far.iterate(["n"], entries=[])) == []


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ([ENTRIES], "no entry 30000"),
        ([-ENTRIES - 1], "no entry -30001"),
        ([1.5], "entry numbers"),
        ([[1]], "one-dimensional"),
        (np.ones(10, bool), "10 booleans"),
        ("x > 1", "entry numbers"),
    ],
)
def test_what_is_no_choice_is_refused(far, entries, words):
    with pytest.raises(sapwood.InvalidError, match=words):
        far.arrays(["n"], entries=entries)


@pytest.mark.parametrize(
    "cut", ["n >= 0", "n < 0", "(n > 4100) & (n < 4200)", "(n % 3 == 0) | (x > 2)", "num(v) == 3", "n // 2000 % 3 == 1"]
)
@pytest.mark.parametrize("library", ["ak", "np", "pd"])
def test_a_cut_gives_what_a_mask_gives(far, cut, library):
    if library == "pd":
        pytest.importorskip("pandas")
    expressions = ["x", "n", "sqrt(x**2 + n)"] + (["wide", "v"] if library == "ak" else [])
    got = far.arrays(expressions, cut=cut, library=library)
    # the same by hand: everything read, then chosen
    whole = far.arrays([*expressions, "v"], library="ak")
    n, x, num = whole["n"], whole["x"], ak.num(whole["v"])
    mask = eval(cut.replace("num(v)", "num"), {"n": n, "x": x, "num": num})
    if library == "ak":
        assert ak.array_equal(got, whole[expressions][mask], dtype_exact=True)
    else:
        assert np.array_equal(got["n"], ak.to_numpy(n[mask]))
        assert np.array_equal(got["sqrt(x**2 + n)"], ak.to_numpy(whole["sqrt(x**2 + n)"][mask]), equal_nan=True)
    if library == "pd":
        assert got.index.tolist() == np.flatnonzero(mask).tolist()
    joined = [step["n"] for step in far.iterate(["n", "wide"], cut=cut, step_size=700, library="np")]
    assert np.concatenate(joined).tolist() == n[mask].tolist()


def test_baskets_where_nothing_passes_are_not_fetched(far):
    got, _, nbytes = cost(far, lambda: far.arrays(["x", "wide"], cut="(n > 4100) & (n < 4200)"))
    assert len(got) == 99
    wanted = bytes_of(far, np.arange(ENTRIES), ["n"]) + bytes_of(far, [4101], ["x", "wide"])
    # a busy machine makes a round trip of a short way: up to 1 MiB may be asked for before the cut is known
    # (docs/decisions/0012-cuts-first.md)
    early = 2**20
    assert nbytes < 1.1 * wanted + 40_000 + early < 0.95 * bytes_of(far, np.arange(ENTRIES))
    drawn, _, nbytes = cost(far, lambda: far.draw("x", "n > 4100 && n < 4200", bins=(10, -5, 5)))
    assert drawn.values(flow=True).sum() == 99
    wanted = bytes_of(far, np.arange(ENTRIES), ["n"]) + bytes_of(far, [4101], ["x"])
    assert nbytes < 1.1 * wanted + 40_000 + early


def test_cuts_over_whole_columns_are_not_taken_apart(far, truth):
    # the mean is that of all entries, not of those read so far
    got = far.arrays(["n", "wide"], cut="x > ak.mean(x) + 3")
    x = truth["x"]
    assert got["n"].tolist() == truth["n"][x > ak.mean(x) + 3].tolist()


def test_a_cut_that_cannot_be_computed_is_an_error(far):
    with pytest.raises(sapwood.InvalidError, match="not to one boolean"):
        far.arrays(["x"], cut="v > 0")
    # the tree is as good as before
    assert len(far["n"].array()) == ENTRIES


def test_draws_of_chosen_entries(far, truth):
    drawn, requests, nbytes = cost(far, lambda: far.draw("x", bins=(50, -5, 5), entries=[5, 6, 20_000]))
    expected, _ = np.histogram(truth["x"][[5, 6, 20_000]].to_numpy(), 50, (-5, 5))
    assert drawn.values().tolist() == expected.tolist()
    assert requests <= 2 and nbytes < bytes_of(far, [5, 20_000], ["x"]) + 2000


@pytest.fixture(scope="module")
def parts(folder):
    paths = [make(folder / f"part-{i}.root", 1000 * (i + 1), 1000 * i * (i + 1) // 2) for i in range(3)]
    return [str(p) for p in paths]


def test_chains_are_what_uproot_makes_of_them(parts, server, folder):
    pattern = {str(folder / "part-*.root"): "t"}
    far = [{server.url(p): "t"} for p in parts]
    expected = uproot.concatenate(dict.fromkeys(parts, "t"), ["n", "x", "v"])
    for files in (pattern, far, [f"{p}:t" for p in parts]):
        got = sapwood.concatenate(files, ["n", "x", "v"])
        assert ak.array_equal(got, expected, dtype_exact=True) and got.fields == expected.fields
        chain = sapwood.chain(files)
        assert chain.num_entries == len(chain) == 6000
        assert ak.array_equal(chain.arrays(["n", "x", "v"], "x > 0"), expected[expected["x"] > 0])
    ours = list(sapwood.iterate(far, ["v", "n"], step_size=700, report=True, library="np"))
    theirs = list(uproot.iterate(dict.fromkeys(parts, "t"), ["v", "n"], step_size=700, report=True, library="np"))
    assert [a["n"].tolist() for a, _ in ours] == [a["n"].tolist() for a, _ in theirs]
    assert [list(a) for a, _ in ours] == [list(a) for a, _ in theirs]
    places = ("tree_entry_start", "tree_entry_stop", "global_entry_start", "global_entry_stop")
    assert [[getattr(r, p) for p in places] for _, r in ours] == [[getattr(r, p) for p in places] for _, r in theirs]


def test_draws_over_a_chain(parts):
    chain = sapwood.chain([f"{p}:t" for p in parts])
    whole = chain.arrays(["n", "x"], library="np")
    assert chain.draw("n", "x > 0", bins=(60, 0, 6000)).values().tolist() == (
        np.histogram(whole["n"][whole["x"] > 0], 60, (0, 6000))[0].tolist()
    )
    assert chain.draw("n", bins=(6, 0, 6000), entries=[0, 999, 1000, 5999]).values().tolist() == [2, 1, 0, 0, 0, 1]
    assert chain.draw("Entry$ - n", bins=(3, -1, 2), entry_start=-1500).values().tolist() == [0, 1500, 0]


def test_the_next_files_are_opened_before_they_are_asked_for(parts, nginx):
    steps = sapwood.iterate([{nginx.url(p): "t"} for p in parts], ["n", "wide"], step_size=300, library="np")
    assert next(steps)["n"].tolist() == list(range(300))
    # nobody asks for another step, and yet the other files come: their openings, and their first baskets
    for _ in range(1000):
        asked = [r.path for r in nginx.requests()]
        if all(sum(p.endswith(f"part-{i}.root") for p in asked) >= 2 for i in range(3)):
            break
        time.sleep(0.01)
    else:
        pytest.fail(f"asked for only: {asked}")
    assert np.concatenate([s["n"] for s in steps]).tolist() == list(range(300, 6000))


def test_bad_files_are_named_or_left_out(parts, tmp_path):
    nonsense = tmp_path / "nonsense.root"
    nonsense.write_bytes(b"no such file" * 100)
    other = make(tmp_path / "other.root", 100, n=np.ones((100, 2)))
    absent = tmp_path / "absent.root"
    for bad in (nonsense, other, absent):
        files = [f"{parts[0]}:t", f"{bad}:t", f"{parts[1]}:t"]
        with pytest.raises(sapwood.Error) as raised:
            sapwood.concatenate(files, ["n", "x"])
        assert str(bad) in str(raised.value)
        with pytest.warns(sapwood.SkippedFileWarning, match=bad.name):
            got = sapwood.concatenate(files, ["n", "x"], skip_bad_files=True)
        assert got["n"].tolist() == list(range(3000))
    with pytest.raises(sapwood.UnsupportedError, match="'n' is 2 \\* float64, but int32 in"):
        sapwood.concatenate([f"{parts[0]}:t", f"{other}:t"], ["n"])
    with pytest.raises(sapwood.Error), pytest.warns(sapwood.SkippedFileWarning):
        sapwood.concatenate([f"{absent}:t"], ["n"], skip_bad_files=True)
    chain = sapwood.chain([f"{absent}:t", f"{parts[1]}:t"], skip_bad_files=True)
    with pytest.warns(sapwood.SkippedFileWarning):
        assert chain.num_entries == 2000
    with pytest.warns(sapwood.SkippedFileWarning):
        assert chain.draw("n", bins=(1, 0, 10_000)).values().tolist() == [2000]


def test_a_loop_over_entries_gives_what_columns_give(far, truth):
    seen = 0
    entries = far.entries(9_000, 12_000)
    assert len(entries) == 3000
    for entry in entries:
        i = entry.entry_number
        assert entry.n == i and entry["x"] == truth["x"][i]
        if i % 100 == 0:
            assert entry.v.tolist() == truth["v"][i].tolist() and entry.wide.tolist() == truth["wide"][i].tolist()
        seen += 1
    assert seen == 3000
    stats = entries.stats
    assert not stats["learning"] and {"n", "x"} <= set(stats["cached"]) and stats["jumps"] == 0
    backwards = far.entries()
    assert [e.n for e in reversed(backwards)] == list(range(ENTRIES - 1, -1, -1))
    assert backwards[5].n == 5 and backwards[-1].n == ENTRIES - 1
    with pytest.raises(IndexError):
        backwards[ENTRIES]
    with pytest.raises(AttributeError, match="nothing"):
        _ = backwards[0].nothing
    with pytest.raises(KeyError, match="nothing"):
        backwards[0]["nothing"]


def test_a_loop_costs_little_more_than_the_column(far):
    least = bytes_of(far, np.arange(ENTRIES), ["n"])
    total, requests, nbytes = cost(far, lambda: sum(int(e.n) for e in far.entries()))
    assert total == ENTRIES * (ENTRIES - 1) // 2
    # with the first entry the small baskets of the other branches come along
    assert nbytes < least * 1.1 + 140_000 and requests < 30, (requests, nbytes, least)


def test_what_loops_are_told(far):
    far.add_branch_to_cache("n")
    far.stop_cache_learning_phase()
    entries = far.entries()
    assert not entries.stats["learning"] and entries.stats["cached"] == ["n"]
    assert sum(int(e.n) for e in entries) > 0 and entries.stats["misses"] == 0
    assert entries.add_branch_to_cache("*") == 4
    entries.drop_branch_from_cache("wide")
    assert "wide" not in entries.stats["cached"]
    with pytest.raises(sapwood.KeyInFileError):
        far.add_branch_to_cache("nothing")
    far.set_cache_learn_entries(7)
    loop = iter(far.entries())
    for _ in range(9):
        _ = next(loop).x
    with pytest.raises(sapwood.InvalidError):
        far.set_cache_learn_entries(-1)


def test_a_cache_size_holds_for_all_reading(far):
    assert far.cache_size is None and far.automatic_cache_size > 0
    plain = cost(far, lambda: far.arrays(["n", "x"]))
    far.set_cache_size(0)
    assert far.cache_size == 0
    for read in (
        lambda: far.arrays(["n", "x"]),
        lambda: list(far.iterate(["n", "x"])),
        lambda: far.draw("n", "x > -100", bins=(5, 0, 10)),
        lambda: [(e.n, e.x) for e in far.entries()],
    ):
        # one request for every basket
        assert cost(far, read)[1] >= 100 > plain[1]
    far.set_cache_size("1 MB")
    assert cost(far, lambda: far.arrays(["n", "x"]))[1] < 100
    far.set_cache_size(None)
