"""HTTP/1.1 over several connections compared with HTTP/2 over few: the same ranges over TLS, as of a distant reader.

versions.py VERSION CONNECTIONS ADDRESS PORT PATH RANGES: VERSION is 1 or 2, RANGES a file of JSON, lists of [first,
last]; the first list is requested alone, the second alone after it (opening a file), the others together. HTTP/1.1
has one request at a time on a connection, HTTP/2 its whole share in flight. Its windows are as wide as possible.
"""

import json
import queue
import socket
import ssl
import sys
import threading
import time

import h2.config
import h2.connection
import h2.events
import h2.settings

WIDE = 2**31 - 1


def connect(address, port, protocol):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols([protocol])
    plain = socket.create_connection((address, port))
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if hasattr(socket, "SO_RCVLOWAT"):
        # as in Sapwood: the receive window must not limit the sender
        for room in (12 << 20, 1):
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, room)
    return context.wrap_socket(plain)


def header(ranges):
    return "bytes=" + ",".join(f"{first}-{last}" for first, last in ranges)


class One:
    """HTTP/1.1: one request after the other."""

    def __init__(self, address, port, path):
        self.host, self.path = f"{address}:{port}", path
        self.socket = connect(address, port, "http/1.1")
        self.rest = b""

    def ask(self, requests):
        for ranges in requests:
            words = f"GET {self.path} HTTP/1.1\r\nHost: {self.host}\r\nRange: {header(ranges)}\r\n\r\n"
            self.socket.sendall(words.encode())
            while (end := self.rest.find(b"\r\n\r\n")) < 0:
                self.rest += self.socket.recv(1 << 16)
            head, self.rest = self.rest[:end].lower(), self.rest[end + 4 :]
            length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
            got = len(self.rest)
            self.rest = self.rest[length:]
            while got < length:
                got += len(self.socket.recv(1 << 20))
            yield length


class Two:
    """HTTP/2: all requests at once."""

    def __init__(self, address, port, path):
        self.host, self.path = f"{address}:{port}", path
        self.socket = connect(address, port, "h2")
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
        self.h2.local_settings = h2.settings.Settings(
            client=True, initial_values={h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: WIDE}
        )
        self.h2.initiate_connection()
        self.h2.increment_flow_control_window(WIDE - 65_535)
        self.socket.sendall(self.h2.data_to_send())

    def ask(self, requests):
        open_streams, got = set(), {}
        for ranges in requests:
            stream = self.h2.get_next_available_stream_id()
            words = [(":method", "GET"), (":authority", self.host), (":scheme", "https"), (":path", self.path)]
            self.h2.send_headers(stream, [*words, ("range", header(ranges))], end_stream=True)
            open_streams.add(stream)
            got[stream] = 0
        self.socket.sendall(self.h2.data_to_send())
        while open_streams:
            for event in self.h2.receive_data(self.socket.recv(1 << 20)):
                if isinstance(event, h2.events.DataReceived):
                    got[event.stream_id] += len(event.data)
                elif isinstance(event, h2.events.StreamEnded):
                    open_streams.discard(event.stream_id)
                    yield got[event.stream_id]
                elif isinstance(event, (h2.events.StreamReset, h2.events.ConnectionTerminated)):
                    raise OSError(f"the server gives up: {event}")
            self.socket.sendall(self.h2.data_to_send())


def main():
    version, count, address, port, path, ranges = sys.argv[1:]
    kind, count, port = {"1": One, "2": Two}[version], int(count), int(port)
    with open(ranges) as file:
        first, second, *others = json.load(file)
    begin, bytes_ = time.perf_counter(), []
    main_one = kind(address, port, path)
    bytes_ += main_one.ask([first])
    todo = queue.SimpleQueue()
    shares = [others] if version == "1" else [others[i::count] for i in range(count)]
    for share in shares:
        for piece in [[r] for r in share] if version == "1" else [share]:
            todo.put(piece)

    def work(one):
        while True:
            try:
                bytes_.extend((one or kind(address, port, path)).ask(todo.get_nowait()))
            except queue.Empty:
                return

    ready = []
    # the others connect while the second answer is in flight
    dialing = [threading.Thread(target=lambda: ready.append(kind(address, port, path))) for _ in range(count - 1)]
    for thread in dialing:
        thread.start()
    bytes_ += main_one.ask([second])
    for thread in dialing:
        thread.join()
    threads = [threading.Thread(target=work, args=(one,)) for one in [main_one, *ready]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("RESULT", json.dumps({"seconds": time.perf_counter() - begin, "bytes": sum(bytes_)}))


if __name__ == "__main__":
    main()
