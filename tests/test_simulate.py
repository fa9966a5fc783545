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


def test_a_scenario_that_is_not_there(command):
    assert run(command, "absent.toml").returncode == 1
    with pytest.raises(FileNotFoundError, match="tier3"):
        sapwood.simulate("absent.toml")


def test_a_profile_of_a_real_file_can_be_used(command, scenario, tmp_path):
    import numpy as np

    with sapwood.recreate(tmp_path / "real.root") as file:
        file["t"] = {f"x{i}": np.random.default_rng(i).random(50_000) for i in range(10)}
    done = run(command, "--profile", tmp_path / "real.root", "-o", tmp_path / "real.json")
    assert done.returncode == 0, done.stderr
    described = ("file_size", "entries", "clusters", "branches")
    lines = [line for line in SCENARIO.splitlines() if not line.startswith(described)]
    scenario.write_text("\n".join(lines).replace('site = "far"\n[[', 'site = "far"\nprofile = "real.json"\n[['))
    assert 'profile = "real.json"' in scenario.read_text()
    done = run(command, scenario)
    assert done.returncode == 0, done.stderr
