"""Types as text: names of fields may hold what types are made of, between quotation marks."""

from __future__ import annotations

import pytest

import sapwood
from sapwood.writing.type_text import record_fields, split

ak = pytest.importorskip("awkward")


def test_commas_within_brackets_and_names_do_not_divide():
    assert split("a<b, c>, {\"x, y\": (1, 2)}, '}', d") == ["a<b, c>", ' {"x, y": (1, 2)}', " '}'", " d"]
    assert record_fields(r"""x: int32, "a, \"b\": {\\": var * {y: f4}, 'q': u1""") == [
        ("x", "int32"),
        ('a, "b": {\\', "var * {y: f4}"),
        ("q", "u1"),
    ]
    assert record_fields("int32") == [("int32", "")]


NAMES = ["a,b", "a:b", "{c", "d]", "(e", "plain"]


def test_entries_are_appended_to_records_whatever_their_members_are_called(tmp_path):
    path = tmp_path / "n.root"
    record = {name: float(i) for i, name in enumerate(NAMES)}
    with sapwood.recreate(path, format="ntuple") as file:
        file["n"] = {"r": ak.Array([record]), "l": ak.Array([[record, record]])}
    with sapwood.update(path) as file:
        file["n"].extend({"r": ak.Array([record]), "l": ak.Array([[record]])})
    with sapwood.open(path) as file:
        found = file["n"]
        assert ak.to_list(found["r"].array()) == [record, record]
        assert ak.to_list(found["l"].array()) == [[record, record], [record]]
