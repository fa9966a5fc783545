"""Plain clients that read chunks of a file: over HTTP (`Web`) and over the XRootD protocol (`Xrd`), without any library
that caches, retries or reads ahead."""

import http.client
import socket
import struct
import time
from urllib.parse import urlsplit

OK, SO_FAR, REDIRECT, ERROR, WAIT = 0, 4000, 4004, 4003, 4005
LOGIN, OPEN, READ, CLOSE = 3007, 3010, 3013, 3003


class Refused(Exception):
    """The server returned an error, or detected that the file has changed."""


class Web:
    """One connection. The file's version is that of the first answer; later ones must be of the same (If-Range)."""

    def __init__(self, url, timeout=60):
        parts = urlsplit(url)
        self.path, self.version = parts.path, None
        self.connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)

    def ask(self, start, size):
        """The answer to a request for a range, its body not yet read."""
        headers = {"Range": f"bytes={start}-{start + size - 1}"}
        if self.version:
            headers["If-Range"] = self.version
        try:
            self.connection.request("GET", self.path, headers=headers)
            answer = self.connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            raise Refused(str(error)) from None
        if answer.status != 206:
            # 200: all of another version
            self.connection.close()
            raise Refused(f"status {answer.status}")
        version = answer.headers["ETag"] or answer.headers["Last-Modified"]
        if self.version and version != self.version:
            self.connection.close()
            raise Refused("another version")
        self.version = version
        return answer

    def read(self, start, size):
        try:
            data = self.ask(start, size).read()
        except (OSError, http.client.HTTPException) as error:
            raise Refused(str(error)) from None
        if len(data) != size:
            raise Refused(f"{len(data)} bytes of {size}")
        return data

    def close(self):
        self.connection.close()


class Xrd:
    """One connection with one open file."""

    def __init__(self, url, timeout=60):
        parts = urlsplit(url)
        self.socket = socket.create_connection((parts.hostname, parts.port), timeout)
        try:
            self.socket.sendall(struct.pack(">iiiii", 0, 0, 0, 4, 2012))
            self.exactly(16)
            self.call(LOGIN, struct.pack(">i8sBBBB", 1, b"bench", 0, 0, 5, 0))
            # kXR_open_read | kXR_retstat
            self.handle = self.call(OPEN, struct.pack(">HH12x", 0, 0x0410), parts.path[1:].encode())[:4]
        except BaseException:
            self.socket.close()
            raise

    def exactly(self, size, pace=None):
        """This many bytes; with `pace`: with pauses between pieces of 64 kB."""
        parts, left = [], size
        while left:
            part = self.socket.recv(min(left, 65536))
            if not part:
                raise Refused("the connection was closed")
            parts.append(part)
            left -= len(part)
            if pace:
                time.sleep(pace)
        return b"".join(parts)

    def call(self, request, body, data=b"", pace=None):
        """The bytes of the answer."""
        message = struct.pack(">HH", 1, request) + body + struct.pack(">i", len(data)) + data
        try:
            self.socket.sendall(message)
            found = b""
            while True:
                _, status, size = struct.unpack(">HHi", self.exactly(8))
                part = self.exactly(size, pace)
                if status in (OK, SO_FAR):
                    found += part
                    if status == OK:
                        return found
                elif status == WAIT:
                    time.sleep(struct.unpack(">i", part[:4])[0])
                    self.socket.sendall(message)
                else:
                    said = part[4:].rstrip(b"\0").decode(errors="replace") if status == ERROR else f"status {status}"
                    raise Refused(said)
        except OSError as error:
            raise Refused(str(error)) from None

    def read(self, start, size, pace=None):
        data = self.call(READ, self.handle + struct.pack(">qi", start, size), pace=pace)
        if len(data) != size:
            raise Refused(f"{len(data)} bytes of {size}")
        return data

    def close(self):
        self.socket.close()


def opened(url):
    """A client for an address."""
    return Xrd(url) if url.startswith("root:") else Web(url)
