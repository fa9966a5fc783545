"""What ``sapwood draw --dask`` runs: prints the number of entries and the histogram as bytes."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import contextmanager
from typing import Any

from ..errors import Error, MissingLibraryError

#: Exit status after an error that has been printed.
REPORTED = 3


def main(arguments: list[str] | None = None) -> int:
    """Draw and return the exit status."""
    parser = argparse.ArgumentParser(prog="sapwood draw --dask")
    parser.add_argument("targets", nargs="+")
    for name in ("scheduler", "expression", "cut", "option", "bins"):
        parser.add_argument("--" + name, default="")
    parser.add_argument("--alias", action="append", default=[])
    parser.add_argument("--workers", type=int)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--cache-size", type=int)
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--skip-bad", action="store_true")
    parser.add_argument("--quiet", action="store_true")
    given = parser.parse_args(arguments)
    try:
        entries, part = _draw(given)
    except MissingLibraryError as e:
        print(f"sapwood: {e} ({sys.executable})", file=sys.stderr)
        return REPORTED
    except (Error, OSError) as e:
        print(f"sapwood: {e}", file=sys.stderr)
        return REPORTED
    except KeyboardInterrupt:
        print("sapwood: interrupted", file=sys.stderr)
        return REPORTED
    sys.stdout.buffer.write(entries.to_bytes(8, "little") + part)
    return 0


def _draw(given: argparse.Namespace) -> tuple[int, bytes]:
    from ..chains.chain import chain
    from ..drawing.parts import draw_bytes

    axes = [
        (n, None if limits is None else tuple(limits), edges) for n, limits, edges in json.loads(given.bins or "[]")
    ]
    files = chain(
        given.targets, cache_size=given.cache_size, timeout=given.timeout, threads=given.threads,
        skip_bad_files=given.skip_bad,
    )  # fmt: skip
    aliases = [tuple(text.split("=", 1)) for text in given.alias]
    drawing: Any = (given.expression, given.cut, axes, given.option, aliases)
    with _client(given.scheduler, given.workers) as scheduler:
        return draw_bytes(files, drawing, not given.quiet and sys.stderr.isatty(), scheduler)


@contextmanager
def _client(address: str, workers: int | None):
    """The client of the scheduler, or of processes on this machine."""
    from ..errors import require

    distributed = require("distributed", "--dask")
    if address != "local":
        yield address
        return
    with (
        distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


if __name__ == "__main__":
    sys.exit(main())
