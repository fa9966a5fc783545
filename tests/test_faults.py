"""A network that is slow or goes away, and servers that end while they are read, over both protocols: right values or
an error that names the file, and nothing left open."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from process import held
from running_servers import started
from servers import SERVERS, Server, free_port

import sapwood

WIRE = Path(__file__).parent / "wire.py"
ENTRIES = 60_000
NAMES = [f"b{i}" for i in range(6)]


@pytest.fixture(scope="module")
def values():
    rng = np.random.default_rng(8)
    return {name: rng.random(ENTRIES) for name in NAMES}


@pytest.fixture(scope="module")
def tree(public, values):
    """A tree of 3 MB that cannot be compressed, in clusters of 24 kB."""
    where = public / "faults"
    where.mkdir()
    path = where / "far.root"
    with sapwood.recreate(path) as file:
        written = file.mktree("t", values, auto_flush=500, optimize_baskets=False, basket_size="8 kB")
        if written.num_entries == 0:
            written.extend(values)
    return path


class Far:
    """A server at the end of a wire."""

    def __init__(self, make, folder, rate):
        self.server = SERVERS[make](folder, None)
        port = free_port()
        words = [sys.executable, str(WIRE), str(port), str(self.server.port), str(rate)]
        self.wire = Server(folder, port, words, prefix=self.server.prefix, scheme=self.server.scheme)

    def url(self, path):
        return self.wire.url(path)

    def reads(self):
        """How often the server's log tells of something read."""
        return len(re.findall(r"req=(?:read|pgread)|\b206\b", self.server.log.read_text(errors="replace")))

    def cut(self):
        self.wire.process.send_signal(signal.SIGUSR1)

    def mend(self):
        self.wire.process.send_signal(signal.SIGUSR2)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.wire.port), 1).close()
                break
            except OSError:
                time.sleep(0.02)

    def kill(self):
        os.killpg(self.server.process.pid, signal.SIGKILL)
        self.server.process.wait()

    def revive(self):
        started = self.server.process.args
        self.server.process.stderr.close()
        self.server.process = subprocess.Popen(
            started,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def stop(self):
        self.wire.stop()
        self.server.stop()


@pytest.fixture(scope="module", params=["nginx", "xrootd"])
def far(request, public, tree):
    with started(Far, request.param, public, 2_000_000) as server:
        yield server


def read(url, timeout, disturb=None):
    """The values of all branches; something happens once the first of them are here."""
    steps = []
    with sapwood.open(url, timeout=timeout, cache_size="200 kB") as file:
        for step in file["t"].iterate(NAMES, step_size=500, library="np"):
            steps.append(step)
            if disturb and len(steps) == 1:
                disturb()
    return {name: np.concatenate([step[name] for step in steps]) for name in NAMES}


def right(found, values):
    return all(np.array_equal(found[name], values[name]) for name in NAMES)


def later(seconds, act):
    timer = threading.Timer(seconds, act)
    timer.start()
    return timer


def test_slow_but_moving_is_no_fault(far, tree, values):
    # three times the progress timeout in all
    began = time.monotonic()
    assert right(read(far.url(tree), timeout=0.5), values)
    assert time.monotonic() - began > 1


def test_a_server_that_is_killed_and_started_again(far, tree, values):
    timers = []

    def disturb():
        far.kill()
        timers.append(later(0.5, far.revive))

    try:
        assert right(read(far.url(tree), timeout=20, disturb=disturb), values)
    finally:
        timers[0].join()


def test_the_command_reads_on_when_its_server_was_started_again(far, tree, command):
    words = ["draw", "b0+b1+b2+b3+b4+b5", "--json", "--timeout", "20", "--cache-size", "200 kB"]
    verb, *rest = words
    local = subprocess.run([command, verb, f"{tree}:t", *rest], capture_output=True, check=True, timeout=60)
    before = far.reads()
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([command, verb, f"{far.url(tree)}:t", *rest], **pipes) as running:
        # something has been read, and the wire takes more than a second for the rest
        deadline = time.monotonic() + 60
        while far.reads() == before and time.monotonic() < deadline:
            time.sleep(0.01)
        far.kill()
        timer = later(0.5, far.revive)
        out, errors = running.communicate(timeout=60)
        timer.join()
    assert running.returncode == 0, errors
    there, here = (json.loads(text)["histogram"]["counts"] for text in (out, local.stdout))
    assert there == here


def test_another_file_behind_a_restarted_server_is_noticed(far, tree, values):
    """Size and time of change are the same: over XRootD the first bytes tell."""
    if far.server.scheme != "root":
        pytest.skip("over HTTP the server makes its ETag of these two")
    path, other = tree.with_name("replaced.root"), tree.with_name("other.root")
    shutil.copyfile(tree, path)
    with sapwood.recreate(other) as file:
        changed = {name: column + 1 for name, column in values.items()}
        written = file.mktree("t", changed, auto_flush=500, optimize_baskets=False, basket_size="8 kB")
        if written.num_entries == 0:
            written.extend(changed)
    content = other.read_bytes()
    then = path.stat()
    content = content[: then.st_size].ljust(then.st_size, b"\0")
    timers = []

    def disturb():
        far.kill()
        path.write_bytes(content)
        os.utime(path, ns=(then.st_atime_ns, then.st_mtime_ns))
        timers.append(later(0.2, far.revive))

    try:
        # a basket of the other file may be looked at first
        with pytest.raises(sapwood.CorruptError, match=r"changed while|damaged|offset"):
            read(far.url(path), timeout=20, disturb=disturb)
    finally:
        timers[0].join()


def test_reading_goes_on_when_the_network_is_back(far, tree, values):
    def disturb():
        far.cut()
        # connections of before are silent for ever: only looking whether the network is back helps
        later(5, far.mend)

    began = time.monotonic()
    # it is not the timeout that helps
    assert right(read(far.url(tree), timeout=40, disturb=disturb), values)
    assert time.monotonic() - began < 40


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="it counts in /proc")
def test_a_network_that_stays_away_is_an_error_that_leaves_nothing_behind(far, tree, values):
    assert right(read(far.url(tree), timeout=20), values)
    before = held()
    try:
        for number in range(3):
            if number == 1:
                # threads that are made once and kept are there by now
                before = held()
            with pytest.raises(sapwood.Error, match=r"far\.root") as raised:
                read(far.url(tree), timeout=1, disturb=far.cut)
            said = str(raised.value)
            assert "progress timeout" in said or "cannot connect" in said, said
            far.mend()
            assert right(read(far.url(tree), timeout=20), values)
    finally:
        far.wire.stop()
    deadline = time.monotonic() + 20
    # threads that look names up rest for 10 s before they end
    while any(now > then for now, then in zip(held(), before, strict=True)) and time.monotonic() < deadline:
        time.sleep(0.1)
    threads, sockets, files = (now - then for now, then in zip(held(), before, strict=True))
    # connections are kept for the next file, up to those that one host is given
    assert threads <= 0 and sockets <= 16 and files <= 0, (threads, sockets, files)
