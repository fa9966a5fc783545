"""The demo's picture: a group of bars for each figure, as hand-written SVG and as PNG where matplotlib is available."""

from __future__ import annotations

import math
from html import escape

FIGURES = {
    "time, s": lambda run: run["seconds"],
    "requests": lambda run: run["requests"],
    "round trips waited for": lambda run: run["round_trips"],
    "MB fetched": lambda run: run["bytes_fetched"] / 1e6,
}
COLOURS = ["#b08968", "#386641", "#4a7fb5"]
WIDTH, HEIGHT, TOP, BOTTOM, BAR = 760, 340, 86, 290, 46


def write_pictures(folder, runs, title):
    """Writes demo.svg, and demo.png if possible; returns the paths of the files written."""
    paths = [folder / "demo.svg"]
    paths[0].write_text(svg(runs, title))
    try:
        png(folder / "demo.png", runs, title)
        paths.append(folder / "demo.png")
    except ImportError:
        pass
    return paths


def height(value, largest):
    """Length of a bar on a logarithmic scale over three decades, so that the short one is visible."""
    if value <= 0:
        return 0.0
    return (BOTTOM - TOP - 20) * max(0.02, 1 + math.log10(value / largest) / 3)


def svg(runs, title):
    """The picture as SVG text: every figure has its own scale."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif"',
        ' font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="24" y="30" font-size="17" font-weight="bold">{escape(title)}</text>',
    ]
    for index, name in enumerate(runs):
        x = 24 + 200 * index
        parts.append(f'<rect x="{x}" y="45" width="13" height="13" fill="{COLOURS[index]}"/>')
        parts.append(f'<text x="{x + 20}" y="56">{escape(name)}</text>')
    parts.append(f'<text x="{WIDTH - 24}" y="30" text-anchor="end" fill="#666666">bars: logarithmic, 3 decades</text>')
    step = (WIDTH - 48) / len(FIGURES)
    for index, (label, figure) in enumerate(FIGURES.items()):
        middle = 24 + step * (index + 0.5)
        largest = max(figure(run) for run in runs.values())
        for place, run in enumerate(runs.values()):
            value = figure(run)
            tall = height(value, largest)
            x = middle + (place - len(runs) / 2) * (BAR + 8) + 4
            parts.append(
                f'<rect x="{x:.1f}" y="{BOTTOM - tall:.1f}" width="{BAR}" height="{tall:.1f}" fill="{COLOURS[place]}"/>'
            )
            text = f"{value:.2f}" if isinstance(value, float) else str(value)
            parts.append(f'<text x="{x + BAR / 2:.1f}" y="{BOTTOM - tall - 6:.1f}" text-anchor="middle">{text}</text>')
        parts.append(f'<text x="{middle:.1f}" y="{BOTTOM + 22}" text-anchor="middle">{escape(label)}</text>')
    parts.append(f'<line x1="24" y1="{BOTTOM}" x2="{WIDTH - 24}" y2="{BOTTOM}" stroke="#444444"/>')
    return "\n".join([*parts, "</svg>\n"])


def png(path, runs, title):
    """The same with matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(FIGURES), figsize=(10, 3.6), layout="constrained")
    figure.suptitle(f"{title} (bars: logarithmic, 3 decades)")
    for axis, (label, value) in zip(axes, FIGURES.items(), strict=True):
        values = [value(run) for run in runs.values()]
        # As in the SVG: a logarithmic axis would begin at the shorter bar and make the two look different.
        bars = axis.bar(list(runs), [height(one, max(values)) for one in values], color=COLOURS)
        axis.bar_label(bars, labels=[f"{one:.3g}" for one in values])
        axis.set_ylim(0, BOTTOM - TOP)
        axis.set_title(label, fontsize="medium")
        axis.tick_params(axis="x", labelbottom=False, length=0)
        axis.set_yticks([])
        axis.spines[["top", "left", "right"]].set_visible(False)
    figure.legend(bars, list(runs), loc="outside lower center", ncols=len(runs))
    figure.savefig(path, dpi=150)
    pyplot.close(figure)
