"""Writing that is truncated (a full disk, Ctrl-C, a kill): a clear error, the old file untouched, nothing left over."""

import contextlib
import os
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import sapwood

OLD, STEPS = 1000, 12

# Writes in steps and says so after each: how often it had got where when it was truncated is known to the test.
JOB = """
import sys, threading
import numpy as np, sapwood

what, path = sys.argv[1:]

def step(tree, i):
    tree.extend({"x": np.random.default_rng(i).normal(size=20_000)})
    print(i, flush=True)
    sys.stdin.readline()

layout = dict(auto_flush=5000, auto_save="100 kB")
if what == "recreate":
    with sapwood.recreate(path) as f, f.mktree("t", {"x": "f8"}, **layout) as tree:
        for i in range(12):
            step(tree, i)
elif what == "update":
    with sapwood.update(path) as f, f.mktree("more", {"x": "f8"}, **layout) as tree:
        for i in range(12):
            step(tree, i)
elif what == "extend":
    with sapwood.update(path) as f, f["t"] as tree:
        for i in range(12):
            step(tree, i)
elif what == "producers":
    with sapwood.recreate(path) as f, f.mktree("t", {"x": "f8"}, **layout).merger() as merger:
        with merger.producer() as one, merger.producer() as two:
            for i in range(12):
                step(two if i % 2 else one, i)
"""
JOBS = ["recreate", "update", "extend", "producers"]


@pytest.fixture
def target(tmp_path):
    """A file that is there already, with the tree t."""
    path = tmp_path / "old.root"
    with sapwood.recreate(path) as f:
        f["t"] = {"x": np.arange(OLD, dtype="f8")}
    return path


def is_old(path, was):
    """The file holds what it held; an update may have written behind it, in what a reader does not see."""
    with sapwood.open(path) as f:
        assert f.keys(cycle=False) == ["t"]
        assert f["t"]["x"].array(library="np").tolist() == list(range(OLD))
    return path.read_bytes() == was


@contextlib.contextmanager
def started(what, path, limit=None):
    """A job that writes; ended when the test is done with it."""

    def limits():
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    words = [sys.executable, "-W", "ignore", "-c", JOB, what, path]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(words, text=True, preexec_fn=limits, bufsize=1, **pipes) as job:
        try:
            yield job
        finally:
            job.kill()


def go(job, steps):
    """Lets a job go on until it has done that many steps."""
    for i in range(steps):
        assert job.stdout.readline().strip() == str(i), job.stderr.read()[-2000:]
        if i + 1 < steps:
            job.stdin.write("\n")


@pytest.mark.parametrize("what", JOBS)
def test_a_full_disk_in_python(target, what):
    was = target.read_bytes()
    for limit in (len(was) + 10, 300_000, 1_000_000):
        with started(what, target, limit) as job:
            _, said = job.communicate("\n" * 50, timeout=60)
        assert job.returncode == 1
        assert "sapwood" in said and "cannot write at byte" in said and str(target) in said
        assert is_old(target, was)
        assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("what", JOBS)
@pytest.mark.parametrize("steps", [1, 7, STEPS])
def test_ctrl_c_in_python(target, what, steps):
    was = target.read_bytes()
    with started(what, target) as job:
        go(job, steps)
        job.send_signal(signal.SIGINT)
        _, said = job.communicate(timeout=60)
    assert job.returncode != 0 and "KeyboardInterrupt" in said
    assert is_old(target, was)
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("what", JOBS)
def test_a_kill_in_python(target, what):
    """At any step: the old content stays readable, and the next run does its work."""
    was = target.read_bytes()
    for steps in (1, 5, STEPS):
        with started(what, target) as job:
            go(job, steps)
            job.kill()
            job.communicate(timeout=60)
        untouched = is_old(target, was)
        assert untouched or what in ("update", "extend")
        target.write_bytes(was)
    with started(what, target) as job:
        _, said = job.communicate("\n" * 50, timeout=60)
    assert job.returncode == 0, said
    with sapwood.open(target) as f:
        assert f["more" if what == "update" else "t"].num_entries == 20_000 * STEPS + (OLD if what == "extend" else 0)


def command_line(command, verb, out, source):
    inputs = {"merge": [out, source, source], "optimize": [source, out]}[verb]
    return [command, "-q", verb, "-f", *map(str, inputs)]


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A file of a few megabytes in some thousand baskets."""
    path = tmp_path_factory.mktemp("large") / "large.root"
    random = np.random.default_rng(3)
    with sapwood.recreate(path, compression=None) as f, f.mktree("t", {"x": "f8", "y": "f4"}, auto_flush=200) as tree:
        tree.extend({"x": random.normal(size=400_000), "y": random.normal(size=400_000).astype("f4")})
    return path


@pytest.mark.parametrize("verb", ["merge", "optimize"])
def test_a_full_disk_on_the_command_line(command, target, large, verb):
    """A limit on the size of files: its signal does not end the process, the write says what is wrong."""
    was = target.read_bytes()
    for limit in (100, 200_000, 3_000_000):
        job = subprocess.run(
            command_line(command, verb, target, large),
            preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert job.returncode == 1
        assert "cannot write at byte" in job.stderr and str(target) in job.stderr
        assert target.read_bytes() == was
        assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("verb", ["merge", "optimize"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_signals_on_the_command_line(command, target, large, verb, number):
    """Wherever they come: before anything is written, in the middle, near the end."""
    was = target.read_bytes()
    stopped = 0
    for size in (0, 1_000_000, 3_000_000):
        with subprocess.Popen(
            command_line(command, verb, target, large), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as job:
            while job.poll() is None and written(target.parent) < size:
                time.sleep(0.0005)
            job.send_signal(number)
        if job.returncode == 0:
            # it was done before the signal came
            target.write_bytes(was)
            continue
        stopped += 1
        assert job.returncode in (128 + number, -number)
        assert target.read_bytes() == was
        left = [p for p in target.parent.iterdir() if p != target]
        assert left == [] or number == signal.SIGKILL or (size == 0 and job.returncode == -number)
    assert stopped > 0
    done = subprocess.run(command_line(command, verb, target, large), stdin=subprocess.DEVNULL, timeout=60)
    assert done.returncode == 0
    with sapwood.open(target) as f:
        assert f["t"].num_entries == (2 if verb == "merge" else 1) * 400_000


def written(folder):
    """Bytes of what has no name yet."""
    sizes = [0]
    for p in os.scandir(folder):
        if p.name.endswith(".part"):
            with contextlib.suppress(FileNotFoundError):
                sizes.append(p.stat().st_size)
    return max(sizes)
