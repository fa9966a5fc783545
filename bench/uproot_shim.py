"""A pytest plugin for `bench/uproot_tests.py`: another module is imported as `uproot`, and files come from a corpus."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import json
import os
import re
import sys
import textwrap
import types
from pathlib import Path

import pytest

_TOLD = json.loads(Path(os.environ["SAPWOOD_UPROOT_TESTS"]).read_text())
_OUTCOMES: dict[str, list[str]] = {}

#: uproot's public names that are modules of its own machinery: tests of these are not about its interface.
_INNER = frozenset(
    (
        "_awkwardforth", "_dask", "_util", "behavior", "behaviors", "cache", "compression", "const",
        "containers", "deserialization", "dynamic", "extras", "interpretation", "language", "model",
        "models", "pyroot", "reading", "serialization", "sink", "source", "streamers", "version", "writing",
        "behavior_of", "class_named", "classname_decode", "classname_encode", "classname_version",
        "classes", "unknown_classes", "has_class_named", "reset_classes", "is_bytes",
        "HTTPSource", "FSSpecSource",
        "FileSource", "MemmapSource", "MultithreadedFileSource", "MultithreadedHTTPSource",
        "MultithreadedXRootDSource", "ObjectSource", "S3Source", "XRootDSource", "Model", "VersionedModel",
        "DispatchByVersion", "UnknownClass", "UnknownClassVersion", "DynamicBehavior", "pyroot_to_buffer",
    )
)  # fmt: skip


@functools.cache
def _corpus() -> dict[str, str]:
    return {path.name: str(path) for path in sorted(Path(_TOLD["corpus"]).rglob("*")) if path.is_file()}


def _data_path(name: str, *_: object, **__: object) -> str:
    found = _corpus().get(name)
    if found is None:
        raise pytest.skip.Exception(f"{name} is not in the corpus", allow_module_level=True)
    return found


@functools.cache
def _cache_path() -> Path:
    """A directory with all files of the corpus by name, for uproot's HTTP server."""
    directory = Path(_TOLD["log"]).parent / "files"
    directory.mkdir(exist_ok=True)
    for name, path in _corpus().items():
        (directory / name).symlink_to(path)
    return directory


def _install() -> None:
    data = types.ModuleType("skhep_testdata")
    data.data_path = _data_path  # type: ignore[attr-defined]
    data.known_files = _corpus()  # type: ignore[attr-defined]
    data.download_all = lambda *_, **__: None  # type: ignore[attr-defined]
    data.data = types.SimpleNamespace(cache_path=_cache_path)  # type: ignore[attr-defined]
    sys.modules["skhep_testdata"] = data
    if importlib.util.find_spec("RangeHTTPServer") is None:
        from http.server import SimpleHTTPRequestHandler

        server = types.ModuleType("RangeHTTPServer")
        server.RangeRequestHandler = SimpleHTTPRequestHandler  # type: ignore[attr-defined]
        sys.modules["RangeHTTPServer"] = server
    if _TOLD["module"] != "uproot":
        sys.modules["uproot"] = importlib.import_module(_TOLD["module"])


_install()


def _left_out(item: pytest.Item) -> str | None:
    """Why a test is not about the interface of trees."""
    function = getattr(item, "function", None)
    if function is None:
        return None
    try:
        source = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        return None
    if (name := re.search(r"(https?|root|s3)://(?!localhost|127)[\w.-]+", source)) is not None:
        return f"the network: {name[1]}"
    if "network" in {mark.name for mark in item.iter_markers()}:
        return "the network"
    if (inner := _inner_name(source)) is not None:
        return f"uproot's inner names: uproot.{inner}"
    if (private := re.search(r"\w\._(?!_)[a-z]\w+", source)) is not None and "self._" not in private[0]:
        return "uproot's private attributes"

    return None


def _inner_name(source: str) -> str | None:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "uproot":
            if node.attr in _INNER:
                return node.attr
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            for name in names:
                first, _, rest = name.partition(".")
                if first == "uproot" and rest:
                    return rest
    return None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    done = set(_TOLD["done"])
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in done])
    items[:] = [item for item in items if item.nodeid not in done]
    for item in items:
        reason = None if _TOLD["all"] else _left_out(item)
        if reason:
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_configure(config: pytest.Config) -> None:
    for name in ("network", "slow", "distributed", "xrootd"):
        config.addinivalue_line("markers", f"{name}: a mark of uproot's")


def _record(kind: str, test: str, why: str = "") -> None:
    """A line of the log; the last one of a test counts. The log is read while the tests run."""
    with open(_TOLD["log"], "a") as log:
        log.write(json.dumps([test, kind, why]) + "\n")


def pytest_runtest_logstart(nodeid: str) -> None:
    _record("running", nodeid)


def pytest_runtest_logfinish(nodeid: str) -> None:
    if nodeid in _OUTCOMES:
        _record(*_OUTCOMES[nodeid][:1], nodeid, *_OUTCOMES[nodeid][1:])


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    before = _OUTCOMES.get(report.nodeid)
    if report.skipped:
        why = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        _OUTCOMES[report.nodeid] = ["skipped", why.removeprefix("Skipped: ")]
    elif report.failed:
        crash = getattr(report.longrepr, "reprcrash", None)
        message = crash.message if crash else str(report.longrepr)
        missing = re.search(r"has no attribute '(\w+)'|No module named 'uproot\.(\w+)'", message)
        if missing and (missing[1] or missing[2]) in _INNER and "uproot" in message:
            _OUTCOMES[report.nodeid] = ["skipped", f"uproot's inner names: uproot.{missing[1] or missing[2]}"]
        else:
            _OUTCOMES[report.nodeid] = ["failed", _short(message)]
    elif report.when == "call" and before is None:
        _OUTCOMES[report.nodeid] = ["passed", ""]


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """A file that cannot be imported counts as one test."""
    if report.failed:
        text = str(report.longrepr)
        lines = [line for line in text.splitlines() if line.startswith("E ")] or text.splitlines()[-1:]
        missing = re.search(r"No module named '([\w.]+)'", text)
        named = re.search(r"module 'sapwood.uproot' has no attribute '(\w+)'", text)
        missing = missing or (named if named and named[1] in _INNER else None)
        inner = missing and (missing[1].startswith("uproot.") or missing is named)
        outcome, why = ("failed", _short(lines[-1].removeprefix("E").strip()))
        if inner:
            outcome, why = "skipped", f"uproot's inner names: {missing[1]}"
        elif missing:
            outcome, why = "skipped", f"needs {missing[1]}"
        _OUTCOMES[report.nodeid] = [outcome, why]
    elif report.skipped and isinstance(report.longrepr, tuple):
        _OUTCOMES[report.nodeid] = ["skipped", report.longrepr[2].removeprefix("Skipped: ")]


def _short(message: str) -> str:
    first = re.sub(r"/\S*/", "", message.strip().split("\n")[0])
    first = re.sub(r" at 0x[0-9a-f]+", "", first)
    return first if len(first) <= 160 else first[:157] + "..."


def pytest_sessionfinish() -> None:
    for test, [outcome, why] in _OUTCOMES.items():
        _record(outcome, test, why)
    _record("finished", "")
