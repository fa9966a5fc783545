"""The tables of the seed's query through caching proxies: one row for each reader, one column for each path to the
origin."""

from __future__ import annotations

from tables import SPOKEN, of_table

#: The content of a cell: title, and how to get it from a contender's row.
SHOWN = (
    ("Seconds", lambda row: row["median"]),
    ("MB from the origin", lambda row: row["columns"]["MB from the origin"]),
)


def sections(cases):
    """Lines for the cases of this table: two tables for each protocol."""
    found = of_table(cases, "proxied")
    for protocol, spoken in SPOKEN.items():
        here = [case for case in found if case["place"]["protocol"] == protocol]
        if not here:
            continue
        yield f"## The seed's query through proxies over {spoken}"
        yield ""
        yield "*Cold*: with nothing held; *warm*: again, with all of it. " + " ".join(case["note"] for case in here)
        yield ""
        rows = {}
        for case in here:
            for name, row in case["rows"].items():
                reader, _, path = name.partition(", ")
                rows.setdefault(reader, {})[path] = row
        paths = list(dict.fromkeys(path for cells in rows.values() for path in cells))
        for title, value in SHOWN:
            yield f"| {title} |" + "".join(f" {path} |" for path in paths)
            yield "| --- |" + " ---: |" * len(paths)
            for reader, cells in rows.items():
                yield f"| {reader} |" + "".join(f" {cell(cells.get(path), value)} |" for path in paths)
            yield ""
        for case in here:
            for name, row in case["rows"].items():
                if row["failure"]:
                    yield f"{name} failed: `{row['failure'].splitlines()[0][:200]}`"
                    yield ""
            for difference in case["differences"]:
                yield f"**Values differ**: {difference}"
                yield ""


def cell(row, value):
    """A figure as text, or why it is missing."""
    if row is None:
        return ""
    if row["median"] is None:
        return "failed" if row["failure"] else "not run"
    number = value(row)
    return "" if number is None else f"{number:.3g}"
