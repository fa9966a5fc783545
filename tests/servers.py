"""HTTP servers of several kinds over one directory, each on a free port of the loopback interface."""

from __future__ import annotations

import glob
import http.client
import os
import random
import re
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import uuid
from pathlib import Path
from typing import NamedTuple


class Skip(Exception):
    """The server is not installed on this machine."""


class Request(NamedTuple):
    """One line of a server's log."""

    method: str
    path: str
    status: int
    range: str
    bytes: int


# Path and credential of a request that does not belong to a test: see `Server.settle`.
MARK = "sapwood-settled-"


def read_log(path):
    """The requests in a log of nginx, in the order in which they ended."""
    pattern = re.compile(r'(\S+) (\S+) (\d+) "([^"]*)" (\d+)')
    rows = [pattern.match(line) for line in path.read_text().splitlines() if MARK not in line]
    return [Request(row[1], row[2], int(row[3]), row[4], int(row[5])) for row in rows if row]


# processes begin in different places, and none has the same twice
_PORTS = iter(random.Random(os.getpid()).sample(range(10_240, 32_768), 10_000))


def free_port():
    """A port without a listener, from below those that the system gives to connections and to servers that ask for any
    (32768 and more): a free one from there may be taken before the server starts, or while it is down."""
    for port in _PORTS:
        with socket.socket() as probe:
            try:
                probe.bind(("", port))
            except OSError:
                continue
            return port
    raise AssertionError("every port is taken")


def find(program):
    """Path of a server's program, which may be in the directories of system administration."""
    found = shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin")
    if not found:
        raise Skip(f"{program} is not installed")
    return found


class Server:
    """A running server; `url(path)` names a file below its directory."""

    def __init__(self, folder, port, command, run=None, log=None, prefix="", scheme="http", tls=False):
        self.folder, self.port, self.run, self.log, self.prefix = folder, port, run, log, prefix
        self.scheme, self.tls = scheme, tls
        ended = []
        while not self._start(command):
            ended.append(self.process.returncode)
            said = self.process.stderr.read().decode(errors="replace")[-1000:]
            self.process.stderr.close()
            if len(ended) == 3:
                logged = log.read_text(errors="replace")[-2000:] if log and log.exists() else ""
                self.stop()
                raise RuntimeError(f"{command[0]} did not start, and ended with {ended}: {said}\n{logged}")

    def _start(self, command):
        """Starts the process. True: it accepts connections; False: it has ended, as xrootd does now and then when it
        crashes at its start, or was killed after 90 s without listening."""
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        deadline = time.monotonic() + 90
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return True
            except OSError:
                if time.monotonic() > deadline:
                    os.killpg(self.process.pid, signal.SIGKILL)
                    self.process.wait()
                if self.process.poll() is not None:
                    return False
                time.sleep(0.02)

    def url(self, path):
        relative = Path(path).resolve().relative_to(self.folder)
        slash = "/" if self.scheme == "root" else ""
        return f"{self.scheme}://127.0.0.1:{self.port}{slash}{self.prefix}/{relative}"

    def settle(self):
        """Waits until every response received by a client is in the log. nginx writes its line after the last byte, so
        the client may be first. It does one thing at a time: once a later request is in the log, all are."""
        if self.scheme != "http":
            return
        mark = MARK + uuid.uuid4().hex
        if self.tls:
            context = ssl._create_unverified_context()
            connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, context=context)
        else:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", f"/{mark}", headers={"Authorization": mark})
        connection.getresponse().read()
        connection.close()
        deadline = time.monotonic() + 60
        while mark not in self.log.read_text(errors="replace"):
            if time.monotonic() > deadline:
                raise RuntimeError(f"the server does not log: {self.log}")
            time.sleep(0.002)

    def requests(self):
        """The requests so far, in the order in which they ended."""
        self.settle()
        return read_log(self.log)

    def stop(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
        self.process.stderr.close()
        if self.run:
            shutil.rmtree(self.run, ignore_errors=True)


def scratch():
    """A directory for a server's own files."""
    run = Path(tempfile.mkdtemp(prefix="sapwood-server-"))
    run.chmod(0o755)
    return run


def nginx(folder, _command):
    program, run, port = find("nginx"), scratch(), free_port()
    log = run / "access.log"
    config = nginx_config(folder, run, f"127.0.0.1:{port}", log)
    return Server(folder, port, [program, "-e", str(run / "error.log"), "-c", str(config)], run, log)


def nginx_config(folder, run, listen, log, more=""):
    """Writes the configuration of an nginx that logs every request's range and bytes; gives its path. `more`: further
    directives of the server, among them perhaps another log, of the format `who`."""
    log.touch()
    user = "user root;" if os.geteuid() == 0 else ""
    config = run / "nginx.conf"
    config.write_text(f"""
daemon off; pid {run}/nginx.pid; error_log {run}/error.log; worker_processes 1; {user}
events {{ worker_connections 512; }}
http {{
  log_format line '$request_method $uri $status "$http_range" $body_bytes_sent';
  log_format who '"$http_authorization"';
  access_log {log} line; keepalive_requests 100000; max_ranges 10000;
  client_body_temp_path {run}; proxy_temp_path {run};
  fastcgi_temp_path {run}; uwsgi_temp_path {run}; scgi_temp_path {run};
  server {{ listen {listen}; root {folder}; {more} }}
}}
""")
    return config


def apache(folder, _command):
    program, run, port = find("apache2"), scratch(), free_port()
    modules = next(iter(glob.glob("/usr/lib/apache2/modules")), None)
    if not modules:
        raise Skip("apache2 has no modules in /usr/lib/apache2/modules")
    config = run / "apache.conf"
    user = "User www-data\nGroup www-data\n" if os.geteuid() == 0 else ""
    config.write_text(f"""
ServerRoot {run}
ServerName 127.0.0.1
Listen 127.0.0.1:{port}
PidFile {run}/pid
ErrorLog {run}/error.log
Mutex file:{run}
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
{user}DocumentRoot {folder}
<Directory {folder}>
  Require all granted
</Directory>
""")
    return Server(folder, port, [program, "-DFOREGROUND", "-f", str(config)], run)


def _xrootd(folder, run, directives):
    """The command of an XRootD that exports `folder` as /data, with further directives."""
    program = find("xrootd")
    (run / "root").mkdir()
    (run / "admin").mkdir()
    (run / "root" / "data").symlink_to(folder)
    config = run / "xrootd.cfg"
    config.write_text(f"""
xrd.network nodnr
all.export /data
oss.localroot {run}/root
all.adminpath {run}/admin
all.pidpath {run}/admin
{directives}
""")
    command = [program, "-c", str(config), "-l", str(run / "admin" / "log")]
    if os.geteuid() == 0:
        shutil.chown(run / "admin", "xrootd")
        command += ["-R", "xrootd"]
    return command


def xrdhttp(folder, _command):
    run, port = scratch(), free_port()
    directives = f"xrd.port {free_port()}\nxrd.protocol http:{port} libXrdHttp.so\nxrootd.async off"
    return Server(folder, port, _xrootd(folder, run, directives), run, prefix="/data")


def xrootd(folder, _command, extra=""):
    """XRootD itself, with further directives."""
    run, port = scratch(), free_port()
    command = _xrootd(folder, run, f"xrd.port {port}\nxrootd.trace login request response\n{extra}")
    return Server(folder, port, command, run, run / "admin" / "log", prefix="/data", scheme="root")


def xcache(origin, prefetch=10):
    """XCache in front of an XRootD server, with nothing in it. It crashes now and then as it starts."""
    for _ in range(4):
        try:
            return _xcache(origin, prefetch)
        except RuntimeError:
            continue
    raise Skip("XCache does not start")


def _xcache(origin, prefetch):
    run, port = scratch(), free_port()
    directives = f"""
xrd.port {port}
ofs.osslib libXrdPss.so
pss.origin 127.0.0.1:{origin.port}
pss.cachelib default
pfc.ram 1g
pfc.blocksize 128k
pfc.prefetch {prefetch}
pfc.diskusage 0.98 0.99
"""
    command = _xrootd(run, run, directives)
    (run / "root" / "data").unlink()
    if os.geteuid() == 0:
        shutil.chown(run / "root", "xrootd")
    return Server(origin.folder, port, command, run, run / "admin" / "log", prefix="/data", scheme="root")


#: The access key and secret of the S3 server.
S3_KEYS = ("SAPWOODTEST", "a-secret/with+signs")


def s3(region="us-east-1"):
    """VersityGW: an S3 server over a folder of its own, in which each directory is a bucket."""
    program, run, port = find_go("versitygw"), scratch(), free_port()
    (run / "buckets").mkdir()
    log = run / "access.log"
    log.touch()
    command = [program, "--port", f"127.0.0.1:{port}", "--access", S3_KEYS[0], "--secret", S3_KEYS[1]]
    command += ["--region", region, "--access-log", str(log), "--quiet", "--keep-alive", "posix", str(run / "buckets")]
    return Server(run / "buckets", port, command, run, log, scheme="s3")


def find_go(program):
    """Path of a program that `make test-tools` builds from a Go module."""
    built = Path(__file__).parent.parent / ".venv" / "go" / "bin" / program
    if built.exists():
        return str(built)
    try:
        return find(program)
    except Skip:
        raise Skip(f"{program} is not installed: `make test-tools` builds it where Go is") from None


def sapwood(folder, command):
    port = free_port()
    return Server(folder, port, [command, "serve", str(folder), "--port", str(port)])


SERVERS = {"nginx": nginx, "apache": apache, "xrdhttp": xrdhttp, "xrootd": xrootd, "sapwood": sapwood}
