"""Install a wheel into a new environment and use it there: the command, the module, the package.

    python packaging/wheel/try_install.py WHEEL [DIRECTORY]

pip fetches numpy, which Sapwood needs, and nothing else.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

# What `import sapwood` may not import: the libraries it hands arrays to, and what else is in an environment by chance.
OPTIONAL = "numpy awkward pandas pyarrow polars hist dask coffea uproot fsspec matplotlib numba tqdm"
IMPORT = f"""
import sys
import sapwood
brought = {{name.partition(".")[0] for name in sys.modules}} & set({OPTIONAL!r}.split())
assert not brought, f"import sapwood imports {{sorted(brought)}}"
assert sapwood.__file__.startswith(sys.prefix), f"{{sapwood.__file__}} is not the installed package"
print(sapwood.__version__)
"""
READ = """
import sys
import sapwood
tree = sapwood.open(sys.argv[1])["Events"]
runs = tree.arrays(["run"], library="np")["run"]
assert len(runs) == tree.num_entries == 500, (len(runs), tree.num_entries)
with sapwood.recreate(sys.argv[2]) as file:
    file["copy"] = {"run": runs}
assert (sapwood.open(sys.argv[2])["copy"]["run"].array(library="np") == runs).all()
"""


def run(*words: object, directory: Path) -> str:
    """What a program prints; its failure ends this one. None of the caller's settings of Python reaches it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [str(word) for word in words], cwd=directory, env=kept, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def try_wheel(wheel: Path, directory: Path) -> str:
    """Install the wheel below a directory, use it, and return its version."""
    wheel = wheel.resolve()
    venv.create(directory / "environment", with_pip=True)
    programs = directory / "environment" / "bin"
    python = programs / "python"
    # -I: as installed, not as found in the current directory
    run(python, "-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel, directory=directory)
    version = run(python, "-I", "-c", IMPORT, directory=directory).strip()
    for words in ([programs / "sapwood"], [python, "-I", "-m", "sapwood"]):
        said = run(*words, "--version", directory=directory).strip()
        if said != f"sapwood {version}":
            raise SystemExit(f"{words[0]} --version: {said!r}, not 'sapwood {version}'")
    run(programs / "sapwood", "sample", "sample.root", "--entries", 500, directory=directory)
    listed = run(python, "-I", "-m", "sapwood", "ls", "sample.root", directory=directory)
    if "Events" not in listed:
        raise SystemExit(f"python -m sapwood ls: no Events in {listed!r}")
    run(python, "-I", "-c", READ, "sample.root", "copy.root", directory=directory)
    return version


def main(arguments: list[str]) -> None:
    wheel = Path(arguments[0])
    if len(arguments) > 1:
        version = try_wheel(wheel, Path(arguments[1]))
    else:
        with tempfile.TemporaryDirectory(prefix="sapwood-wheel-") as name:
            version = try_wheel(wheel, Path(name))
    print(f"{wheel.name}: installed, version {version}")


if __name__ == "__main__":
    main(sys.argv[1:])
