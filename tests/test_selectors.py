"""Selectors: the same result whatever runs them, errors that name the entries, scripts, and what skeleton prints."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import sapwood

ENTRIES = 5000


class Sums(sapwood.Selector):
    """Sums whose last bits depend on the order of the additions, and the entries in the order of merging."""

    branches = ("x", "l")

    def begin(self):
        self.sum, self.items, self.order = 0.0, 0, []

    def process(self, batch):
        for x in batch["x"].to_list():
            self.sum += x
        self.items += int(sum(map(len, batch["l"].to_list())))
        self.order.append((self.partition.offset + self.partition.entry_start, len(batch)))

    def merge(self, other):
        self.sum += other.sum
        self.items += other.items
        self.order += other.order

    def end(self):
        return self.sum, self.items, self.order


class Slow(Sums):
    """Early batches take longest."""

    def process(self, batch):
        time.sleep(0.05 if self.partition.entry_start < 1000 else 0)
        super().process(batch)


class Failing(Sums):
    """Raises at an entry in the middle."""

    def process(self, batch):
        if self.partition.entry_start == 2000:
            raise ValueError("no muon")
        super().process(batch)


class Dying(Sums):
    """Its process dies at an entry in the middle."""

    def process(self, batch):
        if self.partition.entry_start == 2000:
            os.kill(os.getpid(), signal.SIGKILL)
        super().process(batch)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Three files with a tree of floats and lists."""
    folder = tmp_path_factory.mktemp("selectors")
    random = np.random.default_rng(5)
    made = []
    for name in "abc":
        path = folder / f"{name}.root"
        with sapwood.recreate(path) as out:
            counts = random.integers(0, 4, ENTRIES)
            import awkward as ak

            lists = ak.unflatten(random.normal(size=counts.sum()).astype(np.float32), counts)
            out["Events"] = {"x": random.normal(size=ENTRIES) * 10.0 ** random.integers(-9, 9, ENTRIES), "l": lists}
        made.append(str(path))
    return made


EXECUTORS = [
    {"executor": "threads", "workers": 1},
    {"executor": "threads", "workers": 3},
    {"executor": "processes", "workers": 2},
]


@pytest.mark.parametrize("how", EXECUTORS, ids=lambda how: "-".join(map(str, how.values())))
def test_the_result_is_the_same_to_the_last_bit(files, how):
    with sapwood.open(files[0])["Events"].file as file:
        tree = file["Events"]
        expected = tree.process(Sums, step_size=700)
        assert [start for start, _ in expected[2]] == list(range(0, ENTRIES, 700))
        assert tree.process(Slow, step_size=700, **how) == expected
    chain = sapwood.chain([f"{f}:Events" for f in files])
    expected = chain.process(Sums(), step_size=700)
    assert expected[2][-1] == (3 * ENTRIES - ENTRIES % 700, ENTRIES % 700)
    assert chain.process(Slow(), step_size=700, **how) == expected
    some = chain.process(Sums, step_size=700, entry_start=4900, entry_stop=11000)
    assert sum(n for _, n in some[2]) == 6100
    assert chain.process(Sums, step_size=700, entry_start=4900, entry_stop=11000, **how) == some
    chosen = chain.process(Sums, step_size=700, entries=[3, 700, 701, 9000])
    assert sum(n for _, n in chosen[2]) == 4
    assert chain.process(Sums, step_size=700, entries=[3, 700, 701, 9000], **how) == chosen


def test_any_executor(files):
    chain = sapwood.chain([f"{f}:Events" for f in files])
    expected = chain.process(Sums, step_size="64 kB")
    with ThreadPoolExecutor(2) as pool:
        assert chain.process(Slow, step_size="64 kB", executor=pool) == expected
        assert pool.submit(int).result() == 0
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert chain.process(Sums, step_size="64 kB", executor=pool) == expected


@pytest.mark.parametrize("how", [{}, *EXECUTORS], ids=lambda how: "-".join(map(str, how.values())) or "serial")
def test_a_cut_gives_the_same_rows(files, how):
    class Own(Sums):
        pass

    chosen = Sums()
    chosen.cut = "x > 0"
    tree = sapwood.open(files[0])["Events"]
    x = tree["x"].array(library="np")
    _, _, order = tree.process(chosen, step_size=1000, **how)
    assert sum(n for _, n in order) == (x > 0).sum()


@pytest.mark.parametrize("how", [{}, *EXECUTORS], ids=lambda how: "-".join(map(str, how.values())) or "serial")
def test_an_exception_names_file_and_entries(files, how):
    chain = sapwood.chain([f"{files[1]}:Events"])
    with pytest.raises(sapwood.SelectorError, match="entries 2000 to 2999: ValueError: no muon") as e:
        chain.process(Failing, step_size=1000, **how)
    assert files[1] in str(e.value)
    assert e.value.file == files[1]
    assert e.value.__cause__ is not None


def test_a_dead_process_names_its_entries(files):
    chain = sapwood.chain([f"{files[1]}:Events"])
    with pytest.raises(sapwood.SelectorError, match=r"entries 2000 to 2999: the worker process was ended by SIGKILL"):
        chain.process(Dying, step_size=1000, executor="processes", workers=2)
    broken = pytest.raises(sapwood.SelectorError, match=r"a worker of the executor ended.*entries 2000 to 2999")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool, broken:
        chain.process(Dying, step_size=1000, executor=pool)


@pytest.mark.parametrize("how", [{}, *EXECUTORS], ids=lambda how: "-".join(map(str, how.values())) or "serial")
def test_batches_that_fail_can_be_left_out(files, how):
    chain = sapwood.chain([f"{files[1]}:Events", f"{files[2]}:Events"])
    expected = chain.process(Sums, step_size=1000)[2]
    kept = [batch for batch in expected if batch[0] not in (2000, 7000)]
    for failing in (Failing, Dying) if how.get("executor") == "processes" else (Failing,):
        lost = []
        _, _, order = chain.process(failing, step_size=1000, on_error=lost.append, **how)
        assert order == kept
        assert [e.file for e in lost] == files[1:]
        assert all("entries 2000 to 2999" in str(e) for e in lost)
    # what the user's function raises ends the run
    with pytest.raises(ZeroDivisionError):
        chain.process(Failing, step_size=1000, on_error=lambda _: 1 / 0, **how)


def test_partial_results_come_in_order_and_the_end_closes_files(files, tmp_path):
    # other tests may have these open
    files = [shutil.copy(file, tmp_path) for file in files]
    chain = sapwood.chain([f"{f}:Events" for f in files])
    seen = []
    for part in sapwood.partial_results(chain, Slow, step_size=1000, executor="threads", workers=2):
        seen.append((part.entries, len(part.selector.order)))
    assert seen == [(1000 * n, n) for n in range(1, 16)]

    def open_files():
        return [n for n in os.listdir("/proc/self/fd") if os.path.realpath(f"/proc/self/fd/{n}") in files]

    for how in [{}, *EXECUTORS]:
        results = sapwood.partial_results(chain, Sums, step_size=1000, **how)
        next(results)
        results.close()
        deadline = time.monotonic() + 20
        while open_files() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not open_files(), how
    alive = [t.name for t in threading.enumerate() if t.name.startswith("sapwood-selector")]
    assert len(alive) <= 3, alive


def test_progress(files):
    told = []
    chain = sapwood.chain([f"{f}:Events" for f in files])
    chain.process(Sums, step_size=2500, executor="threads", progress=lambda *now: told.append(now[:2]))
    assert told == [(2500 * n, 15000) for n in range(1, 7)]


def test_no_entries(files):
    tree = sapwood.open(files[0])["Events"]
    for how in [{}, *EXECUTORS]:
        assert tree.process(Sums, entry_stop=0, **how) == (0.0, 0, [])


@pytest.mark.parametrize("executor", ["", "threads", "processes"])
def test_ctrl_c_ends_at_once(files, tmp_path, executor):
    script = tmp_path / "wait.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import sys, time
            import sapwood

            class Wait(sapwood.Selector):
                branches = ["x"]
                def process(self, batch):
                    print("begun", flush=True)
                    time.sleep(600)
                def merge(self, other):
                    pass

            if __name__ == "__main__":
                sapwood.open({files[0]!r})["Events"].process(Wait, executor={executor or None!r}, step_size=100)
            """
        )
    )
    run = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert run.stdout.readline().startswith("begun")
    run.send_signal(signal.SIGINT)
    # far below the time that process takes
    _, err = run.communicate(timeout=60)
    assert run.returncode != 0
    assert "KeyboardInterrupt" in err


def test_what_cannot_be_sent_or_run_is_refused(files, tmp_path, command):
    tree = sapwood.open(files[0])["Events"]

    class Local(Sums):
        pass

    with pytest.raises(sapwood.InvalidError, match='executor="threads"'):
        tree.process(Local, executor="processes")
    for wrong in [{"executor": "fibers"}, {"workers": 2}, {"executor": "threads", "workers": 0}, {"executor": 3}]:
        with pytest.raises(sapwood.InvalidError):
            tree.process(Sums, **wrong)
    with pytest.raises(sapwood.InvalidError, match=r"sapwood\.Selector"):
        tree.process(print)
    there = tmp_path / "there.C"
    there.write_text("int there() { return 0; }")
    for macro in [str(there), "myselector.C+", "sel.cxx++"]:
        drawn = subprocess.run([command, "draw", f"{files[0]}:Events", macro], capture_output=True, text=True)
        assert drawn.returncode == 1
        assert "sapwood skeleton" in drawn.stderr
        with pytest.raises(sapwood.UnsupportedError, match="sapwood skeleton"):
            tree.process(macro)
        with pytest.raises(sapwood.UnsupportedError, match="sapwood skeleton"):
            tree.draw(macro)
    with pytest.raises(sapwood.UnsupportedError, match="sapwood skeleton"):
        tree.process("absent.C")
    (tmp_path / "a.py").write_text("raise SystemExit('run')")
    words = [command, "draw", f"{files[0]}:Events", "a.py"]
    drawn = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    assert "sapwood process" in drawn.stderr
    with pytest.raises(sapwood.KeyInFileError):
        # may be a member of a branch
        tree.draw("px.C")
    with pytest.raises(sapwood.FileMissingError):
        tree.draw("absent.py")


def test_a_member_named_py_is_no_script(files, tmp_path, monkeypatch, command):
    """p.px:p.py was looked for as a script."""
    path = tmp_path / "members.root"
    with sapwood.recreate(path) as file:
        file["t"] = {"p.px": np.arange(4.0), "p.py": np.arange(4.0) + 10}
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.py").write_text("raise SystemExit('run')")
    tree = sapwood.open(path)["t"]
    for drawn in (tree, sapwood.chain(f"{path}:t")):
        assert drawn.draw("p.px:p.py").sum().value == 4
        assert drawn.draw("p.py").sum().value == 4
        assert drawn.draw("p.px/p.py").sum().value == 4
    with pytest.raises(SystemExit, match="run"):
        tree.draw(tmp_path / "p.py")
    for expression in ("p.px:p.py", "(p.py)"):
        assert subprocess.run([command, "draw", f"{path}:t", expression], capture_output=True).returncode == 0
    assert pickle.loads(pickle.dumps(sapwood.SelectorError("a", file="b"))).file == "b"


SCRIPT = """
import sapwood

class Count(sapwood.Selector):
    branches = ["x"]
    def begin(self):
        self.n = 0
    def process(self, batch):
        self.n += len(batch)
    def merge(self, other):
        self.n += other.n
    def end(self):
        return {"entries": self.n}
"""


def test_scripts(files, tmp_path, command):
    script = tmp_path / "count.py"
    script.write_text(SCRIPT)
    tree = sapwood.open(files[0])["Events"]
    assert tree.draw(str(script)) == {"entries": ENTRIES}
    assert tree.process(script, executor="processes", workers=1, step_size=3000) == {"entries": ENTRIES}
    env = {**os.environ, "SAPWOOD_PYTHON": sys.executable}
    targets = [f"{f}:Events" for f in files]

    def run(*arguments):
        return subprocess.run([command, "process", *arguments], capture_output=True, text=True, env=env)

    done = run(*targets, str(script), "--json", "--executor", "processes", "--workers", "2")
    assert done.returncode == 0, done.stderr
    assert done.stdout == '{"result": {"entries": 15000}}\n'
    refused = run(targets[0], "myselector.C+")
    assert refused.returncode == 1
    assert "sapwood skeleton" in refused.stderr
    script.write_text(SCRIPT.replace("self.n += len(batch)", "1 / 0"))
    failed = run(*targets, str(script))
    assert failed.returncode == 1
    assert "a.root: Events, entries 0 to 4999: ZeroDivisionError" in failed.stderr
    assert "line 9" in failed.stderr
    script.write_text("x = 1\n")
    assert "contains no selector" in run(*targets, str(script)).stderr
    script.write_text("import sapwood\nnumpy.zeros(3)\n")
    failed = run(*targets, str(script))
    assert failed.returncode == 1 and "line 2" in failed.stderr and "NameError" in failed.stderr
    assert "the script cannot be loaded" in failed.stderr and "importlib" not in failed.stderr


def test_a_python_without_the_package(files, tmp_path, command):
    other = tmp_path / "python3"
    other.write_text(f'#!/bin/sh\nexec {sys.executable} -S -I "$@"\n')
    other.chmod(0o755)
    (tmp_path / "count.py").write_text(SCRIPT)
    words = [command, "process", f"{files[0]}:Events", str(tmp_path / "count.py")]
    for python, said in [(other, "cannot import sapwood"), (tmp_path / "none", "cannot run")]:
        env = {**os.environ, "SAPWOOD_PYTHON": str(python)}
        done = subprocess.run(words, capture_output=True, text=True, env=env)
        assert done.returncode == 1
        assert f"{python} {said}" in done.stderr or f"{said} {python}" in done.stderr
        assert "set SAPWOOD_PYTHON" in done.stderr


def run_skeleton(command, target, folder, *options):
    """The result of the selector that the command prints for a tree."""
    script = folder / f"skeleton{len(list(folder.iterdir()))}.py"
    made = subprocess.run([command, "skeleton", target, "-o", str(script), *options], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return sapwood.chain([target]).process(script)


def test_a_skeleton_runs(files, tmp_path, command):
    assert run_skeleton(command, f"{files[0]}:Events", tmp_path) == ENTRIES
    again = subprocess.run([command, "skeleton", files[0], "-o", str(tmp_path / "skeleton0.py")], capture_output=True)
    assert again.returncode == 1
    pytest.importorskip("numba", reason="numba is not installed")
    assert run_skeleton(command, f"{files[0]}:Events", tmp_path, "--compiled")[0] == ENTRIES


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_skeletons_of_real_files_run(corpus, tmp_path, command):
    ran = 0
    for path in sorted(corpus.rglob("*.root"))[::7]:
        if path.stat().st_size > 1_000_000 or ran == 15:
            continue
        try:
            file = sapwood.open(path)
            name = file.keys(filter_classname="TTree", cycle=False)[0]
            tree = file[name]
            if not 0 < tree.num_entries < 100_000 or len(tree.keys()) > 500:
                continue
            tree.arrays(entry_stop=1)
        except (sapwood.Error, IndexError):
            # no tree, or one that cannot be read as a whole
            continue
        assert run_skeleton(command, f"{path}:{name}", tmp_path) == tree.num_entries, path
        ran += 1
    assert ran >= 10


@pytest.fixture
def compiled():
    """The module with compiled selectors; skipped without numba."""
    pytest.importorskip("numba", reason="numba is not installed")
    import compiled_selectors

    return compiled_selectors


@pytest.mark.parametrize("how", [{}, *EXECUTORS], ids=lambda how: "-".join(map(str, how.values())) or "serial")
def test_compiled_selectors(files, compiled, how):
    chain = sapwood.chain([f"{f}:Events" for f in files])
    table = chain.arrays(["x", "l"])
    x, items = np.asarray(table["x"]), np.concatenate([np.asarray(row) for row in table["l"]])
    counts = chain.process(compiled.histogram, step_size=700, **how)
    assert counts.tolist() == np.histogram(x, 50, (-5, 5))[0].tolist()
    assert chain.process(compiled.arrays, step_size=700, **how).tolist() == counts.tolist()
    number, total = chain.process(compiled.lists, step_size=700, **how)
    assert number == len(items)
    assert total == pytest.approx(items.sum(dtype=np.float64))
    # the selector itself is not changed
    assert compiled.histogram.result.sum() == 0
    assert chain.process(compiled.histogram, **how).tolist() == counts.tolist()


def test_compiled_selectors_need_numba(files, monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)

    @sapwood.selector(branches=["x"])
    def count(batch):
        return len(batch)

    with pytest.raises(sapwood.MissingLibraryError, match="pip install numba"):
        sapwood.open(files[0])["Events"].process(count)
