"""Histograms, graphs and text, read back by uproot."""

import numpy as np
import pytest

import sapwood

uproot = pytest.importorskip("uproot")
hist = pytest.importorskip("hist")

RNG = np.random.default_rng(3)
X, Y, W = RNG.normal(size=500), RNG.normal(size=500), RNG.uniform(size=500)


@pytest.fixture
def back(tmp_path):
    """Writes an object and reads it with uproot."""

    def back(value):
        with sapwood.recreate(tmp_path / "a.root") as file:
            file["d/object"] = value
        return uproot.open(tmp_path / "a.root")["d/object"]

    return back


def test_one_axis_with_all_bins(back):
    h = hist.Hist.new.Reg(10, -2, 2, name="x", label="x title").Double().fill(X)
    got = back(h)
    assert got.classname == "TH1D" and got.axis().member("fTitle") == "x title"
    assert np.array_equal(got.values(flow=True), h.values(flow=True))
    assert np.allclose(got.axis().edges(), h.axes[0].edges, atol=1e-15) and not len(got.axis().member("fXbins"))
    assert got.member("fEntries") == 500 and not len(got.member("fSumw2"))


def test_weights_and_uneven_bins(back):
    h = hist.Hist.new.Var([-3, -1, 0, 0.5, 2]).Weight().fill(X, weight=W)
    got = back(h)
    assert np.array_equal(got.values(flow=True), h.values(flow=True))
    assert np.array_equal(got.variances(flow=True), h.variances(flow=True))
    assert np.array_equal(got.axis().edges(), [-3, -1, 0, 0.5, 2])


def test_two_and_three_axes(back):
    two = hist.Hist.new.Reg(4, -2, 2).Reg(5, -3, 3).Double().fill(X, Y)
    three = hist.Hist.new.Reg(4, -2, 2).Reg(5, -3, 3).Reg(3, 0, 1).Int64().fill(X, Y, W)
    for h in (two, three):
        got = back(h)
        assert got.classname == f"TH{len(h.axes)}D"
        assert np.array_equal(got.values(flow=True), h.values(flow=True))


def test_categories_and_integers(back):
    got = back(hist.Hist.new.StrCat(["one", "two"], name="c").Double().fill(["one", "two", "two"]))
    assert got.axis().labels() == ["one", "two"] and got.values().tolist() == [1, 2]
    got = back(hist.Hist.new.Int(0, 5, underflow=False).Double().fill([1, 2, 2, 7]))
    assert got.values(flow=True).tolist() == [0, 0, 1, 2, 0, 0, 1]


@pytest.mark.parametrize("weighted", [False, True])
def test_profiles(back, weighted):
    if weighted:
        h = hist.Hist.new.Reg(4, -2, 2).WeightedMean().fill(X, sample=Y, weight=W)
    else:
        h = hist.Hist.new.Reg(4, -2, 2).Mean().fill(X, sample=Y)
    got = back(h)
    assert got.classname == "TProfile"
    assert np.allclose(got.values(), h.values(), rtol=1e-14)
    assert np.allclose(got.counts(flow=True), h.counts(flow=True))


def test_numpy(back):
    for made in (np.histogram(X, bins=7), np.histogram2d(X, Y, bins=(3, 4)), np.histogramdd((X, Y, W), bins=(2, 3, 4))):
        got = back(made)
        assert np.array_equal(got.values(), made[0]) and np.allclose(
            got.axis("x").edges(),
            np.ravel(made[1][0] if len(made) == 2 and isinstance(made[1], (list, tuple)) else made[1]),
        )
    assert back((np.array([1, 2], "i4"), np.array([0.0, 1, 5]))).classname == "TH1I"


def test_bins_that_reach_to_infinity_lie_beyond_the_ends(back):
    """ROOT has finite axes; such bins are what it keeps beyond them, contents and variances."""
    h = hist.Hist.new.Var([-np.inf, -1, 0, 2, np.inf], name="x").Weight().fill(X, weight=W)
    h[hist.underflow] = [7, 9]
    got = back(h)
    assert got.axis().edges().tolist() == [-1, 0, 2]
    for one, whole in (
        (got.values(flow=True), h.values(flow=True)),
        (got.variances(flow=True), h.variances(flow=True)),
    ):
        assert one.tolist() == [whole[0] + whole[1], whole[2], whole[3], whole[4] + whole[5]]
    w, x = h.values()[1:3], np.array([-0.5, 1])
    assert np.allclose([got.member(f"fTsumw{n}") for n in ("", "x", "x2")], [w.sum(), w @ x, w @ x**2])
    assert got.member("fEntries") == pytest.approx(h.sum(flow=True).value)

    counts = np.histogram2d(X, Y, bins=([-1, 0, np.inf], [-np.inf, 0, 1, 2]))
    got = back(counts)
    assert [got.axis(a).edges().tolist() for a in "xy"] == [[-1, 0], [0, 1, 2]]
    assert got.values(flow=True)[1:, :-1].tolist() == counts[0].tolist()
    got = back((np.array([100, 1, 2], "i1"), np.array([0, 1, 2, np.inf])))
    assert got.classname == "TH1C" and got.values(flow=True).tolist() == [0, 100, 1, 2]
    profile = hist.Hist.new.Var([-2, 0, 2, np.inf]).WeightedMean().fill(X, sample=Y, weight=W)
    got = back(profile)
    assert np.allclose(got.values(), profile.values()[:2], rtol=1e-14)
    assert got.counts(flow=True)[-1] == pytest.approx(profile.counts(flow=True)[3:].sum())


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([-np.inf, 0, np.inf], "axis x: no bin has two finite edges"),
        ([-np.inf, np.inf], "axis x: no bin has two finite edges"),
        ([0, np.nan, 1], "ascending order"),
        ([0, 1, np.nan], "ascending order"),
        ([np.inf, np.inf, np.inf], "ascending order"),
    ],
)
def test_edges_that_no_axis_has(back, edges, message):
    with pytest.raises(sapwood.InvalidError, match=message):
        back((np.ones(len(edges) - 1), np.array(edges)))


def test_graphs(back):
    got = back(sapwood.Graph([1, 2, 3], [4, 5, 6], title="t;X;Y"))
    assert got.classname == "TGraph" and got.values(axis="y").tolist() == [4, 5, 6]
    got = back(sapwood.Graph([1, 2, 3], [4, 5, 6], y_errors=[0.1, 0.2, 0.3]))
    assert got.classname == "TGraphErrors" and got.member("fEY").tolist() == [0.1, 0.2, 0.3]
    got = back(sapwood.Graph([1], [4], y_errors=([0.1], [0.2])))
    assert got.classname == "TGraphAsymmErrors" and got.member("fEYhigh").tolist() == [0.2]
    with pytest.raises(sapwood.InvalidError, match="must have the same length"):
        sapwood.Graph([1, 2], [1])


@pytest.mark.parametrize("reader", [sapwood.open, uproot.open])
def test_what_was_read_is_written_again(tmp_path, reader):
    objects = {
        "h": hist.Hist.new.Var([0, 1, 3], name="x").Weight().fill([0.5, 2, 7], weight=[1, 2, 3]),
        "c": hist.Hist.new.StrCat(["one", "two"]).Double().fill(["two"]),
        "p": hist.Hist.new.Reg(4, -2, 2).WeightedMean().fill(X, sample=Y, weight=W),
        "t": hist.Hist.new.Reg(4, -2, 2).Reg(5, -3, 3).Reg(3, 0, 1).Int64().fill(X, Y, W),
        "g": sapwood.Graph([1, 2], [4, 5], y_errors=([0.1, 0.2], [0.3, 0.4]), title="t"),
    }
    with sapwood.recreate(tmp_path / "a.root") as file:
        for name, value in objects.items():
            file[name] = value
    with sapwood.recreate(tmp_path / "b.root") as file:
        for name in objects:
            file[name] = reader(tmp_path / "a.root")[name]
    first, again = (uproot.open(tmp_path / f"{name}.root") for name in "ab")
    for name in objects:
        a, b = first[name].all_members, again[name].all_members
        assert a.keys() == b.keys()
        for key in a:
            if isinstance(a[key], (int, float, str, np.ndarray)) and not key.startswith("@"):
                assert np.allclose(a[key], b[key], rtol=1e-12) if not isinstance(a[key], str) else a[key] == b[key], key


def test_refused(tmp_path):
    with sapwood.recreate(tmp_path / "a.root") as file:
        with pytest.raises(sapwood.UnsupportedError, match="one to three axes"):
            file["h"] = hist.Hist.new.Reg(2, 0, 1).Reg(2, 0, 1).Reg(2, 0, 1).Reg(2, 0, 1).Double()
        with pytest.raises(sapwood.UnsupportedError, match="circular"):
            file["h"] = hist.Hist.new.Reg(2, 0, 1, circular=True).Double()
        for value, words in (
            ((np.zeros(2), np.array([0.0, 2, 1])), "h: bin edges .* ascending"),
            ((np.zeros(2), np.array([0.0, np.nan, 1])), "ascend"),
            ((np.array([1j, 1]), np.array([0, 1, 2])), "real numbers"),
            ((np.zeros(2), np.array([0j, 1, 2])), "real numbers"),
            (type("TH1D", (), {"__module__": "cppyy.gbl"})(), "PyROOT's TH1D"),
        ):
            with pytest.raises(sapwood.Error, match=words):
                file["h"] = value
