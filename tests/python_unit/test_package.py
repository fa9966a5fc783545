"""The package itself: what an import brings along, and what its classes are called."""

import inspect
import json
import pickle
import re
import subprocess
import sys

import pytest

import sapwood

LIBRARIES = {
    "numpy",
    "awkward",
    "awkward_pandas",
    "hist",
    "boost_histogram",
    "pandas",
    "pyarrow",
    "polars",
    "matplotlib",
    "tqdm",
}
PUBLIC = [name for name in sapwood.__all__ if name != "__version__" and not inspect.ismodule(getattr(sapwood, name))]


def modules_after(code):
    """The modules that a new interpreter has imported after some code."""
    script = f"import json, sys\n{code}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_an_import_brings_no_library_and_few_modules():
    before, after = modules_after(""), modules_after("import sapwood")
    assert not LIBRARIES & after
    # and of the package itself what opening a file needs
    assert not {f"sapwood.{name}" for name in ("chains", "columns", "drawing", "objects", "writing", "reports")} & after
    # it was 37 when this was written
    assert len(after - before) <= 48


def test_opening_a_file_brings_no_library(data):
    after = modules_after(f"import sapwood; sapwood.open({str(data / 'leaves.root')!r}).keys()")
    assert not LIBRARIES & after


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names_say_sapwood(name):
    public = getattr(sapwood, name)
    assert public.__module__ == "sapwood"
    assert public.__qualname__ == name
    assert pickle.loads(pickle.dumps(public)) is public
    if inspect.isclass(public):
        assert repr(public) == f"<class 'sapwood.{name}'>"


def test_what_functions_return_has_a_public_class(data):
    file = sapwood.open(data / "leaves.root")
    tree = file["deep/er/Events"]
    branch = tree.branches[0]
    things = [file, tree, branch, branch.interpretation, tree.entries(), tree.entries()[0]]
    for thing in things:
        assert getattr(sapwood, type(thing).__name__) is type(thing)


def test_pickles_hold_public_names_only(leaves):
    for thing in (leaves.file, leaves.file["deep"], leaves, leaves["n"]):
        # protocol 0 is text
        pickled = pickle.dumps(thing, protocol=0)
        assert not re.search(rb"^csapwood\.", pickled, re.MULTILINE), pickled
