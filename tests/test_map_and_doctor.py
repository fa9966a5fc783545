"""sapwood map and doctor, by command and from Python: compared with positions from uproot and ROOT's own counts."""

import itertools
import json
import warnings

import pytest
import uproot

import sapwood


@pytest.fixture(scope="module")
def scattered(run, tmp_path_factory):
    """A tree whose small baskets are spread over the file."""
    path = tmp_path_factory.mktemp("map") / "scattered.root"
    assert run("sample", path, "--entries", "20000", "--scattered").returncode == 0
    return path


def baskets(path, tree, branch):
    """First entry, offset and bytes of every basket, as uproot reads them from the header."""
    with uproot.open(path) as file:
        b = file[tree][branch]
        n = b.member("fWriteBasket")
        entry, seek, size = (b.member(f"fBasket{name}")[:n] for name in ("Entry", "Seek", "Bytes"))
        return [[int(e), int(s), int(z)] for e, s, z in zip(entry, seek, size, strict=True)]


def test_every_basket_is_where_uproot_finds_it(run, scattered):
    done = run("map", "--json", f"{scattered}:Events", "-b", "Muon_*", "-b", "run")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert data["bytes"] == scattered.stat().st_size
    (tree,) = data["trees"]
    found = {b["name"]: b for b in tree["branches"]}
    assert [c["name"] for c in data["chosen"]] == ["Muon_*", "run"]
    assert {b["chosen"] for name, b in found.items() if name.startswith("Muon_")} == {0}
    assert found["run"]["chosen"] == 1
    with uproot.open(scattered) as file:
        assert set(found) == {*file["Events"].keys(filter_name="Muon_*"), "run"}
    for name, b in found.items():
        assert b["baskets"] == baskets(scattered, "Events", name), name
    muons = sorted((s, s + z) for name in found if name != "run" for _, s, z in found[name]["baskets"])
    chosen = data["chosen"][0]
    assert chosen["baskets"] == len(muons)
    assert chosen["bytes"] == sum(b - a for a, b in muons)
    assert chosen["pieces"] == 1 + sum(left[1] != right[0] for left, right in itertools.pairwise(muons))
    assert chosen["extent"] == [muons[0][0], muons[-1][1]]
    # keys, the tree's header and everything else that is not a basket
    what = [r["what"] for r in data["records"]]
    assert what[0] == "header"
    assert "TTree Events;1" in what
    assert "classes" in what


def test_a_map_in_letters(run, scattered, flat):
    done = run("map", scattered, "-b", "Muon_pt", "-b", "Jet_pt")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    cells = [line.partition("|")[2].rpartition("|")[0] for line in lines[1:17]]
    assert [len(line) for line in cells] == [64] * 16
    # scattered: both in nearly every line of the file
    assert sum("a" in line and "b" in line for line in cells) > 12
    assert "#" in cells[-1]
    assert lines[-2].startswith("a  Muon_pt")
    assert lines[-1].startswith("b  Jet_pt")
    # without branches, each tree is distinguished
    done = run("map", flat)
    assert done.stdout.splitlines()[-1].split()[:2] == ["a", "t"]


def test_pictures_and_numbers_into_files(run, scattered, tmp_path):
    outputs = [tmp_path / f"map.{kind}" for kind in ("svg", "png", "json")]
    words = [word for path in outputs for word in ("-o", path)]
    done = run("map", "-q", scattered, "-b", "Muon_pt", *words)
    assert done.returncode == 0, done.stderr
    svg, png, numbers = (path.read_bytes() for path in outputs)
    # the legend's square and cells of the same colour; other baskets, other records
    assert svg.count(b'fill="#2c6e49"') > 50
    assert svg.count(b'fill="#d3d8dc"') > 50
    assert b"Muon_pt: " in svg
    assert png.startswith(b"\x89PNG")
    assert json.loads(numbers)["chosen"][0]["name"] == "Muon_pt"


def test_what_cannot_be_told_apart(run, scattered, tmp_path):
    done = run("map", scattered, "-b", "Muon_pts")
    assert done.returncode == 1
    assert "did you mean Muon_pt" in done.stderr
    done = run("map", scattered, "-b", "nothing*")
    assert "no branch with baskets matches nothing*" in done.stderr
    done = run("map", scattered, *(word for i in range(9) for word in ("-b", f"b{i}")))
    assert "9 patterns of branches; a map shows at most 8" in done.stderr
    done = run("map", scattered, "-o", tmp_path / "map.gif")
    assert done.returncode == 2
    assert not (tmp_path / "map.gif").exists()


def test_a_map_from_python(run, scattered, tmp_path):
    command = json.loads(run("map", "--json", f"{scattered}:Events", "-b", "Muon_pt").stdout)
    one = sapwood.map(f"{scattered}:Events", "Muon_pt")
    with sapwood.open(scattered) as file:
        two = file["Events"].map(["Muon_pt"])
    assert one.data == two.data == command
    assert one.chosen[0]["name"] == "Muon_pt"
    assert str(one) == run("map", f"{scattered}:Events", "-b", "Muon_pt").stdout.rstrip("\n")
    assert repr(one).startswith("<FileMap of ")
    one.save(tmp_path / "map.svg")
    assert (tmp_path / "map.svg").read_text() == one._repr_svg_()
    one.save(tmp_path / "map.png")
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(sapwood.InvalidError, match="a map can be saved as"):
        one.save(tmp_path / "map.gif")
    with pytest.raises(sapwood.KeyInFileError, match="did you mean Muon_pt"):
        sapwood.map(scattered, ["Muon_pts"])
    with pytest.raises(KeyError):
        sapwood.map(f"{scattered}:other")
    with pytest.raises(sapwood.InvalidError, match="must be"):
        sapwood.map(scattered, [1])


def test_a_doctor_from_python(run, scattered, tmp_path):
    found = sapwood.doctor(scattered, deep=True)
    assert found.data == json.loads(run("doctor", "--deep", "--json", scattered).stdout)
    assert str(found) == run("doctor", "--deep", scattered).stdout.rstrip("\n")
    assert found.healthy
    assert repr(found) == f"<Diagnosis of {scattered}: healthy, 1 trees>"
    (tree,) = found.trees
    assert tree["tree"] == "Events"
    cost = next(c for c in tree["costs"] if c["reads"] == "all branches" and c["cache_bytes"] == 0)
    assert cost["now"]["requests"] == tree["baskets"] > cost["rewritten"]["requests"]

    data = bytearray(scattered.read_bytes())
    seek = baskets(scattered, "Events", "Muon_pt")[5][1]
    data[seek + 90] ^= 0xFF
    (tmp_path / "bad.root").write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bad = sapwood.doctor(tmp_path / "bad.root", deep=True)
    assert not bad.healthy
    assert any(f["severity"] == "damage" and f["bytes"][0] <= seek < f["bytes"][1] for f in bad.findings)
    assert "damage" in repr(bad)
    with pytest.raises(sapwood.Error):
        sapwood.doctor(__file__)
    with pytest.raises(sapwood.InvalidError, match="omit 'Events'"):
        sapwood.doctor(f"{scattered}:Events")


def test_costs_for_given_caches_and_round_trips(run, scattered):
    words = ["--if-cache", "50kB", "--if-cache", "auto", "--if-round-trip", "30ms", "--if-round-trip", "300ms"]
    (told,) = json.loads(run("doctor", *words, "--json", scattered).stdout)["layout"]
    (tree,) = sapwood.doctor(scattered, cache_sizes=[50_000, None], round_trips=[0.03, 0.3]).trees
    assert tree["costs"] == told["costs"]
    by = {(c["reads"], c["cache_bytes"], c["round_trip_seconds"]): c["now"] for c in tree["costs"]}
    reads = {"all branches", "one branch", "20 % of the entries"}
    assert by.keys() == {(r, c, t) for r in reads for c in (50_000, None) for t in (0.03, 0.3)}
    for r in reads:
        assert by[r, 50_000, 0.3]["requests"] >= by[r, None, 0.3]["requests"]
        assert by[r, 50_000, 0.3]["seconds"] > by[r, 50_000, 0.03]["seconds"]
    table = run("doctor", *words, scattered).stdout
    assert "50.0 kB" in table and "300 ms" in table


@pytest.mark.parametrize("cache", [0, None])
@pytest.mark.parametrize("reads", ["all branches", "20 % of the entries"])
def test_what_the_doctor_plans_is_what_a_read_costs(scattered, reads, cache):
    """Basket by basket to the byte; with a cache the same baskets, and what is between some of them."""
    (tree,) = sapwood.doctor(scattered).trees
    cost = next(c for c in tree["costs"] if c["reads"] == reads and c["cache_bytes"] == cache)["now"]
    middle = {"entry_start": 8000, "entry_stop": 12000} if reads.startswith("20 %") else {}
    with sapwood.open(scattered) as file:
        events = file["Events"]
        if cache is not None:
            events.set_cache_size(cache)
        with sapwood.perf_stats() as stats:
            events.arrays(library="np", **middle)
    if cache == 0:
        assert (stats.read_calls, stats.read_bytes) == (cost["requests"], cost["bytes"])
    else:
        assert cost["bytes"] * 0.99 <= stats.read_bytes <= cost["bytes"] * 1.05
        assert stats.read_calls < stats.baskets / 20
