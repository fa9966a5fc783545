"""Calls uproot's functions with each of their keywords, beside the same calls of `sapwood.uproot`.

    python bench/uproot_keywords.py [FILE:TREE...]

A keyword that is not tried here is an error of this script, so that a new version of uproot adds to it. Prints what
differs, and ends with status 1 if that is not a difference that `docs/guide/from-uproot.md` describes.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import inspect
import io
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import uproot

import sapwood.uproot

POOL = concurrent.futures.ThreadPoolExecutor(2)

#: Keywords whose results differ on purpose.
DOCUMENTED = (
    {
        ("show", "interpretation_width"): "the last column is the type of the column, not uproot's interpretation",
        ("show", "stream"): "the last column is the type of the column, not uproot's interpretation",
    }
    | {
        (name, "ak_add_doc"): "parameters have the names that are asked for, also those of columns"
        for name in ("arrays", "array", "iterate", "concatenate", "dask")
    }
    | {
        (name, "library"): 'with library="np" objects of classes, and maps, are records of numpy'
        for name in ("iterate", "concatenate", "dask")
    }
    | {
        (name, "filter_typename"): "a table without columns has the number of entries"
        for name in ("arrays", "iterate", "concatenate")
    }
)

#: Values for the keywords of several functions. Each is tried alone; a function takes the tree for what depends on it.
COMMON: dict[str, list[Any]] = {
    "filter_name": [
        "*",
        lambda t: t.keys(recursive=False)[0],
        lambda t: t.keys(recursive=False)[:2],
        "/.*/i",
        lambda t: len,
    ],
    "filter_typename": ["*", "int32_t", lambda t: [t[t.keys(recursive=False)[0]].typename], "/.*64.*/"],
    "filter_branch": [lambda t: lambda branch: branch.name == t.keys(recursive=False)[-1]],
    "recursive": [True, False],
    "full_paths": [True, False],
    "ignore_duplicates": [True, False],
    "entry_start": [None, 0, 3, -5],
    "entry_stop": [None, 7, -1, 10**9],
    "decompression_executor": [None, POOL],
    "interpretation_executor": [None, POOL],
    "array_cache": [None, "10 MB"],
    "object_cache": [None],
    "library": ["ak", "np", "pd"],
    "ak_add_doc": [False, True, {"title": "title"}],
    "how": [None, tuple, dict, list],
    "language": [uproot.language.python.PythonLanguage()],
    "aliases": [None, lambda t: {"one": _number(t)}],
    "custom_classes": [None],
    "allow_missing": [False, True],
    "step_size": [4, "1 kB", "10 kB"],
}
#: Those of one function, by its name.
OWN: dict[str, dict[str, list[Any]]] = {
    "arrays": {
        "expressions": [None, lambda t: _number(t), lambda t: [_number(t)], lambda t: f"{_number(t)} * 2"],
        "cut": [None, lambda t: f"{_number(t)} > 0"],
        "virtual": [False, True],
        "access_log": [None],
    },
    "iterate": {
        "expressions": [None, lambda t: [_number(t)]],
        "cut": [None, lambda t: f"{_number(t)} > 0"],
        "report": [False, True],
    },
    "concatenate": {
        "expressions": [None, lambda t: [_number(t)]],
        "cut": [None, lambda t: f"{_number(t)} > 0"],
    },
    "array": {"interpretation": [None]},
    "num_entries_for": {
        "memory_size": ["1 kB", "10 kB", 3000],
        "expressions": [None, lambda t: [_number(t)]],
        "cut": [None],
    },
    "show": {
        "name_width": [20, 40], "typename_width": [24, 50], "interpretation_width": [34], "stream": [sys.stdout],
    },
    "dask": {
        "library": ["ak", "np"], "steps_per_file": [1, 3], "open_files": [True, False], "step_size": [5],
        "allow_read_errors_with_report": [False], "known_base_form": [None], "form_mapping": [None],
        "decompression_executor": [None], "interpretation_executor": [None],
    },
    "open": {
        "custom_classes": [None], "object_cache": [None], "array_cache": [None], "decompression_executor": [None],
        "interpretation_executor": [None],
    },
}  # fmt: skip

#: Keywords that are refused together with what is always given here, or mean nothing alone.
NOT_TRIED = {
    "arrays": {"filter_field", "backend", "interpreter"},
    "iterate": {"filter_field"},
    "concatenate": {"filter_field"},
    "dask": {"interp_options", "graphed", "filter_field"},
    "keys": {"filter_field"},
}


def _number(tree: Any) -> str:
    """The first branch with one number for each entry."""
    for branch in tree.values(recursive=False):
        if not branch.branches and isinstance(branch.interpretation, uproot.AsDtype):
            return branch.name
    raise LookupError


def functions(module: Any, where: str) -> Iterator[tuple[str, Callable[..., Any], dict[str, Any]]]:
    """Name, function, and the arguments that are always given."""
    path, _, name = where.rpartition(":")
    # uproot keeps arrays, and gives those of an earlier call for other keywords
    tree = module.open({path: name}, array_cache=None)
    yield "arrays", tree.arrays, {}
    yield "iterate", lambda **o: list(tree.iterate(**o)), {"step_size": 50}
    yield "concatenate", lambda **o: module.concatenate({path: name}, **o), {}
    yield "array", tree[tree.keys(recursive=False)[0]].array, {}
    yield "keys", tree.keys, {}
    yield "items", lambda **o: [key for key, _ in tree.items(**o)], {}
    yield "typenames", tree.typenames, {}
    yield "num_entries_for", lambda memory_size="5 kB", **o: tree.num_entries_for(memory_size, **o), {}
    yield "show", lambda **o: _printed(tree.show, o), {}
    yield "dask", lambda **o: _computed(module.dask({path: name}, **o)), {}
    yield "open", lambda **o: module.open(path, **o).keys(), {}


def _printed(show: Callable[..., Any], options: dict[str, Any]) -> list[str]:
    """The names and types that `show` prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        show(**{**options, "stream": out})
    return [line.rpartition("|")[0] for line in out.getvalue().splitlines()]


def _computed(made: Any) -> Any:
    return {key: value.compute() for key, value in made.items()} if isinstance(made, dict) else made.compute()


def signature(name: str, where: str) -> list[str]:
    """The keywords of uproot's function."""
    path, _, tree_name = where.rpartition(":")
    tree = uproot.open({path: tree_name})
    of = {"array": uproot.TBranch.array, "open": uproot.open, "iterate": uproot.iterate}
    function = of.get(name) or getattr(uproot, name, None) or getattr(tree, name)
    skip = ("self", "files", "path", "options")
    return [p for p in inspect.signature(function).parameters if p not in skip]


def same(a: Any, b: Any) -> bool:
    """Whether two results are the same values, of the same types."""
    if isinstance(a, (tuple, list)) and not isinstance(a, str):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return isinstance(b, dict) and list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, ak.Array):
        return isinstance(b, ak.Array) and _type(a) == _type(b) and repr(a.tolist()) == repr(b.tolist())
    if isinstance(a, np.ndarray):
        kinds = a.dtype == b.dtype and a.shape == b.shape
        return kinds and repr([_plain(x) for x in a]) == repr([_plain(x) for x in b])
    if hasattr(a, "to_csv"):
        return a.to_csv() == b.to_csv()
    if type(a).__name__ == "Report":
        return (a.start, a.stop) == (b.start, b.stop)
    return bool(a == b)


def _plain(value: Any) -> Any:
    """Values without their containers: items of collections in collections are numpy's arrays here, not STLVector."""
    if hasattr(value, "items"):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)) or type(value).__name__ == "STLSet":
        return sorted(_plain(item) for item in value)
    if isinstance(value, np.ndarray) or (hasattr(value, "__iter__") and not isinstance(value, (str, bytes, np.void))):
        return [_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) and not isinstance(value, np.void) else value


def _type(array: ak.Array) -> str:
    """The type, without uproot's mark of sets."""
    return re.sub(r'\[([^\[\]]*), parameters=\{"__array__": "set"\}\]', r"\1", str(array.type))


def outcome(function: Callable[..., Any], options: dict[str, Any]) -> tuple[Any, str]:
    """The result, or the kind of error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(**options), ""
    except Exception as e:
        return None, next(c.__name__ for c in type(e).__mro__ if c.__module__ == "builtins")


def compare(where: str) -> tuple[int, list[tuple[str, str, str]]]:
    """The number of calls, and function, keyword and words for each that differs."""
    calls, different = 0, []
    path, _, name = where.rpartition(":")
    tree = uproot.open({path: name})
    for (called, theirs, given), (_, ours, _) in zip(
        functions(uproot, where), functions(sapwood.uproot, where), strict=True
    ):
        for keyword in signature(called, where):
            if keyword in NOT_TRIED.get(called, ()):
                continue
            values = OWN.get(called, {}).get(keyword) or COMMON.get(keyword)
            if values is None:
                raise SystemExit(f"{called}: the keyword {keyword!r} is not tried by this script")
            for value in values:
                try:
                    made = value(tree) if callable(value) and getattr(value, "__name__", "") == "<lambda>" else value
                except LookupError:
                    continue
                options = {**given, keyword: made}
                (expected, failed), (result, refused) = outcome(theirs, options), outcome(ours, options)
                calls += 1
                if failed:
                    # what uproot refuses may work here
                    continue
                if refused or not same(expected, result):
                    words = refused or f"{str(result)[:150]!r}, uproot: {str(expected)[:150]!r}"
                    different.append((called, keyword, f"{called}({keyword}={made!r}): {words}"))
    return calls, different


def sample(folder: Path) -> str:
    """A tree of uproot's, of kinds that people write with it."""
    rng = np.random.default_rng(1)
    lists = ak.unflatten(rng.random(300), np.tile([0, 1, 2, 3], 50))
    with uproot.recreate(folder / "sample.root") as file:
        tree = file.mktree("t", {"i": "int32", "x": "float64", "v": lists.type.content, "a": ("f4", (3,)), "b": "bool"})
        for start in range(0, 200, 40):
            rows = slice(start, start + 40)
            n = np.arange(start, start + 40)
            tree.extend(
                {"i": n.astype("i4"), "x": n / 3, "v": lists[rows], "a": rng.random((40, 3), "f4"), "b": n % 3 == 0}
            )
    return f"{folder / 'sample.root'}:t"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("trees", nargs="*", help="FILE:TREE; a tree that is made where none is given")
    given = parser.parse_args()
    found, calls = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for where in given.trees or [sample(Path(folder))]:
            number, different = compare(where)
            calls += number
            found += different
    unexplained = 0
    for called, keyword, words in found:
        why = DOCUMENTED.get((called, keyword))
        unexplained += why is None
        print(f"{'documented' if why else 'DIFFERENT'}: {words}{f' ({why})' if why else ''}")
    print(f"{calls} calls, {len(found)} differ, {unexplained} of them without a reason; uproot {uproot.__version__}")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
