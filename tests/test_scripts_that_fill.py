"""draw('script.py'): a macro in Python whose function computes what is filled."""

import os
import subprocess
import sys

import numpy as np
import pytest

import sapwood


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(3)
    counts = np.arange(500) % 4
    data = {
        "px": rng.normal(size=500),
        "py": rng.normal(size=500),
        "n": np.arange(500) % 7,
        "w": rng.uniform(size=500),
        "pt": [rng.exponential(10, k) for k in counts],
    }
    path = tmp_path / "data.root"
    with sapwood.recreate(path) as out:
        out["t"] = data
    return str(path)


def script(tmp_path, text, name="radius.py"):
    path = tmp_path / name
    path.write_text("import numpy as np\n" + text)
    return path


def same(a, b):
    assert a.axes[0].edges.tolist() == b.axes[0].edges.tolist()
    np.testing.assert_allclose(a.values(flow=True), b.values(flow=True), rtol=1e-12)
    np.testing.assert_allclose(a.variances(flow=True), b.variances(flow=True), rtol=1e-12)


def test_a_function_fills_what_an_expression_fills(file, tmp_path):
    path = script(tmp_path, "def radius(px, py):\n    return np.sqrt(px**2 + py**2)\n")
    tree = sapwood.open(f"{file}:t")
    same(tree.draw(str(path)), tree.draw("sqrt(px**2+py**2)"))
    same(tree.draw(path, "n>2"), tree.draw("sqrt(px**2+py**2)", "n>2"))
    for bins in (7, (20, 0, 3), np.array([0, 1, 2.5, 3])):
        same(tree.draw(path, bins=bins), tree.draw("sqrt(px**2+py**2)", bins=bins))
    part = {"entry_start": 100, "entry_stop": 300}
    same(tree.draw(path, **part), tree.draw("sqrt(px**2+py**2)", **part))
    chain = sapwood.chain([f"{file}:t", f"{file}:t"])
    same(chain.draw(path), chain.draw("sqrt(px**2+py**2)"))


def test_weights_lists_whole_numbers_and_expressions(file, tmp_path):
    tree = sapwood.open(f"{file}:t")
    same(tree.draw(script(tmp_path, "def draw(n, w):\n    return n, w\n")), tree.draw("n", "w"))
    same(tree.draw(script(tmp_path, "def draw(pt):\n    return 2 * pt\n")), tree.draw("2*pt"))
    same(tree.draw(script(tmp_path, "def draw(pt, w):\n    return pt, w\n")), tree.draw("pt", "w"))
    same(tree.draw(script(tmp_path, "def draw(r='px**2'):\n    return r\n")), tree.draw("px**2"))


def test_a_script_without_function_is_refused(file, tmp_path):
    tree = sapwood.open(f"{file}:t")
    for text, message in [
        ("x = 1\n", "nothing to draw"),
        ("def a(px):\n    return px\ndef b(px):\n    return px\n", "nothing to draw"),
        ("def draw():\n    return 1\n", "no parameters"),
        ("def draw(*a):\n    return 1\n", "branch"),
    ]:
        with pytest.raises(sapwood.InvalidError, match=message):
            tree.draw(script(tmp_path, text))
    with pytest.raises(sapwood.SelectorError, match="ZeroDivisionError"):
        tree.draw(script(tmp_path, "def draw(px):\n    return 1 / 0\n"))
    with pytest.raises(sapwood.KeyInFileError):
        tree.draw(script(tmp_path, "def draw(absent):\n    return absent\n"))
    with pytest.raises(sapwood.UnsupportedError):
        tree.draw(script(tmp_path, "def draw(px):\n    return px\n"), option="prof")


def test_the_command_prints_the_histogram(file, tmp_path, command):
    path = script(tmp_path, "def radius(px, py):\n    return np.sqrt(px**2 + py**2)\n")
    environment = {**os.environ, "SAPWOOD_PYTHON": sys.executable}
    words = [command, "process", f"{file}:t", str(path), "-q"]
    done = subprocess.run(words, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert "inf" in done.stdout
    done = subprocess.run([command, "draw", f"{file}:t", str(path)], capture_output=True, text=True)
    assert done.returncode == 1
    assert "sapwood process" in done.stderr
