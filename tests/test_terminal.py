"""What goes to a terminal: names and strings out of files cannot steer it; and output that cannot be written."""

from __future__ import annotations

import json
import os
import pty
import re
import resource
import subprocess

import numpy as np
import pytest

import sapwood

#: Erase, C1 CSI, override of the direction, isolate, DEL.
STEERING = "\x1b[2J|\x9b31m|\u202e|\u2066|\x7f"
HOSTILE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Names, titles and strings of which writers refuse some: they are put in behind."""
    path = tmp_path_factory.mktemp("hostile") / "hostile.root"
    held = "E" * len(STEERING.encode())
    with sapwood.recreate(path, compression="none") as f:
        tree = f.mktree(f"t{held}", {f"b{held}": "int32", "s": "string"}, title=f"T{held}")
        tree.extend({f"b{held}": np.arange(2, dtype="i4"), "s": [STEERING, "plain, and more"]})
        f[f"w{held}"] = held
    data = path.read_bytes().replace(held.encode(), STEERING.encode())
    # the class descriptions tell of no name
    path.write_bytes(data)
    return path


def on_terminal(*words):
    """The output of a command whose stdout and stderr are a terminal."""
    master, slave = pty.openpty()
    process = subprocess.Popen(list(map(str, words)), stdin=subprocess.DEVNULL, stdout=slave, stderr=slave)
    os.close(slave)
    out = b""
    while True:
        try:
            part = os.read(master, 1 << 16)
        except OSError:
            # the other end is closed
            break
        if not part:
            break
        out += part
    os.close(master)
    return process.wait(60), out.decode().replace("\r\n", "\n")


@pytest.mark.parametrize(
    "words",
    [
        ["ls", "-l", "-r"],
        ["ls", "--json"],
        ["show"],
        ["show", "--json"],
        ["show", ":w" + STEERING],
        ["show", ":absent" + STEERING],
        ["show", "--json", ":w" + STEERING],
        ["scan", "--quiet"],
        ["scan", "--quiet", "--format", "csv"],
        ["scan", "--quiet", "--format", "jsonl"],
        ["scan", "--quiet", "--json"],
        ["scan", "", "absent" + STEERING],
        ["draw", "--quiet", "", "s"],
        ["doctor"],
        ["doctor", "--json"],
        ["map", "--quiet"],
        ["map", "--json"],
        ["perf", "--quiet"],
        ["perf", "--json"],
    ],
)
def test_nothing_out_of_a_file_steers_the_terminal(command, hostile, words):
    """CSV, JSON and text directions went to the terminal as they were."""
    options = [w for w in words[1:] if w.startswith("-") or w in ("csv", "jsonl")]
    others = [w for w in words[1:] if w not in options]
    target = f"{hostile}{others[0]}" if others else str(hostile)
    _, out = on_terminal(command, words[0], *options, target, *others[1:])
    # what clears the line of a progress bar is ours
    assert out.strip(), words
    found = HOSTILE.search(out)
    assert not found, (words, out[max(0, found.start() - 60) :][:120])


def test_csv_in_a_file_is_the_strings_as_they_are(run, hostile):
    out = run("scan", hostile, "s", "--format", "csv").stdout
    assert out.split("\n")[1:3] == [STEERING, '"plain, and more"']


def test_json_means_the_same_on_a_terminal(run, command, hostile):
    _, out = on_terminal(command, "ls", "--json", hostile)
    shown, piped = json.loads(out), json.loads(run("ls", "--json", hostile).stdout)
    assert shown["keys"] == piped["keys"]
    assert STEERING in shown["keys"][0]["name"]


def test_python_shows_names_that_steer_nothing(hostile, capsys):
    with sapwood.open(hostile) as f:
        tree = f[f"t{STEERING}"]
        tree.show()
        with pytest.raises(KeyError) as e:
            f["absent" + STEERING]
    for text in (capsys.readouterr().out, str(e.value), str(sapwood.doctor(hostile)), str(sapwood.map(hostile))):
        assert not HOSTILE.search(text), text


VERBS = [
    ["--help"],
    ["--version"],
    ["help", "ls"],
    ["scan", "--help"],
    ["ls", "IN"],
    ["ls", "--json", "IN"],
    ["show", "IN"],
    ["scan", "IN"],
    ["scan", "--json", "IN"],
    ["draw", "IN", "x"],
    ["doctor", "IN"],
    ["map", "IN"],
    ["perf", "IN"],
    ["merge", "-f", "OUT", "IN"],
    ["optimize", "-f", "IN", "OUT"],
    ["recover", "-f", "IN", "OUT"],
]


@pytest.fixture
def words_of(tmp_path):
    with sapwood.recreate(tmp_path / "in.root") as f:
        f["t"] = {"x": np.arange(10)}
    names = {"IN": tmp_path / "in.root", "OUT": tmp_path / "out.root"}
    return lambda verb: [str(names.get(word, word)) for word in verb]


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_output_that_cannot_be_written_is_an_error(command, words_of, verb):
    """Help and version on a full disk had exit status 0."""
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    with open("/dev/full", "w") as full:
        done = subprocess.run([command, *words_of(verb)], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 1
    assert "cannot write the output: No space left on device" in done.stderr
    done = subprocess.run(
        ["sh", "-c", 'exec "$0" "$@" >&-', command, *words_of(verb)], stderr=subprocess.PIPE, text=True, timeout=60
    )
    assert (done.returncode, "stdout is closed" in done.stderr) == (1, True), done.stderr


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_a_reader_that_has_gone_is_no_error(command, words_of, verb):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([command, *words_of(verb)], stdout=write, stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "verb", [["draw", "IN", "x", "-o", "x.png"], ["scan", "IN", "x", "--record", "x.jsonl"]], ids=" ".join
)
def test_a_limit_on_the_size_of_files_is_named_for_pictures_and_logs(command, words_of, tmp_path, verb):
    """The process was killed without a word."""
    limit = (100, 100)
    done = subprocess.run(
        [command, *words_of(verb)],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
    )
    assert done.returncode == 1
    assert "File too large" in done.stderr
