"""Writes crates/sapwood-format/src/builtin/classes.txt: ROOT's own classes as ROOT describes them.

    python tests/oracle/make_class_table.py [FILE.root ...]

Current versions come from ROOT itself (`pip install --pre ROOT`), earlier ones from the given files. The table serves
files that do not describe a class: those that were never closed, and classes that older ROOT wrote by hand.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import uproot

TABLE = Path(__file__).parents[2] / "crates" / "sapwood-format" / "src" / "builtin" / "classes.txt"
CLASSES = Path(__file__).with_name("class_table_names.txt").read_text().split()

MACRO = """
import sys
import ROOT
ROOT.gErrorIgnoreLevel = ROOT.kFatal
out = ROOT.TFile(sys.argv[1], "recreate")
for name in sys.argv[2:]:
    cls = ROOT.TClass.GetClass(name)
    if cls and cls.IsLoaded() and cls.GetClassVersion() > 0:
        info = cls.GetStreamerInfo()
        if info:
            info.ForceWriteInfo(out, True)
out.Close()
"""


def described(path):
    """The class descriptions of a file: {(class, version): lines}."""
    out = {}
    try:
        streamers = uproot.open(path).file.streamers
    except Exception as error:
        print(f"{path}: {error}", file=sys.stderr)
        return out
    for name, versions in streamers.items():
        if name not in CLASSES:
            continue
        for version, info in versions.items():
            lines = [f"{name}\t{version}\t{info.member('fCheckSum', none_if_missing=True) or 0:x}"]
            lines += ["\t" + "\t".join(element(e)).rstrip("\t") for e in info.elements]
            out[name, version] = lines
    return out


def element(e):
    """The fields of an element that a reader needs."""
    kind = e.classname.removeprefix("TStreamer")
    title = e.title or ""
    # a comment says something to a reader only when it begins with a range or names an owner
    if not (kind in ("BasicType", "BasicPointer") and title.lstrip().startswith("[") and "," in title):
        title = ""
    count = extents = special = ""

    def get(name):
        return e.member(name, none_if_missing=True)

    if kind == "Base":
        special = str(get("fBaseVersion") or 0)
    if kind in ("BasicPointer", "Loop"):
        count = str(get("fCountName"))
    if kind in ("STL", "STLstring"):
        special = f"{get('fSTLtype')},{get('fCtype')}"
    if get("fArrayLength"):
        extents = ",".join(str(n) for n in get("fMaxIndex")[: get("fArrayDim")]) or str(get("fArrayLength"))
    return [kind, str(get("fType")), e.name, str(get("fTypeName")), count, extents, special, title]


def main():
    """Writes the table."""
    table = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "classes.root")
        subprocess.run([sys.executable, "-W", "ignore", "-c", MACRO, path, *CLASSES], check=True)
        for source in [*sys.argv[1:], path]:
            table.update(described(source))
    lines = [
        "# ROOT's own classes: name, version, checksum; below, an element per line: kind, type code, name, C++ type,",
        "# counter, extents, base version or kind of collection, comment with a range.",
        "# Written by tests/oracle/make_class_table.py.",
    ]
    for key in sorted(table):
        lines += table[key]
    TABLE.write_text("\n".join(lines) + "\n")
    print(f"{len(table)} descriptions, {TABLE.stat().st_size} bytes")


if __name__ == "__main__":
    main()
