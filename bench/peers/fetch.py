"""Part of a file as one range over one connection: fetch.py URL BYTES. The cost of the wire and TCP alone."""

import http.client
import json
import sys
import time
from urllib.parse import urlsplit

url, size = urlsplit(sys.argv[1]), int(sys.argv[2])
start = time.perf_counter()
connection = http.client.HTTPConnection(url.hostname, url.port)
connection.request("GET", url.path, headers={"Range": f"bytes=0-{size - 1}"})
reply, got = connection.getresponse(), 0
while part := reply.read(1 << 20):
    got += len(part)
print("RESULT", json.dumps({"seconds": time.perf_counter() - start, "bytes": got}))
