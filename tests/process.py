"""What this process holds, as the system counts it."""

import gc
from pathlib import Path


def held():
    """Threads, open sockets, and other open files."""
    gc.collect()
    targets = []
    for link in Path("/proc/self/fd").iterdir():
        try:
            targets.append(str(link.readlink()))
        except OSError:
            # the folder's own, which is closed by now
            continue
    sockets = sum(target.startswith("socket:") for target in targets)
    return len(list(Path("/proc/self/task").iterdir())), sockets, len(targets) - sockets
