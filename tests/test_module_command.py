"""``python -m sapwood`` is the command: the same output, the same exit statuses, the same end by a signal."""

import os
import signal
import subprocess
import sys
import time

import pytest

MODULE = [sys.executable, "-m", "sapwood"]


@pytest.fixture(scope="module")
def sample(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("module") / "sample.root"
    assert run("sample", path, "--entries", 2000).returncode == 0
    return path


def both(command, *arguments):
    """What the command and the module do: exit status, stdout, stderr."""
    done = [
        subprocess.run([*words, *arguments], capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
        for words in ([command], MODULE)
    ]
    return [(d.returncode, d.stdout, d.stderr) for d in done]


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["--version"], 0),
        (["--help"], 0),
        (["draw", "--help"], 0),
        ([], 2),
        (["paint"], 2),
        (["ls", "--cache-size", "much", "a.root"], 2),
        (["ls", "absent.root"], 1),
        (["ls", os.fsdecode(b"absent-\xff.root")], 1),
        (["ls", "SAMPLE"], 0),
        (["show", "SAMPLE:Events"], 0),
        (["scan", "SAMPLE:Events", "run:event", "--limit", "5", "--format", "csv"], 0),
    ],
)
def test_the_module_does_what_the_command_does(command, sample, arguments, status):
    words = [a.replace("SAMPLE", str(sample)) for a in arguments]
    ours, theirs = both(command, *words)
    assert theirs == ours
    assert ours[0] == status


def test_a_reader_that_goes_away_is_no_error(sample):
    words = [*MODULE, "scan", f"{sample}:Events", "run", "--format", "csv"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert (process.wait(60), process.stderr.read()) == (0, b"")
    process.stderr.close()


@pytest.mark.parametrize("closed", [">&-", ">/dev/full"])
def test_output_that_cannot_be_written_is_an_error(command, sample, closed):
    said = []
    for words in ([command], MODULE):
        script = f'exec "$@" {closed}'
        done = subprocess.run(
            ["sh", "-c", script, "sh", *words, "ls", sample], capture_output=True, stdin=subprocess.DEVNULL, timeout=60
        )
        said.append((done.returncode, done.stderr))
    assert said[0] == said[1]
    assert said[0][0] == 1
    assert b"cannot write the output" in said[0][1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("verb", [("serve", ".", "--port", "0"), ("browse", "--no-open")])
def test_servers_that_are_asked_to_stop_have_done_their_work(command, tmp_path, number, verb):
    """`serve` ended with 130, and `proxy` with 0."""
    for words in ([command], MODULE):
        process = subprocess.Popen(
            [*words, *verb], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
        )
        try:
            assert process.stdout.readline()
            time.sleep(0.1)
            process.send_signal(number)
            assert process.wait(20) == 0
            assert "Traceback" not in process.stderr.read()
        finally:
            process.kill()
            process.communicate()
