"""`sapwood simulate` and `sapwood.simulate`: the same report, and errors that say where."""

import json
import subprocess

import pytest

import sapwood

SCENARIO = """
title = "Two sites"
duration = "2d"
check_jobs = 2
[[site]]
name = "far"
disk = "1 TB"
[[site]]
name = "near"
cores = 4
proxy = "10 GB"
[[link]]
from = "far"
to = "near"
rtt = "20ms"
bandwidth = "1 Gbit/s"
[[dataset]]
name = "d"
files = 20
site = "far"
file_size = "200 MB"
entries = 100000
clusters = 10
branches = 100
[[workload]]
name = "w"
site = "near"
dataset = "d"
tasks_per_day = 10
files = 5
share = 0.1
cpu_per_entry = "20us"
[[policy]]
kind = "push"
[[policy]]
kind = "pull"
"""


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "two.toml"
    path.write_text(SCENARIO)
    return path


def run(command, *words):
    return subprocess.run([command, "simulate", *map(str, words)], capture_output=True, text=True, timeout=120)


def test_command_and_python_give_the_same_report(command, scenario, tmp_path):
    done = run(command, scenario, "--json", "--seed", 7, "-o", tmp_path / "by-command")
    assert done.returncode == 0, done.stderr
    simulation = sapwood.simulate(scenario, seed=7)
    assert simulation.data == json.loads(done.stdout)
    simulation.save(tmp_path / "by-python")
    files = sorted(p.name for p in (tmp_path / "by-command").iterdir())
    assert "report.html" in files and any(name.endswith(".svg") for name in files)
    assert files == sorted(p.name for p in (tmp_path / "by-python").iterdir())
    for name in files:
        assert (tmp_path / "by-python" / name).read_bytes() == (tmp_path / "by-command" / name).read_bytes(), name
    assert "http" not in simulation.html.replace("http://www.w3.org", ""), "nothing from elsewhere"


def test_another_seed_gives_another_report(scenario):
    assert str(sapwood.simulate(scenario, seed=1)) == str(sapwood.simulate(scenario, seed=1))
    assert sapwood.simulate(scenario, seed=1).data != sapwood.simulate(scenario, seed=2).data


def test_the_number_of_threads_does_not_change_a_sweep(scenario):
    one, two = (sapwood.simulate(scenario, sweep="proxy=1GB..10GB/3", threads=n) for n in (1, 2))
    assert one.data == two.data and one.html == two.html


def test_scenarios_that_come_with_it_are_listed_and_known_in_python(command):
    listed = json.loads(run(command, "--list", "--json").stdout)
    assert {s["name"] for s in listed} >= {"home", "tier3", "tree", "facility", "training", "outage"}
    assert "pull" in str(sapwood.simulate("home"))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("cores = 4", "coers = 4", "coers"),
        ('rtt = "20ms"', 'rtt = "20 parsecs"', "rtt"),
        ('kind = "pull"', 'kind = "shove"', "line 36: policy.kind"),
        ("files = 20", "files = -1", "files"),
        ('site = "near"\ndataset', 'site = "nowhere"\ndataset', "nowhere"),
    ],
)
def test_an_error_names_file_line_and_key(command, scenario, old, new, said):
    assert old in SCENARIO
    scenario.write_text(SCENARIO.replace(old, new))
    done = run(command, scenario)
    assert done.returncode in (1, 2) and "two.toml" in done.stderr and said in done.stderr, done.stderr
    with pytest.raises(sapwood.Error, match=said):
        sapwood.simulate(scenario)


class Everywhere(sapwood.GridPolicy):
    """Copies the files that are asked for most to the site with cores, and remembers what it was asked."""

    name = "mine"

    def __init__(self):
        self.placed = 0

    def place(self, job, sites):
        self.placed += 1
        assert self.placed <= 2000, "a copy decides in each simulation"
        assert job.workload == "w" and job.dataset == "d" and job.home == "near" and job.time >= 0
        far, near = sites
        assert (far.name, near.cores, near.round_trip, far.disk) == ("far", 4, 0, 10**12)
        assert far.has_files and far.round_trip == pytest.approx(0.02)
        return "near", True

    def replicate(self, dataset, sites):
        assert (dataset.name, dataset.files, list(dataset.by_rule)) == ("d", 20, [])
        return [(file, "near") for file in range(10)]

    def delete(self, site, needed, copies):
        assert site == "near" and needed > 0
        assert all(copy.dataset == "d" and copy.bytes >= 2e8 for copy in copies)
        return range(len(copies))


def test_a_policy_in_python_places_copies_and_deletes(scenario):
    scenario.write_text(SCENARIO.replace('proxy = "10 GB"', 'proxy = "10 GB"\ndisk = "3 GB"'))
    mine = Everywhere()
    simulation = sapwood.simulate(scenario, policy=mine, sweep="tasks=5|10")
    assert mine.placed == 0
    policies = {policy["policy"]: policy for policy in simulation.data["policies"]}
    assert list(policies) == ["push", "pull", "mine"]
    jobs = policies["mine"]
    assert jobs["jobs"] == policies["pull"]["jobs"] and jobs["copied_bytes"] >= 10 * 2e8
    near = next(site for site in jobs["sites"] if site["name"] == "near")
    assert near["disk_evicted_bytes"] > 0 and near["disk_most_bytes"] <= 3e9
    assert [len(point["policies"]) for point in simulation.data["sweep"]] == [3, 3]
    assert str(sapwood.simulate(scenario, policy=[mine])).count("mine") >= 1


def test_any_object_that_places_is_a_policy(scenario):
    class AtHome:
        def place(self, job, sites):
            return job.home

    home = sapwood.simulate(scenario, policy=AtHome()).data["policies"][-1]
    assert home["policy"] == "AtHome" and home["copied_bytes"] == 0 and home["moved_bytes"] > 0


@pytest.mark.parametrize(
    ("place", "error", "said"),
    [
        (lambda job, sites: "nowhere", sapwood.InvalidError, "nowhere"),
        (lambda job, sites: 1, sapwood.InvalidError, "not the name of a site"),
        (lambda job, sites: 1 / 0, ZeroDivisionError, "division"),
    ],
)
def test_what_a_policy_raises_ends_the_simulation(scenario, place, error, said):
    calls = []

    class Wrong(sapwood.GridPolicy):
        def place(self, job, sites):
            calls.append(job)
            return place(job, sites)

    with pytest.raises(error, match=said):
        sapwood.simulate(scenario, policy=Wrong())
    assert len(calls) == 1
    with pytest.raises(sapwood.InvalidError, match="method place"):
        sapwood.simulate(scenario, policy=Wrong)


@pytest.mark.parametrize("file", [-1, 20, 0.5, "0", True])
def test_numbers_that_a_policy_returns_are_checked(scenario, file):
    class Wrong(sapwood.GridPolicy):
        def place(self, job, sites):
            return next(site.name for site in sites if site.has_files), True

        def replicate(self, dataset, sites):
            return [(file, sites[0].name)]

    with pytest.raises(sapwood.InvalidError, match="not the number of a file"):
        sapwood.simulate(scenario, policy=Wrong())
    with pytest.raises(sapwood.InvalidError, match="two policies with the name Wrong"):
        sapwood.simulate(scenario, policy=[Wrong(), Wrong()])


@pytest.mark.parametrize(
    ("copies", "said"),
    [
        ("copies", "'copies'; it must return pairs"),
        (7, "7; it must return pairs"),
        ([(0, "near", 1)], "among its copies"),
    ],
)
def test_what_a_policy_copies_is_checked(scenario, copies, said):
    class Wrong(sapwood.GridPolicy):
        def place(self, job, sites):
            return job.home

        def replicate(self, dataset, sites):
            return copies

    with pytest.raises(sapwood.InvalidError, match=f"replicate of the policy returned.*{said}"):
        sapwood.simulate(scenario, policy=Wrong())


def test_a_policy_places_jobs_where_cores_are(scenario):
    class Coreless(sapwood.GridPolicy):
        def place(self, job, sites):
            return next(site.name for site in sites if not site.cores)

    with pytest.raises(sapwood.InvalidError, match="no cores"):
        sapwood.simulate(scenario, policy=Coreless())


def test_recorded_reads_are_replayed(command, tmp_path):
    lines = [
        '{"event":"file_close","lfn":"/a","size":1000000000,"attach_t":1700000000,"b_miss":1000000000}',
        '{"event":"file_close","lfn":"/a","size":1000000000,"attach_t":1700003600,"b_hit":1000000000}',
    ]
    (tmp_path / "xcache.json").write_text("\n".join(lines))
    head, _, rest = SCENARIO.partition("[[dataset]]")
    trace = '[[trace]]\nfile = "xcache.json"\nsite = "near"\norigin = "far"\n'
    path = tmp_path / "replay.toml"
    path.write_text(head.replace('duration = "2d"', "") + trace + rest[rest.index("[[policy]]") :])
    done = run(command, path, "--json")
    assert done.returncode == 0, done.stderr
    policies = {policy["policy"]: policy for policy in json.loads(done.stdout)["policies"]}
    pull = policies["pull"]
    assert pull["tasks"]["completed"] == 2
    assert pull["proxies"]["hit_rate"] == pytest.approx(0.5, abs=0.01)
    assert pull["moved_bytes"] == pytest.approx(1e9, rel=0.02)
    (tmp_path / "xcache.json").write_text("nothing of the kind\n")
    done = run(command, path)
    assert done.returncode == 1 and "replay.toml" in done.stderr and "xcache.json" in done.stderr, done.stderr


def test_our_own_access_log_and_statistics_are_traces(command, tmp_path):
    """What `sapwood proxy --access-log` and `sapwood perf -o` write is read as it is."""
    import numpy as np
    from servers import SERVERS, free_port

    with sapwood.recreate(tmp_path / "data.root") as out:
        out["t"] = {"x": np.random.default_rng(1).random(200_000)}
    origin = SERVERS["sapwood"](tmp_path, command)
    port = free_port()
    words = ["proxy", "--origin", f"http://127.0.0.1:{origin.port}", "--cache-dir", tmp_path / "cache", "--access-log"]
    words += ["--listen-http", f"127.0.0.1:{port}", "--listen-root", "off"]
    log, statistics = tmp_path / "access.log", tmp_path / "statistics.json"
    with log.open("w") as said:
        proxy = subprocess.Popen([command, *map(str, words)], stderr=said, stdout=subprocess.DEVNULL)
        try:
            for _ in range(100):
                url = f"http://127.0.0.1:{port}/data.root:t"
                done = subprocess.run([command, "perf", url, "-o", statistics], capture_output=True, text=True)
                if done.returncode == 0:
                    break
            assert done.returncode == 0, done.stderr
        finally:
            proxy.terminate()
            proxy.wait(timeout=20)
            origin.stop()
    requests = [line for line in log.read_text().splitlines() if " GET " in line]
    assert requests
    (tmp_path / "requests.log").write_text("\n".join(requests))
    head, _, rest = SCENARIO.partition("[[dataset]]")
    for trace, more in (("requests.log", 'file_size = "2 MB"\n'), ("statistics.json", "")):
        path = tmp_path / "replay.toml"
        table = f'[[trace]]\nfile = "{trace}"\nsite = "near"\norigin = "far"\nlasts = "1h"\n{more}'
        path.write_text(head + table + rest[rest.index("[[policy]]") :])
        pull = sapwood.simulate(path).data["policies"][1]
        assert pull["tasks"]["completed"] >= 1 and pull["moved_bytes"] > 1e6, (trace, pull)


def test_a_scenario_that_is_not_there(command):
    assert run(command, "absent.toml").returncode == 1
    with pytest.raises(FileNotFoundError, match="tier3"):
        sapwood.simulate("absent.toml")


def with_profile(text, share):
    """The scenario with files like those of real.json, of which jobs read something else."""
    described = ("file_size", "entries", "clusters", "branches")
    lines = "\n".join(line for line in text.splitlines() if not line.startswith(described))
    out = lines.replace('site = "far"\n[[', 'site = "far"\nprofile = "real.json"\n[[').replace("share = 0.1", share)
    assert 'profile = "real.json"' in out and share in out
    return out


def test_a_profile_of_an_ntuple_has_its_pages(command, scenario, tmp_path):
    np, ak = pytest.importorskip("numpy"), pytest.importorskip("awkward")
    chance = np.random.default_rng(1)

    def lists():
        # equal pages would be in the file once
        counts = chance.integers(0, 5, 20_000)
        return ak.unflatten(chance.random(counts.sum()), counts)

    with sapwood.recreate(tmp_path / "real.root", format="ntuple") as file:
        file["n"] = {"x": chance.random(20_000), "v": lists(), "w": lists()}
    done = run(command, "--profile", f"{tmp_path}/real.root:n", "-o", tmp_path / "real.json")
    assert done.returncode == 0, done.stderr
    profile = json.loads((tmp_path / "real.json").read_text())
    assert profile["entries"] == 20_000
    # each list has two columns: where lists end, and their values
    names = [branch["name"] for branch in profile["branches"]]
    assert sorted(name.split(".")[0] for name in names) == ["v", "v", "w", "w", "x"]
    sizes = [sum(basket[1] for basket in branch["baskets"]) for branch in profile["branches"]]
    assert all(sizes) and sum(sizes) < (tmp_path / "real.root").stat().st_size

    def read(branches):
        scenario.write_text(with_profile(SCENARIO, f"branches = {json.dumps(branches)}"))
        done = run(command, scenario, "--json")
        assert done.returncode == 0, done.stderr
        pull = json.loads(done.stdout)["policies"][1]
        # without a proxy's hits: what all jobs asked for
        return pull["proxies"]["hit_bytes"] + pull["proxies"]["miss_bytes"]

    # the values of a list are read with its ends: as much as of all columns of the name
    of = lambda what: sum(size for name, size in zip(names, sizes, strict=True) if name.startswith(what))  # noqa: E731
    # with the beginning of the file, of which 4 KiB are read
    opened = profile["bytes_to_open"] + 4096
    reads = read(["x"]) / (of("x") + opened)
    assert reads == pytest.approx(round(reads), rel=1e-6) and reads > 20
    assert read(["v*"]) == pytest.approx(reads * (of("v") + opened), rel=1e-6)
    longest = max((name for name in names if name.startswith("v")), key=len)
    assert read([longest]) == read(["v*"])


def test_a_profile_of_a_real_file_can_be_used(command, scenario, tmp_path):
    import numpy as np

    with sapwood.recreate(tmp_path / "real.root") as file:
        file["t"] = {f"x{i}": np.random.default_rng(i).random(50_000) for i in range(10)}
    done = run(command, "--profile", tmp_path / "real.root", "-o", tmp_path / "real.json")
    assert done.returncode == 0, done.stderr
    scenario.write_text(with_profile(SCENARIO, "share = 0.1"))
    done = run(command, scenario)
    assert done.returncode == 0, done.stderr


def test_a_profile_does_not_replace_its_file(command, tmp_path):
    with sapwood.recreate(tmp_path / "real.root") as file:
        file["t"] = {"x": list(range(1000))}
    before = (tmp_path / "real.root").read_bytes()
    (tmp_path / "same.root").symlink_to("real.root")
    (tmp_path / "hard.root").hardlink_to(tmp_path / "real.root")
    for name in ("real.root", "same.root", "hard.root"):
        done = run(command, "--profile", tmp_path / "real.root", "-o", tmp_path / name)
        assert done.returncode == 1 and "is the file that is described; give another name to -o" in done.stderr
    assert (tmp_path / "real.root").read_bytes() == before


def test_the_tree_cache_of_jobs_is_in_the_scenario(command, scenario):
    done = run(command, scenario, "--cache-size", "64kB")
    assert done.returncode == 1 and "is the key cache of a [[workload]]" in done.stderr


class Strange:
    pass


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"scenario": ""}, "the name of the scenario is empty; give a TOML file, or one of home, tier3"),
        ({"scenario": "."}, "is a directory; give the TOML file"),
        ({"scenario": None}, "a file name must be a string, bytes or a Path, not None"),
        ({"scenario": 3}, "not 3"),
        ({"scenario": ["home"]}, "not \\['home'\\]"),
        ({"scenario": Strange()}, "not <"),
        ({"seed": "1"}, "seed must be a whole number from 0 to 2\\*\\*64 - 1, or None, not '1'"),
        ({"seed": 1.5}, "seed must be a whole number"),
        ({"seed": True}, "seed must be a whole number"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"seed": 2**64}, "seed must be a whole number"),
        ({"threads": "2"}, "threads must be at least 0"),
        ({"threads": -1}, "threads must be at least 0"),
        ({"sweep": 3}, "sweep must be a string, not 3"),
        ({"sweep": ""}, "write for example disk=1TB..1PB"),
        ({"sweep": "proxy=100"}, '"100" has no unit'),
        ({"policy": 3}, "a policy is an object with a method place"),
    ],
)
def test_wrong_arguments_are_told_by_name(arguments, said):
    arguments = {"scenario": "home"} | arguments
    with pytest.raises(sapwood.InvalidError, match=said):
        sapwood.simulate(arguments.pop("scenario"), **arguments)


@pytest.mark.parametrize("name", ["push", "pull", "", " ", 3])
def test_a_policy_has_a_name_of_its_own(scenario, name):
    mine = Everywhere()
    mine.name = name
    said = (
        f"a policy with the name {name} already" if name in ("push", "pull") else "the name of a policy must be a text"
    )
    with pytest.raises(sapwood.InvalidError, match=said):
        sapwood.simulate(scenario, policy=mine)
