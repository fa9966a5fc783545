"""Partitions that wait for a server do not keep a worker of Dask from beginning its next ones."""

import threading
import warnings
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import awkward as ak
import numpy as np
import pytest

import sapwood

dask = pytest.importorskip("dask", reason="dask is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("dask_awkward", reason="dask-awkward is not installed")

pytestmark = pytest.mark.filterwarnings("default")


class Gate:
    """A server that answers nothing before so many files were asked for; ``broken`` if they were not in time."""

    def __init__(self, folder, files):
        self.seen, self.broken, self._changed = set(), False, threading.Condition()
        gate = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                gate.wait(self.path, files)
                body = (folder / self.path.strip("/")).read_bytes()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self._server.server_port}"

    def wait(self, path, files):
        with self._changed:
            self.seen.add(path)
            self._changed.notify_all()
            # never waited for where all goes well
            if not self._changed.wait_for(lambda: len(self.seen) >= files, timeout=30):
                self.broken = True

    def stop(self):
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def gate(tmp_path):
    for i in range(12):
        with sapwood.recreate(tmp_path / f"{i}.root") as file:
            file["t"] = {"x": np.full(10, i, "i4")}
    gate = Gate(tmp_path, 4)
    yield gate
    gate.stop()


@pytest.mark.parametrize("library", ["ak", "np"])
def test_one_thread_reads_several_remote_files(client, gate, library):
    named = [f"{gate.address}/{i}.root:t" for i in range(12)]
    # the form is that of the first file: it is asked for here
    gate.seen.update(("/a", "/b", "/c"))
    made = sapwood.dask(named, open_files=False, library=library)
    gate.seen.clear()
    x = made["x"]
    total = client.compute(ak.sum(x) if library == "ak" else x.sum()).result()
    assert total == 10 * sum(range(12))
    assert not gate.broken


def test_an_error_leaves_the_worker_as_it_was(client, gate, tmp_path):
    gate.seen.update(("/a", "/b", "/c", "/d"))
    named = [f"{gate.address}/{i}.root:t" for i in range(12)]
    made = sapwood.dask(named, open_files=False)
    for i in range(1, 12):
        (tmp_path / f"{i}.root").write_bytes(b"no ROOT file")
    for _ in range(3):
        with pytest.raises(sapwood.Error):
            client.compute(ak.sum(made.x)).result()
    # its thread and its places are free
    assert client.submit(sum, [1, 2]).result() == 3
    assert client.submit(_free_places).result() == 8


def _free_places():
    from sapwood.with_dask import waiting

    return waiting._slots._value
