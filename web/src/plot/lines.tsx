import type { Histogram } from "../api/types";
import { edges, heightErrors, heights, weighted, xAxis } from "./content";
import type { Box, Scale } from "./scale";

/** The outline of a histogram, as a path from bin to bin. */
export function outline(h: Histogram, x: Scale, y: Scale, box: Box): string {
  const axis = xAxis(h);
  if (!axis) return "";
  const at = edges(axis);
  const floor = y.toPixel(y.log ? y.low : Math.max(y.low, Math.min(y.high, 0)));
  let path = "";
  heights(h).forEach((n, i) => {
    if (at[i + 1] < x.low || at[i] > x.high) return;
    const left = Math.max(box.left, x.toPixel(at[i]));
    const right = Math.min(box.right, x.toPixel(at[i + 1]));
    const level = Number.isFinite(n) && (!y.log || n > 0) ? y.toPixel(n) : floor;
    const top = Math.max(box.top, Math.min(box.bottom, level));
    path += path === "" ? `M${px(left)} ${px(floor)}V${px(top)}` : `V${px(top)}`;
    path += `H${px(right)}`;
  });
  return path === "" ? "" : `${path}V${px(floor)}`;
}

const px = (n: number) => Math.round(n * 100) / 100;

interface Props {
  histogram: Histogram;
  x: Scale;
  y: Scale;
  box: Box;
  color: string;
  filled: boolean;
  errors: boolean;
}

/** One histogram along x, or a profile. */
export function Lines({ histogram: h, x, y, box, color, filled, errors }: Props) {
  const profile = !!h.means;
  const path = profile ? "" : outline(h, x, y, box);
  return (
    <g data-histogram={h.expression}>
      {!profile && filled && <path d={`${path}Z`} fill={color} fill-opacity={0.14} />}
      {!profile && <path d={path} fill="none" stroke={color} stroke-width={1.5} stroke-linejoin="round" />}
      {(profile || errors || weighted(h)) && <ErrorBars h={h} x={x} y={y} box={box} color={color} points={profile} />}
    </g>
  );
}

interface BarsProps {
  h: Histogram;
  x: Scale;
  y: Scale;
  box: Box;
  color: string;
  points: boolean;
}

function ErrorBars({ h, x, y, box, color, points }: BarsProps) {
  const axis = xAxis(h);
  if (!axis) return null;
  const at = edges(axis);
  const half = heightErrors(h);
  const inside = (pixel: number) => Math.max(box.top, Math.min(box.bottom, pixel));
  let bars = "";
  let dots = "";
  heights(h).forEach((n, i) => {
    const error = half?.[i] ?? 0;
    const center = x.toPixel((at[i] + at[i + 1]) / 2);
    // an empty bin of a profile has neither mean nor error
    if (!Number.isFinite(n) || (n === 0 && error === 0) || (y.log && n <= 0)) return;
    if (center < box.left || center > box.right) return;
    const low = y.log ? Math.max(y.low, n - error) : n - error;
    const from = inside(y.toPixel(low));
    const to = inside(y.toPixel(n + error));
    if (from !== to) bars += `M${px(center)} ${px(from)}V${px(to)}`;
    const level = y.toPixel(n);
    if (points && level >= box.top && level <= box.bottom) dots += `M${px(center - 2.5)} ${px(level)}h5`;
  });
  return (
    <g stroke={color} fill="none">
      <path d={bars} stroke-width={1} />
      <path d={dots} stroke-width={4} />
    </g>
  );
}
