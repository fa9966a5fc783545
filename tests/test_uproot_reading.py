"""uproot's interface for reading, on Sapwood's own trees: no surprise for those who come from there."""

from __future__ import annotations

import io
import pickle
import zlib
from pathlib import Path

import awkward as ak
import numpy as np
import pytest

import sapwood

CORPUS = Path(__file__).parent.parent.parent / "shared" / "corpus"
X = np.arange(10.0)
LISTS = ak.Array([[1.5], [], [2.5, 3.5], [4.5, 5.5, 6.5], []] * 2)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A file with numbers, lists and a histogram."""
    path = tmp_path_factory.mktemp("uproot") / "a.root"
    with sapwood.recreate(path) as file:
        file["h"] = np.histogram(X)
        tree = file.mktree("dir/t", {"x": "f8", "v": "var * float64"}, "a title", titles={"x": "x of it"})
        tree.extend({"x": X, "v": LISTS})
    return path


@pytest.fixture
def tree(path):
    with sapwood.open(path) as file:
        yield file["dir/t"]


def test_numpy_takes_a_branch_as_its_values(tree):
    assert np.asarray(tree["x"]).tolist() == X.tolist()
    assert np.sum(tree["x"]) == X.sum()
    assert np.asarray(tree["x"], dtype="f4").dtype == np.float32
    assert [list(v) for v in np.asarray(tree["v"])] == LISTS.tolist()


def test_a_histogram_is_filled_with_a_branch(tree):
    hist = pytest.importorskip("hist")
    h = hist.Hist.new.Reg(10, 0, 10).Double()
    h.fill(tree["x"])
    assert h.values().tolist() == [1.0] * 10


def test_with_around_a_tree_or_branch_closes_the_file(path):
    with sapwood.open(f"{path}:dir/t") as tree:
        assert tree.num_entries == 10
    assert tree.closed
    with pytest.raises(sapwood.InvalidError, match="closed"):
        tree.arrays()
    with sapwood.open(f"{path}:dir/t/x") as branch:
        assert not branch.closed
    assert branch.file.closed


def test_an_object_remembers_its_file(path):
    with sapwood.open(f"{path}:h") as h:
        assert pickle.loads(pickle.dumps(h)).file.file_path == str(path)


def test_options_of_uproot_are_accepted(path):
    with sapwood.open(path, num_workers=1, object_cache=None, array_cache="1 MB", handler=None) as file:
        tree = file["dir/t"]
        assert len(tree.arrays(language=None, decompression_executor=None)) == 10
        assert tree.num_entries_for("1 kB", cut="x > 0", entry_start=0) >= 1
        assert tree.keys(ignore_duplicates=True) == tree.keys()
    with pytest.raises(TypeError, match="no_such_option"):
        sapwood.open(path, no_such_option=1)
    assert len(sapwood.concatenate(f"{path}:dir/t", num_workers=1, language=None)) == 10
    with pytest.raises(TypeError, match="no_such_option"):
        sapwood.concatenate(f"{path}:dir/t", no_such_option=1)


def test_metadata_of_file_directory_tree_and_branch(path):
    uproot = pytest.importorskip("uproot")
    with sapwood.open(path) as file, uproot.open(path) as other:
        assert file.uuid == other.file.uuid and file.fUUID == other.file.fUUID
        assert file.compression == other.file.compression.code
        assert (file.created_on, file.fVersion) == (other.created_on, other.file.fVersion)
        assert file.root_directory is file
        assert file["dir"].parent is file and file["dir"].object_path == other["dir"].object_path
        ours, theirs = file["dir/t"], other["dir/t"]
        assert ours.member("fEntries") == theirs.member("fEntries") == 10
        for name in ("x", "v"):
            a, b = ours[name], theirs[name]
            assert a.index == b.index and a.top_level
            assert a.basket_entry_start_stop(0) == b.basket_entry_start_stop(0)
            assert a.basket(0).data.tolist() == b.basket(0).data.tolist()
            assert a.basket_uncompressed_bytes(0) == b.basket_uncompressed_bytes(0)
            assert a.member("fLeaves")[0].member("fName") == name
        assert ours["v"].basket(0).byte_offsets.tolist() == theirs["v"].basket(0).byte_offsets.tolist()
        assert ours["v"].count_branch.name == theirs["v"].count_branch.name == "nv"
        assert ours["x"].count_branch is None


def test_metadata_of_a_file_object(path):
    file = sapwood.open(io.BytesIO(path.read_bytes()))
    with sapwood.open(path) as local:
        assert file.uuid == local.uuid


def test_a_basket_that_is_damaged_is_an_error():
    from sapwood.reading.basket import decompress

    packed = zlib.compress(b"a" * 100)
    head = b"ZL\x08" + len(packed).to_bytes(3, "little") + (100).to_bytes(3, "little")
    assert decompress(head + packed, 100, "f") == b"a" * 100
    for bad in (head + packed[:-20], head[:5], b"QQ" + head[2:] + packed, head[:6] + b"\x00\x00\x00" + packed):
        with pytest.raises(sapwood.Error):
            decompress(bad, 100, "f")


def test_titles_are_kept_as_parameters(tree):
    made = tree.arrays(ak_add_doc=True)
    assert made.layout.parameter("__doc__") == "a title"
    assert made["x"].layout.parameter("__doc__") == "x of it"
    other = tree["x"].array(ak_add_doc={"of": "typename"})
    assert other.layout.parameters == {"of": "double"}


def test_virtual_arrays_read_a_column_when_it_is_used(tree):
    log = []
    made = tree.arrays(virtual=True, access_log=log, entry_start=2)
    assert not log
    assert made["x"].tolist() == X[2:].tolist()
    assert {access.branch for access in log} == {"x"}
    assert ak.materialize(made).layout.is_equal_to(tree.arrays(entry_start=2).layout)
    with pytest.raises(ValueError, match="cannot be used with 'virtual=True'"):
        tree.arrays(virtual=True, cut="x > 1")
    with pytest.raises(ValueError, match="cannot be used with 'virtual=False'"):
        tree.arrays(access_log=[])


def test_a_cut_with_a_boolean_for_each_item_keeps_items(tree):
    assert tree.arrays(["v"], cut="v > 3")["v"].tolist() == LISTS[LISTS > 3].tolist()
    assert [a["v"].tolist() for a in tree.iterate(["v"], cut="v > 3", step_size=5)] == [
        LISTS[LISTS > 3].tolist()[:5],
        LISTS[LISTS > 3].tolist()[5:],
    ]
    with pytest.raises(sapwood.InvalidError, match="'x' has no such lists"):
        tree.arrays(["v", "x"], cut="v > 3")
    with pytest.raises(sapwood.InvalidError, match="library"):
        tree.arrays(["v"], cut="v > 3", library="np")


@pytest.mark.parametrize("text", ["x > 0 & x < 5", "x > 0 | x < 5", "(x > 1 & x < 2)"])
def test_comparisons_with_bit_operators_need_parentheses(tree, text):
    with pytest.raises(sapwood.InvalidError, match="use parentheses"):
        tree.arrays(["x"], cut=text)


def test_comparisons_in_parentheses_mean_what_they_say(tree):
    assert tree.arrays(["x"], cut="(x > 1) & (x < 4)")["x"].tolist() == [2, 3]
    assert tree.arrays(["n"], aliases={"n": "(x > 1) | (x == 0)"})["n"].tolist() == ((X > 1) | (X == 0)).tolist()


def test_several_files_by_short_forms(path, tmp_path, monkeypatch):
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.root").write_bytes(path.read_bytes())
    monkeypatch.setenv("HOME", str(tmp_path))
    assert len(sapwood.concatenate(f"{tmp_path}/{{a,c}}.root:dir/t")) == 20
    assert len(sapwood.concatenate("~/[ab].root:dir/t")) == 20
    with sapwood.open("~/a.root") as file, sapwood.open(f"file:{tmp_path}/a.root") as same:
        assert file.uuid == same.uuid
    counted = list(sapwood.num_entries({f"{tmp_path}/a.root": "dir/t", f"{tmp_path}/b.root": "dir/t"}))
    assert counted == [(f"{tmp_path}/a.root", "dir/t", 10), (f"{tmp_path}/b.root", "dir/t", 10)]


def test_an_open_tree_is_one_of_the_files(path, tree):
    assert len(sapwood.concatenate([tree, f"{path}:dir/t"])) == 20
    assert sum(len(a) for a in sapwood.iterate([tree])) == 10
    assert len(sapwood.concatenate(tree)) == 10


def test_files_without_a_branch_are_left_out_if_asked(path, tmp_path):
    with sapwood.recreate(tmp_path / "other.root") as file:
        file["dir/t"] = {"y": np.arange(3)}
    files = [f"{path}:dir/t", f"{tmp_path}/other.root:dir/t"]
    assert len(sapwood.concatenate(files, ["x"], allow_missing=True)) == 10
    with pytest.raises(sapwood.KeyInFileError):
        sapwood.concatenate(files, ["x"])
    assert set(sapwood.concatenate(files[:1], ["x", "v"], how=dict)) == {"x", "v"}


def test_a_chain_shows_its_branches(path, capsys):
    chain = sapwood.chain([f"{path}:dir/t"] * 2)
    assert "x" in chain.keys() and chain.typenames()["x"] == "double" and "x" in chain
    chain.show()
    assert "double" in capsys.readouterr().out
    assert np.sum(chain["x"]) == 2 * X.sum()
    assert chain["v"].array().tolist() == LISTS.tolist() * 2
    assert "double" in chain._repr_html_()
    with pytest.raises(KeyError):
        chain["z"]


def test_ipython_completes_keys(path, tree):
    assert "x" in tree._ipython_key_completions_()
    assert "dir/t" in sapwood.open(path)._ipython_key_completions_()


def test_uproot_knows_the_classes(path):
    uproot = pytest.importorskip("uproot")
    with sapwood.open(path) as file:
        assert isinstance(file, uproot.ReadOnlyDirectory)
        assert isinstance(file["dir/t"], uproot.behaviors.TBranch.HasBranches)
        assert isinstance(file["dir/t/x"], uproot.TBranch)


def test_a_split_collection_gives_records_of_lists(corpus_file):
    uproot = pytest.importorskip("uproot")
    path = corpus_file("edm4hep_266.root")
    with sapwood.open(f"{path}:events") as ours, uproot.open(f"{path}:events") as theirs:
        wanted = theirs["PandoraPFOs"].array(entry_stop=3)
        assert ours["PandoraPFOs"].array(entry_stop=3).tolist() == wanted.tolist()
        both = ours.arrays(["PandoraPFOs"], entry_stop=3)
        assert both["PandoraPFOs"].tolist() == wanted.tolist()
        assert ours.arrays(["PandoraPFOs"], library="np", entry_stop=3)["PandoraPFOs"].keys() == set(wanted.fields)


@pytest.fixture
def corpus_file():
    def find(name):
        found = next(CORPUS.rglob(name), None)
        if found is None:
            pytest.skip(f"{name} is not in the corpus")
        return found

    return find
