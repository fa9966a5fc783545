"""Runs a program and measures it: time, memory, output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Measured:
    """One run of one program."""

    #: seconds counted by the program (without imports), or of the whole process if it does not count
    seconds: float
    #: seconds from start to exit of the process
    whole: float
    #: CPU seconds of the process, user and system
    cpu: float
    #: peak resident memory in MB
    peak_mb: float
    #: the command line
    words: list
    #: the program's output: the JSON after RESULT, or the JSON itself
    result: dict = field(default_factory=dict)
    #: what the server's log records of the run
    wire: dict = field(default_factory=dict)


#: Bytes of memory that are touched and freed before every start: the host of a virtual machine takes back free memory
#: within seconds, and the next program measured would pay for getting it again. 0: memory is left unchanged.
warm_bytes = 1_000_000_000


class Failed(Exception):
    """A program ended with an error, or took too long."""


def run(words, timeout=600, whole=False):
    """Runs a program. With `whole` its time is that of the process, otherwise the "seconds" that it prints."""
    words = [str(word) for word in words]
    warm_memory()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=errors, start_new_session=True)
        try:
            status, usage = wait(process, start + timeout, words)
        finally:
            # the run was truncated, or the program took too long
            if process.returncode is None:
                os.killpg(process.pid, 9)
                os.wait4(process.pid, 0)
                process.returncode = -9
        spent = time.perf_counter() - start
        out.seek(0)
        text = out.read().decode(errors="replace")
        if status != 0:
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip()[-500:]
            # the error in the first line, without paths of this machine
            last = said.splitlines()[-1] if said else "it said nothing"
            raise Failed(f"status {status}: {last}\n{' '.join(words)}: {said}")
    result = parse(text)
    seconds = spent if whole else float(result["seconds"])
    return Measured(seconds, spent, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e3, words, result)


def warm_memory():
    """Touches and frees `warm_bytes`, in a separate process: a child's peak memory counts from its parent's."""
    if warm_bytes:
        subprocess.run([sys.executable, "-I", "-S", "-c", TOUCH, str(warm_bytes)], check=True, stdin=subprocess.DEVNULL)


# Private memory in large pages, as allocators request it: small pages of shared memory leave the large ones cold.
TOUCH = """
import mmap, sys
step, size = b"\\1" * (2 << 20), int(sys.argv[1])
with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    for _ in range(size // len(step)):
        memory.write(step)
"""


def wait(process, deadline, words):
    """Exit status and resource usage of one process (wait4: only of it)."""
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, usage
        if time.perf_counter() > deadline:
            raise Failed(f"took too long\n{' '.join(words)}")
        # Short compared with what is measured; whole-process times of a few ms use a finer step.
        time.sleep(0.0005)


def parse(text):
    """The JSON after the last RESULT, the JSON that is the whole text, or nothing."""
    for line in reversed(text.splitlines()):
        if line.startswith("RESULT "):
            return json.loads(line.removeprefix("RESULT "))
    try:
        return json.loads(text)
    except ValueError:
        return {}


def resident(session):
    """Memory in MB of all processes of a session: resident now, and the sum of their peaks."""
    now = most = 0
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and os.getsid(int(folder.name)) == session:
                status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
                now += int(status["VmRSS"].split()[0])
                most += int(status["VmHWM"].split()[0])
        except (OSError, KeyError):
            # it has ended in the meantime
            continue
    return now / 1e3, most / 1e3
