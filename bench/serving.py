"""Whole files from a server on the same machine: `sapwood serve` beside nginx (HTTP) and xrootd (XRootD).

The file is in the page cache, the client throws away what it reads. Rounds alternate between the servers. Printed are
the best round of each, the processor time that the server takes for a GiB, and its memory. With --clients many clients
read at once.

    python bench/serving.py --size 1024 --rounds 7
    python bench/serving.py --size 64 --clients 200
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import servers

COMMAND = Path(__file__).parent.parent / "target" / "release" / "sapwood"
#: The requirement: at least this fraction of the other's throughput.
WANTED = {"http": 0.8, "root": 1.0}
MIB = 1 << 20


class Served:
    """A server started by its command line; `url` returns a file's address."""

    def __init__(self, words, url, run=None):
        self.run = run
        self.process = subprocess.Popen(
            list(map(str, words)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.url = url(self) if callable(url) else url

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        if self.run:
            shutil.rmtree(self.run, ignore_errors=True)

    def processes(self):
        """The server's own process and its children: nginx works in one of these."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [self.process.pid, *map(int, children)]

    def seconds(self):
        """Processor time so far."""
        ticks = 0
        for pid in self.processes():
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def memory(self):
        """Its peak memory, in MB."""
        most = 0
        for pid in self.processes():
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
            most += next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
        return most * 1024 / 1e6


def nginx(folder):
    run, port = servers.scratch(), servers.free_port()
    # as distributions configure it
    config = servers.nginx_config(folder, run, f"127.0.0.1:{port}", run / "log", "sendfile on; tcp_nopush on;")
    return Served([servers.find("nginx"), "-e", run / "error.log", "-c", config], f"http://127.0.0.1:{port}/", run)


def xrootd(folder):
    run, port = servers.scratch(), servers.free_port()
    words = servers._xrootd(folder, run, f"xrd.port {port}")
    return Served(words, f"root://127.0.0.1:{port}//data/", run)


def sapwood(folder, key, command):
    words = [command, "serve", folder, "--listen-root", "0", "--json"]
    return Served(words, lambda served: json.loads(served.process.stdout.readline())[key])


def fetch(url, folder):
    """The command line of a client that reads a whole file and discards it."""
    if url.startswith("http"):
        return ["curl", "-sS", "-o", "/dev/null", url]
    return ["xrdcp", "-f", "-s", url, "/dev/null"]


def round_of(server, name, clients, folder):
    """Seconds for all clients, and the server's processor time."""
    before, begin = server.seconds(), time.perf_counter()
    running = [subprocess.Popen(fetch(server.url + name, folder)) for _ in range(clients)]
    failed = [client.args for client in running if client.wait() != 0]
    if failed:
        raise SystemExit(f"a client failed: {failed[0]}")
    return time.perf_counter() - begin, server.seconds() - before


def compare(protocol, theirs, ours, options, folder):
    gib = options.size * options.clients / 1024
    contenders = {theirs[0]: theirs[1](), "sapwood serve": ours()}
    try:
        time.sleep(1)
        taken = {name: [] for name in contenders}
        for number in range(options.rounds + 1):
            for name, server in contenders.items():
                measured = round_of(server, "large", options.clients, folder)
                if number:
                    taken[name].append(measured)
        result = {}
        for name, server in contenders.items():
            wall, cpu = (min(column) for column in zip(*taken[name], strict=True))
            result[name] = {"GiB/s": gib / wall, "CPU s/GiB": cpu / gib, "MB": server.memory()}
            print(
                f"{protocol:5} {name:14} {gib / wall:6.2f} GiB/s {cpu / gib:6.2f} CPU s/GiB {server.memory():6.0f} MB"
            )
        ratio = result["sapwood serve"]["GiB/s"] / result[theirs[0]]["GiB/s"]
        print(f"{protocol:5} sapwood over {theirs[0]}: {ratio:.2f} (wanted: {WANTED[protocol]})")
        return {"ratio": ratio, **result}
    finally:
        for server in contenders.values():
            server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=1024, help="MiB of the file")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--clients", type=int, default=1, help="clients at once")
    parser.add_argument("--protocol", choices=["http", "root"], help="only this one")
    parser.add_argument("--command", default=COMMAND, help="the sapwood to measure")
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="sapwood-serving-"))
    folder.chmod(0o755)
    try:
        block = os.urandom(MIB)
        with (folder / "large").open("wb") as out:
            for _ in range(options.size):
                out.write(block)
        others = {"http": ("nginx", lambda: nginx(folder)), "root": ("xrootd", lambda: xrootd(folder))}
        results = {}
        for protocol, theirs in others.items():
            if options.protocol in (None, protocol):
                ours = lambda key=protocol: sapwood(folder, key, options.command)  # noqa: E731
                results[protocol] = compare(protocol, theirs, ours, options, folder)
        if options.json:
            options.json.write_text(json.dumps(results, indent=1))
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
