"""Writes the small ROOT files in this directory, and the values that ROOT reads back from them, as JSON.

    python tests/data/make_seeds.py

Needs ROOT (`pip install --pre ROOT`) and a C++ compiler. The files differ in their dates and unique ids from run to
run; the tests in crates/sapwood/tests/root_values.rs compare what Sapwood reads with the JSON.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
MACROS = ("seeds.C", "types.C")
MOST_BYTES = 200_000


def main() -> int:
    root = Path(sys.executable).parent / "root"
    root = str(root) if root.exists() else shutil.which("root")
    if root is None:
        print("ROOT is not installed: pip install --pre ROOT", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="sapwood-seeds-") as folder:
        for macro in MACROS:
            shutil.copy(HERE / macro, folder)
            words = [root, "-l", "-b", "-q", f"{macro}+"]
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
            if not Path(folder, "done").exists():
                print(f"ROOT did not write the files of {macro}:\n{done.stdout}\n{done.stderr}", file=sys.stderr)
                return 1
            Path(folder, "done").unlink()
        objects = f'{HERE.parent / "objects.C"}("{folder}")'
        words = [root, "-l", "-b", "-q", objects]
        done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if not Path(folder, "done").exists():
            print(f"ROOT did not write the objects:\n{done.stdout}\n{done.stderr}", file=sys.stderr)
            return 1
        files = sorted(p for p in Path(folder).iterdir() if p.name.endswith((".root", ".root.json")))
        total = sum(p.stat().st_size for p in files)
        if total > MOST_BYTES:
            print(f"the files have {total} bytes together, more than {MOST_BYTES}", file=sys.stderr)
            return 1
        for path in files:
            shutil.copy(path, HERE)
            print(f"{path.stat().st_size:7} {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
