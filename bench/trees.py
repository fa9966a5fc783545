"""Which keys of a file are trees."""

TREES = ("TTree", "TNtuple", "TNtupleD")


def newest(classnames):
    """Keys of the trees, without older cycles."""
    best = {}
    for key, name in classnames.items():
        path, _, cycle = key.rpartition(";")
        if name in TREES:
            best[path] = max(best.get(path, 0), int(cycle))
    return [f"{path};{cycle}" for path, cycle in best.items()]
