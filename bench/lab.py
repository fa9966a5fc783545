"""The network of the benchmark: the WAN lab of wanlab/, and servers that count what they send."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))
import servers  # noqa: E402  (the tests' servers serve here, too)

SERVER_ADDRESS = "198.18.1.2"
PORT = 31081
XROOTD_PORT = 31094
# The seed's clients: round-trip time in ms, Mbit/s.
ROWS = {
    "B": (0.3, 100),
    "C": (2, 10),
    "D": (11, 100),
    "E": (22, 1000),
    "F": (72, 8),
    "G": (240, 1000),
}


def why_no_lab():
    """What this machine lacks for the WAN lab; None where nothing is missing."""
    if os.geteuid() != 0:
        return "the WAN lab needs root"
    if not Path("/dev/net/tun").exists():
        return "the WAN lab needs /dev/net/tun"
    missing = [program for program in ("ip", "cc", "nginx") if not found(program)]
    if missing:
        return f"the WAN lab needs {', '.join(missing)}"
    # wan-up.sh would remove it, and with it somebody's measurement.
    if "wl-" in subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout:
        return "a WAN lab is up already; bench/wanlab/wan-down.sh removes one that was left behind"
    return None


def found(program):
    try:
        return servers.find(program)
    except servers.Skip:
        return None


class Wan:
    """The three namespaces with a link of some round-trip time (ms) and rate (Mbit/s) between; a context manager."""

    client = ("ip", "netns", "exec", "wl-job")
    server = ("ip", "netns", "exec", "wl-srv")

    def __init__(self, rtt, rate, scratch):
        self.rtt, self.rate, self.folder = rtt, rate, Path(scratch) / "wanlab"

    def __enter__(self):
        shutil.copytree(HERE / "wanlab", self.folder, dirs_exist_ok=True)
        # Packets of 1500 bytes cost too much CPU above 500 Mbit/s: the bridge then passes large ones whole.
        large = ["-g"] if self.rate > 500 else []
        words = [self.folder / "wan-up.sh", str(self.rtt), str(self.rate), "-R", *large]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        return self

    def __exit__(self, *_):
        subprocess.run([self.folder / "wan-down.sh"], check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)


class Nginx:
    """nginx over a folder, in the WAN lab's server namespace or on this machine; a context manager."""

    def __init__(self, folder, wan=None):
        self.folder, self.wan = Path(folder).resolve(), wan

    def __enter__(self):
        self.run = Path(tempfile.mkdtemp(prefix="sapwood-bench-"))
        self.log = self.run / "access.log"
        address, port = (SERVER_ADDRESS, PORT) if self.wan else ("127.0.0.1", servers.free_port())
        self.address = f"{address}:{port}"
        config = servers.nginx_config(self.folder, self.run, self.address, self.log)
        words = [
            *(self.wan.server if self.wan else ()),
            servers.find("nginx"),
            "-e",
            self.run / "error.log",
            "-c",
            config,
        ]
        self.process = subprocess.Popen(
            list(map(str, words)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + 20
        # nginx writes its process id once it listens.
        while not (self.run / "nginx.pid").exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"nginx did not start: {(self.run / 'error.log').read_text()[-500:]}")
            time.sleep(0.02)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait()
        shutil.rmtree(self.run, ignore_errors=True)

    def url(self, name):
        return f"http://{self.address}/{name}"

    def forget(self):
        """Empties the log."""
        self.log.write_text("")

    def requests(self):
        """The requests since forget()."""
        time.sleep(0.05)
        return servers.read_log(self.log)

    def wire(self):
        """Requests and bytes since forget()."""
        requests = self.requests()
        return {"requests": len(requests), "bytes": sum(request.bytes for request in requests)}


class XRootD:
    """xrootd over a folder, in the WAN lab's server namespace or on this machine; a context manager."""

    def __init__(self, folder, wan=None):
        self.folder, self.wan = Path(folder).resolve(), wan

    def __enter__(self):
        self.run = Path(tempfile.mkdtemp(prefix="sapwood-bench-"))
        self.run.chmod(0o755)
        admin = self.run / "admin"
        admin.mkdir()
        self.log, self.seen = admin / "log", 0
        address, port = (SERVER_ADDRESS, XROOTD_PORT) if self.wan else ("127.0.0.1", servers.free_port())
        self.address = f"{address}:{port}"
        config = self.run / "xrootd.cfg"
        config.write_text(f"""
xrd.port {port}
xrd.network nodnr
all.export /
oss.localroot {self.folder}
all.adminpath {admin}
all.pidpath {admin}
xrootd.trace request response
""")
        words = [*(self.wan.server if self.wan else ()), servers.find("xrootd"), "-c", config, "-l", self.log]
        if os.geteuid() == 0:
            shutil.chown(admin, "xrootd")
            words += ["-R", "xrootd"]
        self.process = subprocess.Popen(
            list(map(str, words)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + 20
        while not (self.log.exists() and f":{port} initialization completed" in self.log.read_text(errors="replace")):
            if self.process.poll() is not None or time.monotonic() > deadline:
                said = self.log.read_text()[-500:] if self.log.exists() else ""
                self.__exit__()
                raise RuntimeError(f"xrootd did not start: {said}")
            time.sleep(0.02)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait()
        shutil.rmtree(self.run, ignore_errors=True)

    def url(self, name):
        return f"root://{self.address}//{name}"

    def forget(self):
        """Counts from here."""
        self.seen = self.log.stat().st_size

    def wire(self):
        """Requests for files and their bytes since forget()."""
        time.sleep(0.05)
        with self.log.open(errors="replace") as log:
            log.seek(self.seen)
            text = log.read()
        requests = re.findall(r"req=(?:open|read|readv|pgread) ", text)
        sent = re.findall(r"(?:sending|sendfile) (?:\w+ \d+ info and )?(\d+) data bytes", text)
        return {"requests": len(requests), "bytes": sum(map(int, sent))}
