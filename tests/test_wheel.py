"""The wheel and the source package: what is in them, what they need, and that they install into a new environment.

The wheel is assembled from what `make native` built (packaging/wheel/assemble.py), since a second build of everything
takes minutes. `make wheel` builds the one to give away, and checks and tries it with the same scripts.
"""

import importlib.util
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
WHEEL = ROOT / "packaging" / "wheel"
EXTRAS = {"awkward", "pandas", "polars", "arrow", "hist", "fsspec", "dask", "coffea", "all"}
REQUIREMENT = re.compile(r"([A-Za-z0-9-]+)(?:\[([^\]]*)\])?([<>=!~0-9.,]*)(?: ; extra == .([a-z]+).)?")


def script(name):
    """A script of packaging/wheel as a module."""
    spec = importlib.util.spec_from_file_location(f"wheel_{name}", WHEEL / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check = script("check")
# Of a wheel from `make native`: larger than the one to give away, which is optimized for size, too ([profile.wheel]).
LIMIT = 12_000_000


@pytest.fixture(scope="module")
def maturin():
    beside = Path(sys.executable).parent / "maturin"
    found = str(beside) if beside.exists() else shutil.which("maturin")
    if not found:
        pytest.skip("maturin is not installed")
    return found


@pytest.fixture(scope="module")
def wheel(maturin, tmp_path_factory):
    if not shutil.which("strip"):
        pytest.skip("strip is not installed")
    return script("assemble").assemble(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def requirements(wheel):
    """What the wheel requires: for each extra ("" for none) a mapping from package to versions."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode())
    found = {extra: {} for extra in ["", *metadata.get_all("Provides-Extra")]}
    for line in metadata.get_all("Requires-Dist"):
        package, extras, versions, extra = REQUIREMENT.fullmatch(line).groups()
        found[extra or ""][package] = (extras or "", versions)
    return found


def test_the_wheel_is_whole_and_small(wheel):
    assert check.faults(wheel, LIMIT) == []
    assert wheel.stat().st_size > 1_000_000


def test_the_wheel_works_in_an_environment_of_its_own(wheel, tmp_path):
    version = re.search(r'^version = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
    assert script("try_install").try_wheel(wheel, tmp_path) == version


def test_extras(requirements):
    assert set(requirements) == {"", *EXTRAS}
    assert set(requirements[""]) == {"numpy"}
    for extra in EXTRAS - {"all", "arrow"}:
        package = "dask-awkward" if extra == "dask" else extra
        assert package in requirements[extra], extra
    assert "pyarrow" in requirements["arrow"]
    # frames of polars are made from Arrow's arrays
    assert "pyarrow" in requirements["polars"]
    # `all` is the others, and no second list of them
    assert set(requirements["all"]) == {"sapwood"}
    assert set(requirements["all"]["sapwood"][0].split(",")) == EXTRAS - {"all"}


def test_the_conda_recipe_asks_for_the_same_versions(requirements):
    text = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text()
    version = re.search(r'^version = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
    assert f'version: "{version}"' in text
    run = re.search(r"^  run:\n((?:    .*\n)+)", text, re.MULTILINE)[1]
    optional = re.search(r"^  run_constraints:\n((?:    .*\n)+)", text, re.MULTILINE)[1]
    wanted = dict(re.findall(r"- ([a-z0-9-]+) (>=[0-9.]+)", run + optional))
    stated = {package: versions for extra in requirements.values() for package, (_, versions) in extra.items()}
    assert wanted == {package: stated[package] for package in wanted}
    assert {"numpy", "awkward", "pandas", "polars", "pyarrow", "hist", "fsspec", "coffea"} <= set(wanted)
    python = re.search(r'^requires-python = ">=(.*)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)[1]
    assert f'python_min: "{python}"' in text


def rewritten(wheel, directory, tag, versions=(), without=None):
    """A copy of a wheel with another tag, without one file, its extension needing these versions of symbols."""
    out = directory / wheel.name.replace(wheel.stem.split("-", 4)[4], tag)
    extension = b"\0".join([b"\x7fELF", b"hypot", *versions, b"libc.so.6", b""])
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            if name != without:
                new.writestr(name, extension if name == check.EXTENSION else old.read(name))
    return out


def test_a_wheel_that_needs_a_newer_glibc_is_refused(wheel, tmp_path):
    tag = "manylinux_2_28_x86_64"
    old = rewritten(wheel, tmp_path, tag, [b"GLIBC_2.2.5", b"GLIBC_2.28", b"GLIBC_2.9"])
    assert check.faults(old) == []
    new = rewritten(wheel, tmp_path, tag, [b"GLIBC_2.2.5", b"GLIBC_2.35", b"GLIBC_2.9"])
    assert check.faults(new) == ["needs glibc 2.35, but is tagged for 2.28"]
    # tagged for several: the oldest counts
    both = rewritten(wheel, tmp_path, "manylinux_2_17_x86_64.manylinux_2_28_x86_64", [b"GLIBC_2.28"])
    assert check.faults(both) == ["needs glibc 2.28, but is tagged for 2.17"]


def test_a_wheel_with_a_missing_or_a_foreign_file_is_refused(wheel, tmp_path):
    gone = rewritten(wheel, tmp_path, "linux_x86_64", without="sapwood/py.typed")
    assert check.faults(gone) == ["sapwood/py.typed is missing"]
    with zipfile.ZipFile(gone, "a") as archive:
        archive.writestr("sapwood/py.typed", "")
        archive.writestr("tests/conftest.py", "")
    assert check.faults(gone) == ["tests/conftest.py is not part of the package"]


def test_a_wheel_is_compressed_again_with_the_same_contents(wheel, tmp_path):
    pytest.importorskip("zopfli", reason="zopfli is not installed")
    small = tmp_path / wheel.name
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(small, "w", zipfile.ZIP_DEFLATED) as new:
        names = [name for name in old.namelist() if name != check.EXTENSION]
        for name in names:
            new.writestr(name, old.read(name))
    before, after = script("shrink").shrink(small)
    assert after == small.stat().st_size < before
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(small) as new:
        assert new.namelist() == names and new.testzip() is None
        assert all(new.read(name) == old.read(name) for name in names)
    assert list(tmp_path.iterdir()) == [small]


def test_a_large_wheel_is_refused(wheel):
    size = wheel.stat().st_size
    assert check.faults(wheel, size) == []
    assert check.faults(wheel, size - 1) == [f"{size:,} bytes; at most {size - 1:,} are allowed"]


def test_the_source_package_is_complete(maturin, tmp_path):
    words = [maturin, "sdist", "--out", tmp_path]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path, filter="data")
    unpacked = tmp_path / archive.name.removesuffix(".tar.gz")
    files = {path.relative_to(unpacked) for path in unpacked.rglob("*") if path.is_file()}
    # what the extension needs, and nothing that was built
    assert {Path(name) for name in ("Cargo.lock", "pyproject.toml", "LICENSE", "README.md", "PKG-INFO")} <= files
    assert not [path for path in files if path.suffix in {".so", ".pyc", ".root"}]
    words = ["git", "ls-files", "python", "crates"]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    sources = {Path(name) for name in listed.stdout.splitlines() if "/src/" in name or name.startswith("python/")}
    assert {path for path in sources if path.suffix in {".py", ".pyi", ".rs", ".typed"}} - files == set()
    # every crate of the lock file is found, without changing it; nothing is compiled
    words = ["cargo", "metadata", "--locked", "--offline", "--format-version", "1", "--quiet"]
    done = subprocess.run(words, cwd=unpacked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert '"name":"sapwood-python"' in done.stdout
    assert archive.stat().st_size < 4_000_000
