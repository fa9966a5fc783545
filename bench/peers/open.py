"""Opens a tree and lists its branches, after another one, so that everything is imported: open.py MODULE FILE TREE
OTHER"""

import importlib
import json
import sys
import time

module = importlib.import_module(sys.argv[1])
path, name, other = sys.argv[2:]
module.open(other)[name].keys()
start = time.perf_counter()
branches = module.open(path)[name].keys()
letters = sum(map(len, branches))
spent = time.perf_counter() - start
print("RESULT", json.dumps({"seconds": spent, "branches": len(branches), "letters": letters}))
