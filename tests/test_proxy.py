"""Through an HTTP proxy, as http_proxy, https_proxy and no_proxy name it."""

from __future__ import annotations

import functools
import http.server
import os
import select
import shutil
import socket
import ssl
import subprocess
import threading
import urllib.request

import pytest

#: A name that no resolver knows: only a proxy gets there.
FAR = "far.invalid"


class Proxy(http.server.BaseHTTPRequestHandler):
    """Takes every name for this machine; keeps what it was asked in `asked`, wants `password` where there is one."""

    protocol_version = "HTTP/1.1"
    asked: list[str]
    password: str | None

    def log_message(self, *_):
        pass

    def _admitted(self):
        self.asked.append(self.requestline)
        if self.password is None or self.headers.get("Proxy-Authorization") == self.password:
            return True
        self.send_error(407)
        return False

    def do_GET(self):
        if not self._admitted():
            return
        headers = {k: v for k, v in self.headers.items() if not k.lower().startswith("proxy-")}
        request = urllib.request.Request(self.path.replace(FAR, "127.0.0.1"), headers=headers)
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
            body = answer.read()
            self.send_response(answer.status)
            for name in ("Content-Type", "Content-Range", "Accept-Ranges", "ETag", "Last-Modified"):
                if name in answer.headers:
                    self.send_header(name, answer.headers[name])
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def do_CONNECT(self):
        if not self._admitted():
            return
        with socket.create_connection(("127.0.0.1", int(self.path.rpartition(":")[2]))) as far:
            self.send_response(200)
            self.end_headers()
            ends = {self.connection: far, far: self.connection}
            while True:
                for end in select.select(list(ends), [], [], 10)[0]:
                    data = end.recv(1 << 16)
                    if not data:
                        self.close_connection = True
                        return
                    ends[end].sendall(data)


@pytest.fixture
def serve():
    """Runs a handler on a free port until the test ends; gives the port."""
    servers = []

    def serve(handler, context=None):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        server.daemon_threads = True
        if context is not None:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return server.server_port

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Files of a directory."""

    def log_message(self, *_):
        pass


@pytest.fixture
def sample(command, tmp_path):
    """A directory with a file."""
    subprocess.run([command, "sample", tmp_path / "a.root", "--entries", "50"], check=True, capture_output=True)
    return tmp_path


def _proxy(serve, password=None):
    handler = type("Handler", (Proxy,), {"asked": [], "password": password})
    return serve(handler), handler.asked


def _environment(**variables):
    kept = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
    return {**kept, **variables}


def test_plain_http_is_asked_with_the_whole_address(run, serve, sample):
    origin = serve(functools.partial(Quiet, directory=sample))
    port, asked = _proxy(serve)
    url = f"http://{FAR}:{origin}/a.root:Events"
    done = run("show", url, "--json", env=_environment(http_proxy=f"http://127.0.0.1:{port}"))
    assert done.returncode == 0, done.stderr
    assert asked
    assert all(line.startswith(f"GET http://{FAR}:{origin}/a.root HTTP/1.1") for line in asked)
    # without it, and where it is excepted, nobody knows the name
    for variables in ({}, {"http_proxy": f"http://127.0.0.1:{port}", "no_proxy": "other,.invalid"}):
        done = run("show", url, env=_environment(**variables))
        assert done.returncode == 1
        assert f"cannot resolve host {FAR}" in done.stderr


def test_this_machine_needs_no_proxy(run, serve, sample):
    origin = serve(functools.partial(Quiet, directory=sample))
    done = run("ls", f"http://127.0.0.1:{origin}/a.root", env=_environment(http_proxy="http://127.0.0.1:1"))
    assert done.returncode == 0, done.stderr


def test_a_tunnel_for_https(run, serve, sample):
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=sapwood -addext"
    name, files = f"subjectAltName=DNS:{FAR}", ["-keyout", sample / "key.pem", "-out", sample / "cert.pem"]
    subprocess.run(["openssl", *words.split(), name, *files], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sample / "cert.pem", sample / "key.pem")
    origin = serve(functools.partial(Quiet, directory=sample), context)
    port, asked = _proxy(serve, "Basic bWU6b3BlbiBzZXNhbWU=")
    url = f"https://{FAR}:{origin}/a.root"
    trusting = {"SSL_CERT_FILE": str(sample / "cert.pem")}
    address = f"http://me:open%20sesame@127.0.0.1:{port}"
    done = run("ls", url, env=_environment(https_proxy=address, **trusting))
    assert done.returncode == 0, done.stderr
    assert "Events" in done.stdout
    assert set(asked) == {f"CONNECT {FAR}:{origin} HTTP/1.1"}

    done = run("ls", url, env=_environment(https_proxy=f"http://127.0.0.1:{port}", **trusting))
    assert done.returncode == 1
    assert f"the proxy 127.0.0.1:{port} refuses to connect: HTTP/1.1 407" in done.stderr
    assert "no_proxy" in done.stderr
    done = run("ls", url, env=_environment(https_proxy="socks5://127.0.0.1:1", **trusting))
    assert "only HTTP" in done.stderr
    done = run("ls", url, env=_environment(https_proxy=address))
    assert "SSL_CERT_FILE" in done.stderr
