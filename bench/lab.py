"""The network of the benchmark: the WAN lab of wanlab/, and servers that count what they send."""

from __future__ import annotations

import copy
import json
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

# The seed's clients: round-trip time in ms, Mbit/s. A is the server itself.
ROWS = {
    "A": (0, 0),
    "B": (0.3, 100),
    "C": (2, 10),
    "D": (11, 100),
    "E": (22, 1000),
    "F": (72, 8),
    "G": (240, 1000),
}


def why_no_lab():
    """What this machine lacks for the WAN lab; None if nothing is missing."""
    if os.geteuid() != 0:
        return "the WAN lab needs root"
    if not Path("/dev/net/tun").exists():
        return "the WAN lab needs /dev/net/tun"
    missing = [program for program in ("ip", "cc", "nginx") if not found(program)]
    if missing:
        return f"the WAN lab needs {', '.join(missing)}"
    # wan-up.sh would remove it, and with it another running measurement.
    if "wl-" in subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout:
        return "a WAN lab is up already; bench/wanlab/wan-down.sh removes one that was left behind"
    return None


def found(program):
    try:
        return servers.find(program)
    except servers.Skip:
        return None


def network(rtt, rate, loss=0, *, scratch, lan=None):
    """The link to a client: the WAN lab, or only this machine where there is no distance. `lan`: the link (ms, Mbit/s)
    between the client and its site's edge, where a proxy may run."""
    return Wan(rtt, rate, loss, scratch, lan) if rtt else Here()


class Here:
    """This machine, client and server; a context manager."""

    client, server, address, rtt, rate, loss = (), (), "127.0.0.1", 0, 0, 0

    @property
    def edge(self):
        """Where a proxy runs: on the same machine."""
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def port(self, _usual):
        return servers.free_port()


class Wan:
    """The three namespaces with a link of this round-trip time (ms) and rate (Mbit/s) between them, with packet loss (a
    fraction); a context manager."""

    client = ("ip", "netns", "exec", "wl-job")
    server = ("ip", "netns", "exec", "wl-srv")
    address = "198.18.1.2"

    def __init__(self, rtt, rate, loss, scratch, lan=None):
        self.rtt, self.rate, self.loss, self.folder = rtt, rate, loss, Path(scratch) / "wanlab"
        self.lan = lan

    def __enter__(self):
        shutil.copytree(HERE / "wanlab", self.folder, dirs_exist_ok=True)
        # Packets of 1500 bytes cost too much CPU above 500 Mbit/s: the bridge then passes large ones whole.
        large = ["-g"] if self.rate > 500 else []
        lossy = ["-l", str(self.loss)] if self.loss else []
        words = [self.folder / "wan-up.sh", str(self.rtt), str(self.rate), "-R", *large, *lossy]
        lan = {"LAN": "{} {}".format(*self.lan)} if self.lan else {}
        quiet = {"stdout": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
        subprocess.run(words, check=True, env=os.environ | lan, **quiet)
        return self

    @property
    def edge(self):
        """The same with its servers at the edge of the client's site."""
        near = copy.copy(self)
        near.server, near.address = ("ip", "netns", "exec", "wl-edge"), "198.18.2.1"
        near.rtt, near.rate = self.lan or (0, 0)
        return near

    def __exit__(self, *_):
        subprocess.run([self.folder / "wan-down.sh"], check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)

    def toggle(self):
        """Blocks all traffic in both directions; the second call unblocks it."""
        os.kill(self.bridge, signal.SIGUSR1)

    @property
    def bridge(self):
        """The process that passes packets from side to side."""
        return int((self.folder / "bridge.pid").read_text())

    def port(self, usual):
        """The namespace belongs to the lab: any port is free."""
        return usual


class Server:
    """A program that serves a folder and logs what it sends; a context manager."""

    #: required program, URL scheme, separator between address and name, port in the WAN lab
    program, scheme, root, usual_port = "", "", "/", 0

    def __init__(self, folder, network):
        self.folder, self.network = Path(folder).resolve(), network

    def __enter__(self):
        self.run = Path(tempfile.mkdtemp(prefix="sapwood-bench-"))
        self.run.chmod(0o755)
        self.address = f"{self.network.address}:{self.network.port(self.usual_port)}"
        self.words = [*self.network.server, *self.command()]
        self.start()
        return self

    def start(self):
        """Starts the program, and waits until it listens."""
        self.revive()
        deadline = time.monotonic() + 20
        while not self.listens():
            if self.process.poll() is not None or time.monotonic() > deadline:
                said = self.complaints.read_text(errors="replace")[-500:] if self.complaints.exists() else ""
                self.__exit__()
                raise RuntimeError(f"{self.program} did not start: {said}")
            time.sleep(0.02)

    def __exit__(self, *_):
        self.kill(signal.SIGTERM)
        shutil.rmtree(self.run, ignore_errors=True)

    def kill(self, how=signal.SIGKILL):
        """Stops the program; its files stay."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, how)
            self.process.wait()

    def revive(self):
        """Starts it, for the first time or again."""
        self.process = subprocess.Popen(
            list(map(str, self.words)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def url(self, name):
        return f"{self.scheme}://{self.address}{self.root}{name}"


class Announced(Server):
    """One of Sapwood's servers, with --json: its first line of output contains its addresses, `urls` by protocol."""

    def revive(self):
        self.complaints, self.said = self.run / "errors", self.run / "said"
        with self.said.open("wb") as said, self.complaints.open("wb") as complaints:
            self.process = subprocess.Popen(
                list(map(str, self.words)),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=complaints,
                start_new_session=True,
            )

    def listens(self):
        line, end, _ = self.said.read_text().partition("\n")
        if end:
            told = json.loads(line)
            self.urls = {"http": told["http"], "xrootd": told["root"]}
        return bool(end)


class Nginx(Server):
    """nginx over a folder."""

    program, scheme, usual_port = "nginx", "http", 31081
    #: suffix of the address it listens on
    how = ""

    def command(self):
        self.log, self.complaints = self.run / "access.log", self.run / "error.log"
        config = servers.nginx_config(self.folder, self.run, self.address + self.how, self.log)
        return [servers.find("nginx"), "-e", self.complaints, "-c", config]

    def listens(self):
        """nginx writes its process ID when it is ready."""
        return (self.run / "nginx.pid").exists()

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


class SecureNginx(Nginx):
    """The same over TLS, with HTTP/2 for clients that request it."""

    scheme, usual_port = "https", 31443

    def command(self):
        subprocess.run(
            [
                *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
                *("-days", "2", "-subj", "/CN=bench", "-keyout", self.run / "key.pem", "-out", self.run / "cert.pem"),
            ],
            check=True,
            stderr=subprocess.DEVNULL,
        )
        certificate = f"ssl_certificate {self.run}/cert.pem; ssl_certificate_key {self.run}/key.pem"
        self.how = f" ssl http2; {certificate}; http2_max_concurrent_streams 256"
        return super().command()


class XRootD(Server):
    """xrootd over a folder."""

    program, scheme, root, usual_port = "xrootd", "root", "//", 31094

    def command(self):
        admin = self.run / "admin"
        admin.mkdir()
        self.log = self.complaints = admin / "log"
        self.seen = 0
        config = self.run / "xrootd.cfg"
        config.write_text(f"""
xrd.port {self.address.rpartition(":")[2]}
xrd.network nodnr
all.export /
oss.localroot {self.folder}
all.adminpath {admin}
all.pidpath {admin}
xrootd.trace request response
""")
        words = [servers.find("xrootd"), "-c", config, "-l", self.log]
        if os.geteuid() == 0:
            shutil.chown(admin, "xrootd")
            words += ["-R", "xrootd"]
        return words

    def listens(self):
        return self.log.exists() and " initialization completed" in self.log.read_text(errors="replace")

    def forget(self):
        """Starts counting here."""
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
