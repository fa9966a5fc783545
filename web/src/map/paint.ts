import type { FileMap } from "../api/types";
import type { Theme } from "../plot/palette";
import { firstAfter, type Window } from "./regions";

export interface Sheet {
  width: number;
  height: number;
  lines: number;
}

const GAP = 2;

/** The colour of a region: of its branch where that is chosen, otherwise grey. */
function colors(map: FileMap, chosen: number[], theme: Theme): (i: number) => string {
  const ofBranch = new Map(chosen.map((branch, n) => [branch, theme.series[n % theme.series.length]]));
  const basket = theme.dark ? "#4a535c" : "#b9c1c9";
  const other = theme.dark ? "#79838d" : "#7c8791";
  return (i) => ofBranch.get(map.regions.branch[i]) ?? (map.regions.branch[i] >= 0 ? basket : other);
}

/** Draws the regions in sight: the file as lines of text, from left to right and from top to bottom. */
export function paint(
  context: CanvasRenderingContext2D,
  sheet: Sheet,
  map: FileMap,
  order: Uint32Array,
  window: Window,
  chosen: number[],
  marked: number,
  theme: Theme,
): void {
  const { width, height, lines } = sheet;
  const line = height / lines;
  const perLine = window.span / lines;
  const color = colors(map, chosen, theme);
  const { offset, bytes } = map.regions;
  context.fillStyle = theme.background;
  context.fillRect(0, 0, width, height);
  context.fillStyle = theme.grid;
  for (let n = 0; n < lines; n++) context.fillRect(0, n * line, width, line - GAP);
  const coloured = new Set(chosen);
  let lastPixel = -1;
  let lastColoured = false;
  for (let k = firstAfter(map, order, window.from); k < order.length; k++) {
    const i = order[k];
    if (offset[i] >= window.from + window.span) break;
    const begin = Math.max(0, (offset[i] - window.from) / perLine);
    const end = Math.min(lines, (offset[i] + bytes[i] - window.from) / perLine);
    // of the regions within one pixel one is enough: the first, or the first that has a colour
    const pixel = Math.floor(begin * width);
    const has = coloured.has(map.regions.branch[i]);
    if (Math.floor(end * width) === pixel && pixel === lastPixel && (lastColoured || !has) && i !== marked) continue;
    lastPixel = pixel;
    lastColoured = has;
    context.fillStyle = color(i);
    for (let n = Math.floor(begin); n < end; n++) {
      const left = Math.max(0, begin - n) * width;
      const right = Math.min(1, end - n) * width;
      const space = right - left > 3 ? 0.75 : 0;
      context.fillRect(left, n * line, Math.max(0.5, right - left - space), line - GAP);
      if (i !== marked) continue;
      context.strokeStyle = theme.text;
      context.lineWidth = 2;
      context.strokeRect(left + 1, n * line + 1, Math.max(2, right - left - 2), line - GAP - 2);
    }
  }
}

/** The offset in the file that is at a point of the sheet. */
export function offsetAt(sheet: Sheet, window: Window, x: number, y: number): number {
  const line = Math.max(0, Math.min(sheet.lines - 1, Math.floor((y / sheet.height) * sheet.lines)));
  const share = Math.max(0, Math.min(0.999999, x / sheet.width));
  return window.from + (line + share) * (window.span / sheet.lines);
}
