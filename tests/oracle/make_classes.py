"""Writes the class descriptions of files made by ROOT as the table that sapwood-write is built with.

    python tests/oracle/make_classes.py MADE_BY_ROOT... > crates/sapwood-write/src/classes.txt

One line a class (``class name version checksum``) and one a member, fields separated by tabs:
kind, name, counter or empty, type code, size, array length, dimensions (five), type name, extra. Comments are left out
except for counters, whose brackets are part of the class's meaning.
"""

import re
import sys

import ROOT

STL = 500


def extra(e, kind):
    if kind == "TStreamerBase":
        return [e.GetBaseVersion()]
    if kind in ("TStreamerBasicPointer", "TStreamerLoop"):
        return [e.GetCountVersion(), e.GetCountName(), e.GetCountClass()]
    if kind in ("TStreamerSTL", "TStreamerSTLstring"):
        return [e.GetSTLtype(), e.GetCtype()]
    return []


def main(paths):
    print("# Classes as ROOT 6.40 describes them; made by tests/oracle/make_classes.py.")
    seen = set()
    for path in paths:
        for info in ROOT.TFile.Open(path).GetStreamerInfoList():
            if info.ClassName() != "TStreamerInfo" or info.GetName() in seen:
                continue
            seen.add(info.GetName())
            print("class", info.GetName(), info.GetClassVersion(), info.GetCheckSum(), sep="\t")
            for e in info.GetElements():
                kind = e.ClassName()
                counter = re.match(r"\[\w+\]", e.GetTitle())
                code = STL if "STL" in kind else e.GetType()
                row = [kind, e.GetName(), counter.group() if counter else "", code, e.GetSize(), e.GetArrayLength()]
                row += [e.GetArrayDim(), " ".join(str(e.GetMaxIndex(i)) for i in range(5)), e.GetTypeName()]
                print(*row, *extra(e, kind), sep="\t")


if __name__ == "__main__":
    main(sys.argv[1:])
