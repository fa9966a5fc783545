"""Python code run in a process of its own: what ROOT does there, or what must not share this one."""

import subprocess
import sys


def run_script(code, *arguments, status=0, timeout=300):
    """Runs the code, which gets the arguments in ``sys.argv``; the process, which must end with this status."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == status, done.stderr[-3000:]
    return done
