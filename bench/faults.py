#!/usr/bin/env python3
"""What happens when the network goes away, or the server, while a tree is read; needs root (the WAN lab).

    python bench/faults.py TREE.root:NAME [--protocol http|xrootd] [--seconds 5 30 100] [--page docs/benchmarks.md]

Every value must be right in the end, at most 3 s later than the fault lasted; or there must be an error within the
progress timeout. Whatever comes of it, nothing may be left: no thread, no open file, no connection but those that are
kept for the next file.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import lab
from regions import with_region

CLIENT = Path(__file__).parent / "peers" / "faulty.py"
#: ms, Mbit/s; the fault starts this many seconds after the server's first request.
LINK, BEFORE = (22, 100), 4
#: Seconds: the default progress timeout, one that outlasts every fault, the extra time that a fault may cost, and how
#: late after the timeout an error may be (testing whether the server can be reached takes 2 s).
USUAL, LONG, SLACK, LATE = 60, 150, 3, 5
#: Connections that are kept for the next file.
KEPT = 16


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("tree", help="local file and the name of its tree")
    options.add_argument("--protocol", choices=["http", "xrootd"], action="append")
    options.add_argument("--seconds", type=int, nargs="+", default=[5, 30, 100])
    options.add_argument("-o", "--output", type=Path, help="the rows as JSON")
    options.add_argument("--page", type=Path, help="docs/benchmarks.md: its part on faults is written anew")
    given = options.parse_args()
    lacking = lab.why_no_lab()
    if lacking:
        sys.exit(lacking)
    file, _, tree = given.tree.partition(":")
    path = Path(file).resolve()
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        truth = read([], str(path), tree, USUAL)
        for protocol in given.protocol or ["http", "xrootd"]:
            make = {"http": lab.Nginx, "xrootd": lab.XRootD}[protocol]
            with lab.network(*LINK, scratch=scratch) as network, make(path.parent, network) as server:
                for row in faults(server, network, path.name, tree, given.seconds, truth):
                    rows.append({"protocol": protocol, **row})
                    print(json.dumps(rows[-1]), flush=True)
    if given.output:
        given.output.write_text(json.dumps(rows, indent=1))
    if given.page:
        given.page.write_text(with_region(given.page.read_text(), "faults", table(path, rows)))
    sys.exit(0 if all(row["good"] for row in rows) else 1)


def table(path, rows):
    """The rows for a page."""
    ms, mbits = LINK
    out = [
        "## Faults",
        "",
        f"`bench/faults.py`: all branches of a tree of {path.stat().st_size / 1e6:.0f} MB, {ms} ms, {mbits} Mbit/s;",
        f"the fault comes {BEFORE} s after the first request. *Later*: seconds beyond the time without a fault and the",
        "fault's own. *Error after*: seconds from the fault to an error that names the file. *Left*: threads, files",
        f"and connections open afterwards (up to {KEPT} connections are kept for the next file).",
        "",
        "| | fault | progress timeout, s | values | later, s | error after, s | left |",
        "| --- | --- | ---: | --- | ---: | ---: | ---: |",
    ]
    for row in rows:
        fault = f"{row['fault']}, {row['away']} s" if "away" in row else "none"
        later, waited = (f"{row[key]:.1f}" if key in row else "" for key in ("later", "waited"))
        values = "none" if row["error"] else "right" if row["right"] else "WRONG"
        left = f"{row['threads']}, {row['files']}, {row['sockets']}"
        protocol = {"http": "HTTP", "xrootd": "XRootD"}[row["protocol"]]
        timeout = row.get("timeout", USUAL)
        out.append(f"| {protocol} | {fault} | {timeout} | {values} | {later} | {waited} | {left} |")
    return "\n".join(out)


def faults(server, network, name, tree, seconds, truth):
    """Reads the tree without and with each fault; returns the result, and whether it is acceptable."""
    url = server.url(name)
    plain = read(network.client, url, tree, USUAL)
    right = plain["sum"] == truth["sum"]
    yield {"fault": "none", **plain, "right": right, "good": right and clean(plain)}

    def disturbed(fault, away, timeout, begin, end):
        server.forget()
        over = threading.Event()
        helper = threading.Thread(target=disturb, args=(server, over, away, begin, end))
        helper.start()
        try:
            found = read(network.client, url, tree, timeout)
        finally:
            over.set()
            helper.join()
        later = found["seconds"] - plain["seconds"] - away
        right = found["sum"] == truth["sum"]
        row = {"fault": fault, "away": away, "timeout": timeout, **found, "right": right}
        if away < timeout:
            return row | {"later": later, "good": right and later <= SLACK and clean(found)}
        # the file is named, and the error comes after the timeout without progress
        waited = found["seconds"] - BEFORE
        named = found["error"] is not None and name in found["error"]
        return row | {"waited": waited, "good": named and waited <= timeout + LATE and clean(found)}

    for away in seconds:
        for timeout in [USUAL] if away < USUAL else [USUAL, LONG]:
            yield disturbed("black hole", away, timeout, network.toggle, network.toggle)
    yield disturbed("server killed", 5, USUAL, server.kill, server.revive)


def disturb(server, over, away, begin, end):
    """Starts the fault some time after the first request, and ends it."""
    while not server.wire()["requests"]:
        if over.is_set():
            return
    if over.wait(BEFORE):
        return
    begin()
    over.wait(away)
    end()


def clean(found):
    return found["threads"] <= 0 and found["files"] <= 0 and found["sockets"] <= KEPT


def read(client, url, tree, timeout):
    """The checksum of all values, or the error; the seconds used; what was left open afterwards."""
    words = [*client, sys.executable, CLIENT, url, tree, timeout]
    began = time.monotonic()
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise RuntimeError(f"{url} after {time.monotonic() - began:.1f} s: {done.stderr[-2000:]}")
    return json.loads(done.stdout)


if __name__ == "__main__":
    main()
