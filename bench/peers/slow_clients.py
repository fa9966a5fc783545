"""Many slow clients at once: slow_clients.py FILE SECONDS COUNT URL [COUNT URL ...]

Each has one connection, and reads 4 MB at random positions in pieces of 64 kB with a pause after each. The bytes are
compared with the local FILE."""

import json
import mmap
import random
import sys
import threading
import time

from chunks import Refused, Web, Xrd

SIZE, PAUSE = 4_000_000, 0.05


def web(url):
    client = Web(url)

    def read(start):
        answer, parts = client.ask(start, SIZE), []
        while part := answer.read(65536):
            parts.append(part)
            time.sleep(PAUSE)
        return b"".join(parts)

    return read


def xrd(url):
    client = Xrd(url)
    return lambda start: client.read(start, SIZE, PAUSE)


def run(number, url):
    chance = random.Random(number)
    try:
        read = (xrd if url.startswith("root:") else web)(url)
        while time.monotonic() < end:
            start = chance.randrange(len(local) - SIZE)
            data = read(start)
            done.append(len(data))
            if data != local[start : start + SIZE]:
                failures.append("wrong bytes")
    except (OSError, Refused) as error:
        failures.append(str(error))


with open(sys.argv[1], "rb") as file:
    local = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    end, done, failures = time.monotonic() + float(sys.argv[2]), [], []
    urls = [url for count, url in zip(sys.argv[3::2], sys.argv[4::2], strict=True) for _ in range(int(count))]
    start = time.perf_counter()
    threads = [threading.Thread(target=run, args=item) for item in enumerate(urls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
seconds = time.perf_counter() - start
print("RESULT", json.dumps({"seconds": seconds, "bytes": sum(done), "failures": failures[:5], "failed": len(failures)}))
