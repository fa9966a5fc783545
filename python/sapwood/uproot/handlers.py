"""The names of uproot's sources, for scripts that pass one as ``handler``: Sapwood's own core reads every URL."""

from __future__ import annotations


class _Named:
    """Something that says how uproot would read; without effect."""


class FSSpecSource(_Named):
    """Files and URLs through fsspec."""


class HTTPSource(_Named):
    """HTTP with several ranges in a request."""


class MemmapSource(_Named):
    """Local files, mapped into memory."""


class MultithreadedFileSource(_Named):
    """Local files, by several threads."""


class MultithreadedHTTPSource(_Named):
    """HTTP, by several threads."""


class MultithreadedXRootDSource(_Named):
    """XRootD, by several threads."""


class ObjectSource(_Named):
    """Objects of Python that are files."""


class XRootDSource(_Named):
    """XRootD with several ranges in a request."""
