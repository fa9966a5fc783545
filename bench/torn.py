#!/usr/bin/env python3
"""What comes out of a caching proxy when the origin changes, or when bytes of what it holds are flipped: counted.

    python bench/torn.py [--sapwood COMMAND] [--only 'sapwood proxy'] [--json FILE] [--page docs/benchmarks.md]

Plain clients read a file chunk by chunk. In a session, which is one open file of the XRootD protocol or one ETag of
HTTP, all chunks have to be of one version of the file, or refused. Ends with status 1 if `sapwood proxy` gave a wrong
one.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
from pathlib import Path

import lab
import proxies
from regions import with_region
from torn_scenes import SCENES
from torn_session import CHUNKS, REFUSED, SIZE, WRONG, Subject


def subjects(folder, network, sapwood):
    """Each proxy over each of its protocols, with its origin; context managers."""
    web, root = lab.Nginx(folder, network), lab.XRootD(folder, network)
    for origin, protocol, make in (
        (root, "xrootd", lambda: proxies.XCache(root, network)),
        (web, "http", lambda: proxies.NginxCache(web, network)),
        (root, "xrootd", lambda: proxies.SapwoodProxy(root, network, sapwood)),
        (web, "http", lambda: proxies.SapwoodProxy(web, network, sapwood)),
        (root, "http", lambda: proxies.SapwoodProxy(root, network, sapwood)),
        (web, "xrootd", lambda: proxies.SapwoodProxy(web, network, sapwood)),
    ):
        spoken = {"http": "HTTP", "xrootd": "XRootD"}
        proxy_title = make().title
        title = proxy_title
        if proxy_title == "sapwood proxy":
            title += f", {spoken[protocol]} from {spoken['http' if origin is web else 'xrootd']}"
        yield title, origin, protocol, make


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sapwood", type=Path, default=Path(sys.executable).parent / "sapwood", help="the command")
    parser.add_argument("--only", default="", help="proxies whose title has this")
    parser.add_argument("--scene", default="", help="only where this is in the name")
    parser.add_argument("--json", type=Path, help="the counts as JSON")
    parser.add_argument("--page", type=Path, help="docs/benchmarks.md: its part on wrong bytes is written anew")
    options = parser.parse_args()
    # terminated from outside: the servers are stopped, too
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    found = {}
    with tempfile.TemporaryDirectory(prefix="sapwood-torn-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        network = lab.network(0, 0, scratch=folder)
        for title, origin, protocol, make in subjects(folder, network, options.sapwood):
            if options.only not in title:
                continue
            with origin, make() as proxy:
                subject = Subject(title, proxy, protocol, folder)
                for scene, run in SCENES.items():
                    if options.scene not in scene:
                        continue
                    counts = run(subject)
                    found.setdefault(scene, {})[title] = dict(counts)
                    print(f"{title}: {scene}: " + ", ".join(f"{n} {what}" for what, n in counts.items()), flush=True)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))
    if options.page:
        options.page.write_text(with_region(options.page.read_text(), "torn", table(found)))
    wrong = sum(counts.get(WRONG, 0) for row in found.values() for title, counts in row.items() if "sapwood" in title)
    sys.exit(f"{wrong} wrong chunks from sapwood proxy" if wrong else 0)


def table(found):
    """The counts as a section of a page."""
    titles = list(dict.fromkeys(title for row in found.values() for title in row))
    lines = [
        "## Wrong bytes",
        "",
        f"`bench/torn.py`: chunks of {SIZE >> 10} KiB of a file of {CHUNKS}, read one by one by plain clients through "
        "a proxy. Wrong (of another version than the chunks before, or of none) / refused.",
        "",
        "| |" + "".join(f" {title} |" for title in titles),
        "| --- |" + " ---: |" * len(titles),
    ]
    for scene, row in found.items():
        cells = [row.get(title) for title in titles]
        texts = ["" if c is None else f"{c.get(WRONG, 0)} / {c.get(REFUSED, 0)}" for c in cells]
        lines.append(f"| {scene} |" + "".join(f" {text} |" for text in texts))
    return "\n".join(lines)


if __name__ == "__main__":
    main()
