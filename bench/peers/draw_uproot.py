"""The seed's query with uproot: draw_uproot.py URL. Reads the two branches, pairs them as TTree::Draw does, fills."""

import json
import sys
import time

import awkward as ak
import numpy as np
import uproot

start = time.perf_counter()
with uproot.open(sys.argv[1]) as file:
    arrays = file["h42"].arrays(["rawtr", "E33"], library="ak")
# TTree::Draw runs over the values that both branches have.
count = np.minimum(ak.num(arrays["rawtr"]), ak.num(arrays["E33"]))
index = ak.local_index(arrays["rawtr"])
rawtr = ak.flatten(arrays["rawtr"][index < count])
e33 = ak.flatten(arrays["E33"][ak.local_index(arrays["E33"]) < count])
chosen = ak.to_numpy(rawtr[e33 > 5]).astype("f8")
inside = chosen[(chosen >= 0) & (chosen < 40)]
np.histogram(inside, 100, (0, 40))
seconds = time.perf_counter() - start
print("RESULT", json.dumps({"seconds": seconds, "entries": len(chosen), "mean": float(inside.mean())}))
