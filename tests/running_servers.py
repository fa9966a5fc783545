"""Servers for the length of a test or fixture; where the machine has none of the kind, the test is skipped."""

import contextlib

import pytest
from servers import SERVERS, Skip


@contextlib.contextmanager
def started(start, *arguments, **options):
    """What `start(*arguments, **options)` starts, stopped at the end."""
    try:
        server = start(*arguments, **options)
    except Skip as reason:
        pytest.skip(str(reason))
    try:
        yield server
    finally:
        server.stop()


def running(kind, folder, *arguments):
    """A server of a kind (a key of `SERVERS`) over a folder; `arguments` are the `sapwood` command and more."""
    return started(SERVERS[kind], folder, *(arguments or (None,)))
