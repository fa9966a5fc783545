"""What runs the examples of the documentation: that a wrong one fails, and that none is overlooked."""

from __future__ import annotations

from pathlib import Path

import pytest
from examples import Block, Run, commands, fenced, indented


def page_of(tmp_path: Path, text: str) -> list[Block]:
    page = tmp_path / "page.md"
    page.write_text(text)
    return fenced(page)


@pytest.mark.parametrize(
    "example",
    [
        "```console\n$ echo one\ntwo\n```",
        "```console\n$ false\n```",
        "```console\n$ echo sapwood: an error\nsapwood: an error\n```",
        "```console\n$ sapwood ls missing.root\n```",
        "```console\n$ echo one; echo two\none\n```",
        "```python\nassert 1 == 2\n```",
        "```python\n>>> 1 + 1\n3\n```",
        "```python\n>>> 1 + 1\n```",
    ],
)
def test_an_example_that_does_not_do_what_it_shows_fails(example, tmp_path, command):
    (block,) = page_of(tmp_path, example)
    with pytest.raises(AssertionError):
        Run(tmp_path, command, {}).block(block)


def test_blocks_are_found_where_they_are(tmp_path, command):
    console = "a\n\n```console\n$ echo one\none\n$ echo ...\n...\n```\n"
    python = "\n*Not run in the tests: a reason.*\n\n```python\n1/0\n```\n"
    others = "\n- b\n\n  ```text\n  c\n  ```\n\n```{toctree}\n```\n"
    first, second = page_of(tmp_path, console + python + others)[:2]
    assert (first.language, first.line, first.not_run) == ("console", 4, None)
    assert (second.language, second.line, second.not_run) == ("python", 13, "a reason.")
    assert [b.text for b in fenced(tmp_path / "page.md")][2:] == ["c\n"]
    run = Run(tmp_path, command, {})
    run.block(first)
    assert run.count == 1


def test_blocks_without_fences_are_known_by_their_first_word(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "a\n\n    sapwood ls a.root   # what is in it\n\n    sapwood ls b.root\n\nb\n\n    import sapwood\n"
    )
    first, second = indented(page)
    assert (first.language, first.line, second.language) == ("console", 3, "python")
    assert [command for command, _ in commands(first.text)] == [
        "sapwood ls a.root   # what is in it",
        "sapwood ls b.root",
    ]


def test_a_command_goes_on_behind_a_backslash():
    assert commands("$ one \\\n  two\nshown\n$ three\n") == [("one two", "shown\n"), ("three", "")]
