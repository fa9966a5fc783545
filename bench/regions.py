"""Sections of a page that separate scripts write, and all others keep: between two comments with the section's name."""

import re
from pathlib import Path


def kept(page: Path):
    """Appended by a script that rewrites the page: all such sections, with their comments."""
    text = page.read_text() if page.exists() else ""
    return "".join(f"\n{part.group(0)}\n" for part in re.finditer(r"<!-- (\w+) -->.*?<!-- /\1 -->", text, re.DOTALL))


def with_region(text, name, body):
    """The page with the section rewritten, in its place or at the end."""
    part = f"<!-- {name} -->\n{body.strip()}\n<!-- /{name} -->"
    old = re.search(f"<!-- {name} -->.*?<!-- /{name} -->", text, re.DOTALL)
    return text.replace(old.group(0), part) if old else f"{text.rstrip()}\n\n{part}\n"
