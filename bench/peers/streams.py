"""Plain TCP: a number of bytes over several connections at once; what a path carries, whatever the protocol.

streams.py serve ADDRESS PORT              sends each client the bytes that it requests
streams.py fetch ADDRESS PORT BYTES COUNT  prints the seconds that COUNT connections take for BYTES together
"""

import json
import socket
import sys
import threading
import time

#: Bytes requested at a time, so that no connection is left with more than it can bring; and how many requests ahead.
PIECE, AHEAD = 256 << 10, 3


def serve(address, port):
    with socket.create_server((address, port), backlog=64) as server:
        while True:
            client, _ = server.accept()
            threading.Thread(target=answer, args=(client,), daemon=True).start()


def answer(client):
    """A piece for each byte that arrives."""
    data = b"\0" * PIECE
    with client:
        while asked := client.recv(64):
            for _ in asked:
                client.sendall(data)


def fetch(address, port, size, count):
    left, lock = size, threading.Lock()

    def take():
        nonlocal left
        with lock:
            left -= PIECE
            return left > -PIECE

    def one():
        with socket.create_connection((address, port)) as server:
            due = sum(take() for _ in range(AHEAD)) * PIECE
            server.sendall(b"1" * (due // PIECE))
            while due > 0:
                got = len(server.recv(min(due, PIECE)))
                if got == 0:
                    raise EOFError("the server closed the connection early")
                if (due - 1) // PIECE != (due - got - 1) // PIECE and take():
                    server.sendall(b"1")
                    due += PIECE
                due -= got

    begin = time.perf_counter()
    threads = [threading.Thread(target=one) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("RESULT", json.dumps({"seconds": time.perf_counter() - begin, "bytes": size}))


if __name__ == "__main__":
    what, address, port, *numbers = sys.argv[1:]
    if what == "serve":
        serve(address, int(port))
    else:
        fetch(address, int(port), *map(int, numbers))
