"""What ``sapwood process`` runs."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from typing import Any

from ..chains.chain import chain
from ..errors import Error
from .script import load


def main(arguments: list[str] | None = None) -> int:
    """Run a script over trees and print the result; returns the exit status."""
    parser = argparse.ArgumentParser(prog="sapwood process")
    parser.add_argument("targets", nargs="+")
    parser.add_argument("--executor")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--step-size", default="20 MB")
    parser.add_argument("--cache-size", type=int)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    *targets, script = given.targets
    step_size = int(given.step_size) if given.step_size.isdigit() else given.step_size
    try:
        load(script)
        files = chain(targets, cache_size=given.cache_size, timeout=given.timeout, threads=given.threads)
        progress = not (given.quiet or given.json) and sys.stderr.isatty()
        result = files.process(
            script, executor=given.executor, workers=given.workers, step_size=step_size, progress=progress
        )
    except Error as e:
        cause = e.__cause__
        if cause is not None and type(e).__name__ == "SelectorError":
            # where in the script
            sys.excepthook(type(cause), cause, cause.__traceback__)
        print(f"sapwood: {e}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("sapwood: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    if given.json:
        print(json.dumps({"result": result}, default=_plain))
    elif result is not None:
        print(result)
    return 0


def _plain(value: Any) -> Any:
    """What JSON has no type for: numpy's and awkward's values as numbers and lists."""
    for name in ("tolist", "to_list"):
        if hasattr(value, name):
            return getattr(value, name)()
    return str(value)


if __name__ == "__main__":
    sys.exit(main())
