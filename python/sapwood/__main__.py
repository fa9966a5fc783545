"""``python -m sapwood``: the command ``sapwood``, with the same arguments and exit statuses."""

from __future__ import annotations

import os
import signal
import sys

from ._core import run_command


def main() -> int:
    """Run the command with the arguments of this process, and return its exit status."""
    # where Python finds no open stdout, there is none
    closed = sys.stdout is None
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # no file that is opened later may stand in for a standard stream
            os.open(os.devnull, os.O_RDWR)
    # Ctrl-C is the command's, not an exception of Python's
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    # the command runs selectors in this Python
    os.environ.setdefault("SAPWOOD_PYTHON", sys.executable)
    return run_command(["sapwood", *sys.argv[1:]], closed)


if __name__ == "__main__":
    sys.exit(main())
