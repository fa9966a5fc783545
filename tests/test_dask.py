"""Dask: collections, draws and selectors on a real cluster, trees written from collections."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import warnings
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import awkward as ak
import numpy as np
import pytest

import sapwood

dask = pytest.importorskip("dask", reason="dask is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    dak = pytest.importorskip("dask_awkward", reason="dask-awkward is not installed")

pytestmark = pytest.mark.filterwarnings("default")


def write(path, first, number, step=100, **more):
    """A file with clusters of `step` entries."""
    with sapwood.recreate(path) as f:
        kinds = {"x": "f8", "n": "i4", "v": "vector<float>", **dict.fromkeys(more, "f8")}
        tree = f.mktree("t", kinds)
        for start in range(first, first + number, step):
            x = np.arange(start, min(start + step, first + number), dtype=float)
            v = ak.Array([[i / 7] * (int(i) % 3) for i in x]) if len(x) else ak.Array(np.zeros((0, 0)))
            tree.extend({"x": x, "n": x.astype("i4"), "v": v, **{n: x * k for n, k in more.items()}})
            tree.flush()
    return str(path)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a").mkdir()
    return [
        write(tmp_path / "a.root", 0, 1000) + ":t",
        write(tmp_path / "b.root", 1000, 500) + ":t",
        # another file of the same name
        write(tmp_path / "a" / "a.root", 1500, 300) + ":t",
    ]


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def here():
    with dask.config.set(scheduler="sync"):
        yield


def test_an_array_has_partitions_along_clusters(files, here):
    array = sapwood.dask(files, steps_per_file=3)
    assert array.npartitions == 9
    assert array.divisions == (0, 300, 700, 1000, 1200, 1300, 1500, 1600, 1700, 1800)
    assert ak.almost_equal(array.compute(), sapwood.concatenate(files))
    assert sapwood.uproot.dask(files[:1], steps_per_file=3).divisions == (0, 333, 666, 1000)
    sizes = sapwood.dask(files, step_size=250).divisions
    assert sizes == (0, 250, 500, 750, 1000, 1250, 1500, 1750, 1800)
    assert sapwood.dask(files, step_size="1 kB").npartitions > 9
    with pytest.raises(sapwood.InvalidError, match="not both"):
        sapwood.dask(files, step_size=5, steps_per_file=2)


def test_only_columns_that_are_used_are_read(files, here):
    array = sapwood.dask(files)
    (columns,) = dak.necessary_columns(ak.sum(array.x[array.n > 3])).values()
    assert columns == {"x", "n"}
    (columns,) = dak.necessary_columns(ak.num(array.v)).values()
    assert columns == {"v"}
    assert ak.sum(array.x[array.n > 3]).compute() == np.arange(4, 1800).sum()
    reader = array.dask.layers[array.name].io_func.project_columns(frozenset({"x"}))
    assert len(pickle.dumps(reader)) < 1500


def test_the_form_is_known_without_reading_data(files):
    with sapwood.perf_stats() as stats:
        sapwood.dask(files[0])
    assert stats.baskets == 0


def test_files_are_opened_by_workers(files, client, tmp_path):
    array = sapwood.dask([*files, f"{tmp_path}/missing.root:t"], open_files=False)
    assert array.divisions == (None,) * 5
    with pytest.raises(sapwood.FileMissingError, match=r"missing\.root"):
        client.compute(array.x).result()
    known = sapwood.dask(
        [f"{tmp_path}/not-yet.root:t"], open_files=False, known_base_form=sapwood.open(files[0]).arrays().layout.form
    )
    write(tmp_path / "not-yet.root", 5, 2)
    assert client.compute(known.x).result().tolist() == [5, 6]


@pytest.mark.parametrize("library", ["ak", "np"])
def test_given_steps_are_known_without_opening_files(files, here, library):
    given = {file.rpartition(":")[0]: {"object_path": "t", "steps": [[0, 200], [200, 500]]} for file in files[:2]}
    x = sapwood.dask(given, open_files=False, library=library)["x"]
    found = x.divisions if library == "ak" else (0, *np.cumsum(x.chunks[0]).tolist())
    assert found == (0, 200, 500, 700, 1000)
    assert len(x.compute()) == 1000


def test_errors_are_reported(files, here, tmp_path):
    given = [*files[:1], f"{tmp_path}/missing.root:t", files[1]]
    array, report = sapwood.dask(given, open_files=False, allow_read_errors_with_report=True)
    values, told = dask.compute(array.x, report)
    assert len(values) == 1500
    assert told.exception.tolist() == [None, "FileNotFoundError", None]
    assert "missing.root: no such file" in told.message[1]
    array, _ = sapwood.dask(given, open_files=False, allow_read_errors_with_report=(ZeroDivisionError,))
    with pytest.raises(sapwood.FileMissingError):
        array.compute()


def test_steps_are_given(files, here):
    file = files[0].removesuffix(":t")
    array = sapwood.dask({file: {"object_path": "t", "steps": [[0, 10], [990, 1000]]}})
    assert (array.divisions, array.x.compute()[-1]) == ((0, 10, 20), 999)
    offsets = sapwood.dask({file: {"object_path": "t", "steps": [0, 5, 7]}}, open_files=False)
    assert offsets.x.compute().tolist() == list(range(7))
    with pytest.raises(sapwood.InvalidError, match="ends at entry 2000"):
        sapwood.dask({file: {"object_path": "t", "steps": [[0, 2000]]}})
    with pytest.raises(sapwood.InvalidError, match="rising offsets"):
        sapwood.dask({file: {"object_path": "t", "steps": [[5, 2]]}})


def test_numpy_and_pandas(files, here):
    arrays = sapwood.dask(files, library="np")
    assert (arrays["x"].shape, arrays["x"].sum().compute()) == ((1800,), np.arange(1800).sum())
    assert arrays["v"].compute()[2].tolist() == [np.float32(2 / 7)] * 2
    assert np.isnan(sapwood.dask(files, library="np", open_files=False)["x"].shape[0])
    frame = sapwood.dask(files, library="pd", filter_name=["x", "n"])
    assert list(frame.columns) == ["x", "n"]
    assert frame.x.sum().compute() == np.arange(1800).sum()
    with pytest.raises(sapwood.InvalidError, match='"ak", "np" or "pd"'):
        sapwood.dask(files, library="cupy")


def test_a_file_that_changed_is_refused(tmp_path, here):
    path = write(tmp_path / "f.root", 0, 300)
    array = sapwood.dask(path + ":t")
    assert ak.sum(array.x).compute() == 44850
    write(tmp_path / "f.root", 5, 300)
    with pytest.raises(sapwood.InvalidError, match="has changed"):
        ak.sum(array.x).compute()
    later = sapwood.dask(path + ":t", open_files=False)
    assert later.x.compute()[0] == 5
    write(tmp_path / "f.root", 7, 10)
    assert later.x.compute()[0] == 7


def test_other_types_and_missing_branches_are_refused(tmp_path, here):
    first = write(tmp_path / "f.root", 0, 10, y=2.0)
    other = write(tmp_path / "g.root", 0, 10)
    array = sapwood.dask([first + ":t", other + ":t"])
    assert len(array.x.compute()) == 20
    with pytest.raises(sapwood.KeyInFileError, match=r"g\.root.*y|y.*g\.root"):
        array.y.compute()
    with sapwood.recreate(tmp_path / "h.root") as f:
        f["t"] = {"x": np.arange(3, dtype="i8")}
    array = sapwood.dask([first + ":t", f"{tmp_path}/h.root:t"])
    with pytest.raises(sapwood.UnsupportedError, match=r"h\.root: branch 'x' is int64, but float64"):
        array.x.compute()
    arrays = sapwood.dask([first + ":t", f"{tmp_path}/h.root:t"], library="np")
    with pytest.raises(sapwood.UnsupportedError, match="'x' is int64"):
        arrays["x"].compute()


def test_empty_trees_and_files_without_the_tree(tmp_path, here):
    empty = write(tmp_path / "empty.root", 0, 0) + ":t"
    full = write(tmp_path / "full.root", 0, 3) + ":t"
    with sapwood.recreate(tmp_path / "other.root") as f:
        f["u"] = {"x": np.arange(3.0)}
    assert sapwood.dask([empty, full], steps_per_file=2).x.compute().tolist() == [0, 1, 2]
    for open_files in (True, False):
        array = sapwood.dask([f"{tmp_path}/other.root:t", full], allow_missing=True, open_files=open_files)
        assert array.x.compute().tolist() == [0, 1, 2]
        with pytest.raises(sapwood.KeyInFileError):
            sapwood.dask([f"{tmp_path}/other.root:t", full], open_files=open_files)


def test_workers_get_settings_without_credentials(files, monkeypatch):
    from sapwood.with_dask.settings import settings

    monkeypatch.setenv("http_proxy", "http://proxy:3128")
    monkeypatch.setenv("https_proxy", "http://user:secret@proxy:3128")
    monkeypatch.setenv("BEARER_TOKEN", "secret")
    monkeypatch.setenv("SAPWOOD_CACHE_DIR", "/data/cache")
    assert settings()["http_proxy"] == "http://proxy:3128"
    assert settings()["SAPWOOD_CACHE_DIR"] == "/data/cache"
    array = sapwood.dask(files)
    sent = pickle.dumps(array.dask.layers[array.name].io_func)
    assert b"secret" not in sent
    assert b"proxy:3128" in sent


def same(a, b):
    return np.array_equal(a.values(flow=True), b.values(flow=True)) and np.array_equal(
        a.variances(flow=True), b.variances(flow=True), equal_nan=True
    )


DRAWS = [
    ("x", "", (50, 0, 2000)),
    ("x", "", None),
    ("n", "n%3==0", None),
    ("v", "n > 200", 40),
    ("x:n", "", None),
    ("x:n", "", (10, 0, 2000, 20, 0, 2000)),
    ("x*0.1", "x/7", (30, 0, 200)),
]


@pytest.mark.parametrize(("expression", "cut", "bins"), DRAWS)
def test_a_draw_in_parts_is_that_of_one_process(files, client, expression, cut, bins):
    chain = sapwood.chain(files)
    alone = chain.draw(expression, cut, bins)
    parts = chain.draw(expression, cut, bins, scheduler=client)
    with ThreadPoolExecutor(3) as pool:
        threads = chain.draw(expression, cut, bins, scheduler=pool)
    assert same(parts, threads)
    assert [a.edges.tolist() for a in parts.axes] == [a.edges.tolist() for a in alone.axes]
    assert np.allclose(parts.values(flow=True), alone.values(flow=True), rtol=1e-13)
    if "/" not in cut:
        assert same(parts, alone)


def test_several_draws_profiles_and_norm_in_parts(files, client):
    chain = sapwood.chain(files)
    draws = [("x:n", "", (10, 0, 2000), "prof"), {"expression": "x", "option": "norm", "bins": (5, 0, 2000)}]
    alone, parts = chain.draw(draws=draws), chain.draw(draws=draws, scheduler=client)
    for a, b in zip(alone, parts, strict=True):
        assert np.allclose(a.values(), b.values(), rtol=1e-12)
    tree = sapwood.open(files[0])
    assert same(tree.draw("x", bins=(9, 0, 1000), scheduler=client), tree.draw("x", bins=(9, 0, 1000)))
    span = {"entry_start": 10, "entry_stop": 1400}
    assert same(chain.draw("x", **span, scheduler=client), chain.draw("x", **span))
    chosen = {"entries": [3, 999, 1000, 1799], "bins": (18, 0, 1800)}
    assert same(chain.draw("x", **chosen, scheduler=client), chain.draw("x", **chosen))


@pytest.fixture
def named(tmp_path):
    """Files whose strings come in different orders, one without entries, one of several parts."""
    made = []
    for i, names in enumerate([["mu", "e"], [], ["tau", "e", "mu"], ["é", "tau"]]):
        path = tmp_path / f"named{i}.root"
        with sapwood.recreate(path) as f:
            tree = f.mktree("t", {"s": "string", "r": "string", "x": "f8", "y": "f8"})
            for k, name in enumerate(names * 5):
                of = {"s": [name], "r": [f"run{(k * 7 + i) % 3}"], "x": [k * 0.5 + i], "y": [float(k % 4)]}
                tree.extend({**of})
        made.append(f"{path}:t")
    return made


STRINGS = [
    ("x:s", "", None, ""),
    ("s:x", "x > 1", None, ""),
    ("s:r", "", None, ""),
    ("x:s:r", "", None, ""),
    ("y:s:x", "", None, ""),
    ("x:s", "", None, "prof"),
    ("y:x:s", "", None, "prof"),
    ("x:s", "y", [None, (4, 0, 3)], ""),
]


@pytest.mark.parametrize(("expression", "cut", "bins", "option"), STRINGS)
def test_strings_beside_other_variables_in_parts(named, client, expression, cut, bins, option):
    chain = sapwood.chain(named)
    alone = chain.draw(expression, cut, bins, option=option)
    for scheduler in (client, ThreadPoolExecutor(2)):
        parts = chain.draw(expression, cut, bins, option=option, scheduler=scheduler)
        for a, b in zip(alone.axes, parts.axes, strict=True):
            assert type(a) is type(b) and list(a) == list(b)
        assert np.array_equal(alone.view(flow=True), parts.view(flow=True))
    assert alone.values(flow=True).sum() != 0


def test_partial_histograms_and_progress(files, client):
    told, counted = [], []
    made = sapwood.chain(files).draw(
        "x", bins=(3, 0, 1800), scheduler=client, partial=lambda h: told.append(h.values().sum()),
        progress=lambda done, total, _: counted.append((done, total)),
    )  # fmt: skip
    assert told == [1000, 1500, 1800]
    assert counted[-1] == (1800, 1800)
    assert made.values().sum() == 1800
    with pytest.raises(sapwood.InvalidError, match="partial needs a scheduler"):
        sapwood.chain(files).draw("x", partial=print)


@pytest.mark.parametrize("bins", [(9, 0, 1800), None])
def test_large_files_are_drawn_in_parts_in_their_order(files, monkeypatch, bins):
    """A file of one part is one task; of several parts it is one more, and they are added in their order."""

    class Counting(ThreadPoolExecutor):
        submitted = 0

        def submit(self, function, part, *arguments):
            self.submitted += 1
            return super().submit(function, part, *arguments)

    chain, (first, *_) = sapwood.chain(files), files

    def drawn():
        """The histogram, the entries in it after each part, and how many tasks there were beside those."""
        told = []
        with Counting(3) as pool:
            made = chain.draw(
                "x", "n%2", bins, scheduler=pool, partial=lambda h: told.append(h.values(flow=True).sum())
            )
        assert told == sorted(told) and told[-1] == made.values(flow=True).sum()
        return made, told, pool.submitted - len(told)

    alone = chain.draw("x", "n%2", bins)
    made, told, more = drawn()
    assert same(made, alone) and len(told) == len(files)
    assert more == 0 or bins is None
    # the workers are threads of this process
    monkeypatch.setattr("sapwood.drawing.part.PART_BYTES", sapwood.open(first).uncompressed_bytes // 4)
    made, told, more = drawn()
    assert same(made, alone) and len(told) > len(files)
    assert more in range(1, 1 + len(files)) or bins is None


@pytest.mark.parametrize("expression", [">>e", "x"])
def test_a_chain_of_one_file_has_lists_and_draws(files, monkeypatch, expression):
    monkeypatch.setattr("sapwood.drawing.part.PART_BYTES", sapwood.open(files[0]).uncompressed_bytes // 20)
    chain = sapwood.chain(files[:1])
    with ThreadPoolExecutor(3) as pool:
        parts = chain.draw(expression, "n%2", scheduler=pool)
        rows = chain.query("x", "n%2", scheduler=pool)
    alone = chain.draw(expression, "n%2")
    if expression == ">>e":
        assert parts.numbers.tolist() == alone.numbers.tolist() and len(parts) == 500
    else:
        assert same(parts, alone)
    assert list(rows) == list(chain.query("x", "n%2"))


@pytest.mark.parametrize("count_first", [False, True])
def test_a_file_that_is_replaced_between_its_parts_is_noticed(tmp_path, monkeypatch, count_first):
    path, other = tmp_path / "a.root", tmp_path / "other.root"
    write(path, 0, 1000)
    write(other, 5000, 1000)
    monkeypatch.setattr("sapwood.drawing.part.PART_BYTES", sapwood.open(path)["t"].uncompressed_bytes // 10)
    replaced = []

    def replace(_):
        if not replaced:
            replaced.append(os.replace(other, path))

    monkeypatch.setattr("sapwood.drawing.parts.most_under_way", lambda _: 1)
    span = {"entry_start": 1} if count_first else {}
    chain = sapwood.chain([f"{path}:t", write(tmp_path / "b.root", 0, 500) + ":t", f"{path}:t"])
    with ThreadPoolExecutor(1) as pool, pytest.raises(sapwood.InvalidError, match="has changed"):
        chain.draw("x", "", (9, 0, 9000), scheduler=pool, partial=replace, **span)


def test_executors_that_fail_are_told_with_the_part(files):
    class Broken(ThreadPoolExecutor):
        def submit(self, function, part, *arguments):
            if "b.root" in part.file:
                raise BrokenExecutor("it is broken")
            return super().submit(function, part, *arguments)

    class Cancelling(ThreadPoolExecutor):
        def submit(self, function, part, *arguments):
            future = Future()
            future.cancel()
            return future

    for pool, words in [(Broken(2), r"b\.root: all entries: .* it is broken"), (Cancelling(2), r"a\.root.* cancelled")]:
        with pool, pytest.raises(sapwood.ReadError, match=words):
            sapwood.chain(files).draw("x", "", (9, 0, 1800), scheduler=pool)


def test_the_parts_of_a_large_file_do_not_wait_for_those_before(files, monkeypatch):
    monkeypatch.setattr("sapwood.drawing.part.PART_BYTES", sapwood.open(files[0]).uncompressed_bytes // 20)
    last_file_is_divided = threading.Event()

    class Holding(ThreadPoolExecutor):
        """Draws the parts of the first file only when those of the last one have been submitted."""

        def submit(self, function, part, *arguments):
            is_part = part.stop is not None
            if is_part and part.file in files[-1]:
                last_file_is_divided.set()

            def draw(*given):
                if is_part and part.file in files[0]:
                    assert last_file_is_divided.wait(60)
                return function(*given)

            return super().submit(draw, part, *arguments)

    chain = sapwood.chain([files[0], files[0], files[-1]])
    with Holding(20) as pool:
        parts = chain.draw("x", "", (9, 0, 1800), scheduler=pool)
    assert same(parts, chain.draw("x", "", (9, 0, 1800)))
    assert last_file_is_divided.is_set()


DEPENDENT = [
    ("Entry$-x", "Entry$ > 3", (3, -1, 2)),
    ("Entries$", "", (10, 0, 4000)),
    ("x", "x < Entries$/2", (18, 0, 1800)),
    ("Entries$-Entry$", "Entry$%2", None),
    ("rndm", "rndm(7) < 0.5", (10, 0, 1)),
]


@pytest.mark.parametrize(("expression", "cut", "bins"), DEPENDENT)
def test_draws_that_depend_on_the_chain(files, client, expression, cut, bins):
    chain = sapwood.chain(files)
    alone = chain.draw(expression, cut, bins)
    assert same(chain.draw(expression, cut, bins, scheduler=client), alone)
    assert alone.values(flow=True).sum() > 0
    tree = sapwood.open(files[0])
    assert same(tree.draw(expression, cut, bins, scheduler=client), tree.draw(expression, cut, bins))


def test_stored_aliases_that_depend_on_the_chain(macro, tmp_path):
    """Workers find them when they open a file; then entries are counted, and the draw begins again."""
    macro("stored_aliases.C", tmp_path)
    chain = sapwood.chain([f"{tmp_path}/a.root:t", f"{tmp_path}/b.root:t"])
    with ThreadPoolExecutor(2) as pool:
        for expression, cut, bins in (("number", "", (21, 0, 21)), ("x:share", "number > 3", (5, 0, 1, 11, 0, 11))):
            made = chain.draw(expression, cut, bins, scheduler=pool)
            assert same(made, chain.draw(expression, cut, bins))
    assert made.values().sum() == 17


def test_wrong_draws_in_parts(files, client):
    chain = sapwood.chain(files)
    with pytest.raises(sapwood.InvalidError, match="scheduler must be"):
        chain.draw("x", scheduler=3)
    with pytest.raises(sapwood.KeyInFileError, match="nothere"):
        chain.draw("nothere", bins=(3, 0, 1), scheduler=client)


@pytest.fixture
def friends(tmp_path):
    """A file with as many entries as all files of the chain, and one with an index."""
    with sapwood.recreate(tmp_path / "friend.root") as f:
        f.mktree("u", {"w": "f8"}).extend({"w": np.arange(1800) * 0.5})
        keys = np.arange(1799, -1, -1)
        f.mktree("by_key", {"n": "i4", "k": "f8"}).extend({"n": keys.astype("i4"), "k": keys * 2.0})
    return f"{tmp_path}/friend.root"


def test_friends_in_parts(files, friends, client, tmp_path, monkeypatch):
    """Entries of friends count through the chain; a relative name is that of the client's directory."""
    monkeypatch.chdir(tmp_path)
    chain = sapwood.chain(files)
    chain.add_friend("u", "friend.root")
    chain.add_friend("by_key", friends, index="n")
    for drawn in (
        ("u.w", "", (90, 0, 900)),
        ("w-x/2", "", (3, -1, 2)),
        ("by_key.k - 2*x", "w > 300", (3, -1, 2)),
        ("w:x",),
    ):
        alone = chain.draw(*drawn)
        assert alone.values().sum() > 0
        assert same(chain.draw(*drawn, scheduler=client), alone), drawn
    chosen = {"entries": [3, 999, 1000, 1799], "bins": (18, 0, 900)}
    assert same(chain.draw("w", **chosen, scheduler=client), chain.draw("w", **chosen))
    tree = sapwood.open(files[0])
    with ThreadPoolExecutor(2) as pool:
        without = tree.draw("x", bins=(10, 0, 1000), scheduler=pool)
        tree.add_friend("u", friends)
        assert same(tree.draw("w", "x > 10", (9, 0, 500), scheduler=pool), tree.draw("w", "x > 10", (9, 0, 500)))
        # the tree that a worker holds open has no friends
        with pytest.raises(sapwood.KeyInFileError):
            sapwood.open(files[0]).draw("w", bins=(3, 0, 1), scheduler=pool)
        assert same(without, tree.draw("x", bins=(10, 0, 1000), scheduler=pool))


def test_aliases_in_parts(files, client):
    chain = sapwood.chain(files)
    chain.set_alias("half", "x/2")
    bins = (10, 0, 900)
    assert same(chain.draw("half", "half > 3", bins, scheduler=client), chain.draw("half", "half > 3", bins))
    given = {"aliases": {"third": "x/3"}, "bins": bins}
    assert same(chain.draw("third+half", **given, scheduler=client), chain.draw("third+half", **given))


@pytest.mark.parametrize("option", ["", "entrylist", "entrylistarray"])
def test_lists_of_entries_in_parts(files, client, option):
    """Made and used: of a cut with several values for an entry, and so of instances."""
    chain, cut = sapwood.chain(files), "v > 100"
    alone = chain.draw(">>found", cut, option=option)
    parts = chain.draw(">>found", cut, option=option, scheduler=client)
    assert [parts.classname, parts.name, parts.title, parts.rows] == [alone.classname, "found", cut, alone.rows]
    assert parts.numbers.tolist() == alone.numbers.tolist() and len(parts) > 500
    assert len(parts.parts) == len(alone.parts)
    for a, b in zip(alone.parts, parts.parts, strict=True):
        assert (a.tree, os.path.realpath(a.file), a.numbers.tolist()) == (
            b.tree,
            os.path.realpath(b.file),
            b.numbers.tolist(),
        )
        assert {e: n.tolist() for e, n in a.instances.items()} == {e: n.tolist() for e, n in b.instances.items()}
    drawn = {"entries": alone, "bins": (20, 0, 300)}
    assert same(chain.draw("v", **drawn, scheduler=client), chain.draw("v", **drawn))
    span = {"entry_start": 900, "entry_stop": 1600}
    assert chain.draw(">>l", "n%7==0", **span, scheduler=client).numbers.tolist() == list(range(903, 1600, 7))
    both = chain.draw(draws=["x", (">>l", "n > 5"), ("n", "", (3, 0, 9))], scheduler=client)
    assert same(both[0], chain.draw("x")) and len(both[1]) == 1794 and both[2].values().sum() == 9
    tree = sapwood.open(files[1])
    assert tree.draw(">>l", "n%2==0", scheduler=client).numbers.tolist() == list(range(0, 500, 2))


def test_queries_in_parts(files, friends, client):
    """Rows, their entries and instances are those of one process."""

    def check(source, expressions, cut="", **options):
        alone = source.query(expressions, cut, **options)
        for scheduler in (client, pool):
            parts = source.query(expressions, cut, scheduler=scheduler, **options)
            assert type(parts) is type(alone)
            assert (list(parts), parts.columns) == (list(alone), alone.columns)
            assert parts.entries.tolist() == alone.entries.tolist()
            assert parts.instances.tolist() == alone.instances.tolist()
        return alone

    chain = sapwood.chain(files)
    told = []
    with ThreadPoolExecutor(2) as pool:
        assert len(check(chain, "n:x:v", "v > 100")) > 500
        assert len(check(chain, "Entry$:n:Entries$", "n%97==0", entry_start=400, entry_stop=1700)) > 10
        assert check(chain, "x", entries=[3, 999, 1000, 1799]).entries.tolist() == [3, 999, 1000, 1799]
        assert check(chain, "n", "n > 1e9").entries.tolist() == []
        check(chain, "*", entry_stop=3)
        check(chain, "twice", "twice > 1700", aliases={"twice": "2*x"})
        check(sapwood.open(files[1]), "n:v", "n%2==0")
        check(sapwood.open(files[1]), "n", entries=[7, 3])
        rows = chain.query("x", scheduler=pool, progress=lambda done, total, size: told.append((done, total)))
        assert told[-1] == (1800, 1800) and len(rows) == 1800
        chain.add_friend("u", friends)
        check(chain, "w-x/2:w", "w > 300")
        with pytest.raises(sapwood.Error, match="nothere"):
            chain.query("nothere", scheduler=pool)


def test_bad_files_are_skipped_in_parts(files, client, tmp_path):
    chain = sapwood.chain([*files, f"{tmp_path}/missing.root:t"], skip_bad_files=True)
    with pytest.warns(sapwood.SkippedFileWarning, match=r"missing\.root"):
        assert chain.draw("x", bins=(3, 0, 1800), scheduler=client).values().sum() == 1800
    chain = sapwood.chain([*files, f"{tmp_path}/missing.root:t"])
    with pytest.raises(sapwood.FileMissingError):
        chain.draw("x", bins=(3, 0, 1800), scheduler=client)


class Sums(sapwood.Selector):
    branches = ("x", "n")
    fatal = ""

    def begin(self):
        self.total, self.entries = 0.0, 0

    def process(self, batch):
        if self.fatal and batch.n[0] == 1000 and not os.path.exists(self.fatal):
            with open(self.fatal, "w") as f:
                f.write("died")
            os.kill(os.getpid(), signal.SIGKILL)
        self.total += float(np.sum(np.asarray(batch.x) * 0.1))
        self.entries += len(batch)

    def merge(self, other):
        self.total += other.total
        self.entries += other.entries

    def end(self):
        return self.total, self.entries


class OfFriend(Sums):
    branches = ("x", "w")

    def process(self, batch):
        self.total += float(np.sum(np.asarray(batch.x) * np.asarray(batch.w)))
        self.entries += len(batch)


def test_selectors_with_friends_on_a_cluster(files, friends, client):
    chain = sapwood.chain(files)
    chain.add_friend("u", friends)
    alone = chain.process(OfFriend, step_size=100)
    assert alone[1] == 1800 and chain.process(OfFriend, scheduler=client, step_size=100) == alone
    some = {"entries": [0, 5, 1000, 1799], "step_size": 100}
    assert chain.process(OfFriend, scheduler=client, **some) == chain.process(OfFriend, **some)


def test_selectors_on_a_cluster(files, client):
    chain = sapwood.chain(files)
    assert chain.process(Sums, scheduler=client, step_size=100) == chain.process(Sums, step_size=100)
    with pytest.raises(sapwood.InvalidError, match="not both"):
        chain.process(Sums, scheduler=client, executor="threads")
    locked = Sums()
    locked.lock = threading.Lock()
    with pytest.raises(sapwood.InvalidError, match="cannot be sent to other processes"):
        chain.process(locked, scheduler=client)


def test_the_death_of_a_worker_costs_its_partition_only(files, tmp_path):
    selector = Sums()
    selector.fatal = str(tmp_path / "died")
    chain = sapwood.chain(files)
    with (
        dask.config.set({"distributed.logging": {"distributed": "critical"}}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        made = chain.process(selector, scheduler=client, step_size=100)
    assert os.path.exists(selector.fatal)
    assert made == chain.process(Sums, step_size=100)


def test_processes_draw(files):
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        made = sapwood.chain(files).draw("x", bins=(3, 0, 1800), scheduler=pool)
    assert same(made, sapwood.chain(files).draw("x", bins=(3, 0, 1800)))


def test_trees_are_written_in_parallel(files, client, tmp_path):
    array = sapwood.dask(files)
    later = sapwood.to_tree(array[array.n % 2 == 0][["x", "v"]], tmp_path / "out", tree="even", compute=False)
    assert not (tmp_path / "out").exists()
    paths = client.compute(later).result()
    assert [os.path.basename(p) for p in paths] == ["part-0000.root", "part-0001.root", "part-0002.root"]
    back = sapwood.concatenate([p + ":even" for p in paths])
    assert back.x.tolist() == list(range(0, 1800, 2))
    with pytest.raises(sapwood.FileThereError):
        sapwood.to_tree(array, tmp_path / "out")


def test_partitions_are_joined(files, here, tmp_path):
    path = sapwood.to_tree(sapwood.dask(files), tmp_path / "all.root", join=True)
    assert sapwood.open(path + ":tree")["x"].array().tolist() == list(range(1800))
    assert os.listdir(tmp_path / ".") and not [n for n in os.listdir(tmp_path) if "parts" in n]
    with pytest.raises(sapwood.FileThereError):
        sapwood.to_tree(sapwood.dask(files), path, join=True)
    arrays = sapwood.dask(files, library="np", filter_name=["x", "n"])
    frame = sapwood.dask(files, library="pd", filter_name=["x", "n"])
    for number, collection in enumerate((arrays, frame)):
        made = sapwood.to_tree(collection, tmp_path / f"{number}.root", join=True)
        assert sapwood.open(made + ":tree")["n"].array().tolist() == list(range(1800))
    with pytest.raises(sapwood.InvalidError, match="Dask collection"):
        sapwood.to_tree([1, 2], tmp_path / "x")


def test_importing_sapwood_imports_no_dask():
    code = (
        "import sys, sapwood; sapwood.__dir__(); print([m for m in sys.modules if 'dask' in m or 'distributed' in m])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def sapwood_command(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "sapwood", *map(str, arguments)], capture_output=True, text=True, timeout=300,
        env={**os.environ, **environment},
    )  # fmt: skip


def test_the_command_draws_on_a_cluster(files, client, tmp_path):
    import json

    add = ["--add", files[1], "--add", files[2]]
    alone = json.loads(sapwood_command("draw", files[0], "x>>h(20,0,2000)", "n%2", *add, "--json").stdout)
    done = sapwood_command(
        "draw", files[0], "x>>h(20,0,2000)", "n%2", *add, "--json", "--dask", client.scheduler.address,
        "-o", tmp_path / "h.root",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    cluster = json.loads(done.stdout)
    del alone["io"]
    assert cluster == alone
    assert sapwood.open(tmp_path / "h.root")["h"].to_numpy()[0].sum() == 900
    # with an alias
    named = [
        "draw",
        files[0],
        "double>>h(20,0,2000)",
        "odd",
        *add,
        "--alias",
        "double=2*x",
        "--alias",
        "odd=n%2",
        "--json",
    ]
    alone = json.loads(sapwood_command(*named).stdout)
    done = sapwood_command(*named, "--dask", client.scheduler.address)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["histogram"] == alone["histogram"]
    # without a binning
    done = sapwood_command("draw", files[0], "x", *add, "--dask", client.scheduler.address)
    shown = sapwood_command("draw", files[0], "x", *add, "--quiet")
    assert (done.returncode, done.stdout) == (0, shown.stdout), done.stderr


def test_the_command_says_what_is_missing(files):
    done = sapwood_command("draw", files[0], "x", "--dask", "local", SAPWOOD_PYTHON="/nonexistent/python3")
    assert done.returncode == 1
    assert "cannot run /nonexistent/python3" in done.stderr and "SAPWOOD_PYTHON" in done.stderr
    done = sapwood_command("draw", files[0], "nothere", "--dask", "local", "--workers", "1")
    assert done.returncode == 1
    assert "nothere" in done.stderr
