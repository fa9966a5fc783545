"""A disk that fails at every single call, and a process that dies at each: old or new content, all errors reported."""

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import failing_disk
import numpy as np
import pytest

import sapwood

HERE = Path(__file__).parent
ERRORS = [errno.ENOSPC, errno.EDQUOT, errno.EIO]
#: Kills at random moments of each job; many more for a night.
RANDOM_KILLS = int(os.environ.get("SAPWOOD_KILLS", "15"))


@pytest.fixture(scope="session")
def failing(tmp_path_factory):
    """The library that fails; compiled here."""
    cc = shutil.which("cc")
    if cc is None or not sys.platform.startswith("linux"):
        pytest.skip("needs Linux and a C compiler (cc)")
    library = tmp_path_factory.mktemp("failing") / "failing_disk.so"
    made = subprocess.run(
        [cc, "-shared", "-fPIC", "-O1", "-Wall", "-o", library, HERE / "failing_disk.c", "-ldl"],
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr
    return library


class Disk:
    """Runs jobs on a failing disk, one after the other in fresh copies of the old directory."""

    def __init__(self, folder, library):
        self.folder, self.inputs, self.library = folder / "out", folder / "in", library
        self.folder.mkdir()
        self.inputs.mkdir()
        self.target, self.said = self.folder / "out.root", folder / "said"
        with sapwood.recreate(self.target) as file:
            file["t"] = failing_disk.entries(9, failing_disk.OLD)
            file.mkntuple("n", {"x": "f8"}).extend(failing_disk.entries(8, failing_disk.OLD))
        for i, name in enumerate("ab"):
            with sapwood.recreate(self.inputs / f"{name}.root") as file:
                file["t"] = failing_disk.entries(i, failing_disk.INPUT)
        self.was = self.target.read_bytes()
        self.old = self.content()
        self.driver = subprocess.Popen(
            [sys.executable, "-W", "ignore", HERE / "failing_disk.py"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"LD_PRELOAD": str(library)},
        )

    def content(self):
        """What the target holds, by path; None when it is not there."""
        if not self.target.exists():
            return None
        with warnings.catch_warnings():
            # nothing had to be recovered
            warnings.simplefilter("error")
            with sapwood.open(self.target) as file:
                names = file.keys(recursive=True, cycle=False)
                trees = [name for name in names if file.classname_of(name) in ("TTree", "ROOT::RNTuple")]
                return {name: file[name]["x"].array(library="np").tolist() for name in trees}

    def begin(self, job):
        for path in self.folder.iterdir():
            path.unlink()
        if job != "create":
            self.target.write_bytes(self.was)
        self.said.unlink(missing_ok=True)

    def run(self, job, at=None, error=None, seconds=None):
        """Status, words on stderr, and the call that failed (none: there are fewer)."""
        self.begin(job)
        given = [job, str(self.folder), str(self.inputs), at, error, seconds, str(self.said)]
        self.driver.stdin.write(json.dumps(given) + "\n")
        self.driver.stdin.flush()
        status, words = json.loads(self.driver.stdout.readline())
        return status, words, self.call()

    def command(self, words, at, error):
        self.begin("")
        job = subprocess.run(
            list(map(str, words)),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=os.environ
            | {
                "LD_PRELOAD": str(self.library),
                "FAILING_DISK": f"{self.folder}:{at}:{error}",
                "FAILING_DISK_SAID": str(self.said),
            },
        )
        return job.returncode, job.stderr, self.call()

    def call(self):
        return self.said.read_text() if self.said.exists() else None

    def left(self):
        return [path.name for path in self.folder.iterdir() if path != self.target]

    def new(self, job):
        status, words, _ = self.run(job)
        assert status == 0, words
        assert self.left() == []
        return self.content()


@pytest.fixture
def disk(tmp_path, failing):
    disk = Disk(tmp_path, failing)
    yield disk
    disk.driver.communicate(timeout=60)
    assert disk.driver.returncode == 0


def is_one_of(content, old, states):
    """The old content or one of the states; entries of several producers come in any order."""

    def key(content):
        return content and {name: sorted(x) for name, x in content.items()}

    return key(content) in [key(old), *map(key, states)]


def every_call(disk, job):
    """The calls that a job makes, in their order: the process is killed at each of them in turn."""
    calls = []
    while True:
        status, words, call = disk.run(job, len(calls) + 1, 0)
        if call is None:
            assert status == 0, words
            return calls
        calls.append(call)


def check_failure(disk, status, words, call, old, new, error):
    where = f"{call} fails with {errno.errorcode[error]}: {words}"
    content = disk.content()
    if status == 0:
        assert is_one_of(content, new, []), where
        # what is not reported: removing a name that is not needed, closing what was synced or only read
        assert call in ("unlink", "close", "open", "link", "linkat", "fchown"), where
    else:
        assert status == 1, where
        assert os.strerror(error) in words or "space" in words, where
        # the name is there, and only its directory could not be synced: which is reported
        named = call == "fsync" and "the file is complete, but a power failure may lose it" in words
        assert is_one_of(content, new if named else old, []), where
    assert call == "unlink" or disk.left() == [], where


@pytest.mark.parametrize("job", failing_disk.JOBS)
def test_every_call_fails_once(disk, job):
    new, old = disk.new(job), None if job == "create" else disk.old
    assert new != old
    calls, told = every_call(disk, job), set()
    for at, call in enumerate(calls, 1):
        # writes are alike: the first and the last fail in every way
        alike = call == "write" and calls[at - 2] == call == calls[at]
        for error in ERRORS[:1] if alike else ERRORS:
            status, words, failed = disk.run(job, at, error)
            # other threads may come in between
            assert failed == call or "merger" in job
            # an update leaves what it had committed
            if job in UPDATES and status != 0:
                assert disk.left() == []
                assert UPDATES[job](disk.content(), disk.old), f"{call} {at}: {words}"
                assert status == 1 and (os.strerror(error) in words or "space" in words), f"{call}: {words}"
            else:
                check_failure(disk, status, words, failed, old, new, error)
            told |= {failed} if status else set()
    wanted = {"write", "fdatasync"} if job in UPDATES else {"open", "write", "ftruncate64", "fsync", "close"}
    if job in ("merge", "optimize"):
        wanted -= {"ftruncate64"}
    if job != "create" and job not in UPDATES:
        wanted |= {"rename"}
    assert told >= wanted, f"{told} of {set(calls)}"


def is_state(content, old):
    """What an update may leave: the old content, and of the new entries and trees those of its commits."""
    added = np.concatenate([failing_disk.entries(i)["x"] for i in range(3)]).tolist()
    t, more, ntuple = content.pop("t"), content.pop("d/more", None), content.pop("n")
    n = len(t) - failing_disk.OLD
    return (
        content == {}
        and ntuple == old["n"]
        and t == old["t"] + added[: max(n, 0)]
        and n % 30 == 0
        and more in (None, failing_disk.entries(3)["x"].tolist())
    )


def is_ntuple_state(content, old):
    """What an update may leave that deletes an ntuple and then adds two."""
    rest = {"t": old["t"]}
    added = {f"m{i}": failing_disk.entries(i)["x"].tolist() for i in range(2)}
    return content in (old, rest, rest | {"m0": added["m0"]}, rest | added)


#: Jobs that change the file in several commits, and what they may leave.
UPDATES = {"update": is_state, "ntuples": is_ntuple_state}


@pytest.mark.parametrize("verb", ["merge", "optimize"])
def test_every_call_of_the_command_fails_once(disk, command, verb):
    new = disk.new(verb)
    inputs = [disk.inputs / f"{name}.root" for name in "aba"]
    words = {
        "merge": [command, "-q", "merge", "-f", disk.target, *inputs],
        "optimize": [command, "-q", "optimize", "-f", "--cluster", "10", inputs[1], disk.target],
    }[verb]
    told = set()
    for error in ERRORS:
        at = 0
        while True:
            at += 1
            status, said, call = disk.command(words, at, error)
            if call is None:
                assert status == 0, said
                break
            check_failure(disk, status, said, call, disk.old, new, error)
            told |= {call} if status else set()
    assert told >= {"open", "write", "fsync", "close", "rename"}
    # without waiting for the disk, errors of closing, where network file systems report late, are still reported
    at, seen = 0, set()
    while True:
        at += 1
        status, said, call = disk.command([*words, "--no-sync"], at, errno.EDQUOT)
        if call is None:
            break
        check_failure(disk, status, said, call, disk.old, new, errno.EDQUOT)
        seen |= {(call, status)}
    assert ("close", 1) in seen and not {call for call, _ in seen} & {"fsync", "fdatasync"}


def test_late_errors_of_pictures_and_logs(disk, command, tmp_path):
    """Whatever else writes files tells of sync and close as well, and leaves what was there."""
    out = disk.folder / "stats.json"
    words = [command, "-q", "perf", disk.inputs / "a.root", "-o", out]
    told = set()
    for at in range(1, 50):
        status, said, call = disk.command(words, at, errno.ENOSPC)
        if call is None:
            break
        assert out.exists() == (status == 0 or "the file is complete, but a power failure may lose it" in said), said
        if status:
            assert os.strerror(errno.ENOSPC) in said and str(out) in said
            told.add(call)
    assert status == 0 and told >= {"open", "write", "fsync", "close", "rename"}


def test_two_hundred_kills(disk):
    """At every call, in the middle of every write, and at random moments: old or new content, always."""
    kills, at_calls, readers = 0, 0, []
    moments = random.Random(20261122)
    for job in failing_disk.JOBS:
        new, old = disk.new(job), None if job == "create" else disk.old

        def check(what, kills, job=job, new=new, old=old):
            content = disk.content()
            good = UPDATES[job](dict(content), disk.old) if job in UPDATES else is_one_of(content, old, [new])
            assert good, f"{job} killed {what}: {content}"
            assert all(name.endswith(".part") for name in disk.left())
            if content is not None and kills % 40 == 0:
                readers.append(read_by_uproot(disk.target, content))

        at = 0
        while True:
            at += 1
            status, words, call = disk.run(job, at, 0)
            if call is None:
                assert status == 0, words
                break
            assert status == -signal.SIGKILL
            kills += 1
            check(f"at its {at}. call, {call}", kills)
        at_calls += at - 1
        for _ in range(RANDOM_KILLS):
            seconds = moments.uniform(0, 0.02)
            status, words, _ = disk.run(job, seconds=seconds)
            kills += status == -signal.SIGKILL
            check(f"after {seconds} s", kills)
    print(f"{kills} kills, {at_calls} of them at calls; uproot read {sum(readers)}")
    assert kills >= 200 and at_calls >= 100


def read_by_uproot(path, content):
    """Whether uproot, where it is installed, finds the same."""
    try:
        import uproot
    except ImportError:
        return False
    with uproot.open(path) as file:
        assert {name: file[name]["x"].array().tolist() for name in content} == content
    return True
