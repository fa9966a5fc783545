import type { Cell, Histogram } from "../api/types";
import { edges, heightErrors, heights, shapeOf, titleOf, xAxis } from "./content";

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;

/** A table of bins: edges, contents and errors; one line per bin and histogram. */
export function csv(histograms: Histogram[]): string {
  const lines: string[] = [];
  for (const h of histograms) {
    lines.push(...(shapeOf(h) === "two" ? cells(h) : isThree(h) ? boxes(h) : bins(h)));
  }
  return `${lines.join("\r\n")}\r\n`;
}

/** Whether a histogram has bins or cells: pictures of candles and of parallel coordinates have none. */
export const hasBins = (h: Histogram): boolean => shapeOf(h) !== "other" || isThree(h);

const isThree = (h: Histogram): boolean => h.axes?.length === 3 && !!(h.counts ?? h.means);

function bins(h: Histogram): string[] {
  const axis = xAxis(h);
  if (!axis) return [];
  const at = edges(axis);
  const errors = heightErrors(h);
  const lines = heights(h).map((n, i) => [quoted(titleOf(h)), at[i], at[i + 1], n, errors?.[i] ?? ""].join(","));
  return [`histogram,low,high,${h.means ? "mean" : "count"},error`, ...lines];
}

function cells(h: Histogram): string[] {
  const [x, y] = h.axes ?? [];
  const atX = edges(x);
  const atY = edges(y);
  const contents = (h.counts ?? h.means) as Cell[][];
  const lines = contents.flatMap((column, i) =>
    column.map((n, j) => [quoted(titleOf(h)), atX[i], atX[i + 1], atY[j], atY[j + 1], n ?? ""].join(",")),
  );
  return [`histogram,x_low,x_high,y_low,y_high,${h.means ? "mean" : "count"}`, ...lines];
}

function boxes(h: Histogram): string[] {
  const [x, y, z] = (h.axes ?? []).map(edges);
  const contents = (h.counts ?? h.means) as Cell[][][];
  const lines = contents.flatMap((plane, i) =>
    plane.flatMap((column, j) =>
      column.map((n, k) => [quoted(titleOf(h)), x[i], x[i + 1], y[j], y[j + 1], z[k], z[k + 1], n ?? ""].join(",")),
    ),
  );
  return [`histogram,x_low,x_high,y_low,y_high,z_low,z_high,${h.means ? "mean" : "count"}`, ...lines];
}
