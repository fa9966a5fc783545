import type { Histogram } from "../api/types";
import { short } from "../common/format";
import { shapeOf, titleOf } from "./content";
import type { Theme } from "./palette";

/** Entries, mean and standard deviation of a histogram, as text. */
export function statistics(h: Histogram): string {
  const means = [h.mean ?? []].flat();
  const deviations = [h.std_dev ?? []].flat();
  const axes = means.length === 1 ? [""] : [" x", " y", " z"];
  const parts = [`entries ${h.entries}`];
  means.forEach((mean, i) => {
    parts.push(`mean${axes[i]} ${short(mean)}`);
    parts.push(`std dev${axes[i]} ${short(deviations[i])}`);
  });
  if (h.underflow) parts.push(`underflow ${short(h.underflow)}`);
  if (h.overflow) parts.push(`overflow ${short(h.overflow)}`);
  // SVG shows several spaces as one
  return parts.join(",  ");
}

/** The height of the lines above a picture. */
export const legendHeight = (count: number) => 8 + count * 34;

const clip = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** Titles and statistics above the picture: a part of it, so that pictures that are kept have them. */
export function Legend({ histograms, width, theme }: { histograms: Histogram[]; width: number; theme: Theme }) {
  const most = Math.floor((width - 40) / 6.4);
  return (
    <g font-family="system-ui, sans-serif">
      {histograms.map((h, i) => (
        <g key={i} transform={`translate(12 ${18 + i * 34})`}>
          {shapeOf(h) !== "two" && <rect y={-9} width={10} height={10} fill={theme.series[i % theme.series.length]} />}
          <text x={18} fill={theme.text} font-size={13} font-weight={600}>
            {clip(titleOf(h), most)}
          </text>
          <text x={18} y={15} fill={theme.dim} font-size={11}>
            {clip(statistics(h), most)}
          </text>
        </g>
      ))}
    </g>
  );
}
