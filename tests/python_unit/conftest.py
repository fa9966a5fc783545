"""Small files written by ROOT; the values that ROOT read from them are next to them as JSON."""

from pathlib import Path

import pytest

import sapwood

DATA = Path(__file__).parent.parent / "data"


@pytest.fixture(scope="session")
def data():
    """Folder of the files."""
    if not DATA.is_dir():
        pytest.skip("tests/data is absent: run tests/data/make_seeds.py with ROOT")
    return DATA


@pytest.fixture
def leaves(data):
    """20 entries of numbers, fixed and jagged arrays, text and a record."""
    return sapwood.open(data / "leaves.root")["deep/er/Events"]


@pytest.fixture
def collections(data):
    """12 entries of standard containers and strings."""
    return sapwood.open(data / "collections.root")["t"]


@pytest.fixture
def codecs(data):
    """60 entries of a counter and jagged arrays, one for each compression."""
    return sapwood.open(data / "codecs.root")["t"]


@pytest.fixture
def split(data):
    """Branches below branches."""
    return next(iter(sapwood.open(data / "split.root").itervalues(filter_classname="TTree")))
