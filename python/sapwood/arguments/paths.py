"""Files and objects in them: ``url:object``, ``{url: object}``, ``pathlib.Path``."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import InvalidError, SkippedFileWarning, unicode_only

#: One file, with or without an object in it.
Where = str | bytes | os.PathLike[Any] | Mapping[Any, str | None]

#: A file alone.
FileName = str | bytes | os.PathLike[Any]


@unicode_only
def split(where: Where) -> tuple[str, str | None]:
    """The file, and the object in it if one is named.

    In a string the object follows the last colon, or the first one after ``.root``. Colons of ``scheme://host:port``
    and of Windows drives do not count, and the name of an existing local file is not split. A Path is never split.
    """
    file, path = _parts(expanded(where) if isinstance(where, str) else where)
    file = expanded(file)
    # names that are not UTF-8 have lone surrogates in Python; other surrogates are an error
    file.encode("utf-8", "surrogateescape")
    return file, path


def expanded(path: str) -> str:
    """The path without ``file:``, with the home directory in place of ``~`` unless a file has this name."""
    if path.startswith("file:") and not path.startswith("file://") and not os.path.exists(path):
        path = path.removeprefix("file:")
    if path.startswith("~") and not os.path.exists(path):
        return os.path.expanduser(path)
    return path


def _parts(where: Where) -> tuple[str, str | None]:
    if isinstance(where, Mapping):
        if len(where) != 1:
            raise InvalidError(
                "a mapping must name a single file, {file: object}; sapwood.iterate and concatenate accept several"
            )
        file, path = next(iter(where.items()))
        if path is not None and not isinstance(path, str):
            raise InvalidError(f"the object in {file!r} must be a string, not {path!r}")
        return os.fsdecode(file), path
    if isinstance(where, bytes):
        # as in Python's own functions, bytes are the name of a file
        return os.fsdecode(where), None
    if not isinstance(where, str):
        try:
            return os.fsdecode(where), None
        except TypeError:
            raise InvalidError(f"a file must be a string, a Path or {{file: object}}, not {where!r}") from None
    begin = _colons_count_from(where)
    colon = where.find(".root:", begin)
    # "zip://a.root::b.zip" is fsspec's notation for a file in another one
    colon = colon + 5 if colon >= 0 and where[colon + 5 : colon + 7] != "::" else where.rfind(":", begin)
    if where[colon - 1 : colon + 1] == "::" and "://" in where[:colon]:
        colon = -1
    # the address of a store in the query of an s3:// URL: http://host:9000
    if where.startswith("s3://") and "?" in where[:colon] and re.match(r"//|\d+(?:[/&]|$)", where[colon + 1 :]):
        colon = -1
    if colon < 0 or ("://" not in where and os.path.exists(where)):
        return where, None
    return where[:colon], where[colon + 1 :].strip("/") or None


@unicode_only
def name(file: Any) -> str:
    """The path or URL of a file, as text."""
    try:
        text = os.fsdecode(file)
        text.encode("utf-8", "surrogateescape")
        return text
    except TypeError:
        raise InvalidError(f"a file name must be a string, bytes or a Path, not {file!r}") from None


@unicode_only
def local_path(file: Any) -> str:
    """The path of a local file to write, as text."""
    from .._core import redacted

    text = name(file)
    if "://" in text and not text.startswith("file://"):
        raise InvalidError(f"{redacted(text)}: only local files can be written; write a local file, then copy it")
    return text.removeprefix("file://")


def file_names(files: FileName | Iterable[FileName], what: str) -> list[str]:
    """The paths or URLs of one or several files, as text."""
    if isinstance(files, (str, bytes, os.PathLike)):
        return [name(files)]
    if isinstance(files, Iterable) and not isinstance(files, Mapping):
        return [name(file) for file in files]
    raise InvalidError(f"{what} must be a file name or a list of file names, not {files!r}")


def _colons_count_from(where: str) -> int:
    scheme = where.find("://")
    if scheme >= 0:
        ends = (where.find(mark, scheme + 3) for mark in "/?")
        # without a host, as in fsspec's memory://a.root:tree, a name follows at once
        has_host = where[:scheme].lower() in ("http", "https", "root", "roots", "xroot", "xroots", "s3")
        named = scheme + 3 if not has_host and ".root:" in where[scheme:] else len(where)
        return min((end for end in ends if end >= 0), default=named)
    return 2 if os.name == "nt" and where[1:2] == ":" else 0


def several(files: Any) -> list[tuple[str, str | None]]:
    """Several files in order: arguments of :func:`split`, lists of them, mappings of several files, chains, open trees.
    Globs of local paths and of ``root://`` URLs are expanded, sorted by name; ``"@LIST"`` is a list of files."""
    if isinstance(files, str) and files.startswith("@"):
        listed = _listed(files[1:])
        return [(f, path) for file, path in listed for f in _glob(file)]
    if hasattr(files, "_chained"):
        return files._chained()
    if (tree := _open_tree(files)) is not None:
        return [tree]
    if isinstance(files, Mapping):
        pairs = [split({k: v}) for k, v in files.items()]
    elif isinstance(files, (str, bytes, os.PathLike)):
        pairs = [split(files)]
    else:
        try:
            return [pair for f in files for pair in several(f)]
        except TypeError:
            raise InvalidError(f"files must be strings, Paths, mappings or lists of these, not {files!r}") from None
    return [(f, path) for file, path in pairs for f in _glob(file)]


def _open_tree(where: Any) -> tuple[str, str] | None:
    """The file and path of a tree that is open; None for anything else."""
    if not (hasattr(where, "object_path") and hasattr(where, "num_entries") and hasattr(where, "file_path")):
        return None
    file, path = str(where.file_path), str(where.object_path).strip("/")
    given = getattr(getattr(where, "file", None), "_given_path", file)
    if not isinstance(given, str):
        raise InvalidError(f"{file} was opened from a file object: read its tree with the tree's own methods")
    return given, path


@unicode_only
def _listed(name: str) -> list[tuple[str, str | None]]:
    """The files that a list names, each with its tree if there is one."""
    from .. import _core

    pairs = []
    for target, tree, is_split in _core.listed(name, os.environ.get("SAPWOOD_REDIRECTOR") or None):
        file, path = (target, None) if is_split else split(target)
        pairs.append((file, path or tree))
    return pairs


def _glob(file: str) -> list[str]:
    if not any(c in file for c in "*?[{"):
        return [file]
    from .. import _core

    found, unread = _core.expand(file)
    for reason in unread:
        warnings.warn(f"files that match {file} may be missing: {reason}", SkippedFileWarning, stacklevel=5)
    return found
