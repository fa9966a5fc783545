"""Mergers and producers that wait for each other: how long, and what goes on meanwhile."""

import math
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import sapwood

#: Longer than anything here takes; the processes would wait for ever.
PATIENCE = 30

# A merger that tells its address, takes a producer that never ends, and closes.
MERGER = """
import pickle, sys, sapwood

file = sapwood.recreate(sys.argv[1])
merger = file.mktree("t", {"x": "f8"}).merger(patience=None)
sys.stdout.buffer.write(pickle.dumps(merger).hex().encode() + b"\\n")
sys.stdout.flush()
sys.stdin.readline()
print("closing", flush=True)
try:
    merger.close()
finally:
    file.abandon()
"""

# A producer that writes until it is ended.
PRODUCER = """
import pickle, sys
import numpy as np, sapwood

merger = pickle.loads(bytes.fromhex(sys.stdin.readline()))
with merger.producer() as tree:
    print("here", flush=True)
    for line in iter(sys.stdin.readline, ""):
        x = np.zeros(100_000)
        print("writing", flush=True)
        for _ in range(int(line)):
            tree.extend({"x": x})
        print("written", flush=True)
"""


def started(code, *words):
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen([sys.executable, "-W", "ignore", "-c", code, *map(str, words)], text=True, **pipes)


@pytest.fixture
def pair(tmp_path):
    """A merger's process and a producer's that is connected."""
    with started(MERGER, tmp_path / "a.root") as merger, started(PRODUCER) as producer:
        try:
            producer.stdin.write(merger.stdout.readline())
            producer.stdin.flush()
            assert producer.stdout.readline() == "here\n", producer.stderr.read()
            yield merger, producer
        finally:
            for process in (merger, producer):
                process.send_signal(signal.SIGCONT)
                process.kill()


def say(process, line, answer):
    process.stdin.write(line + "\n")
    process.stdin.flush()
    assert process.stdout.readline() == answer + "\n"


def is_interrupted(process):
    """Ctrl-C ends it, however long it would wait."""
    # it waits by now, or is about to
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, words = process.communicate(timeout=PATIENCE)
    return process.returncode != 0 and "KeyboardInterrupt" in words


def test_ctrl_c_while_a_merger_is_closed(pair, tmp_path):
    merger, _ = pair
    say(merger, "", "closing")
    assert is_interrupted(merger)
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_in_a_producer_whose_merger_was_stopped(pair):
    merger, producer = pair
    merger.send_signal(signal.SIGSTOP)
    say(producer, "1000", "writing")
    assert is_interrupted(producer)


def test_ctrl_c_while_a_stopped_merger_is_called(tmp_path):
    with started(MERGER, tmp_path / "a.root") as merger, started(PRODUCER) as producer:
        try:
            address = merger.stdout.readline()
            merger.send_signal(signal.SIGSTOP)
            producer.stdin.write(address)
            producer.stdin.flush()
            assert is_interrupted(producer)
        finally:
            merger.kill()
            producer.kill()


def test_a_producer_goes_on_when_its_merger_does(pair):
    merger, producer = pair
    merger.send_signal(signal.SIGSTOP)
    say(producer, "100", "writing")
    time.sleep(0.3)
    merger.send_signal(signal.SIGCONT)
    assert producer.stdout.readline() == "written\n"


@pytest.mark.parametrize("patience", [-1, -math.inf, math.nan, "soon", True])
def test_no_patience(tmp_path, patience):
    with sapwood.recreate(tmp_path / "a.root") as file:
        tree = file.mktree("t", {"x": "f8"})
        with pytest.raises(ValueError, match=r"patience must be a number of seconds \(at least 0\), or None"):
            tree.merger(patience=patience)
        tree.extend({"x": [1.0]})


@pytest.mark.parametrize("patience", [0, 1e300, 1e19, math.inf, None, np.float32(2)])
def test_patience(tmp_path, patience):
    with (
        sapwood.recreate(tmp_path / "a.root") as file,
        file.mktree("t", {"x": "f8"}).merger(patience=patience) as merger,
        merger.producer() as tree,
    ):
        tree.extend({"x": [1.0]})
    assert sapwood.open(tmp_path / "a.root")["t"].num_entries == 1


@pytest.mark.parametrize("timeout", [1e19, 1e300, math.inf, None])
def test_timeouts_for_ever(tmp_path, timeout, server, flat):
    out = tmp_path / "out.root"
    for where in (flat, server.url(flat)):
        with sapwood.open(where, timeout=timeout) as file:
            entries = file["t"].num_entries
            assert len(file["t"].arrays(library="np")["n_i4"]) == entries
        sapwood.merge(out, [where], force=True, timeout=timeout)
        sapwood.optimize(where, out, force=True, timeout=timeout)
        assert sapwood.doctor(where, timeout=timeout).healthy
        assert len(sapwood.concatenate(f"{where}:t", "n_i4", timeout=timeout, library="np")["n_i4"]) == entries


@pytest.mark.parametrize("timeout", [-1, 0, math.nan, -math.inf, "soon"])
def test_no_timeouts(tmp_path, timeout):
    with sapwood.recreate(tmp_path / "b.root") as file:
        file["t"] = {"x": [1.0]}
    path, out = tmp_path / "b.root", tmp_path / "out.root"
    for work in (
        lambda: sapwood.open(path, timeout=timeout),
        lambda: sapwood.merge(out, [path], timeout=timeout),
        lambda: sapwood.optimize(path, out, timeout=timeout),
        lambda: sapwood.doctor(path, timeout=timeout),
        lambda: sapwood.map(path, timeout=timeout),
        lambda: sapwood.concatenate(f"{path}:t", timeout=timeout),
    ):
        with pytest.raises(ValueError, match=r"timeout must be a number of seconds \(above 0\), or None"):
            work()
    assert not out.exists()


@pytest.mark.parametrize("round_trip", [1e19, math.inf, math.nan, -1])
def test_round_trips_that_make_no_sense(tmp_path, round_trip):
    with sapwood.recreate(tmp_path / "b.root") as file:
        file["t"] = {"x": [1.0]}
    with pytest.raises(ValueError, match="a round-trip time must be 0 to 3600 seconds"):
        sapwood.doctor(tmp_path / "b.root", round_trips=[round_trip])


def test_times_of_the_command(tmp_path, run):
    with sapwood.recreate(tmp_path / "b.root") as file:
        file["t"] = {"x": [1.0]}
    path = tmp_path / "b.root"
    assert run("ls", "--timeout", "10000000000000000000s", path).returncode == 0
    done = run("doctor", "--if-round-trip", "10000000000000000000s", path)
    assert done.returncode == 2 and "longer than an hour" in done.stderr


def is_open(merger):
    """Whether a producer gets in: one that does says nothing, and is none."""
    with socket.socket(socket.AF_UNIX) as line:
        try:
            line.connect(merger.address)
        except OSError:
            return False
    return True


def test_others_work_while_a_merger_is_closed(tmp_path):
    """What asks a merger meanwhile neither waits nor holds the interpreter."""
    with sapwood.recreate(tmp_path / "a.root") as file:
        merger = file.mktree("t", {"x": "f8"}).merger(patience=None)
        with started(PRODUCER) as producer:
            producer.stdin.write(pickle.dumps(merger).hex() + "\n")
            producer.stdin.flush()
            assert producer.stdout.readline() == "here\n"
            closing = threading.Thread(target=merger.close)
            closing.start()
            # it is closing when it lets nobody in
            deadline = time.monotonic() + PATIENCE
            while is_open(merger) and time.monotonic() < deadline:
                time.sleep(0.01)
            answers = []

            def ask():
                answers.append((merger.finished, merger.lost, merger.num_entries))
                with merger.producer() as late:
                    late.extend({"x": [1.0]})
                with pytest.raises(sapwood.InvalidError, match="another thread is closing"):
                    merger._core.close(0.0)
                answers.append(merger.finished)

            asking = threading.Thread(target=ask)
            asking.start()
            asking.join(PATIENCE)
            # the producer is still there, and so the merger is not closed
            assert closing.is_alive() and answers == [(0, [], 0), 1]
            producer.communicate("")
            closing.join(PATIENCE)
        assert not closing.is_alive() and merger.finished == 2
    assert sapwood.open(tmp_path / "a.root")["t"].num_entries == 1


def lost(merger, end):
    """Why a producer was lost that was ended so."""
    with started(PRODUCER) as producer:
        producer.stdin.write(pickle.dumps(merger).hex() + "\n")
        producer.stdin.flush()
        assert producer.stdout.readline() == "here\n"
        end(producer)
        with pytest.warns(sapwood.ProducerLostWarning):
            merger.close()
        producer.kill()
    (gone,) = merger.lost
    return gone.why


def test_why_a_producer_was_lost(tmp_path):
    """In words, not in those of a function that reads bytes."""
    with sapwood.recreate(tmp_path / "a.root") as file:
        why = lost(file.mktree("t", {"x": "f8"}).merger(), lambda producer: (producer.kill(), producer.wait()))
        assert why == "its process ended or closed the connection without finishing"
        why = lost(file.mktree("u", {"x": "f8"}).merger(patience=0), lambda _: None)
        assert why == "it was still writing when the merger was closed, and was disconnected"


def test_a_merger_that_is_gone(pair):
    merger, producer = pair
    merger.kill()
    merger.wait()
    _, words = producer.communicate("1000\n", timeout=PATIENCE)
    assert "the merger's process ended or closed the connection" in words
    assert "fill whole buffer" not in words


ORPHAN = """
import os, sys, sapwood

file = sapwood.recreate(sys.argv[1])
merger = file.mktree("t", {"x": "f8"}).merger()
early = os.fork()
if early == 0:
    # its end of the line is also in the process that is forked next
    tree = merger.producer()
    print("early is here", flush=True)
else:
    assert sys.stdin.readline()
if early == 0 or os.fork() == 0:
    os.read(int(sys.argv[2]), 1)
    try:
        tree = tree if early == 0 else merger.producer()
        tree.extend({"x": [1.0]})
        tree.close()
    except sapwood.ReadError as e:
        print(e, flush=True)
    except sapwood.WriteError as e:
        print(e, flush=True)
    os._exit(0)
print("forked", flush=True)
sys.stdin.readline()
"""


def test_forked_producers_whose_merger_was_killed(tmp_path):
    """They have copies of its sockets, which stay open: nobody answers, and nothing ends."""
    wait, go = os.pipe()
    words = [sys.executable, "-W", "ignore", "-c", ORPHAN, str(tmp_path / "a.root"), str(wait)]
    pipes = dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
    with subprocess.Popen(words, text=True, pass_fds=[wait], **pipes) as merger:
        assert merger.stdout.readline() == "early is here\n"
        say(merger, "fork", "forked")
        merger.kill()
        os.waitid(os.P_PID, merger.pid, os.WEXITED | os.WNOWAIT)
        os.write(go, b"go")
        # ends when both have
        ended, _ = merger.communicate(timeout=PATIENCE)
    os.close(wait)
    os.close(go)
    assert ended.count("the merger's process ended or closed the connection") == 2, ended
