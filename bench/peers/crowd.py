"""Many programs at once: crowd.py FILE with the JSON of a list of {"name", "words", "expect"}.

A client fails when its status is not 0, or when its output is not as expected: it must contain a text, or the values of
some keys of the JSON after its last RESULT, or of the JSON that is the whole output."""

import contextlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from measure import parse

PATIENCE = 300


def why_failed(client, process, out, errors):
    """The error as text; None if everything is right."""
    try:
        status = process.wait(max(0.1, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return f"not done after {PATIENCE} s"
    out.seek(0)
    errors.seek(0)
    said = out.read().decode(errors="replace")
    if status:
        return f"status {status}: {errors.read().decode(errors='replace').strip()[-300:]}"
    expect = client["expect"]
    if isinstance(expect, str):
        return None if expect in said else f"another content: {said[-200:]}"
    result = parse(said)
    different = [key for key, value in expect.items() if result.get(key) != value]
    return f"other values: {', '.join(different)}" if different else None


clients = json.loads(Path(sys.argv[1]).read_text())
start, deadline, running = time.perf_counter(), time.monotonic() + PATIENCE, []
with contextlib.ExitStack() as files:
    for client in clients:
        streams = [files.enter_context(tempfile.TemporaryFile()) for _ in range(2)]
        process = subprocess.Popen(client["words"], stdin=subprocess.DEVNULL, stdout=streams[0], stderr=streams[1])
        running.append((client, process, *streams))
    failures = [[client["name"], why] for client, *rest in running if (why := why_failed(client, *rest))]
    seconds = time.perf_counter() - start
print("RESULT", json.dumps({"seconds": seconds, "clients": len(clients), "failures": failures}))
