import type { FileMap } from "../api/types";

/** The part of a file that is in sight. */
export interface Window {
  from: number;
  span: number;
}

const LEAST_SPAN = 64;

/** Zooms around a position; a factor below one shows less of the file. */
export function zoomed(window: Window, size: number, at: number, factor: number): Window {
  const span = Math.max(Math.min(LEAST_SPAN, size), Math.min(size, window.span * factor));
  const from = at - ((at - window.from) / window.span) * span;
  return moved({ from, span }, size, 0);
}

export function moved(window: Window, size: number, by: number): Window {
  return { span: window.span, from: Math.max(0, Math.min(size - window.span, window.from + by)) };
}

/** The order of the regions by offset. */
export function byOffset(map: FileMap): Uint32Array {
  const { offset } = map.regions;
  const order = Uint32Array.from(offset, (_, i) => i);
  for (let i = 1; i < order.length; i++) {
    if (offset[i] < offset[i - 1]) return order.sort((a, b) => offset[a] - offset[b]);
  }
  return order;
}

/** The first position in the order whose region ends after an offset. */
export function firstAfter(map: FileMap, order: Uint32Array, at: number): number {
  const { offset, bytes } = map.regions;
  let low = 0;
  let high = order.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (offset[order[middle]] + bytes[order[middle]] <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The region at an offset, or -1. */
export function regionAt(map: FileMap, order: Uint32Array, at: number): number {
  const i = firstAfter(map, order, at);
  if (i >= order.length) return -1;
  return map.regions.offset[order[i]] <= at ? order[i] : -1;
}

/** The branches with the most bytes. */
export function largestBranches(map: FileMap, most: number): number[] {
  const sums = new Float64Array(map.branches.length);
  map.regions.branch.forEach((branch, i) => {
    if (branch >= 0) sums[branch] += map.regions.bytes[i];
  });
  return Array.from(sums.keys())
    .sort((a, b) => sums[b] - sums[a])
    .slice(0, most);
}
