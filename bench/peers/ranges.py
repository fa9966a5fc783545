"""Ranges of the seed's query: ranges.py FILE COUNT prints JSON: both ends of the file, the tree's header, and the
baskets of both branches in COUNT requests of about as many ranges."""

import json
import sys

import uproot

path, count = sys.argv[1], int(sys.argv[2])
file = uproot.open(path)
tree, key, size = file["h42"], file.key("h42"), file.file.fEND
spans = []
for name in ("rawtr", "E33"):
    member = tree[name].member
    seeks, lengths = member("fBasketSeek"), member("fBasketBytes")
    spans += [(int(seeks[i]), int(seeks[i]) + int(lengths[i])) for i in range(member("fWriteBasket"))]
joined = []
for begin, end in sorted(spans):
    if joined and begin - joined[-1][1] <= 200:
        joined[-1][1] = end
    else:
        joined.append([begin, end])
each = -(-len(joined) // count)
groups = [[[begin, end - 1] for begin, end in joined[i : i + each]] for i in range(0, len(joined), each)]
ends = [[0, 999], [size - 12_500, size - 1]]
print("RESULT", json.dumps([ends, [[key.fSeekKey, key.fSeekKey + key.fNbytes - 1]], *groups]))
