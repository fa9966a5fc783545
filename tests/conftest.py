"""Files written by ROOT and by uproot, servers on free ports, the corpus. What a machine lacks skips tests by name."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import servers
from running_servers import running, started
from servers import SERVERS

# the browser and the pages of test_browse*.py
pytest_plugins = ["browse_fixtures"]

HERE = Path(__file__).parent
CORPUS = HERE.parent.parent / "shared" / "corpus"

# In the background of a script Ctrl-C is ignored, below nohup a closed terminal: and so they would be by every process
# that tests start and stop by these signals. What is handled here is not ignored there.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)


@pytest.fixture(scope="session")
def every_position():
    """Whether files are damaged at every byte (SAPWOOD_ALL_POSITIONS=1), which takes minutes, and not at some."""
    return os.environ.get("SAPWOOD_ALL_POSITIONS") == "1"


@pytest.fixture(scope="session")
def command():
    """Path of the sapwood command: beside this Python, in target/release, or on PATH."""
    built = [Path(sys.executable).parent / "sapwood", HERE.parent / "target" / "release" / "sapwood"]
    found = next((str(path) for path in built if path.exists()), None) or shutil.which("sapwood")
    if not found:
        pytest.fail("no sapwood command: run `make build`")
    return found


@pytest.fixture(scope="session")
def run(command):
    """Runs the command with some arguments; gives back exit status, stdout and stderr."""

    def run(*arguments, timeout=60, **more):
        words = [command, *map(str, arguments)]
        return subprocess.run(words, capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL, **more)

    return run


@pytest.fixture(scope="session")
def public():
    """A directory that servers of other users may read, too (pytest's own are private)."""
    folder = Path(tempfile.mkdtemp(prefix="sapwood-tests-")).resolve()
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def root_here():
    """Skips what needs ROOT where it is not installed."""
    if importlib.util.find_spec("ROOT") is None:
        pytest.skip("ROOT is not installed: pip install --pre ROOT")


@pytest.fixture(scope="session")
def macro(root_here):
    """macro("files.C", folder, ...): ROOT runs a macro of this folder, which says by FOLDER/done that it got to
    its end. Compiled (`compiled=True`), as dictionaries want it, it leaves a library in the folder."""
    root = Path(sys.executable).parent / "root"

    def macro(name, folder, *arguments, compiled=False):
        values = ", ".join([f'"{folder}"', *map(str, arguments)])
        where = HERE / name
        if compiled:
            if not shutil.which("c++"):
                pytest.skip("no C++ compiler")
            # the library is made beside the macro
            where = shutil.copy(where, folder)
        words = [root, "-l", "-b", "-q", f"{where}{'+g' if compiled else ''}({values})"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=900, stdin=subprocess.DEVNULL)
        if not (folder / "done").exists():
            pytest.fail(f"ROOT did not get through {name}:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")

    return macro


@pytest.fixture(scope="session")
def root_files(public, macro):
    """Folder of the files that files.C writes, with ROOT's values as NAME.root.json."""
    folder = public / "root"
    folder.mkdir()
    macro("files.C", folder)
    return folder


@pytest.fixture(scope="session")
def root_values(root_files):
    """root_values("leaves-zlib"): {branch or branch.leaf: values by entry} as ROOT reads them."""
    return lambda name: json.loads((root_files / f"{name}.root.json").read_text())


@pytest.fixture(scope="session")
def uproot_files(public):
    """Folder of the files that uproot writes: flat-CODEC.root for its codecs, and nested.root."""
    import uproot_files

    folder = public / "uproot"
    folder.mkdir()
    uproot_files.write(folder)
    return folder


@pytest.fixture(scope="session")
def flat(uproot_files):
    """Path of a tree `t` written by uproot: numbers, fixed arrays, a jagged branch, in several baskets."""
    return str(uproot_files / "flat-zlib.root")


@pytest.fixture(params=sorted(SERVERS), scope="session")
def server(request, public, flat):
    """Each kind of server in turn over the public directory; `server.url(path)`."""
    command = request.getfixturevalue("command") if request.param == "sapwood" else None
    with running(request.param, public, command) as server:
        yield server


@pytest.fixture
def nginx(public, flat):
    """An nginx of its own, so that its log holds one test's requests only."""
    with running("nginx", public) as started:
        yield started


@pytest.fixture(scope="session")
def s3_server():
    """A running S3 server with nothing in it, without the AWS settings of whoever runs the tests."""
    with started(servers.s3) as server:
        yield server


@pytest.fixture
def s3(s3_server, no_aws, monkeypatch):
    """The S3 server, with its address and credentials in the environment."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{s3_server.port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", servers.S3_KEYS[0])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", servers.S3_KEYS[1])
    return s3_server


@pytest.fixture
def no_aws(monkeypatch, tmp_path):
    """No AWS settings of whoever runs the tests: neither variables nor files."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "aws-config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "aws-credentials"))


@pytest.fixture(scope="session")
def corpus():
    """Folder of real ROOT files, kept beside the repository (or where SAPWOOD_CORPUS says)."""
    folder = Path(os.environ.get("SAPWOOD_CORPUS", CORPUS))
    if not folder.is_dir():
        pytest.skip("no corpus of real files: ../shared/corpus is absent and SAPWOOD_CORPUS is not set")
    return folder
