"""Commands run with little memory: what they did, what they held at most, and that they came to an end."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass

MB = 1 << 20

# Reads all of a file as users do; what cannot be read has to say so by an error of ours.
READ = """
import sys, warnings
warnings.simplefilter("ignore")
import sapwood

def tried(what, read):
    try:
        return read()
    except (sapwood.Error, ValueError) as e:
        print(what, type(e).__name__, str(e)[:200], sep="|")

file = tried("open", lambda: sapwood.open(sys.argv[1]))
names = tried("keys", lambda: file.keys(recursive=True)) if file else None
for name in (names or [])[:20]:
    found = tried(name, lambda: file[name])
    if isinstance(found, sapwood.Tree):
        for library in ("np", "ak"):
            tried(name, lambda: found.arrays(library=library))
        tried(name, lambda: [len(part) for part in found.iterate(library="np")])
        for branch in found.keys()[:5]:
            tried(branch, lambda: found[branch].array(library="np"))
    elif found is not None:
        for what in ("values", "members", "to_hist"):
            if hasattr(found, what):
                tried(name, lambda: getattr(found, what) if what == "members" else getattr(found, what)())
print("done")
"""

# Opens a file for writing and adds an object.
UPDATE = """
import sys, sapwood
try:
    with sapwood.update(sys.argv[1]) as file:
        file["added"] = "text"
except sapwood.Error as e:
    print(type(e).__name__, str(e)[:300], sep="|")
print("done")
"""


@dataclass
class Outcome:
    status: int
    #: bytes that it held at most
    memory: int
    out: str
    error: str


#: Runs a command from a small process: Linux counts what the process had that started it among a command's peak memory.
LAUNCHER = """
import os, resource, sys
space, seconds, told = map(int, sys.argv[1:4])
child = os.fork()
if child == 0:
    try:
        resource.setrlimit(resource.RLIMIT_AS, (space, space))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        os.close(told)
        os.execv(sys.argv[4], sys.argv[4:])
    finally:
        os._exit(127)
_, status, usage = os.wait4(child, 0)
os.write(told, f"{os.waitstatus_to_exitcode(status)} {usage.ru_maxrss}".encode())
"""


def run(words, address_space=1 << 30, seconds=30, env=None):
    """Runs a command that may have so much address space and processor time (a guard against hangs, no measure)."""
    read, told = os.pipe()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error, os.fdopen(read) as answer:
        launcher = [sys.executable, "-I", "-S", "-c", LAUNCHER, str(address_space), str(seconds), str(told)]
        process = subprocess.Popen(
            [*launcher, *(str(w) for w in words)],
            stdout=out,
            stderr=error,
            stdin=subprocess.DEVNULL,
            pass_fds=[told],
            env=os.environ | (env or {}),
        )
        os.close(told)
        status, peak = map(int, answer.read().split())
        process.wait()
        texts = []
        for file in (out, error):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    return Outcome(status, peak * 1024, *texts)


def commands(command, path, folder, objects=()):
    """Every verb on a file, and Python's reading and updating: name, words, address space."""
    out, mine = folder / "out.root", folder / "updated.root"
    verbs = {
        "ls": ["ls", path],
        "show": ["show", path],
        "doctor": ["doctor", path],
        "doctor --deep": ["doctor", "--deep", path],
        "merge": ["merge", "-f", "--no-sync", out, path, path],
        "optimize": ["optimize", "-f", "--no-sync", path, out],
        "recover": ["recover", "-f", path, out],
    }
    for name in objects:
        verbs[f"show {name}"] = ["show", f"{path}:{name}"]
    for verb, words in verbs.items():
        yield verb, [command, *words], 1 << 30
    yield "read", [sys.executable, "-c", READ, path], 3 << 30
    mine.write_bytes(path.read_bytes())
    yield "update", [sys.executable, "-c", UPDATE, mine], 3 << 30


def through_all_verbs(command, path, folder, objects=(), memory=400 * MB):
    """Runs all; fails where one crashes, panics, is killed or holds more than `memory`. Gives the outcomes by verb."""
    outcomes = {}
    for verb, words, space in commands(command, path, folder, objects):
        done = run(words, space)
        told = f"{verb} of {path.name}: exit {done.status}, {done.memory // MB} MB\n"
        told += f"{done.out[-600:]}\n{done.error[-1500:]}"
        assert done.status in (0, 1), told
        assert "panicked" not in done.error and "defect" not in done.out + done.error, told
        assert "Traceback" not in done.error, told
        assert done.memory < memory, told
        if verb in ("read", "update"):
            assert done.out.endswith("done\n"), told
        outcomes[verb] = done
    return outcomes
