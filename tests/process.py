"""What this process holds, as the system counts it."""

import gc
from pathlib import Path


def descriptors():
    """What the open descriptors lead to."""
    for link in Path("/proc/self/fd").iterdir():
        try:
            yield str(link.readlink())
        except OSError:
            # the folder's own, which is closed by now
            continue


def threads():
    """Number of threads, without those that are kept for the next call: up to eight, made when a call comes before the
    thread of the one before is ready again."""
    names = [task / "comm" for task in Path("/proc/self/task").iterdir()]
    return sum(text(name) != "sapwood-wait" for name in names)


def text(path):
    """What the file says; nothing where the thread has ended by now."""
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def held():
    """Threads, open sockets, and other open files."""
    gc.collect()
    targets = list(descriptors())
    sockets = sum(target.startswith("socket:") for target in targets)
    return threads(), sockets, len(targets) - sockets
