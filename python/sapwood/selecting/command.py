"""What ``sapwood process`` runs."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from ..chains.chain import chain
from ..errors import Error, InvalidError, SelectorError
from .script import selector_or_function
from .selector import Selector


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
    parser.add_argument("--friend", action="append", default=[], type=json.loads)
    parser.add_argument("--index", type=json.loads)
    parser.add_argument("--skip-failed", action="store_true")
    given = parser.parse_args(arguments)
    *targets, script = given.targets
    step_size = int(given.step_size) if given.step_size.isdigit() else given.step_size
    try:
        try:
            found = selector_or_function(os.path.abspath(script))
        except Error:
            raise
        except Exception as e:
            _show(e, os.path.abspath(script))
            print(f"sapwood: {script}: the script cannot be loaded", file=sys.stderr)
            return 1
        files = chain(targets, cache_size=given.cache_size, timeout=given.timeout, threads=given.threads)
        progress = not (given.quiet or given.json) and sys.stderr.isatty()
        for alias, tree, file in given.friend:
            files.add_friend(tree, file, alias=alias, index=given.index)
        failed: list[SelectorError] = []
        if not isinstance(found, Selector):
            if given.executor is not None or given.skip_failed:
                raise InvalidError("a function is drawn by one process: pass neither --executor nor --skip-failed")
            print(files.draw(str(Path(script).resolve()), progress=progress))
            return 0
        result = files.process(
            script, executor=given.executor, workers=given.workers, step_size=step_size, progress=progress,
            on_error=failed.append if given.skip_failed else None,
        )  # fmt: skip
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
    for error in failed:
        print(f"sapwood: skipped: {error}", file=sys.stderr)
    return 1 if failed else 0


def _show(error: Exception, script: str) -> None:
    """Print the traceback of an exception, from the script on."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != script:
        trace = trace.tb_next
    sys.excepthook(type(error), error.with_traceback(trace), trace)


def _plain(value: Any) -> Any:
    """What JSON has no type for: numpy's and awkward's values as numbers and lists."""
    for name in ("tolist", "to_list"):
        if hasattr(value, name):
            return getattr(value, name)()
    return str(value)


if __name__ == "__main__":
    sys.exit(main())
