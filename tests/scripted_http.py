"""An HTTP server that answers as a test tells it, to the byte."""

from __future__ import annotations

import socket
import threading
from typing import NamedTuple


class Asked(NamedTuple):
    """A request: how many came before it, its path, its headers by lower-case name, and its ranges (first, last)."""

    number: int
    path: str
    headers: dict[str, str]
    ranges: list[tuple[int, int]]


def head(status, headers, length=None):
    """A status line and headers as they go out."""
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in headers)]
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def whole(status, headers=(), body=b""):
    """An answer that is all it should be."""
    return head(status, headers, len(body)) + body


def part(first, last, total, data, boundary="XYZ"):
    """One part of a multipart body; the data may be other than the range says."""
    return f"\r\n--{boundary}\r\nContent-Range: bytes {first}-{last}/{total}\r\n\r\n".encode() + data


def multipart(parts, headers=(), boundary="XYZ"):
    """Parts as an answer."""
    body = b"".join(parts) + f"\r\n--{boundary}--\r\n".encode()
    kind = ("Content-Type", f"multipart/byteranges; boundary={boundary}")
    return whole("206 Partial Content", [kind, *headers], body)


def good(asked, data, headers=()):
    """The right answer."""
    size = len(data)
    if not asked.ranges:
        return whole("200 OK", headers, data)
    if len(asked.ranges) > 1:
        return multipart([part(a, b, size, data[a : b + 1]) for a, b in asked.ranges], headers)
    ((a, b),) = asked.ranges
    range_ = ("Content-Range", f"bytes {a}-{b}/{size}")
    return whole("206 Partial Content", [range_, *headers], data[a : b + 1])


class Scripted:
    """Serves `data`; `answer(asked, data)` gives bytes, or an iterable of bytes, after whose end the connection is
    closed. What it raises closes the connection, too."""

    def __init__(self, data, answer, address="127.0.0.1", tls=None):
        self.data, self.answer, self.tls = data, answer, tls
        self.asked, self.lock, self.stopped = [], threading.Lock(), threading.Event()
        self.listener = socket.create_server((address, 0), backlog=64)
        self.address, self.port = address, self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, path="f.root"):
        return f"{'https' if self.tls else 'http'}://{self.address}:{self.port}/{path}"

    def stop(self):
        self.stopped.set()
        self.listener.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def _accept(self):
        while True:
            try:
                stream, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._converse, args=(stream,), daemon=True).start()

    def _converse(self, stream):
        try:
            if self.tls:
                stream = self.tls.wrap_socket(stream, server_side=True)
            with stream, stream.makefile("rb") as lines:
                while asked := self._read(lines):
                    answer = self.answer(asked, self.data)
                    if isinstance(answer, bytes):
                        stream.sendall(answer)
                        continue
                    for piece in answer:
                        if self.stopped.is_set():
                            return
                        stream.sendall(piece)
                    return
        except (OSError, ValueError):
            pass

    def _read(self, lines):
        first = lines.readline()
        if not first:
            return None
        headers = {}
        while (line := lines.readline().strip()) and len(headers) < 100:
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        ranges = []
        size = len(self.data)
        for text in headers.get("range", "").removeprefix("bytes=").split(","):
            a, dash, b = text.partition("-")
            if dash:
                ranges.append((int(a), min(int(b), size - 1)) if a else (max(size - int(b), 0), size - 1))
        with self.lock:
            asked = Asked(len(self.asked), first.split(b" ")[1].decode("latin-1"), headers, ranges)
            self.asked.append(asked)
        return asked
