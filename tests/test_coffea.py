"""coffea on Sapwood: the same events, results and sets of files as on uproot."""

from __future__ import annotations

import importlib.util
import pickle
import sys
import warnings
from pathlib import Path

import pytest

import sapwood

HERE = Path(__file__).parent
CORPUS = HERE.parent.parent / "shared" / "corpus"
HAS_COFFEA = importlib.util.find_spec("coffea") is not None
needs_coffea = pytest.mark.skipif(
    not HAS_COFFEA, reason="coffea is not installed; `make test-coffea` runs these tests in an environment of its own"
)
MODES = ["virtual", "eager", "dask"]
#: Files of the corpus by coffea's event model. Options as in coffea's own tests: some branches no schema takes.
MODELS = {
    "nano": ("coffea/nano_dimuon.root", "Events", "NanoAODSchema"),
    "missing luminosityBlock": ("coffea/missing_luminosityBlock.root", "Events", "BaseSchema"),
    "FCC": ("coffea/test_FCC_Spring2021.root", "events", "FCCSchema"),
    "TreeMaker": ("coffea/treemaker.root", "PreSelection", "TreeMakerSchema"),
}


@pytest.fixture(scope="module")
def nano(tmp_path_factory):
    """Two files with muons as in NanoAOD, in several clusters."""
    ak, np, uproot = (pytest.importorskip(name) for name in ("awkward", "numpy", "uproot"))
    paths = []
    for number in range(2):
        random = np.random.default_rng(number)
        entries = 400
        counts = random.integers(0, 4, entries)

        def lists(values, counts=counts):
            return ak.unflatten(values, counts)

        total = int(counts.sum())
        muons = {
            name: lists(random.normal(30, 5, total).astype("f4"))
            for name in ("pt", "eta", "phi", "mass", "dxy", "dz", "ip3d", "sip3d", "ptErr", "tkRelIso", "mvaId")
        }
        muons["charge"] = lists(random.choice(np.array([-1, 1], "i4"), total))
        columns = {
            "run": np.full(entries, 1, "u4"),
            "luminosityBlock": np.full(entries, 2, "u4"),
            "event": np.arange(entries, dtype="u8"),
            "Muon": ak.zip(muons),
            "MET_pt": random.normal(50, 9, entries).astype("f4"),
            "MET_phi": random.normal(0, 1, entries).astype("f4"),
            "HLT_IsoMu24": random.random(entries) < 0.5,
        }
        paths.append(str(tmp_path_factory.mktemp("coffea") / f"nano{number}.root"))
        with uproot.recreate(paths[-1]) as file:
            types = {name: c.type if isinstance(c, ak.Array) else c.dtype for name, c in columns.items()}
            tree = file.mktree(
                "Events",
                types,
                counter_name=lambda counted: "n" + counted,
                field_name=lambda outer, inner: f"{outer}_{inner}",
            )
            for start in range(0, entries, 100):
                tree.extend({name: column[start : start + 100] for name, column in columns.items()})
    return paths


@pytest.fixture
def quiet():
    """coffea warns of what a file lacks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.fixture
def scans(monkeypatch):
    """The branches of each scan of columns that are used together."""
    from sapwood.reading import touched

    seen = []
    scan = touched.TouchedColumns._scan

    def noted(self, branches):
        seen.append([b.path for b in branches])
        return scan(self, branches)

    monkeypatch.setattr(touched.TouchedColumns, "_scan", noted)
    monkeypatch.setattr(touched, "_history", touched._History())
    return seen


def plain(form):
    """A form as comparable values: schemas keep views of dicts in it."""
    if isinstance(form, dict):
        return {key: plain(value) for key, value in form.items()}
    if isinstance(form, (list, tuple, type({}.values()))):
        return [plain(value) for value in form]
    return form


def schema_named(name):
    from coffea import nanoevents

    return getattr(nanoevents, name)


def both(where, schema, mode, **options):
    """The factories of coffea on uproot and on Sapwood."""
    from coffea.nanoevents import NanoEventsFactory

    from sapwood.coffea import NanoEventsFactory as Ours

    if mode == "dask":
        pytest.importorskip("dask_awkward")
    return [factory.from_root(where, schemaclass=schema, mode=mode, **options) for factory in (NanoEventsFactory, Ours)]


def assert_same_events(where, schema, mode):
    import awkward as ak

    theirs, ours = both(where, schema, mode)
    if mode != "dask":
        assert plain(ours._schema.form) == plain(theirs._schema.form)
        assert ours._partition_key == theirs._partition_key
    theirs, ours = theirs.events(), ours.events()
    if mode == "dask":
        assert ours._meta.layout.form == theirs._meta.layout.form
        fields = [name for name in ak.fields(theirs._meta) if not name.startswith("_")][:3]
        assert fields
        theirs, ours = ({name: events[name].compute() for name in fields} for events in (theirs, ours))
        compared = [(theirs[name], ours[name]) for name in fields]
    else:
        compared = [(theirs, ours)]
    for expected, got in compared:
        assert got.layout.form == expected.layout.form
        expected, got = (ak.to_buffers(ak.materialize(events))[2] for events in (expected, got))
        assert list(got) == list(expected)
        for key, buffer in expected.items():
            assert got[key].dtype == buffer.dtype, key
            assert got[key].tobytes() == buffer.tobytes(), key


@needs_coffea
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("schema", ["NanoAODSchema", "BaseSchema"])
def test_events_are_those_of_uproot(nano, schema, mode, quiet):
    assert_same_events({nano[0]: "Events"}, schema_named(schema), mode)


@needs_coffea
@pytest.mark.parametrize("mode", ["virtual", "dask"])
@pytest.mark.parametrize("model", MODELS)
def test_events_of_real_files_are_those_of_uproot(model, mode, quiet):
    path, tree, schema = MODELS[model]
    if not (CORPUS / path).exists():
        pytest.skip(f"{path} is not in the corpus")
    assert_same_events({str(CORPUS / path): tree}, schema_named(schema), mode)


@needs_coffea
def test_ranges_of_entries(nano, quiet):
    from coffea.nanoevents import NanoAODSchema

    theirs, ours = both({nano[0]: "Events"}, NanoAODSchema, "virtual", entry_start=70, entry_stop=330)
    assert len(ours.events()) == 260
    assert ours.events().Muon.pt.to_list() == theirs.events().Muon.pt.to_list()
    assert ours.events().event.to_list() == list(range(70, 330))


@needs_coffea
@pytest.mark.parametrize("opened", ["path", "file", "tree", "as uproot opens it", "for coffea"])
def test_what_is_open_already(nano, opened, quiet):
    import sapwood.uproot
    from sapwood.coffea import NanoEventsFactory
    from sapwood.coffea import open as open_for_coffea

    path = nano[0]
    given, options = {
        "path": (f"{path}:Events", {}),
        "file": (sapwood.open(path), {"treepath": "Events"}),
        "tree": (sapwood.open(path)["Events"], {}),
        "as uproot opens it": (sapwood.uproot.open(path), {"treepath": "Events"}),
        "for coffea": (open_for_coffea(path), {"treepath": "Events"}),
    }[opened]
    assert len(NanoEventsFactory.from_root(given, **options).events()) == 400


@needs_coffea
def test_coffeas_own_factory_takes_a_file_that_sapwood_opened(nano, quiet):
    from coffea.nanoevents import NanoEventsFactory

    import sapwood.coffea

    opened = sapwood.coffea.open(nano[0])
    events = NanoEventsFactory.from_root(opened, treepath="Events", preload=["Muon_eta"]).events()
    expected = NanoEventsFactory.from_root({nano[0]: "Events"}).events()
    for name in ("pt", "eta", "charge"):
        assert events.Muon[name].to_list() == expected.Muon[name].to_list()


@needs_coffea
def test_a_directory_needs_treepath(nano):
    from sapwood.coffea import NanoEventsFactory

    with pytest.raises(sapwood.InvalidError, match="needs treepath"):
        NanoEventsFactory.from_root(sapwood.open(nano[0]))


@needs_coffea
def test_columns_used_together_are_read_together(nano, scans, quiet):
    import awkward as ak

    from sapwood.coffea import NanoEventsFactory

    used = ["pt", "eta", "phi", "mass", "dxy", "dz", "ip3d", "sip3d", "ptErr", "tkRelIso", "mvaId", "charge"]
    values = []
    for path, start, stop in [(nano[0], 0, 200), (nano[0], 200, 400), (nano[1], 0, 400)]:
        del scans[:]
        muons = NanoEventsFactory.from_root({path: "Events"}, entry_start=start, entry_stop=stop).events().Muon
        values.append([ak.to_list(muons[name]) for name in used])
        if (path, start) == (nano[0], 0):
            assert len(scans) == 13
        else:
            # what the first chunk used comes at once, the numbers of muons with it
            assert [sorted(scan) for scan in scans] == [sorted([*(f"Muon_{name}" for name in used), "nMuon"])]
        tree = sapwood.open(path)["Events"]
        for name, got in zip(used, values[-1], strict=True):
            assert got == tree[f"Muon_{name}"].array(entry_start=start, entry_stop=stop).to_list()


@needs_coffea
def test_round_trips_of_a_chunk_that_was_learned(nano, public, command, quiet):
    import shutil

    import awkward as ak
    from servers import sapwood as serve

    from sapwood.coffea import NanoEventsFactory

    folder = public / "coffea"
    folder.mkdir(exist_ok=True)
    for path in nano:
        shutil.copy(path, folder)
    server = serve(folder, command)
    try:
        trips = []
        for number in range(2):
            factory = NanoEventsFactory.from_root({server.url(folder / f"nano{number}.root"): "Events"})
            muons = factory.events().Muon
            for name in muons.fields[:12]:
                ak.materialize(muons[name])
            trips.append(factory.file_handle.io()["round_trips"])
    finally:
        server.stop()
    assert trips[1] <= 4 < trips[0] or trips[0] <= 4


@needs_coffea
def test_offsets_and_contents_are_one_read(nano, scans, quiet):
    import awkward as ak
    from coffea.nanoevents import BaseSchema

    from sapwood.coffea import NanoEventsFactory

    events = NanoEventsFactory.from_root({nano[0]: "Events"}, schemaclass=BaseSchema).events()
    ak.materialize(events.Muon_pt)
    assert scans == [["Muon_pt"]]


@needs_coffea
def test_eager_mode_reads_all_columns_in_one_scan(nano, scans, quiet):
    from sapwood.coffea import NanoEventsFactory

    NanoEventsFactory.from_root({nano[0]: "Events"}, mode="eager").events()
    assert len(scans) == 1


@needs_coffea
def test_preload_and_access_log(nano, quiet):
    from coffea.nanoevents import NanoAODSchema

    logs = []
    for number in range(2):
        options = {"preload": ["Muon_pt", "nMuon"], "access_log": []}
        factory = both({nano[0]: "Events"}, NanoAODSchema, "virtual", **options)[number]
        events = factory.events()
        values = events.Muon.pt.to_list()
        logs.append((values, [(a.branch, a.buffer_key) for a in factory.access_log]))
    assert logs[0] == logs[1]
    assert logs[1][1]


@needs_coffea
def test_a_factory_can_be_pickled(nano, quiet):
    from sapwood.coffea import NanoEventsFactory

    factory = NanoEventsFactory.from_root({nano[0]: "Events"})
    again = pickle.loads(pickle.dumps(factory))
    assert again.events().Muon.pt.to_list() == factory.events().Muon.pt.to_list()


@needs_coffea
def test_coffeas_tests_of_interpretations(nano):
    import uproot
    from coffea.util import _is_interpretable

    from sapwood.coffea import open as open_for_coffea

    tree = open_for_coffea(nano[0])["Events"]
    assert all(_is_interpretable(branch) for branch in tree.values())
    interpretation = tree["Muon_pt"].interpretation
    interpretation._forth = False
    assert interpretation.awkward_form(None) == uproot.open(nano[0])["Events/Muon_pt"].interpretation.awkward_form(None)


def products(events):
    """A function for runners; top-level, so that worker processes can import it."""
    import awkward as ak

    muons = events.Muon[ak.num(events.Muon) == 2]
    pairs = muons[ak.sum(muons.charge, axis=1) == 0]
    source = type(events.attrs["@events_factory"].file_handle).__module__.partition(".")[0]
    return {"sum": float(ak.sum(pairs[:, 0].pt * pairs[:, 1].eta)), "entries": len(events), "source": {source}}


@needs_coffea
@pytest.mark.parametrize("workers", [0, 2])
def test_runner(nano, workers, quiet):
    from coffea.nanoevents import NanoAODSchema
    from coffea.processor import FuturesExecutor, IterativeExecutor
    from coffea.processor import Runner as Theirs

    from sapwood.coffea import Runner

    def executor():
        return FuturesExecutor(workers=workers, status=False) if workers else IterativeExecutor(status=False)

    results = []
    for runner in (Theirs, Runner):
        run = runner(executor(), schema=NanoAODSchema, chunksize=150, savemetrics=True, metadata_cache={})
        results.append(run({"muons": nano}, products, treename="Events"))
    (expected, theirs), (got, ours) = results
    assert got["sum"] == pytest.approx(expected["sum"])
    assert got["entries"] == expected["entries"] == 800
    assert (expected["source"], got["source"]) == ({"uproot"}, {"sapwood"})
    assert ours["entries"] == 800
    assert sorted(ours["columns"]) == sorted(theirs["columns"])
    assert ours["bytesread"] > 0


@needs_coffea
def test_runner_with_clusters_tracing_and_bad_files(nano, tmp_path, quiet):
    from coffea.nanoevents import NanoAODSchema
    from coffea.nanoevents.trace import trace
    from coffea.processor import IterativeExecutor

    from sapwood.coffea import Runner

    run = Runner(
        IterativeExecutor(status=False),
        schema=NanoAODSchema,
        chunksize=100,
        align_clusters=True,
        skipbadfiles=True,
        metadata_cache={},
    )
    files = [*nano, str(tmp_path / "absent.root")]
    assert run({"muons": files}, lambda events: {"n": len(events)}, treename="Events", trace=trace)["n"] == 800
    with pytest.raises(Exception, match="no object Absent"):
        Runner(IterativeExecutor(status=False), schema=NanoAODSchema, metadata_cache={})(
            {"muons": nano}, products, treename="Absent"
        )


@needs_coffea
def test_examples_of_the_guide_that_need_coffea(nano, tmp_path, monkeypatch, quiet, capsys):
    import shutil

    from examples import fenced

    shutil.copy(nano[0], tmp_path / "nano.root")
    monkeypatch.chdir(tmp_path)
    blocks = [b for b in fenced(HERE.parent / "docs" / "guide" / "coffea.md") if b.language == "python"]
    assert len(blocks) == 2
    for block in blocks:
        exec(compile(block.text, str(block), "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out.splitlines()[-1].startswith("400 ")


@needs_coffea
def test_dataset_tools(nano, quiet):
    pytest.importorskip("dask_awkward")
    import dask
    from coffea import dataset_tools as theirs
    from coffea.nanoevents import NanoAODSchema

    from sapwood.coffea import dataset_tools as ours

    fileset = {"muons": {"files": dict.fromkeys(nano, "Events")}}
    results = []
    for tools in (theirs, ours):
        available, updated = tools.preprocess(fileset, step_size=150, save_form=True, scheduler="sync")
        lazy = tools.apply_to_fileset(lambda events: events.Muon.pt, available, schemaclass=NanoAODSchema)
        (values,) = dask.compute(lazy, scheduler="sync")
        results.append((available, updated, values["muons"].to_list()))
    assert results[0][0]["muons"]["files"] == results[1][0]["muons"]["files"]
    assert results[0][2] == results[1][2]


@pytest.mark.skipif(HAS_COFFEA, reason="coffea is installed")
def test_coffea_missing():
    import sapwood.coffea

    with pytest.raises(sapwood.MissingLibraryError, match="pip install coffea"):
        _ = sapwood.coffea.Runner


def test_nothing_is_imported_before_it_is_used(run):
    import subprocess

    code = "import sys, sapwood, sapwood.coffea; print('coffea' in sys.modules, 'awkward' in sys.modules)"
    words = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert words.split() == ["False", "False"]
