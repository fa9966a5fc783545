#!/usr/bin/env python3
"""Installs the package where it is: a .pth file, and its metadata with the entry points that pyproject.toml names.

Run by the interpreter of the environment that is to have it. pip would build the extension
again for an editable install.
"""

from __future__ import annotations

import re
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parent.parent
HEADING = re.compile(r'^\[project\.entry-points\."([^"]+)"\]$')


def entry_points(project: str) -> str:
    """The tables of pyproject.toml as entry_points.txt has them."""
    lines, inside = [], False
    for line in project.splitlines():
        if line.startswith("["):
            heading = HEADING.match(line.strip())
            inside = heading is not None
            if heading:
                lines.append(f"[{heading[1]}]")
        elif inside and "=" in line:
            name, _, value = line.partition("=")
            lines.append(f"{name.strip()} = {value.strip().strip(chr(34))}")
    return "\n".join(lines) + "\n"


def main() -> None:
    packages = Path(sysconfig.get_path("purelib"))
    (packages / "sapwood.pth").write_text(f"{ROOT / 'python'}\n")
    version = re.search(r'^version = "([^"]+)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
    for old in packages.glob("sapwood-*.dist-info"):
        for file in old.iterdir():
            file.unlink()
        old.rmdir()
    info = packages / f"sapwood-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: sapwood\nVersion: {version}\n")
    (info / "INSTALLER").write_text("make\n")
    (info / "entry_points.txt").write_text(entry_points((ROOT / "pyproject.toml").read_text()))
    names = ["METADATA", "INSTALLER", "entry_points.txt", "RECORD"]
    (info / "RECORD").write_text("sapwood.pth,,\n" + "".join(f"{info.name}/{name},,\n" for name in names))


main()
