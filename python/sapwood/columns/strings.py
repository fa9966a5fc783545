"""Comparison of strings with text that is not UTF-8, which awkward does not support."""

from __future__ import annotations

import numpy as np


def is_utf8(text: str) -> bool:
    """Whether text has no lone surrogates, which stand for bytes that are not UTF-8."""
    try:
        text.encode()
        return True
    except UnicodeEncodeError:
        return False


def equal(a, b):
    """``a == b``, where one may be text that is not UTF-8 and the other strings of awkward at any depth."""
    if isinstance(a, str):
        a, b = b, a
    if not isinstance(b, str) or is_utf8(b) or isinstance(a, (str, np.ndarray)):
        return a == b
    import awkward as ak

    wanted = np.frombuffer(b.encode("utf-8", "surrogateescape"), np.uint8)

    def same(layout, **_):
        if layout.parameter("__array__") != "string":
            return None
        layout = layout.to_ListOffsetArray64(True)
        offsets, data = np.asarray(layout.offsets.data), np.asarray(layout.content.data)
        found = np.diff(offsets) == len(wanted)
        places = offsets[:-1][found][:, None] + np.arange(len(wanted))
        found[found] = (data[places] == wanted).all(axis=1)
        return ak.contents.NumpyArray(found)

    return ak.transform(same, a)


def unequal(a, b):
    """``a != b``, as :func:`equal`."""
    texts = [x for x in (a, b) if isinstance(x, str)]
    return a != b if all(map(is_utf8, texts)) else np.logical_not(equal(a, b))
