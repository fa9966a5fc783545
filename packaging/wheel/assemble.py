"""Make a wheel from what ``make native`` built, without compiling anything.

The metadata are maturin's, the files those that maturin packs. The extension is the one in python/sapwood, stripped.
The wheel is for this machine only: it needs the glibc that the extension was linked to. ``make wheel`` makes the wheels
to give away.

    python packaging/wheel/assemble.py DIRECTORY
"""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "sapwood"
EXTENSION = "_core.abi3.so"
NOT_PACKED = {".pyc", ".so"}


def maturin() -> str:
    """The maturin of this Python's environment, or the first on PATH."""
    beside = Path(sys.executable).parent / "maturin"
    found = str(beside) if beside.exists() else shutil.which("maturin")
    if not found:
        raise SystemExit("maturin is not installed; run `pip install maturin`")
    return found


def platform_tag() -> str:
    """The tag of wheels for this machine alone, such as linux_x86_64."""
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def stripped(extension: Path, directory: Path) -> bytes:
    """The extension without symbols and debug information, which are nine tenths of a development build."""
    out = directory / EXTENSION
    options = ["-x"] if sys.platform == "darwin" else []
    subprocess.run(["strip", *options, "-o", out, extension], check=True)
    return out.read_bytes()


def record_line(name: str, content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}"


def assemble(directory: Path) -> Path:
    """Write the wheel into a directory and return its path."""
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        words = [maturin(), "pep517", "write-dist-info", "--metadata-directory", work, "--interpreter", sys.executable]
        printed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
        if printed.returncode:
            raise SystemExit(f"maturin failed:\n{printed.stderr}")
        info = next(work.glob("*.dist-info"))
        tag = f"cp310-abi3-{platform_tag()}"
        files = {f"sapwood/{EXTENSION}": stripped(PACKAGE / EXTENSION, work)}
        for path in sorted(PACKAGE.rglob("*")):
            if path.is_file() and path.suffix not in NOT_PACKED:
                files[f"sapwood/{path.relative_to(PACKAGE)}"] = path.read_bytes()
        for path in sorted(info.rglob("*")):
            if path.is_file() and path.name not in {"RECORD", "WHEEL"}:
                files[f"{info.name}/{path.relative_to(info)}"] = path.read_bytes()
        wheel = f"Wheel-Version: 1.0\nGenerator: sapwood\nRoot-Is-Purelib: false\nTag: {tag}\n"
        files[f"{info.name}/WHEEL"] = wheel.encode()
        record = [record_line(name, content) for name, content in files.items()]
        files[f"{info.name}/RECORD"] = "".join(f"{line}\n" for line in [*record, f"{info.name}/RECORD,,"]).encode()
        directory.mkdir(parents=True, exist_ok=True)
        out = directory / f"{info.name.removesuffix('.dist-info')}-{tag}.whl"
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(name, content)
    return out


if __name__ == "__main__":
    print(assemble(Path(sys.argv[1])))
