"""Parts of a page that a script of their own writes, and all others keep: between two comments that name the part."""


def region(text, name):
    """The part with its comments; nothing where the page has none."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    if begin not in text or end not in text:
        return ""
    return text[text.index(begin) : text.index(end) + len(end)]


def with_region(text, name, body):
    """The page with the part written anew, at its place or at the end."""
    part = f"<!-- {name} -->\n{body.strip()}\n<!-- /{name} -->"
    old = region(text, name)
    return text.replace(old, part) if old else f"{text.rstrip()}\n\n{part}\n"
