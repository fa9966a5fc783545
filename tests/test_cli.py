"""The sapwood command: what it prints, its exit statuses, its JSON."""

import json

import numpy as np
import pytest
import uproot


def parsed(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_version(run):
    done = run("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("sapwood ")


def test_ls(run, root_files):
    done = run("ls", root_files / "container.root")
    assert done.returncode == 0, done.stderr
    for word in ["outer", "cycles", "TTree", "label", "TNamed"]:
        assert word in done.stdout


def test_ls_of_a_directory(run, root_files):
    done = run("ls", f"{root_files}/container.root:outer/inner")
    assert done.returncode == 0, done.stderr
    assert "deep" in done.stdout
    assert "label" not in done.stdout


def test_ls_json_names_every_key(run, flat):
    text = json.dumps(parsed(run("ls", flat, "--json")))
    assert '"t"' in text
    assert '"TTree"' in text


def test_show(run, flat):
    done = run("show", f"{flat}:t")
    assert done.returncode == 0, done.stderr
    for name in uproot.open(flat)["t"].keys():
        assert name in done.stdout
    assert "1000" in done.stdout.replace(" ", "").replace(",", "")


def test_show_json(run, flat):
    text = json.dumps(parsed(run("show", f"{flat}:t", "--json")))
    for name in ["n_f4", "jagged", "matrix"]:
        assert f'"{name}"' in text


def test_draw_counts_as_numpy_does(run, flat):
    report = parsed(run("draw", f"{flat}:t", "n_f4>>h(50,-2000,2000)", "x<500", "--json"))
    values = uproot.open(flat)["t"]["n_f4"].array(library="np")[:500]
    expected, _ = np.histogram(values, bins=50, range=(-2000, 2000))
    assert report["histogram"]["counts"] == expected.tolist()
    assert report["histogram"]["entries"] == 500
    assert report["entries"] == 1000


def test_draw_reports_its_io(run, flat):
    io = parsed(run("draw", f"{flat}:t", "n_f4", "--json"))["io"]
    for name in ["requests", "round_trips", "bytes_fetched", "bytes_wanted", "unzip_seconds", "decode_seconds"]:
        assert io[name] >= 0, name
    # What opening needed (header, keys, the tree) counts as wanted, too.
    baskets = uproot.open(flat)["t"]["n_f4"].compressed_bytes
    assert baskets <= io["bytes_wanted"] <= io["bytes_fetched"]


@pytest.mark.parametrize("cache", ["0", "65536", "auto"])
def test_draw_does_not_depend_on_the_cache(run, flat, cache):
    expected = parsed(run("draw", f"{flat}:t", "jagged", "jagged>20", "--json"))["histogram"]
    report = parsed(run("draw", f"{flat}:t", "jagged", "jagged>20", "--cache-size", cache, "--json"))
    assert report["histogram"] == expected


def test_draw_in_the_terminal(run, flat):
    done = run("draw", f"{flat}:t", "n_f4")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") > 5


@pytest.mark.parametrize(("suffix", "magic"), [("svg", b"<"), ("png", b"\x89PNG\r\n\x1a\n"), ("json", b"{")])
def test_draw_to_a_file(run, flat, tmp_path, suffix, magic):
    out = tmp_path / f"h.{suffix}"
    done = run("draw", f"{flat}:t", "n_f4", "-o", out)
    assert done.returncode == 0, done.stderr
    assert out.read_bytes().startswith(magic)


def test_scan_json_lines(run, flat):
    done = run("scan", f"{flat}:t", "x:n_f8", "x<3", "--format", "jsonl")
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["x"] for row in rows] == [0, 1, 2]
    assert [row["n_f8"] for row in rows] == uproot.open(flat)["t"]["n_f8"].array(library="np")[:3].tolist()


def test_scan_json_reports_its_io(run, flat):
    report = parsed(run("scan", f"{flat}:t", "x:n_f8", "x<3", "--json"))
    assert report["io"]["requests"] > 0


def test_scan_csv(run, flat):
    done = run("scan", f"{flat}:t", "x", "x<2", "--format", "csv")
    assert done.stdout.split() == ["x", "0", "1"]


def test_scan_prints_the_chosen_rows(run, flat):
    done = run("scan", f"{flat}:t", "x", "x>=17 && x<19")
    assert done.returncode == 0, done.stderr
    assert "17" in done.stdout
    assert "18" in done.stdout


def test_scan_into_a_closed_pipe_ends_quietly(command, flat):
    import subprocess

    scan = subprocess.Popen([command, "scan", f"{flat}:t", "x:n_f8"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    scan.stdout.read(10)
    scan.stdout.close()
    errors = scan.stderr.read().decode()
    scan.stderr.close()
    scan.wait(30)
    assert "panic" not in errors


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["ls", "/nowhere/file.root"], "/nowhere/file.root"),
        (["ls", "gopher://host/file.root"], "gopher"),
        (["ls", __file__], "test_cli.py"),
        (["show", "{flat}:nothing"], "nothing"),
        (["draw", "{flat}:t", "no_such_branch"], "no_such_branch"),
        (["draw", "{flat}:t", "x", "n_f4 >"], ">"),
        (["draw", "{flat}:t", "sqroot(x)"], "sqroot"),
        (["ls", "http://127.0.0.1:1/file.root"], "127.0.0.1"),
    ],
    ids=lambda value: value[-1] if isinstance(value, list) else "",
)
def test_errors_name_what_is_wrong(run, flat, words, named):
    done = run(*[word.format(flat=flat) for word in words])
    assert done.returncode == 1
    assert named in done.stderr
    assert "panicked" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    "words", [[], ["fly"], ["draw"], ["ls", "--no-such-flag"], ["draw", "f:t", "x", "--cache-size", "much"]], ids=str
)
def test_wrong_usage(run, words):
    done = run(*words)
    assert done.returncode == 2
    assert done.stderr
