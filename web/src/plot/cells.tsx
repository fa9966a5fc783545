import type { Cell, Histogram } from "../api/types";
import { edges } from "./content";
import { ramp, type Theme } from "./palette";
import { type Box, type Scale, scale } from "./scale";
import { logTicks, tickLabel, ticks } from "./ticks";

const LEVELS = 64;

/** The smallest and the largest content that is drawn. */
export function extent(h: Histogram, log: boolean): [number, number] {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const column of (h.counts ?? h.means) as Cell[][]) {
    for (const n of column) {
      if (n === null || n === 0 || (log && n <= 0)) continue;
      if (n < low) low = n;
      if (n > high) high = n;
    }
  }
  if (high < low) return log ? [0.5, 1] : [0, 1];
  if (!log && low > 0) low = 0;
  return low === high ? [log ? low / 2 : low - 1, high] : [low, high];
}

interface Props {
  histogram: Histogram;
  x: Scale;
  y: Scale;
  box: Box;
  log: boolean;
  theme: Theme;
}

/** A histogram of two variables: coloured cells, with the scale of colours beside them. */
export function Cells({ histogram: h, x, y, box, log, theme }: Props) {
  const [axisX, axisY] = h.axes ?? [];
  const atX = edges(axisX).map(x.toPixel);
  const atY = edges(axisY).map(y.toPixel);
  const [low, high] = extent(h, log);
  const color = scale(low, high, 0, 1, log);
  const paths: string[] = Array(LEVELS).fill("");
  ((h.counts ?? h.means) as Cell[][]).forEach((column, i) => {
    const left = Math.max(box.left, atX[i]);
    const width = Math.min(box.right, atX[i + 1]) - left;
    if (!(width > 0)) return;
    column.forEach((n, j) => {
      if (n === null || n === 0 || (log && n < 0)) return;
      const bottom = Math.min(box.bottom, atY[j]);
      const height = bottom - Math.max(box.top, atY[j + 1]);
      if (!(height > 0)) return;
      const level = Math.max(0, Math.min(LEVELS - 1, Math.floor(color.toPixel(n) * LEVELS)));
      paths[level] += `M${px(left)} ${px(bottom)}h${px(width)}v${px(-height)}h${px(-width)}z`;
    });
  });
  const bar = scale(low, high, box.bottom, box.top, log);
  const step = (box.bottom - box.top) / LEVELS;
  const marks = log ? logTicks(low, high) : ticks(low, high, 6);
  return (
    <g data-histogram={h.expression} shape-rendering="crispEdges">
      {paths.map((d, level) => d && <path key={level} d={d} fill={ramp((level + 0.5) / LEVELS)} />)}
      {paths.map((_, level) => (
        <rect
          key={level}
          x={box.right + 12}
          y={box.bottom - (level + 1) * step}
          width={12}
          height={step + 0.5}
          fill={ramp((level + 0.5) / LEVELS)}
        />
      ))}
      {marks.map((value) => (
        <text
          key={value}
          x={box.right + 28}
          y={bar.toPixel(value) + 4}
          fill={theme.dim}
          font-size={11}
          font-family="system-ui, sans-serif"
        >
          {tickLabel(value)}
        </text>
      ))}
    </g>
  );
}

const px = (n: number) => Math.round(n * 100) / 100;
