"""Check with abi3audit that wheels use Python's stable ABI only.

Usage: ``python packaging/wheel/check_abi.py WHEEL...``
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

#: In the stable ABI since 3.11, and the same functions with the same ``Py_buffer`` in CPython 3.10.
SAME_IN_3_10 = {"PyObject_GetBuffer", "PyBuffer_Release"}


def faults(report: dict) -> list[str]:
    """What is wrong with the extensions of a report of abi3audit, one line each."""
    found, extensions = [], 0
    for spec in report["specs"].values():
        for extension in spec["wheel"]:
            extensions += 1
            name, result = extension["name"], extension["result"]
            if not result["is_abi3"] or result["non_abi3_symbols"]:
                found.append(f"{name}: not in the stable ABI: {', '.join(result['non_abi3_symbols'])}")
            later = {s: v for s, v in result["future_abi3_objects"].items() if s not in SAME_IN_3_10}
            found += [f"{name}: {symbol} is in the stable ABI since {since} only" for symbol, since in later.items()]
    if extensions == 0:
        found.append("no extension was checked")
    return found


def main(wheels: list[str]) -> int:
    audit = Path(sys.executable).with_name("abi3audit")
    done = subprocess.run([audit, "--report", *wheels], stdout=subprocess.PIPE, check=False)
    found = faults(json.loads(done.stdout))
    for fault in found:
        print(fault, file=sys.stderr)
    if not found:
        print("stable ABI: no violation")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
