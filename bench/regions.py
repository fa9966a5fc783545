"""Parts of a page that scripts of their own write, and all others keep: between two comments that name the part."""

import re
from pathlib import Path


def kept(page: Path):
    """What a script that writes the page anew puts behind it: all such parts, with their comments."""
    text = page.read_text() if page.exists() else ""
    return "".join(f"\n{part.group(0)}\n" for part in re.finditer(r"<!-- (\w+) -->.*?<!-- /\1 -->", text, re.DOTALL))


def with_region(text, name, body):
    """The page with the part written anew, at its place or at the end."""
    part = f"<!-- {name} -->\n{body.strip()}\n<!-- /{name} -->"
    old = re.search(f"<!-- {name} -->.*?<!-- /{name} -->", text, re.DOTALL)
    return text.replace(old.group(0), part) if old else f"{text.rstrip()}\n\n{part}\n"
