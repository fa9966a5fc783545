"""Keywords of uproot's functions that have no effect here, because Sapwood's engine decides what they set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

#: Of `open`: caches of Python objects, classes, and how uproot's sources read.
OF_FILES = frozenset(
    (
        "object_cache", "array_cache", "custom_classes", "decompression_executor", "interpretation_executor",
        "handler", "file_handler", "xrootd_handler", "s3_handler", "http_handler", "object_handler",
        "max_num_elements", "num_workers", "use_threads", "num_fallback_workers", "begin_chunk_size",
        "minimal_ttree_metadata", "http_max_header_bytes",
    )
)  # fmt: skip

#: Of functions that read several files: the language of expressions, of which there is one; and the filter of fields,
#: which is that of branches.
OF_READING = frozenset(("language", "filter_field"))


class UprootOpenOptions(TypedDict, total=False):
    """Options of ``uproot.open`` that are accepted and have no effect."""

    object_cache: object
    array_cache: object
    custom_classes: object
    decompression_executor: object
    interpretation_executor: object
    handler: object
    file_handler: object
    xrootd_handler: object
    s3_handler: object
    http_handler: object
    object_handler: object
    max_num_elements: object
    num_workers: object
    use_threads: object
    num_fallback_workers: object
    begin_chunk_size: object
    minimal_ttree_metadata: object
    http_max_header_bytes: object


class UprootReadOptions(UprootOpenOptions, total=False):
    """Options of ``uproot.iterate`` and ``concatenate``: ``filter_field`` is another name for ``filter_branch``, the
    others are accepted and have no effect."""

    language: object
    filter_field: Any


def without_effect(given: Mapping[str, Any], known: Iterable[str], function: str) -> None:
    """Accept options without effect; refuse any other name.

    Raises:
        TypeError: as Python does for an unknown keyword.
    """
    for name in given:
        if name not in known:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")
