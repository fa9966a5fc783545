"""Every failure is a sapwood.Error and the built-in exception that people catch."""

import pickle

import pytest

import sapwood


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.root") as caught:
        sapwood.open(tmp_path / "none.root")
    assert isinstance(caught.value, sapwood.Error)
    assert caught.value.file.endswith("none.root")


def test_a_directory(tmp_path):
    with pytest.raises(IsADirectoryError, match="directory"):
        sapwood.open(tmp_path)


def test_not_a_root_file(tmp_path):
    (tmp_path / "x.root").write_bytes(b"not at all " * 100)
    with pytest.raises(sapwood.CorruptError, match=r"x\.root"):
        sapwood.open(tmp_path / "x.root")


def test_a_file_that_ends_early(data, tmp_path):
    (tmp_path / "short.root").write_bytes((data / "leaves.root").read_bytes()[:2000])
    with pytest.warns(sapwood.RecoveredFileWarning, match="TTree Events at byte 428 is truncated"):
        file = sapwood.open(tmp_path / "short.root")
    with pytest.raises(sapwood.KeyInFileError, match=r"short\.root.*in the recovered part of the file"):
        file["deep/er/Events"]
    (tmp_path / "shorter.root").write_bytes((data / "leaves.root").read_bytes()[:200])
    with pytest.raises(sapwood.CorruptError, match=r"shorter\.root.*truncated"):
        sapwood.open(tmp_path / "shorter.root")


def test_missing_keys_are_readable_and_name_near_misses(leaves):
    with pytest.raises(KeyError) as caught:
        leaves["paris"]
    assert isinstance(caught.value, sapwood.KeyInFileError)
    assert "'pairs'" in str(caught.value)
    assert not str(caught.value).startswith(("'", '"'))
    with pytest.raises(sapwood.KeyInFileError, match="nothing"):
        leaves.file["nothing"]
    with pytest.raises(sapwood.KeyInFileError, match="Events"):
        leaves.file["deep/er/Events;7"]


@pytest.mark.parametrize(
    "options",
    [{"timeout": 0}, {"timeout": "x"}, {"threads": 0}, {"threads": 1.5}, {"cache_size": "much"}, {"cache_size": -1}],
)
def test_options_that_make_no_sense(data, options):
    with pytest.raises(ValueError, match=next(iter(options))):
        sapwood.open(data / "leaves.root", **options)


def test_a_closed_file(data):
    with sapwood.open(data / "leaves.root") as file:
        tree = file["deep/er/Events"]
        assert not file.closed
    assert file.closed
    for use in (lambda: tree["i8"].array(), lambda: tree.draw("i8"), lambda: file["deep"], file.keys):
        for expected in (sapwood.ClosedError, ValueError, OSError):
            with pytest.raises(expected, match="closed"):
                use()


@pytest.mark.parametrize("name", [n for n in sapwood.__all__ if n.endswith("Error")])
def test_exceptions_can_be_pickled(name):
    error = getattr(sapwood, name)("what", file="f", branch="b", span=(1, 2))
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.file, again.branch, again.span) == (type(error), "what", "f", "b", (1, 2))


def test_built_in_bases():
    bases = {
        sapwood.FileMissingError: FileNotFoundError,
        sapwood.KeyInFileError: KeyError,
        sapwood.InvalidError: ValueError,
        sapwood.ClosedError: (sapwood.InvalidError, OSError),
        sapwood.UnsupportedError: NotImplementedError,
        sapwood.CorruptError: (OSError, ValueError),
        sapwood.StalledError: TimeoutError,
        sapwood.DefectError: RuntimeError,
        sapwood.DeniedError: PermissionError,
        sapwood.ReadError: OSError,
        sapwood.MissingLibraryError: ImportError,
    }
    for ours, theirs in bases.items():
        expected = theirs if isinstance(theirs, tuple) else (theirs,)
        assert all(issubclass(ours, base) for base in (sapwood.Error, *expected)), ours


def test_a_library_that_is_not_installed(leaves, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        leaves["i8"].array(library="pd")
