"""Ctrl-C ends what waits for the network, and what computes."""

import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

#: Longer than any of this may take; the server would stall for a minute.
PATIENCE = 20


class Stalling(BaseHTTPRequestHandler):
    """Serves ranges of one file, but none of the first half beyond its first 64 kB, where the baskets are."""

    content = b""
    stalled = threading.Event()
    over = threading.Event()
    stall_from_start = False

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        size = len(self.content)
        wanted = self.headers.get("Range", f"bytes=0-{size - 1}").removeprefix("bytes=")
        first, _, last = wanted.split(",")[0].partition("-")
        start = int(first) if first else max(0, size - int(last))
        stop = min(size, int(last) + 1 if first and last else size)
        if self.stall_from_start or (start < size // 2 and stop > 1 << 16 and start > 0):
            self.stalled.set()
            self.over.wait(60)
            return
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {start}-{stop - 1}/{size}")
        self.send_header("Content-Length", str(stop - start))
        self.send_header("Accept-Ranges", "bytes")
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(self.content[start:stop])


@pytest.fixture
def stalling():
    class Handler(Stalling):
        stalled, over = threading.Event(), threading.Event()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server, Handler
    Handler.over.set()
    server.shutdown()
    server.server_close()


def interrupt(code, stalled):
    """Runs code in another Python, sends SIGINT once the server stalls; gives exit status and error stream."""
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    try:
        if not stalled.wait(PATIENCE):
            process.kill()
            pytest.fail(f"nothing stalled: {process.communicate()[1]}")
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        pytest.fail("Ctrl-C had no effect")
    return process.returncode, errors


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT of another process is a POSIX thing")
@pytest.mark.parametrize("what", ["open", "arrays", "iterate", "draw"])
def test_ctrl_c_while_the_server_stalls(stalling, tmp_path, what):
    server, handler = stalling
    handler.content = big_file(tmp_path)
    handler.stall_from_start = what == "open"
    url = f"http://127.0.0.1:{server.server_port}/big.root"
    use = {
        "open": "",
        "arrays": "t.arrays('x', library='np')",
        "iterate": "next(t.iterate('x', library='np'))",
        "draw": "t.draw('x', bins=(10, 0, 1))",
    }[what]
    code = f"import sapwood\nt = sapwood.open({url!r})\n"
    if what != "open":
        code += f"t = t['t']\n{use}\n"
    status, errors = interrupt(code, handler.stalled)
    assert "KeyboardInterrupt" in errors
    assert status != 0


@pytest.mark.parametrize("what", ["arrays", "iterate"])
def test_a_file_closed_by_another_thread_says_so(stalling, tmp_path, what):
    import sapwood

    server, handler = stalling
    handler.content = big_file(tmp_path)
    file = sapwood.open(f"http://127.0.0.1:{server.server_port}/big.root")
    tree = file["t"]
    use = {
        "arrays": lambda: tree.arrays("x", library="np"),
        "iterate": lambda: next(tree.iterate("x", library="np")),
    }[what]
    raised = []

    def read():
        try:
            use()
        except Exception as error:
            raised.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    assert handler.stalled.wait(PATIENCE)
    file.close()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert isinstance(raised[0], sapwood.ClosedError), raised
    assert "big.root: was closed while it was being read" in str(raised[0])


def big_file(folder):
    """A file of a few megabytes whose baskets come before everything else."""
    uproot = pytest.importorskip("uproot")
    import numpy as np

    with uproot.recreate(folder / "big.root", compression=None) as file:
        file.mktree("t", {"x": "f8"})
        for seed in range(8):
            file["t"].extend({"x": np.random.default_rng(seed).random(100_000)})
    return (folder / "big.root").read_bytes()


def test_progress_may_stop_a_read(codecs):
    def stop(*_):
        raise StopAsyncIteration("enough")

    with pytest.raises(StopAsyncIteration, match="enough"):
        codecs.arrays(library="np", progress=stop)
    # and the tree is as good as before
    assert len(codecs["n"].array(library="np")) == 60


def test_threads_read_at_the_same_time(codecs):
    from concurrent.futures import ThreadPoolExecutor

    names = codecs.keys() * 8
    with ThreadPoolExecutor(8) as pool:
        arrays = list(pool.map(lambda n: codecs[n].array(library="np"), names))
    alone = {n: codecs[n].array(library="np").tolist() for n in codecs.keys()}
    for name, array in zip(names, arrays, strict=True):
        assert [list(x) if name != "n" else x for x in array.tolist()] == [
            list(x) if name != "n" else x for x in alone[name]
        ]
