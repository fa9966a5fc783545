import type { Ref } from "preact";
import type { Histogram } from "../api/types";
import type { Look } from "../state/look";
import { Cells } from "./cells";
import { edges, heights, labelsOf, shapeOf, titleOf, xAxis } from "./content";
import { Frame } from "./frame";
import { Legend, legendHeight } from "./legend";
import { Lines } from "./lines";
import type { Theme } from "./palette";
import { type Box, type Range, type Scale, scale } from "./scale";

export interface Layout {
  box: Box;
  x: Scale;
  y: Scale;
  two: boolean;
}

/** Where everything is in a picture of these histograms. */
export function layout(histograms: Histogram[], width: number, height: number, look: Look): Layout | null {
  const first = histograms[0];
  const axis = xAxis(first);
  if (!axis) return null;
  const two = shapeOf(first) === "two";
  const box: Box = {
    left: 66,
    top: legendHeight(histograms.length) + 6,
    right: width - (two ? 76 : 16),
    bottom: height - 44,
  };
  const [low, high] = look.x ?? [axis.low, axis.high];
  const x = scale(low, high, box.left, box.right);
  const [bottom, top] =
    look.y ?? (two ? [first.axes?.[1].low ?? 0, first.axes?.[1].high ?? 1] : yRange(histograms, x, look));
  const y = scale(bottom, top, box.bottom, box.top, look.log && !two);
  return { box, x, y, two };
}

/** From zero, or the smallest value above it, to a little above the highest bin in sight. */
function yRange(histograms: Histogram[], x: Scale, look: Look): Range {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  const profile = !!histograms[0].means;
  for (const h of histograms) {
    const axis = xAxis(h);
    if (!axis) continue;
    const at = edges(axis);
    heights(h).forEach((n, i) => {
      if (!Number.isFinite(n) || at[i + 1] <= x.low || at[i] >= x.high || (look.log && n <= 0)) return;
      if (profile && n === 0) return;
      low = Math.min(low, n);
      high = Math.max(high, n);
    });
  }
  if (high < low) return look.log ? [0.5, 10] : [0, 1];
  if (look.log) return [low / 2, high * 2];
  if (profile) {
    const margin = (high - low || 1) * 0.1;
    return [low - margin, high + margin];
  }
  const span = high - Math.min(0, low) || 1;
  return [low < 0 ? low - span * 0.05 : 0, high > 0 ? high + span * 0.07 : 0];
}

interface Props {
  histograms: Histogram[];
  width: number;
  height: number;
  look: Look;
  theme: Theme;
  svg: Ref<SVGSVGElement>;
}

/** Histograms as an SVG picture that needs no style sheet. */
export function Picture({ histograms, width, height, look, theme, svg }: Props) {
  const first = histograms[0];
  const where = layout(histograms, width, height, look);
  if (!where) return null;
  const { box, x, y, two } = where;
  const name = histograms.map(titleOf).join("; ");
  const variables = (first.axes ?? []).map((axis) => axis.expression ?? "");
  return (
    <svg
      ref={svg}
      xmlns="http://www.w3.org/2000/svg"
      role="img"
      aria-label={`Histogram of ${name}`}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
    >
      <rect width={width} height={height} fill={theme.background} />
      <Frame
        box={box}
        x={x}
        y={y}
        theme={theme}
        xTitle={variables[0] ?? first.expression}
        yTitle={two ? (variables[1] ?? "") : first.means ? `mean of ${first.expression.split(":")[0]}` : "entries"}
        xLabels={labelsOf(first)}
        yLabels={two ? (first.axes?.[1].labels ?? null) : null}
      />
      {two ? (
        <Cells histogram={first} x={x} y={y} box={box} log={look.log} theme={theme} />
      ) : (
        histograms.map((h, i) => (
          <Lines
            key={i}
            histogram={h}
            x={x}
            y={y}
            box={box}
            color={theme.series[i % theme.series.length]}
            filled={i === 0}
            errors={look.errors}
          />
        ))
      )}
      <Legend histograms={two ? [first] : histograms} width={width} theme={theme} />
    </svg>
  );
}
