import type { Cell, Histogram } from "../api/types";
import { short } from "../common/format";
import { edges, heights, labelsOf, shapeOf, xAxis } from "./content";

/** The bin of an axis that holds a value, or -1. */
function bin(at: number[], value: number): number {
  let low = 0;
  let high = at.length - 1;
  if (!(value >= at[0] && value <= at[high])) return -1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (at[middle] <= value) low = middle;
    else high = middle;
  }
  return low;
}

const range = (at: number[], i: number) => `${short(at[i])} to ${short(at[i + 1])}`;

/** What is under the pointer, as text. */
export function readout(histograms: Histogram[], x: number, y: number): string {
  const first = histograms[0];
  const axis = xAxis(first);
  if (!axis) return "";
  const at = edges(axis);
  const i = bin(at, x);
  if (i < 0) return "";
  if (shapeOf(first) === "two") {
    const atY = edges(first.axes?.[1] ?? axis);
    const j = bin(atY, y);
    const n = j < 0 ? null : ((first.counts ?? first.means) as Cell[][])[i]?.[j];
    return j < 0 ? "" : `x ${range(at, i)}   y ${range(atY, j)}   ${n === null ? "" : short(n)}`;
  }
  const where = labelsOf(first)?.[i] ?? `bin ${i + 1}: ${range(at, i)}`;
  return `${where}   ${histograms.map((h) => short(valueAt(h, x))).join("   ")}`;
}

function valueAt(h: Histogram, x: number): number {
  const axis = xAxis(h);
  const i = axis ? bin(edges(axis), x) : -1;
  return i < 0 ? Number.NaN : heights(h)[i];
}
