import type { Ref } from "preact";
import type { ReadRequest } from "../api/types";
import { bytes, seconds } from "../common/format";
import type { Theme } from "../plot/palette";
import { type Box, scale } from "../plot/scale";
import { tickLabel, ticks } from "../plot/ticks";

interface Props {
  requests: ReadRequest[];
  by: "entry" | "time";
  width: number;
  height: number;
  theme: Theme;
  svg: Ref<SVGSVGElement>;
}

/** A request as a rectangle: along y the bytes it brought, along x when it ran, or the entry it was for. */
interface Bar {
  x0: number;
  x1: number;
  offset: number;
  bytes: number;
}

function bars(requests: ReadRequest[], by: "entry" | "time"): Bar[] {
  return requests.flatMap((r) => {
    if (by === "time") return [{ x0: r.begin, x1: r.end, offset: r.offset, bytes: r.bytes }];
    if (typeof r.entry !== "number") return [];
    return [{ x0: r.entry, x1: r.entry, offset: r.offset, bytes: r.bytes }];
  });
}

/** The requests as TTreePerfStats draws them: where in the file, against entry or time. */
export function RequestChart({ requests, by, width, height, theme, svg }: Props) {
  const all = bars(requests, by);
  const box: Box = { left: 76, top: 12, right: width - 16, bottom: height - 40 };
  let right = 0;
  let low = Number.POSITIVE_INFINITY;
  let high = 0;
  for (const bar of all) {
    right = Math.max(right, bar.x1);
    low = Math.min(low, bar.offset);
    high = Math.max(high, bar.offset + bar.bytes);
  }
  const margin = (high - low || 1) * 0.03;
  const x = scale(0, right * 1.03 || 1, box.left, box.right);
  const y = scale(Math.max(0, low - margin), high + margin, box.bottom, box.top);
  // one path: thousands of requests are one element
  const path = all
    .map((bar) => {
      const left = x.toPixel(bar.x0);
      const top = y.toPixel(bar.offset + bar.bytes);
      const w = Math.max(2.5, x.toPixel(bar.x1) - left);
      const h = Math.max(2, y.toPixel(bar.offset) - top);
      return `M${left.toFixed(1)} ${top.toFixed(1)}h${w.toFixed(1)}v${h.toFixed(1)}h${(-w).toFixed(1)}z`;
    })
    .join("");
  const text = { fill: theme.dim, "font-size": 11, "font-family": "system-ui, sans-serif" };
  return (
    <svg
      ref={svg}
      xmlns="http://www.w3.org/2000/svg"
      role="img"
      aria-label={`${all.length} requests, file offset against ${by}`}
      data-requests={all.length}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
    >
      <rect width={width} height={height} fill={theme.background} />
      {ticks(x.low, x.high, width / 110).map((value) => (
        <g key={value}>
          <line x1={x.toPixel(value)} x2={x.toPixel(value)} y1={box.top} y2={box.bottom} stroke={theme.grid} />
          <text {...text} x={x.toPixel(value)} y={box.bottom + 16} text-anchor="middle">
            {by === "time" ? seconds(value) : tickLabel(value)}
          </text>
        </g>
      ))}
      {ticks(y.low, y.high, 6).map((value) => (
        <g key={value}>
          <line x1={box.left} x2={box.right} y1={y.toPixel(value)} y2={y.toPixel(value)} stroke={theme.grid} />
          <text {...text} x={box.left - 6} y={y.toPixel(value) + 4} text-anchor="end">
            {bytes(value)}
          </text>
        </g>
      ))}
      <rect
        x={box.left}
        y={box.top}
        width={box.right - box.left}
        height={box.bottom - box.top}
        fill="none"
        stroke={theme.dim}
      />
      <text {...text} x={box.right} y={box.bottom + 32} text-anchor="end">
        {by === "time" ? "time since the draw began" : "entry"}
      </text>
      <path d={path} fill={theme.series[0]} fill-opacity={0.8} />
    </svg>
  );
}
