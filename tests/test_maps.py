"""Maps in one piece: written as ROOT writes them, so that uproot reads them as well."""

from pathlib import Path

import awkward as ak
import pytest
import uproot

import sapwood

# uproot does not read empty maps whose keys are strings or that are inside others, of ROOT's own files either
MAPS = {
    "map<int,float>": [{}, {1: 1.5}, {-7: 2.5, 1: 3.5}],
    "map<string,double>": [{"a": 1.5}, {"b": 2.5, "long" * 80: 3.5}, {"c": 4.5}],
    "map<string,string>": [{"a": ""}, {"b": "text", "c": "more" * 80}, {"c": "d"}],
    "map<string,vector<double>>": [{"a": []}, {"b": [1.5, 2.5], "c": [3.5]}, {"a": [4.5]}],
    "map<int,vector<string>>": [{1: ["a", "b"]}, {2: [], 3: ["c"]}, {4: [""]}],
    "map<string,map<int,float>>": [{"a": {0: 0.5}}, {"b": {1: 1.5, 2: 2.5}, "c": {3: 3.5}}, {"d": {4: 4.5}}],
    "vector<map<string,int>>": [[], [{"a": 1}], [{"b": 2, "c": 3}]],
    "vector<vector<map<int,vector<float>>>>": [[[]], [[{1: [1.5]}], [{2: [], 3: [2.5, 3.5]}]], []],
}


def pairs(value):
    """Dicts as lists of key and value."""
    if isinstance(value, dict):
        return [(k, pairs(v)) for k, v in value.items()]
    return [pairs(v) for v in value] if isinstance(value, list) else value


def tuples(value):
    """What arrays hold, pairs as tuples whatever their fields are called."""
    if isinstance(value, (dict, tuple)):
        return tuple(tuples(v) for v in (value.values() if isinstance(value, dict) else value))
    return [tuples(v) for v in value] if isinstance(value, list) else value


@pytest.mark.parametrize("member_wise", [False, True])
def test_uproot_reads_maps_in_one_piece(tmp_path, member_wise):
    path = tmp_path / "a.root"
    with sapwood.recreate(path) as file:
        types = {f"b{i}": t for i, t in enumerate(MAPS)}
        tree = file.mktree("t", types, split=0, member_wise=member_wise)
        tree.extend({f"b{i}": values for i, values in enumerate(MAPS.values())})
    ours, theirs = sapwood.open(path)["t"], uproot.open(path)["t"]
    for i, (t, values) in enumerate(MAPS.items()):
        wanted = tuples(pairs(values))
        assert tuples(ours[f"b{i}"].array(library="ak").to_list()) == wanted, t
        assert tuples(theirs[f"b{i}"].array().to_list()) == wanted, t


def test_entries_appended_to_a_map_of_roots(corpus_file, tmp_path):
    """uproot takes all entries of a branch to be as its first one is."""
    path = tmp_path / "a.root"
    path.write_bytes(corpus_file("issue367b.root").read_bytes())
    before = sapwood.open(path)["tree"].arrays(library="ak")
    with sapwood.update(path) as file:
        file["tree"].extend(before)
    twice = ak.concatenate([before.weights, before.weights]).to_list()
    assert sapwood.open(path)["tree/weights"].array(library="ak").to_list() == twice
    assert tuples(uproot.open(path)["tree/weights"].array().to_list()) == tuples(twice)


@pytest.fixture
def corpus_file():
    corpus = Path(__file__).parent.parent.parent / "shared" / "corpus"

    def find(name):
        found = next(corpus.rglob(name), None)
        return found or pytest.skip(f"no {name}: the corpus is not here")

    return find
