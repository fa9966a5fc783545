"""Objects of many classes, written by ROOT: what sapwood reads is what ROOT says of them."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import sapwood

HERE = Path(__file__).parent

#: What TBufferJSON says of an object in memory that is not in the file, or in another form.
NOT_IN_THE_FILE = {"fUniqueID", "fBits", "fClass", "fReserved", "fIntegral", "fBuffer", "fOption", "fParent"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, macro):
    folder = tmp_path_factory.mktemp("objects")
    macro("objects.C", folder)
    return folder


@pytest.fixture(scope="module")
def told(folder):
    """{name: ROOT's JSON}."""
    return json.loads((folder / "objects.json").read_text())


@pytest.fixture(scope="module")
def file(folder):
    return sapwood.open(folder / "objects.root")


def same(ours, theirs):
    if theirs is None or ours is None:
        return theirs is None and (ours is None or np.size(ours) == 0)
    if isinstance(theirs, str) and not isinstance(ours, str):
        theirs = float(theirs)
    if isinstance(ours, str) or isinstance(theirs, str):
        return ours == theirs
    # the JSON has nine digits
    return math.isclose(ours, theirs, rel_tol=1e-8) or (math.isnan(ours) and math.isnan(theirs))


def flat(nested):
    return [x for item in nested for x in flat(item)] if isinstance(nested, list) else [nested]


def difference(ours, theirs, where):
    """The first difference between an object and ROOT's JSON for it, in words."""
    if isinstance(theirs, dict):
        if "$ref" in theirs:
            return None
        if isinstance(ours, str):
            return None if ours == theirs.get("fString") else f"{where}: {ours!r}"
        if not isinstance(ours, sapwood.Object):
            return f"{where}: {ours!r}, ROOT has a {theirs.get('_typename')}"
        members = ours.all_members
        for name, value in theirs.items():
            if name == "fArray":
                found = difference(ours._get(), value, f"{where}.fArray")
            elif name.startswith("_") or name in NOT_IN_THE_FILE or name not in members:
                continue
            else:
                found = difference(members[name], value, f"{where}.{name}")
            if found:
                return found
        return None
    if isinstance(theirs, list):
        if isinstance(ours, dict):
            theirs = [x for pair in theirs for x in (pair["first"], pair["second"])]
            ours = [x for pair in ours.items() for x in pair]
        if isinstance(ours, sapwood.Object):
            ours = ours._get()
        ours = ours.ravel().tolist() if isinstance(ours, np.ndarray) else list(ours or [])
        theirs = flat(theirs) if not any(isinstance(x, dict) for x in theirs) else theirs
        if len(ours) != len(theirs):
            return f"{where}: {len(ours)} items, ROOT has {len(theirs)}"
        for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            found = difference(a, b, f"{where}[{i}]")
            if found:
                return found
        return None
    return None if same(ours, theirs) else f"{where}: {ours!r}, ROOT has {theirs!r}"


def test_members_are_what_root_says(file, told):
    compared = [name for name in told if not name.startswith("bins of") and told[name] is not None]
    assert len(compared) > 35
    wrong = [found for name in compared if (found := difference(file[name], told[name], name))]
    assert not wrong, "\n".join(wrong)
    assert "fXaxis" in file["h1f"].all_members
    assert difference(file["h1f"], {**told["h1f"], "fTitle": "another"}, "h1f")


def cells(array):
    """An array with x first as ROOT numbers its cells: x fastest."""
    return np.asarray(array).T.ravel()


def histograms(told):
    return [name.removeprefix("bins of ") for name in told if name.startswith("bins of") and "errors" in told[name]]


def test_values_and_errors_are_roots(file, told):
    assert len(histograms(told)) > 18
    for name in histograms(told):
        hist, bins = file[name], told[f"bins of {name}"]
        values = cells(hist.values(flow=True))
        np.testing.assert_array_equal(values, bins["values"], err_msg=name)
        mode = {"error_mode": hist.member("fErrorMode")} if hist.kind == "MEAN" else {}
        errors = cells(hist.errors(flow=True, **mode))
        np.testing.assert_allclose(errors, bins["errors"], rtol=1e-13, atol=0, err_msg=name)
        np.testing.assert_allclose(cells(hist.variances(flow=True, **mode)), errors**2, rtol=1e-13, err_msg=name)
        inner = hist.values()
        assert inner.shape == tuple(len(axis) for axis in hist.axes), name
        np.testing.assert_array_equal(inner, hist.values(flow=True)[(slice(1, -1),) * inner.ndim])


def test_what_uproot_has_is_the_same(file, told, folder):
    uproot = pytest.importorskip("uproot")
    theirs = uproot.open(folder / "objects.root")
    for name in histograms(told):
        ours, expected = file[name], theirs[name]
        if not hasattr(expected, "values") or name.startswith("waiting"):
            continue  # TH1L is unknown to uproot, and so are rows that wait in a buffer
        for flow in (False, True):
            np.testing.assert_array_equal(ours.values(flow), expected.values(flow), err_msg=name)
            np.testing.assert_allclose(ours.errors(flow), expected.errors(flow), rtol=1e-14, err_msg=name)
            np.testing.assert_array_equal(ours.counts(flow), expected.counts(flow), err_msg=name)
            for i, axis in enumerate(expected.axes):
                np.testing.assert_array_equal(ours.axis(i).edges(flow), axis.edges(flow), err_msg=name)
                np.testing.assert_array_equal(ours.axis(i).intervals(flow), axis.intervals(flow), err_msg=name)
                np.testing.assert_allclose(ours.axis(i).widths(flow), axis.widths(flow), err_msg=name)


def test_rows_without_a_range_are_not_guessed(file):
    assert file["waiting"].member("fBuffer")[0] == 30
    assert file["waiting"].values().sum() > 20
    with pytest.raises(sapwood.UnsupportedError, match="unranged has 30 rows in its buffer but no range yet"):
        file["unranged"].values()


def test_labels_stand_at_their_bins(file):
    assert file["labels"].axis().labels() == ["second", "first", "third", "", "late"]
    assert not file["labels"].axis().traits.discrete
    all = file["all"]
    # written from the last to the first: the order of the list is not that of the bins
    assert all.axis("x").labels() == ["bin1", "bin2", "bin3"]
    assert all.axis("x").labels(flow=True) == ["underflow", "bin1", "bin2", "bin3", "overflow"]
    assert all.axis("x").traits.discrete
    assert list(all.axis("x")) == ["bin1", "bin2", "bin3"]
    assert all.values().tolist() == [0, 1, 0]


def test_to_hist_keeps_contents_variances_and_overflow(file, told):
    pytest.importorskip("hist")
    for name in histograms(told):
        ours = file[name]
        made = ours.to_hist()
        if ours.kind == "COUNT" and name != "all":
            np.testing.assert_array_equal(made.values(flow=True), ours.values(flow=True), err_msg=name)
            if ours.weighted:
                np.testing.assert_array_equal(made.variances(flow=True), ours.variances(flow=True), err_msg=name)
        elif name != "all":
            np.testing.assert_allclose(made.values(flow=True), ours.values(flow=True), rtol=1e-14, err_msg=name)
            np.testing.assert_allclose(made.counts(), ours.counts(), rtol=1e-14, err_msg=name)
    assert list(file["all"].to_hist().axes[0]) == ["bin1", "bin2", "bin3"]
    assert file["all"].to_hist().values().tolist() == [0, 1, 0]
    assert file["h1f"].to_boost().axes[0].label == "x"


def test_to_numpy(file):
    values, x, y = file["h2d"].to_numpy()
    assert (values.shape, len(x), y.tolist()) == ((3, 4), 4, [-3, -1, 0, 0.5, 4])
    values, edges = file["h2d"].to_numpy(flow=True, dd=True)
    assert values.shape == (5, 6)
    assert [len(e) for e in edges] == [6, 7]


def test_efficiencies_and_their_intervals(file, told):
    names = [name.removeprefix("bins of ") for name in told if name.startswith("bins of eff")]
    assert len(names) == 6
    for name in names:
        ours, bins = file[name], told[f"bins of {name}"]
        np.testing.assert_allclose(ours.values(flow=True), bins["values"], rtol=1e-12, err_msg=name)
        np.testing.assert_allclose(ours.errors("low", flow=True), bins["low"], rtol=1e-7, atol=1e-12, err_msg=name)
        np.testing.assert_allclose(ours.errors("high", flow=True), bins["high"], rtol=1e-7, atol=1e-12, err_msg=name)


def test_graphs(file):
    x, y = file["graph"].values()
    assert (x.tolist(), y.tolist()) == ([1, 2, 3], [4, 5, 6])
    assert file["errors"].errors("y").tolist() == [0.4, 0.5, 0.6]
    assert file["asymmetric"].errors("low", "y").tolist() == [0.4, 0.5, 0.6]
    assert file["asymmetric"].errors("high", 1).tolist() == [0.1, 0.2, 0.3]
    assert len(file["asymmetric"].to_numpy()) == 6
    assert file["surface"].member("fZ").tolist() == [0.1, 0.2, 0.3]


def test_matrices_parameters_and_text(file):
    assert file["matrix"].to_numpy().tolist() == [[1, 2, 3], [4, 5, 6]]
    assert np.asarray(file["symmetric"]).tolist() == [[1, 2, 3], [2, 4, 5], [3, 5, 6]]
    assert file["vector"].to_numpy().tolist() == [1, 2, 3]
    assert [file["real"].value, file["yes"].value, file["long_one"].value] == [2.5, True, 1 << 40]
    assert file["string"] == "héllo"
    assert file["string"].classname == "TObjString"
    assert file["lorentz"].member("fE") == 4


def test_lists(file):
    items = file["list"]
    assert items.name == "a list"
    assert [getattr(i, "classname", None) for i in items] == ["TObjString", "TMatrixT<double>", "TObjString"]
    assert items.options == ["option", "", ""]
    assert items[0] is items[2]
    assert list(file["hashed"]) == ["héllo"]
    assert list(file["array"])[:2] == ["héllo", None]
    assert file["array"][2].value == 2.5
    assert {str(k): v.value for k, v in file["map"].items()} == {"key": 2.5}
    for name in ("clones_bypass", "clones_plain"):
        assert [o.name for o in file[name]] == ["n0", "n1", "n2"], name
    assert len(file["references"]) == 1
    assert file["floats"][:] if isinstance(file["floats"][:], list) else file["floats"][:].tolist() == [1, 2, 3.5]
    assert dict(file["counts"]) == {"a": 1, "b": 2}


def test_a_class_of_the_user(file):
    o = file["everything"]
    m = o.members
    assert m["flag"] is True
    assert (m["letter"], m["large"], m["count"]) == (-5, 18446744073709551615, 3)
    assert m["counted"].tolist() == [1, 2, 3]
    assert m["table"].tolist() == [[1, 2, 3], [4, 5, 6]]
    # eight bits between 0 and 10
    assert (m["ranged"], m["narrow"]) == (38 / 25.6, 2.25)
    assert (m["text"], m["words"]) == ("of ROOT", "of the library")
    assert (m["named"].name, m["named"].title) == ("inner", "an object")
    assert m["pointed"] == "héllo"
    assert m["again"] is m["pointed"]
    assert m["nothing"] is None
    assert m["numbers"].tolist() == [1, 2, 3]
    assert m["flags"].tolist() == [True, False, True]
    assert m["texts"] == ["a", "", "long " + "x" * 300]
    assert [r.tolist() for r in m["rows"]] == [[1], [], [2, 3]]
    assert [(p.member("x"), p.member("y"), p.member("label")) for p in m["points"]] == [(1, 2, "p"), (3, 4, "q")]
    assert m["map"] == {"1": "one", "2": "two"}
    assert m["numbered"] == {"a": 1, "b": 2}
    assert m["set"].tolist() == [1, 2, 3]
    assert m["list"].tolist() == [0.5, 0.25]
    assert m["deque"].tolist() == [7, 8]
    assert (m["pair"].member("first"), m["pair"].member("second")) == (4, 4.5)
    assert [p and p.name for p in m["pointers"]] == ["first", None, "second", "first"]
    assert m["pointers"][0] is m["pointers"][3]
    assert [a.tolist() for a in m["arrays"]] == [[1, 2], [3]]
    with pytest.raises(sapwood.KeyInFileError, match="no member nonsense; its members are flag"):
        o.member("nonsense")


def test_sparse_histogram_as_data(file):
    chunk = file["sparse"].member("fBinContent")[0]
    assert chunk.is_instance("THnSparseArrayChunk")
    assert len(file["sparse"].member("fAxes")) == 2


def test_classnames_and_filters(file):
    assert file.classnames(cycle=False)["h1f"] == "TH1F"
    assert file.keys(filter_classname="TProfile?D") == ["p2;1", "p3;1"]
    assert all(o.kind == "MEAN" for o in file.values(filter_classname="TProfile*"))


def test_objects_can_be_pickled(file):
    import pickle

    again = pickle.loads(pickle.dumps(file["h1f"]))
    assert again == file["h1f"]
    assert again.axis().labels() is None


def test_show(run, folder):
    done = run("show", f"{folder}/objects.root:h1f")
    assert done.returncode == 0, done.stderr
    assert 'fTitle = "a title"' in done.stdout
    assert "float32[10]" in done.stdout
    done = run("show", f"{folder}/objects.root:everything", "--json")
    shown = json.loads(done.stdout)
    members = shown["object"]["members"]
    assert shown["refused"] == []
    assert members["table"] == [[1, 2, 3], [4, 5, 6]]
    assert members["again"] == {"same_as": members["pointed"]["id"]}
    assert members["map"] == [["1", "one"], ["2", "two"]]
