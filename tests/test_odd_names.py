"""File names that are no text, axes without bins, limits on the size of files: refused by name."""

import os
import resource
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import sapwood


@pytest.mark.parametrize("verb", ["open", "chain", "doctor", "map", "merge", "optimize", "recover"])
def test_a_file_name_with_half_a_character_is_refused_as_ours(tmp_path, verb):
    place = f"{tmp_path}/\ud800.root"
    out = tmp_path / "out.root"
    arguments = {"merge": (out, [place]), "optimize": (place, out), "recover": (place, out)}.get(verb, (place,))
    with pytest.raises(sapwood.InvalidError, match="not valid Unicode"):
        getattr(sapwood, verb)(*arguments)
    assert not out.exists()


def test_bytes_name_files_for_every_verb(tmp_path):
    source, out = (os.fsencode(tmp_path / name) for name in ("in.root", "out.root"))
    with sapwood.recreate(tmp_path / "in.root") as file:
        file["t"] = {"x": [1, 2]}
    sapwood.merge(out, [source, source], progress=False)
    assert sapwood.open(out)["t"].num_entries == 4
    sapwood.optimize(source, out, force=True, progress=False)
    sapwood.recover(source, out, force=True)
    assert sapwood.open(out)["t"].num_entries == 2
    for verb in (sapwood.optimize, sapwood.recover):
        with pytest.raises(sapwood.InvalidError, match="must be"):
            verb(7, out)


@pytest.mark.parametrize("edges", [[0.0], [7.0]])
def test_an_axis_without_bins_is_refused(tmp_path, edges):
    with sapwood.recreate(tmp_path / "out.root") as file, pytest.raises(sapwood.InvalidError, match="at least one bin"):
        file["h"] = (np.zeros(0), np.array(edges))


@pytest.mark.parametrize("verb", ["recreate", "update", "merge"])
def test_a_limit_on_the_size_of_files_is_named(tmp_path, verb):
    path, big = tmp_path / "small.root", tmp_path / "big.root"
    for place, n in ((path, 10), (big, 100_000)):
        with sapwood.recreate(place, compression=None) as file:
            file["t"] = {"x": np.arange(n)}
    before = path.read_bytes()
    code = """
        import sys, numpy as np, sapwood
        verb, path, big = sys.argv[1:]
        try:
            if verb == "merge":
                sapwood.merge(path, [big, big], force=True, progress=False)
            elif verb == "recreate":
                with sapwood.recreate(path, compression=None) as file:
                    file["t"] = {"x": np.arange(1_000_000)}
            else:
                with sapwood.update(path) as file:
                    file["t"].extend({"x": np.random.default_rng(1).integers(0, 2**62, 1_000_000)})
        except sapwood.WriteError as e:
            print(e)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), verb, path, big],
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000)),
    )
    assert "ulimit -f" in done.stdout and "small.root" in done.stdout, done.stderr
    assert path.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["big.root", "small.root"]


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_matrix_is_rows(tmp_path):
    """It was a ValueError of numpy's interface."""
    with sapwood.recreate(tmp_path / "out.root") as file:
        file["t"] = {"x": np.matrix([[1, 2], [3, 4]])}
    assert sapwood.open(tmp_path / "out.root")["t"]["x"].array(library="np").tolist() == [[1, 2], [3, 4]]
