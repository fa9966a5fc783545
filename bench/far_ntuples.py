"""The seed's query over a network on the same data as an ntuple, and beside it on the tree."""

from __future__ import annotations

import subprocess

import measure
from case import Case
from cases import PEERS, drawn
from ntuples import below
from wan import CLOCKS, SPOKEN, WIRE

TREE, NTUPLE = "chep_old.root", "chep_ntuple.root"
#: time over the best peer's, by client
LIMITS = {"G": 0.6}
NOTE = (
    "The tree of 152 branches without flushing, made an ntuple once by ROOT's importer (zstd 5, clusters as it makes "
    "them): it puts the arrays into collections and projects fields with their names out of them. `views`: "
    "RNTupleReader's with the cluster cache. RDataFrame runs on two threads; over HTTP it cannot, as the wheel of ROOT "
    "has neither Davix nor curl for ntuples, and the views read through `TWebFile`. "
)


def made(tools, data):
    """The ntuple beside the tree; made where it is missing."""
    path = data / NTUPLE
    if not path.exists():
        print(f"making {NTUPLE} with ROOT's importer")
        part = data / f"part-{NTUPLE}"
        part.unlink(missing_ok=True)
        words = list(map(str, tools.macro("convert.C", data / TREE, "h42", part, 505)))
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(words, check=True, **quiet)
        part.rename(path)
    return path


def query(place, row):
    """Draw("rawtr","E33>5") on the ntuple, as one client of the seed's table."""
    tools = place.tools
    chosen = drawn(tools.draw(made(tools, place.data))).result["io"]["bytes_wanted"]
    url = place.url(NTUPLE)

    def root(*how):
        return lambda: place.logged(measure.run, tools.macro("drawntuple.C", url, *how))

    contenders = {
        "ROOT, views": root("views", place.web),
        "ROOT, RDataFrame": root("frame", False, 2),
        "uproot": lambda: place.logged(measure.run, [tools.peers, PEERS / "draw_uproot.py", url]),
        "Sapwood": lambda: place.logged(drawn, tools.draw(url)),
        "Sapwood, the tree": lambda: place.logged(drawn, tools.draw(place.url(TREE))),
    }
    if place.web:
        del contenders["ROOT, RDataFrame"]
    peers = [name for name in contenders if not name.startswith("Sapwood")]
    rate = place.seconds(chosen)
    floor = ("the wanted bytes as one range over one connection", place.fetch(NTUPLE, chosen)) if rate else None
    return Case(
        name=f"ntuple-{row}-{place.protocol}",
        title=f"Draw on an ntuple over {SPOKEN[place.protocol]}, {place.link} (client {row})",
        contenders=tools.choose(contenders),
        floor=floor,
        bounds=[below(peers, LIMITS.get(row, 1.0))],
        same={"entries": 0, "mean": 1e-6},
        columns=WIRE,
        note=NOTE + CLOCKS,
        place={"table": "ntuple-rows", "row": row, "link": place.link, "protocol": place.protocol},
    )


def sections(cases):
    """Lines of the report: one table for each protocol, a line for each client and program."""
    found = [case for case in cases if case.get("place", {}).get("table") == "ntuple-rows"]
    for protocol, spoken in SPOKEN.items():
        here = [case for case in found if case["place"]["protocol"] == protocol]
        if not here:
            continue
        yield f"## The seed's query on an ntuple over {spoken}"
        yield ""
        yield here[0]["note"]
        yield ""
        yield "| client | | seconds | Sapwood's time / its time | requests at the server | MB at the server |"
        yield "| --- | --- | ---: | ---: | ---: | ---: |"
        for case in sorted(here, key=lambda case: case["place"]["row"]):
            yield from rows(case)
        yield ""
        for case in here:
            for difference in case["differences"]:
                yield f"**Values differ**, client {case['place']['row']}: {difference}"
                yield ""


def rows(case):
    """Lines of a client."""
    ours = case["rows"].get("Sapwood", {}).get("median")
    client = f"{case['place']['row']}: {case['place']['link']}"
    for name, row in case["rows"].items():
        if row["median"] is None:
            yield f"| {client} | {name} | {'failed' if row['failure'] else 'not run'} | | | |"
            continue
        ratio = f"{ours / row['median']:.2f}" if ours and name != "Sapwood" else ""
        requests, sent = (row["columns"][title] for title in WIRE)
        yield f"| {client} | {name} | {row['median']:.3g} | {ratio} | {requests:.0f} | {sent:.3g} |"
    if case["floor"]:
        what, seconds = case["floor"]
        ratio = f"{ours / seconds:.2f}" if ours else ""
        yield f"| {client} | floor: {what} | {seconds:.3g} | {ratio} | | |"
