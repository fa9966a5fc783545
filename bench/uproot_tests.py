"""Runs a folder of uproot's own tests with `sapwood.uproot` in place of `uproot`, and counts what passes and why not.

    python bench/uproot_tests.py FOLDER [--corpus FOLDER] [--module sapwood.uproot] [--markdown docs/uproot.md]
                                 [TEST...]

FOLDER is the folder `tests` of a checkout of uproot. The files of scikit-hep-testdata are looked for below --corpus by
their names; a test whose file is not there is skipped. Tests of uproot's inner modules are left out, each with its
reason; those of ntuples are counted apart. A test without a result after --limit seconds has failed, and the others go
on. `--module uproot` gives the numbers of uproot itself on this machine, to tell what fails for lack of a network.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from uproot_reasons import reason_for

HERE = Path(__file__).resolve().parent
CORPUS = HERE.parent.parent / "shared" / "corpus"


def main() -> None:
    given = _arguments()
    with tempfile.TemporaryDirectory(prefix="uproot-tests-") as folder:
        outcomes = run(given, Path(folder))
    report(outcomes, given.verbose)
    if given.json:
        given.json.write_text(json.dumps(outcomes, indent=1, sort_keys=True) + "\n")
    if given.markdown:
        given.markdown.write_text(markdown(outcomes))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="the folder with uproot's tests")
    parser.add_argument("tests", nargs="*", help="only these files or node ids, relative to FOLDER")
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="where the files of scikit-hep-testdata are")
    parser.add_argument("--module", default="sapwood.uproot", help="what is imported as uproot")
    parser.add_argument("--all", action="store_true", help="include uproot's inner modules")
    parser.add_argument("--limit", type=float, default=120, help="seconds after which a test has failed")
    parser.add_argument("--json", type=Path, help="write all outcomes to this file")
    parser.add_argument("--markdown", type=Path, help="write the list of failures to this file")
    parser.add_argument("-v", "--verbose", action="store_true", help="print every failed test")
    return parser.parse_args()


def run(given: argparse.Namespace, scratch: Path) -> dict[str, list[str]]:
    """Outcome and reason of each test.

    One process runs them all. If a test takes too long or ends the process, another process runs those that are left.
    """
    outcomes: dict[str, list[str]] = {}
    for number in itertools.count():
        log = scratch / f"outcomes{number}.jsonl"
        process = _start(given, scratch, log, sorted(outcomes))
        last, read = _watch(process, log, given.limit)
        outcomes.update(read)
        if last == "":
            return outcomes
        if last is None:
            sys.exit((scratch / "stdout").read_text())
        print(f"{last}: {outcomes[last][1]}", file=sys.stderr)
    raise AssertionError("unreachable")


def _start(given: argparse.Namespace, scratch: Path, log: Path, done: list[str]) -> subprocess.Popen[bytes]:
    told = {"log": str(log), "corpus": str(given.corpus), "module": given.module, "all": given.all, "done": done}
    names = [str((given.folder / t).resolve()) for t in given.tests] or [str(given.folder.resolve())]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "uproot_shim", "-p", "no:cacheprovider", "--tb=no"]
    command += ["--continue-on-collection-errors"]
    command += ["--rootdir", str(given.folder.resolve()), "-c", os.devnull, "--basetemp", str(scratch / "tmp")]
    path = os.pathsep.join(p for p in (str(HERE), os.environ.get("PYTHONPATH", "")) if p)
    settings = scratch / "settings.json"
    settings.write_text(json.dumps(told))
    environment = {**os.environ, "PYTHONPATH": path, "SAPWOOD_UPROOT_TESTS": str(settings)}
    with (scratch / "stdout").open("w") as output:
        return subprocess.Popen(
            [*command, *names], env=environment, cwd=scratch, stdout=output, stderr=output, start_new_session=True
        )


def _watch(process: subprocess.Popen[bytes], log: Path, limit: float) -> tuple[str | None, dict[str, list[str]]]:
    """The test that ended the process ("" if all ran, None if none began), and the outcomes."""
    size, since, status = 0, time.monotonic(), None
    while status is None:
        try:
            status = process.wait(timeout=0.5)
        except subprocess.TimeoutExpired:
            now = log.stat().st_size if log.exists() else 0
            if now != size:
                size, since = now, time.monotonic()
            # before the first test all files are imported
            elif now and time.monotonic() - since > limit:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                break
    lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    outcomes = {test: [kind, why] for test, kind, why in lines if kind not in ("running", "finished")}
    if not lines or lines[-1][1] == "finished":
        return ("" if lines else None), outcomes
    last = lines[-1][0]
    why = f"no result within {limit:g} seconds" if status is None else f"the process ended with status {status}"
    return last, {**outcomes, last: ["failed", why]}


def report(outcomes: dict[str, list[str]], verbose: bool) -> None:
    """Print the reasons, the most frequent ones first, and the sums."""
    reasons = Counter((outcome, why) for outcome, why in outcomes.values() if outcome != "passed")
    for (outcome, why), number in sorted(reasons.items(), key=lambda item: (item[0][0] != "failed", -item[1])):
        print(f"{number:5} {outcome}: {why}")
        if verbose and outcome == "failed":
            for test, [o, w] in outcomes.items():
                if (o, w) == (outcome, why):
                    print(f"            {test}")
    counts = Counter(outcome for outcome, _ in outcomes.values())
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")


def markdown(outcomes: dict[str, list[str]]) -> str:
    """The page docs/uproot.md."""
    counts = Counter((outcome, _of_ntuples(test)) for test, [outcome, _] in outcomes.items())
    skipped_tests = counts["skipped", False] + counts["skipped", True]
    lines = [
        "# uproot's own tests",
        "",
        "Generated by `bench/uproot_tests.py`; do not edit. uproot's public tests were run with `sapwood.uproot` in",
        f"place of `uproot`: {counts['passed', False]} passed, {counts['failed', False]} failed; of those of ntuples",
        f"{counts['passed', True]} passed, {counts['failed', True]} failed; {skipped_tests} were skipped.",
        "",
        "    python bench/uproot_tests.py UPROOT/tests --markdown docs/uproot.md",
        "",
        "## What does not pass",
        "",
        "| test | reason |",
        "| --- | --- |",
    ]
    failed = sorted((test, why) for test, [outcome, why] in outcomes.items() if outcome == "failed")
    lines += [f"| `{test}` | {_cell(reason_for(test) or why)} |" for test, why in failed]
    lines += ["", "## What was skipped", "", "| tests | reason |", "| --- | --- |"]
    skipped = Counter(why for outcome, why in outcomes.values() if outcome == "skipped")
    lines += [f"| {number} | {_cell(why)} |" for why, number in sorted(skipped.items(), key=lambda i: (-i[1], i[0]))]
    return "\n".join(lines) + "\n"


def _of_ntuples(test: str) -> bool:
    """Whether a test is about ntuples, by its name."""
    return re.search("rntuple|ntpl", test, re.IGNORECASE) is not None


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    main()
