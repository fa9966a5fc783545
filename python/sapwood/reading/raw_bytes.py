"""Bytes of an open file as they are, for headers and baskets."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..errors import ReadError

if TYPE_CHECKING:
    from .. import ReadOnlyFile


def read_bytes(file: ReadOnlyFile, start: int, stop: int) -> bytes:
    """The bytes from start to stop. A remote file is asked on a connection of its own.

    Raises:
        ReadError: the file ends before.
    """
    file._check_open()
    if not 0 <= start <= stop <= file.size:
        raise ReadError(f"{file.file_path}: no bytes {start} to {stop} in a file of {file.size}", file=file.file_path)
    path = file._given_path
    if not isinstance(path, str):
        return bytes(path([(start, stop)])[0])
    if "://" not in path and os.path.exists(path):
        with open(path, "rb") as local:
            local.seek(start)
            data = local.read(stop - start)
    else:
        from .. import _core
        from ..arguments.storage_options import of_s3

        source = _core.open_bytes(
            path, file._options.timeout, file._options.insecure_redirects, s3=of_s3(file._options.storage_options)
        )
        try:
            (data,) = source.read([(start, stop)])
        finally:
            source.close()
    if len(data) != stop - start:
        raise ReadError(f"{file.file_path}: the file ends before byte {stop}", file=file.file_path)
    return bytes(data)
