"""Writes files in forked children of a process whose disk fails (failing_disk.c is preloaded), as directed on stdin.

Each line is a JSON list: job, directory of the target, directory of the inputs, n, errno (0: killed at the n-th call),
seconds until it is killed (or none), where the failing call is told. The answer is a JSON list of the exit status
(negative: the signal) and what the job said.
"""

import contextlib
import ctypes
import json
import os
import signal
import sys
import time
import traceback
import warnings

import numpy as np

import sapwood

#: Entries of the old file, and of each input.
OLD, INPUT = 50, 40
#: A commit in each step.
SMALL = {"auto_flush": 30, "auto_save": 1}


def entries(i, n=30):
    return {"x": np.arange(n, dtype="f8") + 1000 * i}


def recreate(out, _inputs):
    with sapwood.recreate(out) as file, file.mktree("t", {"x": "f8"}, **SMALL) as tree:
        for i in range(2):
            tree.extend(entries(i))


def create(out, _inputs):
    with sapwood.create(out) as file:
        file["t"] = entries(7)


def update(out, _inputs):
    with sapwood.update(out) as file:
        file.mkdir("d")
        file["d/more"] = entries(3)
        with file["t"] as tree:
            for i in range(3):
                tree.extend(entries(i))
                tree.flush()
                file.commit()


def merge(out, inputs):
    sapwood.merge(out, [f"{inputs}/a.root", f"{inputs}/b.root", f"{inputs}/a.root"], force=True)


def optimize(out, inputs):
    sapwood.optimize(f"{inputs}/b.root", out, force=True, cluster_entries=10)


def ntuples(out, _inputs):
    """An ntuple is deleted, and others take its place."""
    with sapwood.update(out) as file:
        del file["n"]
        file.commit()
        for i in range(2):
            with file.mkntuple(f"m{i}", {"x": "f8"}) as ntuple:
                ntuple.extend(entries(i))
            file.commit()


def merger(out, _inputs, kind="tree"):
    """Entries of this process and of another one."""
    with sapwood.recreate(out) as file:
        if kind == "tree":
            merger = file.mktree("t", {"x": "f8"}, **SMALL).merger()
        else:
            merger = file.mkntuple("t", {"x": "f8"}, cluster_size=100, auto_save=1).merger()
        child = os.fork()
        if child == 0:
            try:
                with merger.producer() as tree:
                    tree.extend(entries(1))
                    tree.flush()
                    tree.extend(entries(2))
            finally:
                os._exit(0)
        with merger.producer() as tree:
            tree.extend(entries(4))
        os.waitpid(child, 0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            merger.close()


def ntuple_merger(out, inputs):
    merger(out, inputs, "ntuple")


JOBS = {job.__name__: job for job in (recreate, create, update, ntuples, merge, optimize, merger, ntuple_merger)}


def run(job, folder, inputs, at, error, said):
    """In a child: does the job on the failing disk."""
    status = 1
    os.setpgid(0, 0)
    try:
        out = os.path.join(folder, "out.root")
        if at is not None:
            arm = ctypes.CDLL(None).disk_arm
            arm(folder.encode(), ctypes.c_long(at), ctypes.c_long(error), said.encode())
        JOBS[job](out, inputs)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def main():
    for line in sys.stdin:
        job, folder, inputs, at, error, seconds, said = json.loads(line)
        heard = os.path.join(inputs, "stderr")
        child = os.fork()
        if child == 0:
            fd = os.open(heard, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
            os.dup2(fd, 2)
            run(job, folder, inputs, at, error, said)
        if seconds is not None:
            time.sleep(seconds)
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        with contextlib.suppress(ProcessLookupError):
            # a producer that lost its merger
            os.killpg(child, signal.SIGKILL)
        with open(heard) as file:
            print(json.dumps([os.waitstatus_to_exitcode(status), file.read()]), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
