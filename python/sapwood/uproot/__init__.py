"""uproot's interface on Sapwood: ``import sapwood.uproot as uproot``.

The names, exceptions and spellings are uproot's, and where uproot and Sapwood differ this module does what uproot does:
``mktree`` with data writes them, ``compression`` is an object, types are spelled as uproot spells them, a directory's
path is a tuple, and a file that is written is kept when its ``with`` block fails. Everything else is Sapwood's.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import exceptions
from .exceptions import DeserializationError, KeyInFileError
from .functions import as_TGraph, concatenate, dask, iterate, num_entries, open

if TYPE_CHECKING:
    from .caches import LRUArrayCache, LRUCache
    from .compression import LZ4, LZMA, ZLIB, ZSTD
    from .executors import ThreadPoolExecutor, TrivialExecutor
    from .file import ReadOnlyDirectory, ReadOnlyFile
    from .handlers import (
        FSSpecSource,
        HTTPSource,
        MemmapSource,
        MultithreadedFileSource,
        MultithreadedHTTPSource,
        MultithreadedXRootDSource,
        ObjectSource,
        XRootDSource,
    )
    from .interpretations import AsDtype, AsGrouped, AsJagged, AsObjects, AsStridedObjects, AsStrings
    from .pyroot import from_pyroot, to_pyroot, to_writable
    from .read import TBranch, TTree
    from .write import WritableBranch, WritableDirectory, WritableFile, WritableTree, create, recreate, update
    from .written_by_dask import dask_write

#: The version of uproot whose names and spellings these are.
__version__ = "5.7.7"

#: The library of results where none is asked for.
default_library = "ak"

_LATER = {
    "AsDtype": "interpretations",
    "AsGrouped": "interpretations",
    "AsJagged": "interpretations",
    "AsObjects": "interpretations",
    "AsStridedObjects": "interpretations",
    "AsStrings": "interpretations",
    "FSSpecSource": "handlers",
    "HTTPSource": "handlers",
    "LRUArrayCache": "caches",
    "LRUCache": "caches",
    "LZ4": "compression",
    "LZMA": "compression",
    "MemmapSource": "handlers",
    "MultithreadedFileSource": "handlers",
    "MultithreadedHTTPSource": "handlers",
    "MultithreadedXRootDSource": "handlers",
    "ObjectSource": "handlers",
    "ReadOnlyDirectory": "file",
    "ReadOnlyFile": "file",
    "TBranch": "read",
    "TTree": "read",
    "ThreadPoolExecutor": "executors",
    "TrivialExecutor": "executors",
    "WritableBranch": "write",
    "WritableDirectory": "write",
    "WritableFile": "write",
    "WritableTree": "write",
    "XRootDSource": "handlers",
    "ZLIB": "compression",
    "ZSTD": "compression",
    "create": "write",
    "dask_write": "written_by_dask",
    "from_pyroot": "pyroot",
    "recreate": "write",
    "to_pyroot": "pyroot",
    "to_writable": "pyroot",
    "update": "write",
}

__all__ = [
    "LZ4",
    "LZMA",
    "ZLIB",
    "ZSTD",
    "AsDtype",
    "AsGrouped",
    "AsJagged",
    "AsObjects",
    "AsStridedObjects",
    "AsStrings",
    "DeserializationError",
    "FSSpecSource",
    "HTTPSource",
    "KeyInFileError",
    "LRUArrayCache",
    "LRUCache",
    "MemmapSource",
    "MultithreadedFileSource",
    "MultithreadedHTTPSource",
    "MultithreadedXRootDSource",
    "ObjectSource",
    "ReadOnlyDirectory",
    "ReadOnlyFile",
    "TBranch",
    "TTree",
    "ThreadPoolExecutor",
    "TrivialExecutor",
    "WritableBranch",
    "WritableDirectory",
    "WritableFile",
    "WritableTree",
    "XRootDSource",
    "as_TGraph",
    "concatenate",
    "create",
    "dask",
    "dask_write",
    "default_library",
    "exceptions",
    "from_pyroot",
    "iterate",
    "num_entries",
    "open",
    "recreate",
    "to_pyroot",
    "to_writable",
    "update",
]


def no_filter(_: Any) -> bool:
    """The filter that passes everything."""
    return True


def __getattr__(name: str) -> Any:
    module = _LATER.get(name)
    if module is None:
        raise AttributeError(
            f"module 'sapwood.uproot' has no attribute {name!r}: it has uproot's functions and classes for reading and "
            "writing, and not its inner modules"
        )
    value = getattr(import_module(f"sapwood.uproot.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
