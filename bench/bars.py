"""Grouped bars on a logarithmic axis, as hand-written SVG."""

from __future__ import annotations

import math
from html import escape

COLOURS = {"ROOT": "#b08968", "uproot": "#8a9ba8", "Sapwood": "#386641"}
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 860, 380, 52, 84, 310


def grouped_bars(title, groups, series):
    """`groups` is {label: {series name: value}}; a label may have several lines. Values must be positive."""
    values = [value for group in groups.values() for value in group.values()]
    low = math.floor(math.log10(min(values)))
    high = max(math.ceil(math.log10(max(values))), low + 1)

    def y(value):
        return BOTTOM - (math.log10(value) - low) / (high - low) * (BOTTOM - TOP)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif"'
        ' font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="28" font-size="16" font-weight="bold">{escape(title)}</text>',
    ]
    for index, name in enumerate(series):
        x = LEFT + 110 * index
        parts.append(f'<rect x="{x}" y="42" width="12" height="12" fill="{COLOURS[name]}"/>')
        parts.append(f'<text x="{x + 18}" y="52">{escape(name)}</text>')
    for power in range(low, high + 1):
        line = y(10**power)
        parts.append(f'<line x1="{LEFT}" y1="{line:.1f}" x2="{WIDTH - 20}" y2="{line:.1f}" stroke="#e0e3e5"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{line + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    step = (WIDTH - LEFT - 20) / len(groups)
    bar = min(44, 0.84 * step / len(series))
    for index, (label, group) in enumerate(groups.items()):
        middle = LEFT + step * (index + 0.5)
        shown = [name for name in series if name in group]
        for place, name in enumerate(shown):
            x, top = middle + (place - len(shown) / 2) * bar, y(group[name])
            parts.append(
                f'<rect x="{x + 1:.1f}" y="{top:.1f}" width="{bar - 2:.1f}" height="{max(BOTTOM - top, 1):.1f}"'
                f' fill="{COLOURS[name]}"/>'
            )
            parts.append(
                f'<text x="{x + bar / 2:.1f}" y="{top - 5:.1f}" text-anchor="middle" font-size="10">'
                f"{group[name]:.3g}</text>"
            )
        for line, text in enumerate(label.split("\n")):
            parts.append(
                f'<text x="{middle:.1f}" y="{BOTTOM + 18 + 15 * line}" text-anchor="middle">{escape(text)}</text>'
            )
    parts.append(f'<line x1="{LEFT}" y1="{BOTTOM}" x2="{WIDTH - 20}" y2="{BOTTOM}" stroke="#444444"/>')
    return "\n".join([*parts, "</svg>\n"])
