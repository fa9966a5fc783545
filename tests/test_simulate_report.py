"""The report of `sapwood simulate`: its directory is written as a whole, and what it shows is harmless."""

import errno
import html.parser
import json
import os
import signal
import subprocess
import xml.dom.minidom

import pytest
from test_failing_disk import failing  # noqa: F401
from test_simulate import SCENARIO, run

import sapwood

SMALL = SCENARIO.replace("check_jobs = 2", "check_jobs = 0")
UNFINISHED = ".sapwood-unfinished"


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


def seeds(folder):
    """The seeds of the files of a directory that tell theirs, and how many files there are of a report."""
    names = sorted(p.name for p in folder.iterdir() if p.name != UNFINISHED)
    told = set()
    if "report.json" in names:
        told.add(json.loads((folder / "report.json").read_text())["seed"])
    if "report.txt" in names:
        told.add(int((folder / "report.txt").read_text().partition("seed ")[2].split()[0]))
    if "report.html" in names:
        told.add(json.loads((folder / "report.html").read_text().partition('"seed":')[2].partition(",")[0]))
    return told, names


def test_a_report_replaces_an_earlier_one_with_more_pictures(command, scenario, tmp_path):
    out = tmp_path / "out"
    assert run(command, scenario, "-o", out, "--sweep", "proxy=1GB|2GB").returncode == 0
    assert (out / "sweep-cost.svg").exists()
    (out / "notes.svg").write_text("mine")
    for save in (lambda: run(command, scenario, "-o", out), lambda: sapwood.simulate(scenario).save(out)):
        save()
        names = sorted(p.name for p in out.iterdir())
        assert "sweep-cost.svg" not in names and "notes.svg" in names and "cores.svg" in names
        assert not any(name.startswith(".") for name in names)


def test_a_second_run_into_the_same_directory_is_refused(command, scenario, tmp_path):
    import fcntl

    out = tmp_path / "out"
    out.mkdir()
    held = os.open(out, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    done = run(command, scenario, "-o", out)
    assert done.returncode == 1 and done.stdout == ""
    assert f"{out}: another process is writing into this directory; wait until it has ended" in done.stderr
    with pytest.raises(OSError, match="another process is writing into this directory"):
        sapwood.simulate(scenario).save(out)
    os.close(held)
    # what a killed run has left is in nobody's way
    (out / UNFINISHED).mkdir()
    (out / UNFINISHED / "report.txt").write_text("half")
    assert run(command, scenario, "-o", out).returncode == 0
    assert seeds(out)[0] == {1} and UNFINISHED not in os.listdir(out)


def test_two_runs_at_once_leave_one_report(command, scenario, tmp_path):
    out = tmp_path / "out"
    words = [[command, "simulate", scenario, "--seed", str(seed), "-o", out] for seed in range(1, 7)]
    runs = [
        subprocess.Popen([*map(str, w)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for w in words
    ]
    told = [run.communicate(timeout=120)[1] for run in runs]
    done = [run.returncode for run in runs]
    assert 0 in done and all(code == 0 or "another process" in text for code, text in zip(done, told, strict=True)), (
        told
    )
    told, names = seeds(out)
    assert len(told) == 1 and len(names) == 9


def test_a_directory_that_cannot_be_one(command, scenario, tmp_path):
    (tmp_path / "file").write_text("mine")
    done = run(command, scenario, "-o", tmp_path / "file")
    assert done.returncode == 1 and "exists and is not a directory" in done.stderr, done.stderr
    assert run(command, scenario, "-o", tmp_path / "file" / "below").returncode == 1
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    assert run(command, scenario, "-o", tmp_path / "link").returncode == 1
    (tmp_path / "real").mkdir()
    (tmp_path / "to").symlink_to(tmp_path / "real")
    assert run(command, scenario, "-o", tmp_path / "to").returncode == 0
    assert (tmp_path / "real" / "report.html").exists()
    # a scenario that is wrong leaves no directory behind
    scenario.write_text(SMALL.replace('site = "near"', 'site = "far"'))
    assert run(command, scenario, "-o", tmp_path / "new").returncode == 0
    scenario.write_text(SMALL.partition("[[link]]")[0] + "[[dataset]]" + SMALL.partition("[[dataset]]")[2])
    done = run(command, scenario, "-o", tmp_path / "none")
    assert done.returncode == 1 and "no link leads" in done.stderr
    assert not (tmp_path / "none").exists()
    with pytest.raises(sapwood.InvalidError, match="only local"):
        sapwood.simulate("home").save("http://host/report")


def at_each_call(command, scenario, out, library, error):
    """Runs with another seed into a directory with a report, with the n-th call for it failing, or killed at it."""
    first = subprocess.run([command, "simulate", scenario, "-o", out], capture_output=True, timeout=120)
    assert first.returncode == 0
    said = out.parent / "said"
    for at in range(1, 500):
        said.unlink(missing_ok=True)
        env = os.environ | {
            "LD_PRELOAD": str(library),
            "FAILING_DISK": f"{out}:{at}:{error}",
            "FAILING_DISK_SAID": str(said),
        }
        seed = str(2 + at % 2)
        words = [command, "simulate", scenario, "--seed", seed, "-o", out]
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, env=env, timeout=120)
        if not said.exists():
            assert done.returncode == 0
            return
        yield done, said.read_text(), int(seed)
    pytest.fail("there is no end of calls")


def test_a_killed_run_never_mixes_two_reports(command, scenario, tmp_path, failing):  # noqa: F811
    out, before, killed = tmp_path / "out", 1, set()
    for done, call, seed in at_each_call(command, scenario, out, failing, 0):
        told, names = seeds(out)
        assert done.returncode == -signal.SIGKILL
        assert told <= {before, seed} and len(told) <= 1, (call, told)
        killed.add((call, len(names) == 9))
        # the next run finds what this one has left
        assert run(command, scenario, "--seed", seed, "-o", out).returncode == 0
        assert seeds(out) == ({seed}, sorted(names if len(names) == 9 else seeds(out)[1]))
        assert len(seeds(out)[1]) == 9 and UNFINISHED not in os.listdir(out)
        before = seed
    assert {("rename", False), ("write", True), ("fsync", True)} <= killed


def test_a_full_disk_leaves_the_report_that_was_there(command, scenario, tmp_path, failing):  # noqa: F811
    out, failed = tmp_path / "out", set()
    first = 1
    for done, call, seed in at_each_call(command, scenario, out, failing, errno.ENOSPC):
        told, names = seeds(out)
        if done.returncode == 0:
            first = seed
        else:
            assert os.strerror(errno.ENOSPC) in done.stderr or "space" in done.stderr, (call, done.stderr)
            failed.add(call)
        if call not in ("unlink", "unlinkat", "rename", "renameat"):
            assert UNFINISHED not in os.listdir(out)
            assert len(names) == 9 and told in ({first}, {seed}), (call, told)
        else:
            assert len(told) <= 1 and run(command, scenario, "--seed", seed, "-o", out).returncode == 0
        first = min(seeds(out)[0])
    assert {"write", "fsync"} <= failed


def test_titles_and_names_steer_nothing(command, scenario, tmp_path):
    strange = "a\\u001b[31m<script>alert(1)</script>\\u0000\\u202e&\\n"
    text = SMALL.replace('"Two sites"', f'"{strange}"').replace('kind = "pull"', f'kind = "pull"\nname = "{strange}"')
    scenario.write_text(text)
    simulation = sapwood.simulate(scenario, sweep="proxy=1GB|2GB")
    done = run(command, scenario)
    assert done.returncode == 0, done.stderr
    for shown in (done.stdout, str(simulation), simulation.html, *simulation.pictures.values()):
        assert not {c for c in shown if c != "\n" and (ord(c) < 32 or c in "\x7f\u202e")}
    for picture in simulation.pictures.values():
        xml.dom.minidom.parseString(picture)
    page = html.parser.HTMLParser()
    page.feed(simulation.html)
    assert simulation.html.count("<script") == 1, "the figures"
    figures = simulation.html.partition('id="figures">')[2].partition("</script>")[0]
    assert json.loads(figures) == simulation.data
    assert simulation.data["title"] == json.loads(f'"{strange}"')


def test_idle_cores_are_shown(scenario):
    report = sapwood.simulate(scenario)
    (header,) = [line for line in str(report).splitlines() if "CPU eff." in line]
    assert "utilisation" in header
    for policy in report.data["policies"]:
        lasted = max(report.data["seconds"], policy["end"])
        assert policy["utilisation"] == pytest.approx(policy["core_seconds"] / (4 * lasted), rel=1e-3)
        assert 0 < policy["utilisation"] < 0.1 < policy["cpu_efficiency"] <= 1
        far, near = policy["sites"]
        assert (far["cores"], far["utilisation"], near["cores"]) == (0, 0, 4)
        assert near["utilisation"] == pytest.approx(policy["utilisation"])
        columns = policy["time_line"]["columns"]
        assert max(row[columns.index("cores_in_use")] for row in policy["time_line"]["rows"]) <= 4
    assert "Cores in use" in report.html
