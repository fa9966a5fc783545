"""The seed's tables from many cases: one row for each client, one column for each cache size; and pictures of them."""

from __future__ import annotations

from bars import grouped_bars

SPOKEN = {"http": "HTTP", "xrootd": "XRootD"}
WHO = ("ROOT", "uproot", "Sapwood")
#: The content of a cell: title, and how to get it from a contender's row.
SHOWN = (
    ("Seconds", lambda row: row["median"]),
    ("Requests at the server", lambda row: row["columns"]["requests"]),
    ("MB at the server", lambda row: row["columns"]["MB at the server"]),
)
NOTE = (
    'The seed\'s query, `Draw("rawtr","E33>5")` on the tree without flushing: 14.4 MB in 4017 baskets of 147 MB. '
    "Columns are sizes of the tree cache, `auto` each program's own choice; uproot has no such cache. "
    "ROOT reads HTTP with its `TWebFile`. "
)


def of_table(cases, name="wan"):
    return [case for case in cases if case.get("place", {}).get("table") == name]


def sections(cases, pictures):
    """Lines for the cases of the WAN table: three tables and two pictures for each protocol; pictures (path: SVG) are
    added to `pictures`."""
    found = of_table(cases)
    for protocol, spoken in SPOKEN.items():
        cells = {(c["place"]["row"], c["place"]["cache"]): c for c in found if c["place"]["protocol"] == protocol}
        if not cells:
            continue
        yield f"## The seed's table over {spoken}"
        yield ""
        yield NOTE + case_notes(cells)
        yield ""
        for title, value in SHOWN:
            yield from one_table(title, value, cells)
        for path, picture in drawn(cells, protocol, spoken).items():
            pictures[path] = picture
            yield f"![seconds over {spoken}]({path})"
            yield ""
        for case in cells.values():
            for name, row in case["rows"].items():
                if row["failure"]:
                    yield f"Client {case['place']['row']}, cache {case['place']['cache']}: {name} failed: " + (
                        f"`{row['failure'].splitlines()[0][:200]}`"
                    )
                    yield ""
            for difference in case["differences"]:
                yield f"**Values differ**, client {case['place']['row']}: {difference}"
                yield ""


def case_notes(cells):
    notes = sorted({case["note"] for case in cells.values()})
    repeats = sorted({len(row["seconds"]) for case in cells.values() for row in case["rows"].values()} - {0})
    if repeats == [1]:
        return " ".join(notes) + " One run of each."
    runs = " to ".join(map(str, sorted({*repeats[:1], *repeats[-1:]})))
    return " ".join(notes) + f" Medians of {runs} runs."


def order(cells, what, known):
    """The values that occur, in the known order."""
    there = {key[what] for key in cells}
    return [name for name in known if name in there]


def axes(cells):
    rows = order(cells, 0, "ABCDEFG")
    caches = order(cells, 1, ("0", "64kB", "10MB", "30MB", "200MB", "auto"))
    return rows, caches


def one_table(title, value, cells):
    """One figure of all cells: a line for each client and program."""
    rows, caches = axes(cells)
    yield f"| {title} | |" + "".join(f" {cache} |" for cache in caches)
    yield "| --- | --- |" + " ---: |" * len(caches)
    cuts = {}
    for row in rows:
        link = next(case["place"]["link"] for key, case in cells.items() if key[0] == row)
        for who in WHO:
            texts = []
            for cache in caches:
                case = cells.get((row, cache))
                texts.append(cell(case, who, value))
                if case and texts[-1] and short(case):
                    texts[-1] += " *"
                    last, entries = case["place"]["entries"]
                    cuts[f"client {row}, cache {cache}: the first {last} of {entries} entries"] = True
            if any(texts):
                yield f"| {row}: {link} | {who} |" + "".join(f" {text} |" for text in texts)
    yield ""
    if cuts:
        yield "\\* truncated, as the whole would take minutes: " + "; ".join(cuts) + "."
        yield ""


def short(case):
    last, entries = case["place"]["entries"]
    return last < entries


def cell(case, who, value):
    row = case["rows"].get(who) if case else None
    if not row:
        return ""
    number = value(row) if row["median"] is not None else None
    if number is None:
        return "failed" if row["failure"] else "not run"
    return f"{number:.3g}" if number < 1000 else f"{number:.0f}"


def targets(cases):
    """Rows of the table of targets: (work, target, value, limit, unit, remark)."""
    found = of_table(cases)
    for protocol, spoken in SPOKEN.items():
        cells = {(c["place"]["row"], c["place"]["cache"]): c for c in found if c["place"]["protocol"] == protocol}
        rows, _ = axes(cells)
        for row in rows:
            if (ratio := over_best(cells, row)) is not None:
                yield (
                    f"Draw over {spoken}, client {row}",
                    "time over the best peer's, at any cache size",
                    ratio,
                    1.0,
                    "",
                )
        yield from worst(cells, spoken)


def over_best(cells, row):
    """Sapwood's time with its defaults relative to the best of ROOT, with any cache, and uproot; None where one is
    missing."""
    here = [case for key, case in cells.items() if key[0] == row and not short(case)]
    peers = [r["median"] for case in here for who, r in case["rows"].items() if who != "Sapwood"]
    peers = [median for median in peers if median]
    ours = cells.get((row, "auto"), {}).get("rows", {}).get("Sapwood", {}).get("median")
    return ours / min(peers) if ours and peers else None


def worst(cells, spoken):
    """Each target of the cells once, for the cell that is closest to failing it."""
    by_text = {}
    for (row, cache), case in cells.items():
        for bound in case["bounds"]:
            if bound["value"] is None:
                continue
            key = (bound["text"], bound["limit"], bound["unit"])
            by_text.setdefault(key, []).append((bound["value"], f"client {row}, cache {cache}"))
    for (text, limit, unit), values in by_text.items():
        value, where = max(values)
        of = f" (the worst of {len(values)})" if len(values) > 1 else ""
        yield f"Draw over {spoken}, {where}{of}", text, value, limit, unit


def drawn(cells, protocol, spoken):
    """Pictures by path: the clients with the programs' own choice of cache; the caches of the most distant client."""
    rows, caches = axes(cells)
    out = {}

    def bars(keys, labels):
        groups = {}
        for key, label in zip(keys, labels, strict=True):
            case = cells.get(key)
            if case and not short(case):
                medians = {who: case["rows"].get(who, {}).get("median") for who in WHO}
                groups[label] = {who: value for who, value in medians.items() if value}
        return {label: group for label, group in groups.items() if group}

    links = [next(case["place"]["link"] for key, case in cells.items() if key[0] == row) for row in rows]
    labels = [f"{row}\n" + link.replace(", ", "\n") for row, link in zip(rows, links, strict=True)]
    clients = bars([(row, "auto") for row in rows], labels)
    if len(clients) > 1:
        title = f"One query over {spoken}, by client: seconds, on a logarithmic scale"
        out[f"benchmarks-{protocol}-clients.svg"] = grouped_bars(title, clients, WHO)
    if rows:
        sizes = bars([(rows[-1], cache) for cache in caches], caches)
        if len(sizes) > 1:
            title = f"The same over {spoken} for client {rows[-1]} ({links[-1]}), by cache size"
            out[f"benchmarks-{protocol}-caches.svg"] = grouped_bars(title, sizes, WHO)
    return out
