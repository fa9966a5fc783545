import type { Axis, Cell, Histogram } from "../api/types";

export type Shape = "one" | "two" | "profile" | "other";

/** What kind of picture a histogram is. */
export function shapeOf(h: Histogram): Shape {
  if (h.axis) return "one";
  if (h.axes?.length === 2 && h.counts) return "two";
  if (h.axes?.length === 1 && h.means) return "profile";
  if (h.axes?.length === 2 && h.means) return "two";
  return "other";
}

/** The axis along x. */
export const xAxis = (h: Histogram): Axis | null => h.axis ?? h.axes?.[0] ?? null;

/** The labels of an axis whose bins are names. */
export function labelsOf(h: Histogram): (string | null)[] | null {
  return h.labels ?? h.axes?.[0]?.labels ?? null;
}

/** The edges of the bins, one more than there are bins. */
export function edges(axis: Axis): number[] {
  if (axis.edges) return axis.edges;
  const width = (axis.high - axis.low) / axis.bins;
  return Array.from({ length: axis.bins + 1 }, (_, i) => (i === axis.bins ? axis.high : axis.low + i * width));
}

/** The heights along x: counts, or the means of a profile. */
export function heights(h: Histogram): number[] {
  return ((h.counts ?? h.means ?? []) as Cell[]).map((n) => n ?? Number.NaN);
}

/** The errors of the heights; null where they are the square roots of counts. */
export function heightErrors(h: Histogram): number[] | null {
  if (h.errors) return (h.errors as Cell[]).map((n) => n ?? 0);
  if (!h.variances) return null;
  return (h.variances as Cell[]).map((n) => Math.sqrt(n ?? 0));
}

/** Whether weights were filled: variances that are not the counts. */
export function weighted(h: Histogram): boolean {
  const counts = h.counts as Cell[] | undefined;
  const variances = h.variances as Cell[] | undefined;
  return !!h.axis && !!counts && !!variances && counts.some((n, i) => n !== variances[i]);
}

/** Expression and cut, as ROOT titles its histograms. */
export const titleOf = (h: Histogram): string => (h.cut ? `${h.expression} {${h.cut}}` : h.expression);
