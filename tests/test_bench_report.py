"""The benchmark's page: several runs in one, the seed's tables, what is aimed at."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parent.parent / "bench"
MACHINE = {"date": "2026-01-01", "cpu": "c", "cores": 2, "system": "s", "root": "6", "uproot": "5", "warmed": 1}


@pytest.fixture(scope="module")
def report():
    sys.path.insert(0, str(BENCH))
    try:
        import report
    finally:
        sys.path.remove(str(BENCH))
    return report


def row(seconds, requests):
    return {
        "seconds": [seconds] if seconds else [],
        "median": seconds,
        "cpu": 0.5,
        "columns": {"rows drawn": 10, "requests": requests, "MB at the server": 14.4},
        "failure": None if seconds else "took too long",
    }


def cell(client, cache, root, ours, last=100, uproot=None):
    rows = {"ROOT": row(root, 26), "Sapwood": row(ours, 52)}
    if uproot:
        rows["uproot"] = row(uproot, 1000)
    bounds = [{"text": "requests", "limit": 1, "value": ours, "unit": ""}]
    place = {"table": "wan", "row": client, "link": "1 ms, 1 Mbit/s", "protocol": "http", "cache": cache}
    return {
        "name": f"wan-{client}-http-{cache}",
        "title": "t",
        "note": "A note.",
        "floor": None,
        "rows": rows,
        "bounds": bounds,
        "differences": [],
        "place": place | {"entries": [last, 100]},
    }


def run(*cases, **skipped):
    return {"machine": MACHINE | {"command": f"run {len(cases)}"}, "cases": list(cases), "skipped": skipped}


def test_of_a_case_that_several_runs_have_the_last_counts(report):
    one = run(cell("F", "auto", 8, 4), cell("G", "auto", 8, 4), **{"wan-G-http-10MB": "needs nginx"})
    two = run(cell("G", "auto", 9, 3), cell("G", "10MB", 8, 5))
    two["machine"] |= {"command": "run again", "warmed": 0}
    both = report.merged([one, two])
    assert [case["name"] for case in both["cases"]] == ["wan-F-http-auto", "wan-G-http-auto", "wan-G-http-10MB"]
    assert both["cases"][1]["rows"]["ROOT"]["median"] == 9
    assert both["skipped"] == {}
    page = "\n".join(report.page(both, {}))
    assert "c, 2 cores, s; ROOT 6, uproot 5: 2026-01-01 `run 2`; 2026-01-01 `run again` (memory not prepared)." in page


def test_the_best_peer_has_any_cache_but_no_short_cut(report):
    cases = [cell("G", "auto", 8, 4, uproot=7), cell("G", "30MB", 5, 9), cell("G", "0", 1, 2, last=10)]
    pictures = {}
    page = "\n".join(report.page(report.merged([run(*cases)]), pictures))
    assert "| Draw over HTTP, client G | time over the best peer's, at any cache size: at most 1 | 0.8  | met |" in page
    assert "client G, cache 30MB (the worst of 3) | requests: at most 1 | 9  | **missed**" in page
    assert "| G: 1 ms, 1 Mbit/s | ROOT | 1 * | 5 | 8 |" in page
    assert "| G: 1 ms, 1 Mbit/s | uproot |  |  | 7 |" in page
    assert "client G, cache 0: the first 10 of 100 entries" in page
    assert list(pictures) == ["benchmarks-http-caches.svg"]
    assert "benchmarks-http-caches.svg" in page
    # what was truncated is not drawn beside what was not: three bars of two sizes, and the legend
    assert pictures["benchmarks-http-caches.svg"].count("<rect") == 1 + 3 + 5


def test_a_contender_that_failed_is_named(report):
    page = "\n".join(report.page(report.merged([run(cell("G", "auto", None, 4))]), {}))
    assert "| G: 1 ms, 1 Mbit/s | ROOT | failed |" in page
    assert "Client G, cache auto: ROOT failed: `took too long`" in page
    assert "best peer" not in page


def test_from_files_to_a_page(report, tmp_path, monkeypatch, capsys):
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path, client in zip(paths, "FG", strict=True):
        path.write_text(json.dumps(run(cell(client, "auto", 8, 4))))
    monkeypatch.setattr(sys, "argv", ["report.py", "--merge", *map(str, paths), "--out", str(tmp_path / "d" / "p.md")])
    report.main()
    assert sorted(p.name for p in (tmp_path / "d").iterdir()) == ["benchmarks-http-clients.svg", "p.md"]
    assert "written" in capsys.readouterr().out


def test_a_run_that_is_cut_short_leaves_what_it_has(run, command, report, tmp_path):
    data, out = tmp_path / "data", tmp_path / "out.json"
    data.mkdir()
    assert run("sample", data / "chep_new.root", "--entries", "100").returncode == 0
    # there already, so that ROOT does not have to make them
    for name in ("chep_old.root", "pre.root", "nano.root"):
        (data / name).touch()
    words = [sys.executable, BENCH / "run.py", "--data", data, "--json", out, "--sapwood", command, "--only", "Sapwood"]
    words += ["--cold-memory", "--rows", "none", "--cases", "start-up", "--repeat", "100000"]
    process = subprocess.Popen(
        list(map(str, words)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        for line in process.stderr:
            if "start-up 3/100000 Sapwood ls" in line:
                break
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=20)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 143, said
    (case,) = json.loads(out.read_text())["cases"]
    assert case["name"] == "start-up"
    assert len(case["rows"]["Sapwood ls"]["seconds"]) >= 2
    page = "\n".join(report.page(report.merged([json.loads(out.read_text())]), {}))
    assert "| Sapwood ls | 0.0" in page
    assert str(tmp_path) not in page


def test_readers_and_proxies_make_a_table(report):
    def figures(seconds, megabytes):
        found = row(seconds, 5)
        return found | {"columns": {"requests at the origin": 5, "MB from the origin": megabytes}}

    rows = {
        "ROOT, direct": figures(4.5, 16.26),
        "ROOT, XCache, cold": figures(5.1, 140.5),
        "uproot, direct": figures(4.9, 54.8),
        "uproot, XCache, cold": figures(None, None),
    }
    case = {
        "name": "proxied-query-xrootd",
        "title": "t",
        "note": "A note.",
        "floor": None,
        "rows": rows,
        "bounds": [{"text": "cold over direct", "limit": 1.1, "value": 1.13, "unit": ""}],
        "differences": [],
        "place": {"table": "proxied", "protocol": "xrootd"},
    }
    without = {"ROOT without tree cache, direct": figures(442, None)}
    cases = [case, case | {"name": "proxied-uncached-xrootd", "rows": without, "bounds": []}]
    page = "\n".join(report.page(report.merged([run(*cases)]), {}))
    assert "| t | cold over direct: at most 1.1 | 1.13  | **missed** |" in page
    assert page.count("## The seed's query through proxies over XRootD") == 1
    assert "| Seconds | direct | XCache, cold |" in page
    assert "| ROOT | 4.5 | 5.1 |" in page
    assert "| uproot | 4.9 | failed |" in page
    assert "| ROOT without tree cache | 442 |  |" in page
    assert "| ROOT | 16.3 | 140 |" in page
    assert "uproot, XCache, cold failed: `took too long`" in page
