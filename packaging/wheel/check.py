"""Check a wheel without installing it: size, tags, contents, and the glibc that its extension needs.

Usage: ``python packaging/wheel/check.py WHEEL...``
"""

from __future__ import annotations

import re
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "sapwood"
LIMIT = 8_000_000
EXTENSION = "sapwood/_core.abi3.so"
# the oldest Python that pyproject.toml allows, and its stable ABI
PYTHON_TAG = "cp310-abi3"
VERSION_NEEDED = re.compile(rb"\0GLIBC_(\d+)\.(\d+)(?:\.\d+)?(?=\0)")
MANYLINUX = re.compile(r"manylinux_(\d+)_(\d+)_")


def glibc_needed(extension: bytes) -> tuple[int, int]:
    """The newest version of glibc whose symbols an ELF file uses, whatever processor it is for; (0, 0) for none.

    The dynamic loader refuses a library by these names, which are in its table of strings.
    """
    return max(((int(major), int(minor)) for major, minor in VERSION_NEEDED.findall(extension)), default=(0, 0))


def faults(wheel: Path, limit: int = LIMIT) -> list[str]:
    """What is wrong with a wheel, one line each."""
    found = []
    size = wheel.stat().st_size
    if size > limit:
        found.append(f"{size:,} bytes; at most {limit:,} are allowed")
    _, _, tags = wheel.stem.split("-", 2)
    if not tags.startswith(f"{PYTHON_TAG}-"):
        found.append(f"its tag is {tags}, not {PYTHON_TAG}-*")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        extension = archive.read(EXTENSION) if EXTENSION in names else b""
        entry_points = next((archive.read(name) for name in names if name.endswith("/entry_points.txt")), b"")
    packed = {f"sapwood/{path.relative_to(PACKAGE)}" for path in PACKAGE.rglob("*.py*") if path.suffix != ".pyc"}
    packed |= {EXTENSION, "sapwood/py.typed"}
    found += [f"{name} is missing" for name in sorted(packed - names)]
    found += [f"{name} is not part of the package" for name in sorted(names - packed) if ".dist-info/" not in name]
    if b"sapwood=sapwood.__main__:main" not in entry_points.replace(b" ", b""):
        found.append("the command sapwood is missing from its entry points")
    # one tag for each policy that it follows: the oldest glibc is the promise
    promised = min(((int(a), int(b)) for a, b in MANYLINUX.findall(tags)), default=None)
    needed = glibc_needed(extension)
    if promised and needed > promised:
        found.append(f"needs glibc {needed[0]}.{needed[1]}, but is tagged for {promised[0]}.{promised[1]}")
    return found


def main(wheels: list[str]) -> int:
    status = 0
    for wheel in map(Path, wheels):
        wrong = faults(wheel)
        for line in wrong:
            print(f"{wheel.name}: {line}", file=sys.stderr)
        if wrong:
            status = 1
        else:
            print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
