"""Files that CONTRIBUTING.md names exist: a checklist with a wrong path helps nobody."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
FILE = re.compile(r"`([\w./-]+\.(?:rs|py|md|txt|C|toml))`")


def test_named_files_exist():
    """After files are renamed, so are the checklists. A bare name is a file beside one that was named before it."""
    missing, found = [], 0
    directories: list[Path] = []
    for line in (ROOT / "CONTRIBUTING.md").read_text().splitlines():
        if line.startswith(("#", "| ")) or re.match(r"1\. ", line):
            directories = []
        for name in FILE.findall(line):
            places = [ROOT, *directories]
            here = next((d for d in places if (d / name).is_file()), None)
            if here is None:
                missing.append(name)
            else:
                found += 1
                directories.append((here / name).parent)
    assert found > 40
    assert missing == []
