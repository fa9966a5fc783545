#!/usr/bin/env python3
"""Every member of a tree's header as ROOT reads it: tree_members.py TREE FILE... prints one JSON object for each file,
with members by their path (`.fBranches.arr[0].fTitle`)."""

import json
import sys

import ROOT


def flat(value, path, out):
    if isinstance(value, dict):
        for key, inner in value.items():
            flat(inner, f"{path}.{key}", out)
    elif isinstance(value, list) and any(isinstance(inner, dict | list) for inner in value):
        for i, inner in enumerate(value):
            flat(inner, f"{path}[{i}]", out)
    else:
        out[path] = value
    return out


name, *paths = sys.argv[1:]
for path in paths:
    file = ROOT.TFile(path)
    print("MEMBERS", json.dumps(flat(json.loads(str(ROOT.TBufferJSON.ToJSON(file.Get(name), 3))), "", {})))
    file.Close()
