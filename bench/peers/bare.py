"""A client that does nothing but ask: bare.py http|xrootd HOST PORT PATH RANGES REQUESTS. Prints as JSON the time of
connecting (the least) and of a request for RANGES ranges of 100 bytes (the median), in seconds."""

import json
import socket
import statistics
import struct
import sys
import time

SIZE, APART = 100, 5000


class Client:
    """One connection; `ask(ranges)` reads these, as (first byte, bytes)."""

    def __init__(self, host, port, path):
        self.host, self.path = host, path
        start = time.perf_counter()
        self.socket = socket.create_connection((host, port))
        self.connecting = time.perf_counter() - start
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.open()

    def open(self):
        pass

    def receive(self, size):
        parts = []
        while size > 0:
            part = self.socket.recv(min(size, 1 << 20))
            if not part:
                raise SystemExit("the server closed the connection")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


class Http(Client):
    def ask(self, ranges):
        listed = ",".join(f"{first}-{first + size - 1}" for first, size in ranges)
        self.socket.sendall(f"GET {self.path} HTTP/1.1\r\nHost: {self.host}\r\nRange: bytes={listed}\r\n\r\n".encode())
        got = b""
        while b"\r\n\r\n" not in got:
            part = self.socket.recv(1 << 20)
            if not part:
                raise SystemExit("the server closed the connection")
            got += part
        head, body = got.split(b"\r\n\r\n", 1)
        fields = dict(line.lower().split(b":", 1) for line in head.split(b"\r\n")[1:])
        if b" 206 " not in head[:20]:
            raise SystemExit(f"the server answered {head[:40]!r}")
        self.receive(int(fields[b"content-length"]) - len(body))


class XRootD(Client):
    """Requests of the XRootD protocol, 5.2, and the numbers in it."""

    LOGIN, OPEN, READ, READV, READ_ONLY, MORE = 3007, 3010, 3013, 3025, 0x10, 4000

    def open(self):
        self.socket.sendall(struct.pack(">5i", 0, 0, 0, 4, 2012))
        self.receive(16)
        self.request(self.LOGIN, struct.pack(">i8sBBBB", 1, b"bench", 0, 0, 4, 0))
        path = self.path.encode()
        self.handle = self.request(self.OPEN, struct.pack(">HH12x", 0, self.READ_ONLY), path)[:4]

    def request(self, code, parameters, data=b""):
        self.socket.sendall(struct.pack(">HH16si", 1, code, parameters, len(data)) + data)
        parts = []
        while True:
            _, status, size = struct.unpack(">HHi", self.receive(8))
            parts.append(self.receive(size))
            if status not in (0, self.MORE):
                raise SystemExit(f"the server answered {status}: {parts[-1][4:]!r}")
            if status == 0:
                return b"".join(parts)

    def ask(self, ranges):
        if len(ranges) == 1:
            ((first, size),) = ranges
            self.request(self.READ, struct.pack(">4sqi", self.handle, first, size))
            return
        listed = b"".join(struct.pack(">4siq", self.handle, size, first) for first, size in ranges)
        self.request(self.READV, bytes(16), listed)


def main(protocol, host, port, path, ranges, requests):
    make = {"http": Http, "xrootd": XRootD}[protocol]
    connecting = min(make(host, port, path).connecting for _ in range(15))
    client = make(host, port, path)
    # as many as take a second, not much less than 15 and not more than given
    requests = min(max(int(1 / connecting), 15), requests)
    times = []
    for i in range(requests + 1):
        at = i % 1000 * APART
        start = time.perf_counter()
        client.ask([(at + k * APART, SIZE) for k in range(ranges)])
        times.append(time.perf_counter() - start)
    found = {"seconds": 0, "trip": connecting, "request": statistics.median(times[1:]), "requests": len(times)}
    print("RESULT", json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:3], int(sys.argv[3]), sys.argv[4], *map(int, sys.argv[5:]))
